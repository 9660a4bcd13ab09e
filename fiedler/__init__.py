"""Spectral feature selection: build a similarity graph over the samples, keep the features that respect it.

One primitive carries everything, the energy of a feature f on a graph W with Laplacian L = D - W::

    f'Lf = ½ Σ_ij w_ij (f_i - f_j)²

**graph x criterion = method**, and criteria can be added, multiplied and scaled::

    X, y, pairs -> supervision -> recipe (affinity, supervised) -> Graph -> Criterion -> scores -> SpectralSelector

- ``graph``        the immutable graph: energy, mass, eigenpairs
- ``affinity``     recipes from X alone: KNN RBF Diffusion Precomputed; ``anchors`` for very many rows
- ``supervised``   recipes that read labels, targets or pairs: ClassGraph ReliefGraph TargetKNN SemiTarget MustLink ...
- ``criterion``    formulas over graphs and their algebra: Energy Ratio Rayleigh Phi Disagreement; ``sensitivity``
- ``methods``      the papers' methods by name, ``METHODS``
- ``supervision``  labels and pairs, known in part
- ``selector``     the scikit-learn estimator and the ranking rule
- ``evaluate``     how good and how stable a ranking is; ``tuning``, ``compare``
- ``report``       a summary, and one HTML file of it; ``display`` figures
- ``io``, ``cli``  files in and out, the command line
- ``datasets``     the papers' toys

The papers behind the equation numbers in the docstrings: [ZL] Zhao & Liu, SDM 2007 (sSelect); [SPEC] Zhao & Liu, ICML
2007; [DV] Doquire & Verleysen 2011 (SLS, SSLS); [KA] Kalakech et al. 2011 (constraint scores); [EV] Jiang & Ren, ICML
2011 (EVSC).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .affinity import KNN, RBF, Diffusion, Precomputed, Recipe
    from .anchors import Anchors
    from .criterion import Criterion, Disagreement, Energy, Phi, Ratio, Rayleigh
    from .display import CurveDisplay, RankingDisplay, StabilityDisplay, plot_curves, plot_ranking, plot_stability
    from .graph import Graph
    from .methods import (
        EVSC,
        METHODS,
        SPEC,
        ConstraintScore,
        Correlation,
        FisherScore,
        LaplacianScore,
        ReliefF,
        SemiSupervisedLaplacianScore,
        SSelect,
        SupervisedLaplacianScore,
        Variance,
    )
    from .report import summarize, write_html
    from .selector import SpectralSelector
    from .sensitivity import Sensitivity
    from .supervised import CannotLink, ClassGraph, MustLink, ReliefGraph, SemiTarget, TargetKNN, Within
    from .supervision import Pairs, Supervision, pairs_from_labels

__version__ = "0.1.0.dev0"

# Where each public name lives; modules are imported when first asked for, because scikit-learn alone takes seconds.
_HOME = {
    "affinity": "Diffusion KNN Precomputed RBF Recipe",
    "anchors": "Anchors",
    "criterion": "Criterion Disagreement Energy Phi Ratio Rayleigh",
    "display": "CurveDisplay RankingDisplay StabilityDisplay plot_curves plot_ranking plot_stability",
    "graph": "Graph",
    "methods": "ConstraintScore Correlation EVSC FisherScore LaplacianScore METHODS ReliefF "
    "SPEC SSelect SemiSupervisedLaplacianScore SupervisedLaplacianScore Variance",
    "report": "summarize write_html",
    "selector": "SpectralSelector",
    "sensitivity": "Sensitivity",
    "supervised": "CannotLink ClassGraph MustLink ReliefGraph SemiTarget TargetKNN Within",
    "supervision": "Pairs Supervision pairs_from_labels",
}
_MODULE = {name: module for module, names in _HOME.items() for name in names.split()}

__all__ = sorted(_MODULE)


def __getattr__(name: str) -> Any:
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f".{_MODULE[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
