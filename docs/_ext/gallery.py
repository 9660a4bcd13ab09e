"""The order of the gallery: what it is, what is known, how far to trust it, how it works inside."""

from pathlib import Path

ORDER = [
    "plot_feature_on_a_graph",
    "plot_moons_and_noise",
    "plot_image_pixels",
    "plot_sets_on_faces",
    "plot_redundancy",
    "plot_text_few_labels",
    "plot_lambda_of_sselect",
    "plot_spectra_regression",
    "plot_genes_with_pairs",
    "plot_pairs_move_ranks",
    "plot_how_many",
    "plot_stability",
    "plot_is_it_real",
    "plot_pipeline_search",
    "plot_own_criterion",
    "plot_spec_filters",
    "plot_evsc_path",
    "plot_anchors",
]


def in_order(name):
    """The place of an example; what is not listed comes last, by name."""
    stem = Path(name).stem
    return (ORDER.index(stem) if stem in ORDER else len(ORDER), stem)
