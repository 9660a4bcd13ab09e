"""Spectral feature selection: build a similarity graph over the samples, and select features that are smooth on it.

All methods use one primitive, the energy of a feature f on a graph with weights W and Laplacian L = D - W::

    f'Lf = ½ Σ_ij w_ij (f_i - f_j)²

**graph x criterion x selection = method**; criteria can be added, multiplied and scaled::

    X, y, pairs -> Problem -> recipe -> Graph -> Criterion -> scores -> ranking -> SpectralSelector

- ``graphs``       graphs over the samples and the recipes that build them: KNN RBF Anchors ClassGraph MustLink ...
- ``criteria``     formulas over graphs and their algebra: Energy Ratio Rayleigh Phi Explained Relevance ...
- ``sets``         sets of features: what they explain together, and forward selection
- ``significance`` tests of features against noise
- ``selection``    from scores to a selection
- ``methods``      the methods by name, ``METHODS``;  ``syntax``  criteria as text;  ``registry``  names, papers
- ``problem``      X, its labels and pairs (``supervision``), and a cache of graphs
- ``first_look``   a table looked at before anything is computed
- ``selector``     the scikit-learn estimator;  ``anndata``  selection of genes in an AnnData
- ``evaluate``     quality, stability and significance of a selection; tuning and comparison
- ``report``       a summary of a ranking as JSON or HTML;  ``plots``  figures
- ``explore``      a page for experts: labels and pairs by hand, and the ranking that follows
- ``cli``          the command line
- ``engine``       computations on plain arrays: blocks, distances, neighbours, moments, compiled loops
- ``data``         arrays and files, read whole or in blocks; ``io`` and ``sources`` are its public names
- ``datasets``     data sets of the papers

Equation numbers in the docstrings refer to these papers: [ZL] Zhao & Liu, SDM 2007 (sSelect); [SPEC] Zhao & Liu, ICML
2007; [DV] Doquire & Verleysen 2011 (SLS, SSLS); [KA] Kalakech et al. 2011 (constraint scores); [EV] Jiang & Ren, ICML
2011 (EVSC); [MCFS] Cai, Zhang & He, KDD 2010; [MRSF] Zhao, Wang & Liu, AAAI 2010; [NIE] Nie et al., AAAI 2008 (trace
ratio); [HCN] He, Cai & Niyogi, NIPS 2005 (Laplacian score); [ZCZ] Zhang, Chen & Zhou 2008 (C1, C2); [ZLH] Zhao, Lu & He
2008 (C3); [KL] Kondor & Lafferty, ICML 2002 (diffusion); [RK] Robnik-Šikonja & Kononenko 2003 (ReliefF); [FISHER]
Fisher 1936 (his criterion).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import registry
from .version import __version__

if TYPE_CHECKING:  # type checkers see what the rooms show; at run time _HOME decides
    from .criteria import *
    from .errors import ScaleWarning, TableWarning
    from .first_look import Look, look
    from .graphs import *
    from .methods import *
    from .plots import *
    from .problem import Problem
    from .report import summarize, write_html
    from .selector import SpectralSelector
    from .supervision import Pairs, Supervision, pairs_from_labels
    from .version import show_versions

# The module of each public name. Modules are imported at first use, because importing scikit-learn takes seconds.
_HOME = {
    "criteria": ["Criterion", *registry.classes(registry.PRIMITIVES)],
    "errors": ["ScaleWarning", "TableWarning"],
    "first_look": ["Look", "look"],
    "graphs": ["Graph", "Precomputed", "Recipe", *registry.classes(registry.RECIPES)],
    "methods": ["METHODS", *registry.classes(registry.METHODS)],
    "plots": [
        f"{kind}Display"
        for kind in (
            *("Agreement", "Axis", "Curve", "Explanation", "Parts"),
            *("Ranking", "Significance", "Spatial", "Stability"),
        )
    ],
    "problem": ["Problem"],
    "report": ["summarize", "write_html"],
    "selector": ["SpectralSelector"],
    "supervision": ["Pairs", "Supervision", "pairs_from_labels"],
    "version": ["show_versions"],
}
_ROOMS = ("anndata", "datasets", "evaluate", "explore", "io", "sources", "syntax")  # attributes, as users write them
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f".{_MODULE[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
