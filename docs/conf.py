"""The site: `make docs` builds it into out/site. No page asks the network for anything."""

import os
import sys
from pathlib import Path

from fiedler.version import __version__

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext")]
os.environ.pop("FIEDLER_DATA", None)  # the gallery shows what everyone gets, with data that ship or are made

project = "fiedler"
author = "The fiedler developers"
project_copyright = "The fiedler developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "docstrings",  # the last four are in _ext/
    "mathml",
    "made",
    "gallery",
]
exclude_patterns = [
    "_made/*.md",
    "**/*.ipynb",
    "gallery/**/*.md5",
    "gallery/sg_execution_times.rst",
    "sg_execution_times.rst",
]
templates_path = ["_templates"]
nitpicky = False
suppress_warnings = ["config.cache"]  # a function in the gallery's settings cannot be pickled

# ------------------------------------------------------------------ pages
myst_enable_extensions = ["attrs_inline", "attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
html_math_renderer = "mathml"

# ------------------------------------------------------------------ reference
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say them in words
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True  # sections=SECTIONS, instead of the text of all sections
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
toc_object_entries_show_parents = "hide"
smartquotes = False  # "auto" is a value, not a quotation

# ------------------------------------------------------------------ gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"demo\.py",
    "within_subsection_order": "gallery.in_order",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("fiedler",),
    "log_level": {"backreference_missing": "debug"},
    "min_reported_time": 10**6,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "image_scrapers": ("matplotlib",),
    "thumbnail_size": (480, 320),
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "write_computation_times": False,
    "remove_config_comments": True,
}

# ------------------------------------------------------------------ looks
html_theme = "pydata_sphinx_theme"
html_title = "fiedler"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_use_index = html_domain_indices = False  # the search and the reference are better ones
html_last_updated_fmt = None
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system is
html_theme_options = {
    "logo": {"text": f"fiedler {release}", "image_light": "_static/mark.svg", "image_dark": "_static/mark.svg"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 10,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {page: [] for page in ("index", "install", "quickstart", "cli", "search")}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
