"""Spectral feature selection: build a similarity graph over the samples, keep the features that respect it.

One primitive carries everything, the energy of a feature f on a graph W with Laplacian L = D - W::

    f'Lf = ½ Σ_ij w_ij (f_i - f_j)²

**graph x criterion x selection = method**; criteria can be added, multiplied and scaled::

    X, y, pairs -> Problem -> recipe -> Graph -> Criterion -> scores -> ranking -> SpectralSelector

- ``graphs``       graphs over the samples and the recipes that build them: KNN RBF Anchors ClassGraph MustLink ...
- ``criteria``     formulas over graphs and their algebra: Energy Ratio Rayleigh Phi Explained Relevance ...
- ``sets``         what features explain together, and how sets of them grow
- ``significance`` is a feature more than noise
- ``selection``    from scores to a choice
- ``methods``      the papers' methods by name, ``METHODS``;  ``syntax``  the same as text;  ``registry``  the one table
- ``problem``      X, what is known about its rows (``supervision``), and every graph built once
- ``selector``     the scikit-learn estimator;  ``anndata``  genes of an AnnData, chosen in place
- ``evaluate``     how good, how stable, how real; tuning, comparing
- ``report``       a summary, and one HTML file of it;  ``plots``  figures
- ``cli``          the command line
- ``engine``       the work on plain arrays: blocks, distances, neighbours, moments, compiled loops
- ``data``         arrays and files, read whole or in blocks; ``io`` and ``sources`` are its public names
- ``datasets``     the papers' toys;  ``papers``  what the equation numbers refer to

The papers behind the equation numbers in the docstrings: [ZL] Zhao & Liu, SDM 2007 (sSelect); [SPEC] Zhao & Liu, ICML
2007; [DV] Doquire & Verleysen 2011 (SLS, SSLS); [KA] Kalakech et al. 2011 (constraint scores); [EV] Jiang & Ren, ICML
2011 (EVSC).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import registry
from .version import __version__

if TYPE_CHECKING:  # type checkers see what the rooms show; at run time _HOME decides
    from .criteria import *
    from .graphs import *
    from .methods import *
    from .plots import AgreementDisplay, CurveDisplay, RankingDisplay, SignificanceDisplay, StabilityDisplay
    from .problem import Problem
    from .report import summarize, write_html
    from .selector import SpectralSelector
    from .supervision import Pairs, Supervision, pairs_from_labels

# Where each public name lives; modules are imported when first asked for, because scikit-learn alone takes seconds.
_HOME = {
    "criteria": ["Criterion", *registry.classes(registry.PRIMITIVES)],
    "graphs": ["Graph", "Precomputed", "Recipe", *registry.classes(registry.RECIPES)],
    "methods": ["METHODS", *registry.classes(registry.METHODS)],
    "plots": [f"{kind}Display" for kind in ("Agreement", "Curve", "Ranking", "Significance", "Stability")],
    "problem": ["Problem"],
    "report": ["summarize", "write_html"],
    "selector": ["SpectralSelector"],
    "supervision": ["Pairs", "Supervision", "pairs_from_labels"],
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = sorted(_MODULE)


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f".{_MODULE[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
