from .work import check_writable, replacing, whole  # noqa: F401
