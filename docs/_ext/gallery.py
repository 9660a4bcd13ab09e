"""The gallery: its order, and thumbnails that show a part one can recognise."""

from pathlib import Path

from PIL import Image

# What it is, what is known, how far to trust it, how it works inside.
ORDER = [
    "plot_feature_on_a_graph",
    "plot_moons_and_noise",
    "plot_image_pixels",
    "plot_sets_on_faces",
    "plot_redundancy",
    "plot_explain",
    "plot_text_few_labels",
    "plot_lambda_of_sselect",
    "plot_spectra_regression",
    "plot_genes_with_pairs",
    "plot_pairs_move_ranks",
    "plot_how_many",
    "plot_stability",
    "plot_is_it_real",
    "plot_noise",
    "plot_pipeline_search",
    "plot_own_criterion",
    "plot_figures_of_the_papers",
    "plot_spec_filters",
    "plot_evsc_path",
    "plot_anchors",
]


def in_order(name):
    """The place of an example; what is not listed comes last, by name."""
    stem = Path(name).stem
    return (ORDER.index(stem) if stem in ORDER else len(ORDER), stem)


# The part of a wide figure, from left to right, that is its thumbnail; whole where not listed.
WINDOWS = {
    "plot_feature_on_a_graph": (0.0, 0.6),
    "plot_moons_and_noise": (0.0, 0.76),
    "plot_sets_on_faces": (0.53, 1.0),
    "plot_redundancy": (0.0, 0.6),
    "plot_explain": (0.0, 0.5),
    "plot_text_few_labels": (0.0, 0.44),
    "plot_lambda_of_sselect": (0.0, 0.495),
    "plot_genes_with_pairs": (0.63, 1.0),
    "plot_pairs_move_ranks": (0.0, 0.455),
    "plot_how_many": (0.33, 0.67),
    "plot_is_it_real": (0.0, 0.67),
    "plot_noise": (0.0, 0.67),
    "plot_own_criterion": (0.63, 1.0),
    "plot_evsc_path": (0.0, 0.38),
    "plot_anchors": (0.0, 0.63),
}
SIZE = (480, 320)


def crop(app):
    """Thumbnails again, from a window of the whole picture."""
    folder = Path(app.srcdir) / "gallery" / "images"
    for name in ORDER:
        picture = Image.open(folder / f"sphx_glr_{name}_001.png").convert("RGB")
        left, right = WINDOWS.get(name, (0.0, 1.0))
        part = picture.crop((round(left * picture.width), 0, round(right * picture.width), picture.height))
        part.thumbnail(SIZE, Image.Resampling.LANCZOS)
        card = Image.new("RGB", SIZE, "white")
        card.paste(part, ((SIZE[0] - part.width) // 2, (SIZE[1] - part.height) // 2))
        card.save(folder / "thumb" / f"sphx_glr_{name}_thumb.png", optimize=True)


def show(app, docname, source):
    """The examples that use a name, at the end of its page in the reference."""
    folder, _, name = docname.rpartition("/")
    used = Path(app.srcdir) / "gallery" / "backreferences" / f"{name}.examples"
    if folder == "api/generated" and used.is_file() and "thumbcontainer" in used.read_text(encoding="utf-8"):
        source[0] += f"\n\nIn the gallery\n--------------\n\n.. minigallery:: {name}\n"


def setup(app):
    app.connect("builder-inited", crop, priority=900)  # after the gallery has run
    app.connect("source-read", show)
    return {"parallel_read_safe": True}
