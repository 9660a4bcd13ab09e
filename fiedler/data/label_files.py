from .labels import as_labels, is_known, read_labels, read_pairs  # noqa: F401
