from .work import Kept, Run, current_run  # noqa: F401
