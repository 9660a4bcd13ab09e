"""Spectral feature selection: build a similarity graph over the samples, keep the features that respect it.

One primitive carries everything, the energy of a feature f on a graph W with Laplacian L = D - W::

    f'Lf = ½ Σ_ij w_ij (f_i - f_j)²

**graph x criterion = method**, and criteria can be added, multiplied and scaled::

    X, y, pairs -> supervision -> recipe (affinity, supervised) -> Graph -> Criterion -> scores -> SpectralSelector

- ``graph``        the immutable graph: energy, mass, eigenpairs
- ``affinity``     recipes from X alone: KNN RBF Diffusion Precomputed
- ``supervised``   recipes that read labels, targets or pairs: ClassGraph ReliefGraph TargetKNN SemiTarget MustLink ...
- ``criterion``    formulas over graphs and their algebra: Energy Ratio Rayleigh Phi Disagreement Sensitivity
- ``methods``      the papers' methods by name, ``METHODS``
- ``supervision``  labels and pairs, known in part
- ``selector``     the scikit-learn estimator and the ranking rule
- ``evaluate``     how stable a ranking is
- ``datasets``     the papers' toys

The papers behind the equation numbers in the docstrings: [ZL] Zhao & Liu, SDM 2007 (sSelect); [SPEC] Zhao & Liu, ICML
2007; [DV] Doquire & Verleysen 2011 (SLS, SSLS); [KA] Kalakech et al. 2011 (constraint scores); [EV] Jiang & Ren, ICML
2011 (EVSC).
"""

from .affinity import KNN, RBF, Diffusion, Precomputed, Recipe
from .criterion import Criterion, Disagreement, Energy, Phi, Ratio, Rayleigh, Sensitivity
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
from .selector import SpectralSelector
from .supervised import CannotLink, ClassGraph, MustLink, ReliefGraph, SemiTarget, TargetKNN, Within
from .supervision import Pairs, Supervision, pairs_from_labels

__version__ = "0.1.0.dev0"

__all__ = [
    "EVSC",
    "KNN",
    "METHODS",
    "RBF",
    "SPEC",
    "CannotLink",
    "ClassGraph",
    "ConstraintScore",
    "Correlation",
    "Criterion",
    "Diffusion",
    "Disagreement",
    "Energy",
    "FisherScore",
    "Graph",
    "LaplacianScore",
    "MustLink",
    "Pairs",
    "Phi",
    "Precomputed",
    "Ratio",
    "Rayleigh",
    "Recipe",
    "ReliefF",
    "ReliefGraph",
    "SSelect",
    "SemiSupervisedLaplacianScore",
    "SemiTarget",
    "Sensitivity",
    "SpectralSelector",
    "SupervisedLaplacianScore",
    "Supervision",
    "TargetKNN",
    "Variance",
    "Within",
    "pairs_from_labels",
]
