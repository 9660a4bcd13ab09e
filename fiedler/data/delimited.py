from .text import MISSING  # noqa: F401
