from .columns import Groups, Prepared, group_labels, prepare  # noqa: F401
