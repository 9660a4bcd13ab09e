from .arrays import anndata_matrix, is_container, number_names, opened, with_text_names  # noqa: F401
