from .work import Counting, counting  # noqa: F401
