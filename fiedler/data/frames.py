from .columns import LEAST_KNOWN  # noqa: F401
