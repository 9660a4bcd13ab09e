"""The named methods of the literature, each written as a formula over graphs and criteria.

Every method has flat parameters, the equation of its paper, and ``formula()``, which returns the expression that is
computed. ``METHODS`` maps the names that :class:`fiedler.SpectralSelector` accepts to the classes.
"""

from __future__ import annotations

from typing import Any

from . import registry
from .criteria import (  # noqa: F401 - METHODS looks up classes by name
    Correlation,
    Criterion,
    Energy,
    Explained,
    FisherScore,
    Phi,
    RangeDifferences,
    Ratio,
    Rayleigh,
    Regressed,
    Relevance,
    Sensitivity,
    TraceDifference,
    Variance,
)
from .criteria.criterion import Traits
from .criteria.disagreement import AutoLambda, semi_supervised
from .criteria.nulls import Null
from .graphs import (
    KNN,
    RBF,
    CannotLink,
    MustLink,
    Recipe,
    ReliefGraph,
    SemiTarget,
    TargetKNN,
    Within,
    as_recipe,
)
from .sets.formula import SetFormula
from .validation import check_choice, check_positive, check_share


class Method(Criterion):
    """A criterion with a name; its formula determines all its properties."""

    def formula(self) -> Criterion:
        """The method as an expression over graphs.

        Returns
        -------
        criterion : Criterion
            An expression built from primitive criteria and graph recipes.
        """
        raise TypeError(f"{type(self).__name__} has no formula.")

    def expanded(self) -> Criterion:
        return self.formula()

    @property
    def traits(self) -> Traits:
        return self.formula().traits

    def set_formula(self) -> SetFormula | None:
        return self.formula().set_formula()

    def null(self) -> Null:
        return self.formula().null()

    def _recipe(self, name: str) -> Recipe:
        """The graph parameter ``name`` as a recipe; None stands for the class attribute ``_default_<name>``."""
        value = getattr(self, name)
        return getattr(self, f"_default_{name}")() if value is None else as_recipe(value)

    def set_params(self, **params: Any) -> Method:
        """Set parameters, including nested ones.

        A graph that is None becomes the default graph when one of its parameters is set.

        Parameters
        ----------
        **params : object
            New values, such as ``lam=0.5`` or ``graph__n_neighbors=7``.

        Returns
        -------
        self : Method
            The method itself.
        """
        for key in params:
            name, _, nested = key.partition("__")
            if nested and hasattr(self, f"_default_{name}") and name not in params:
                setattr(self, name, self._recipe(name))
        return super().set_params(**params)


class SmoothSubset(Method):
    """Chooses features that together best reconstruct the locally averaged data; labels add a relevance weight.

        J(S) = tr[(C_S'C_S)⁻¹ C_S'K C_S],   K = F C C'F,   C = X - means
        F: one step of averaging over neighbours, A = D^-½WD^-½ without its negative part and its trivial vector
        add argmax_j r_j · c̃_j'K c̃_j / (c̃_j'c̃_j)^power,   c̃_j: residual of column j on the chosen ones

    This method chooses a set and does not only rank: near-duplicates of a chosen feature have nothing left to add. One
    run gives the sets of all sizes. Without labels r = 1. With classes, real targets or pairs, r is
    :class:`fiedler.Relevance`. r is also 1 if every class has one label, if there is only one kind of pair, or if fewer
    than four targets are known. Features are not rescaled, so their scale matters. Introduced in this library.

    Parameters
    ----------
    graph : Recipe, default=KNN(5)
        The graph whose neighbours are averaged.
    power : float in [0, 1], default=0.5
        1 is the exact gain of J; 0.5 multiplies the gain by the norm of the residual of the feature.
    supervised : bool, default=True
        Whether labels, targets and pairs are used if they are given.
    task : {"auto", "classes", "target"}, default="auto"
        What y holds; "auto" follows the rule of :meth:`fiedler.Supervision.task`.
    filter : {"smooth", "steps", "walk"}, float or callable, default="smooth"
        The filter F, as in :class:`fiedler.Explained`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler import SmoothSubset, SpectralSelector
    >>> SmoothSubset().formula()
    Relevance(graph=KNN(n_neighbors=5)) * Explained(KNN(n_neighbors=5))
    >>> selector = SpectralSelector("subset", n_features_to_select=2).fit(load_iris().data)
    >>> selector.order_[:2], selector.explained_.round(3)
    (array([2, 0]), array([0.943, 0.981]))
    """

    _default_graph = staticmethod(lambda: KNN(5))

    def __init__(
        self,
        graph: Recipe | None = None,
        power: float = 0.5,
        supervised: bool = True,
        task: str = "auto",
        filter: Any = "smooth",
    ):
        self.graph, self.power, self.supervised = graph, power, supervised
        self.task, self.filter = task, filter

    def formula(self) -> Criterion:
        sets = Explained(self._recipe("graph"), self.filter, power=self.power)
        return Relevance(self._recipe("graph"), self.task) * sets if self.supervised else sets


class LaplacianScore(Method):
    """Laplacian score (LS) f'Lf / f̃'Df̃ ([HCN]; [DV] eq. 2, [ZL] eq. 3.4). Unsupervised, small is good.

    Parameters
    ----------
    graph : Recipe, default=KNN()
        The graph on which good features vary little between neighbours.

    Examples
    --------
    >>> from fiedler import LaplacianScore
    >>> LaplacianScore().formula()
    Rayleigh(KNN())
    """

    _default_graph = KNN

    def __init__(self, graph: Recipe | None = None):
        self.graph = graph

    def formula(self) -> Criterion:
        return Rayleigh(self._recipe("graph"))


class SPEC(Method):
    """SPEC's φ1, φ2, φ3 with a spectral function γ ([SPEC] eq. 9-11); see :class:`fiedler.Phi` for the equations.

    φ2 with γ = 1 is the Laplacian score. φ1 and φ2: small is good; φ3: large is good. φ1 and φ3 are not invariant to
    adding a constant to a feature.

    Parameters
    ----------
    graph : Recipe, default=KNN()
        The graph. RBF(), Diffusion(), ClassGraph() and ReliefGraph() are the other graphs of the paper.
    phi : {1, 2, 3}, default=2
        Number of the score φ.
    gamma : float or callable, default=1
        A power of the eigenvalues (the paper uses 1 and 4), or any function of them.
    n_clusters : int, optional
        Number of leading eigenvectors that φ3 uses, the trivial one included.

    Examples
    --------
    >>> from fiedler import SPEC
    >>> SPEC(phi=3, gamma=4, n_clusters=5).formula()
    Phi(KNN(), kind=3, gamma=4, n_clusters=5)
    """

    _default_graph = KNN

    def __init__(self, graph: Recipe | None = None, phi: int = 2, gamma: Any = 1, n_clusters: int | None = None):
        self.graph, self.phi, self.gamma, self.n_clusters = graph, phi, gamma, n_clusters

    def formula(self) -> Criterion:
        check_choice("phi", self.phi, (1, 2, 3))
        return Phi(self._recipe("graph"), self.phi, self.gamma, self.n_clusters)


class SSelect(Method):
    """Score of sSelect, λ f'Lf / f̃'Df̃ + (1 - λ)(1 - NMI(sign(f̃), y)) ([ZL] eq. 3.8). Semi-supervised, small is good.

    The first term uses all rows, the second only the labelled rows. NMI is the normalised mutual information. y may
    hold two or more classes.

    Parameters
    ----------
    graph : Recipe, default=KNN()
        The graph over all rows.
    lam : float in [0, 1] or "auto", default=0.1
        Weight λ of the graph term. "auto" chooses λ when the features are scored, by the cut value of the first ten
        features ([ZL] Algorithm 3). :func:`fiedler.evaluate.tune_lambda` shows the value for every candidate λ.

    Examples
    --------
    >>> from fiedler import SSelect
    >>> SSelect(lam=0.25).formula()
    0.25 * Rayleigh(KNN()) + 0.75 * Disagreement(KNN())
    """

    _default_graph = KNN

    def __init__(self, graph: Recipe | None = None, lam: float | str = 0.1):
        self.graph, self.lam = graph, lam

    def formula(self) -> Criterion:
        graph = self._recipe("graph")
        if isinstance(self.lam, str) and self.lam == "auto":
            return AutoLambda(graph)
        check_share("lam", self.lam)
        return semi_supervised(self.lam, graph)


class SupervisedLaplacianScore(Method):
    """Supervised Laplacian score (SLS): LS on the kNN graph of a real target ([DV] eq. 5). Small is good.

    Only rows with a known target are used. LS is the Laplacian score. The unit of the target does not matter.

    Parameters
    ----------
    graph : Recipe, default=TargetKNN()
        The graph built from the target.

    Examples
    --------
    >>> from fiedler import SupervisedLaplacianScore
    >>> SupervisedLaplacianScore().formula()
    Rayleigh(TargetKNN())
    """

    _default_graph = TargetKNN

    def __init__(self, graph: Recipe | None = None):
        self.graph = graph

    def formula(self) -> Criterion:
        return Rayleigh(self._recipe("graph"))


class SemiSupervisedLaplacianScore(Method):
    """Semi-supervised Laplacian score (SSLS = LS · SLS) for few known real targets ([DV] eq. 10). Small is good.

    LS is the Laplacian score on a graph built from features and targets; SLS is the supervised Laplacian score.
    Standardise the features first, as the paper does, because the graph compares the distances of both. The targets are
    scaled to unit variance in the graphs, so their unit does not matter.

    Parameters
    ----------
    graph : Recipe, default=SemiTarget()
        The graph of LS over all rows.
    target_graph : Recipe, default=TargetKNN()
        The graph of SLS over the rows with a known target.

    Examples
    --------
    >>> from fiedler import SemiSupervisedLaplacianScore
    >>> SemiSupervisedLaplacianScore().formula()
    Rayleigh(SemiTarget()) * Rayleigh(TargetKNN())
    """

    _default_graph, _default_target_graph = SemiTarget, TargetKNN

    def __init__(self, graph: Recipe | None = None, target_graph: Recipe | None = None):
        self.graph, self.target_graph = graph, target_graph

    def formula(self) -> Criterion:
        return Rayleigh(self._recipe("graph")) * Rayleigh(self._recipe("target_graph"))


class ConstraintScore(Method):
    """Constraint scores C1 to C4 from pairs of rows ([KA] eq. 9, 10, 12, 13; [ZCZ], [ZLH]). Small is good.

        C1 = f'L_M f / f'L_C f     C2 = f'L_M f - λ f'L_C f     C3 = f'L_W f / f'L_C f     C4 = LS · C1

    C1 and C2 come from [ZCZ], C3 from [ZLH], C4 from [KA]. M is the graph of the must-link pairs, C that of the
    cannot-link pairs. Pass the pairs as ``must_link`` and ``cannot_link``. Without pairs, class labels imply one pair
    for every two labelled rows. C2 is not invariant to the scale of a feature.

    Parameters
    ----------
    variant : {1, 2, 3, 4}, default=4
        Number of the score C.
    lam : float, default=0.1
        λ of C2.
    gamma : float, default=100.0
        Weight of a must-link pair in the graph W of C3.
    n_neighbors : int, default=5
        Neighbours in the graph W of C3.
    graph : Recipe, default=RBF(scale=0.25)
        Graph of the Laplacian score in C4.

    Examples
    --------
    >>> from fiedler import ConstraintScore
    >>> ConstraintScore(2).formula()
    Energy(MustLink()) - 0.1 * Energy(CannotLink())
    """

    # A quarter of the median distance is the width that reproduces [KA] Fig. 2.
    _default_graph = staticmethod(lambda: RBF(scale=0.25))

    def __init__(
        self,
        variant: int = 4,
        lam: float = 0.1,
        gamma: float = 100.0,
        n_neighbors: int = 5,
        graph: Recipe | None = None,
    ):
        self.variant, self.lam, self.gamma, self.n_neighbors, self.graph = variant, lam, gamma, n_neighbors, graph

    def formula(self) -> Criterion:
        check_choice("variant", self.variant, (1, 2, 3, 4))
        if self.variant == 2:
            check_positive("lam", self.lam)
            return Energy(MustLink()) - self.lam * Energy(CannotLink())
        if self.variant == 3:
            return Ratio(Within(self.n_neighbors, self.gamma), CannotLink())
        c1 = Ratio(MustLink(), CannotLink())
        return c1 if self.variant == 1 else Rayleigh(self._recipe("graph")) * c1


class EVSC(Method):
    """Eigenvalue sensitive criterion Σ_r |dλ_r / dw_t| ([EV] eq. 15). Unsupervised, large is good.

    As the bandwidth δ grows, (δ²/2) EVSC tends to the variance. At the default bandwidth the ranking is already close
    to the ranking by variance, so scale the features first or choose a smaller bandwidth.

    Parameters
    ----------
    graph : Recipe, default=RBF()
        The graph whose eigenvalues are λ.
    n_eigenvalues : int, optional
        Number of smallest eigenvalues in the sum; by default all, as in the paper.
    mode : {"auto", "exact", "trace"}, default="auto"
        "exact" uses every eigenpair. "trace" is n times cheaper: it computes the sum from the trace and a few leading
        eigenpairs, and warns if these may not suffice. "auto" uses "trace" for more than 200 rows, and falls back to
        "exact" if the leading eigenpairs do not suffice.

    Examples
    --------
    >>> from fiedler import EVSC
    >>> EVSC().formula()
    Sensitivity(RBF())
    """

    _default_graph = RBF

    def __init__(self, graph: Recipe | None = None, n_eigenvalues: int | None = None, mode: str = "auto"):
        self.graph, self.n_eigenvalues, self.mode = graph, n_eigenvalues, mode

    def formula(self) -> Criterion:
        return Sensitivity(self._recipe("graph"), self.n_eigenvalues, self.mode)


class MCFS(Method):
    """Multi-cluster feature selection ([MCFS] algorithm 1): the largest coefficient in a lasso of each eigenvector.

        Ly_k = λ Dy_k,   a_k = argmin ½‖y_k - Ca‖² + λ_k ‖a‖₁ with ``n_nonzero`` coefficients,   score_j = max_k |a_kj|

    Unsupervised, large is good. A near-duplicate of a better feature usually gets no coefficient. Features without a
    coefficient score 0 and keep the order of the columns. Columns and eigenvectors are centred, eigenvectors have
    length 1, and the trivial eigenvector is not used. Features are not rescaled. ``subset`` explains all features
    instead of a few eigenvectors and needs no number of clusters; the page "The field under three judges" has the
    measured difference.

    Parameters
    ----------
    graph : Recipe, default=KNN(5)
        The graph with the eigenvectors.
    n_clusters : int, optional
        Number of eigenvectors; by default the number of classes in y, or the largest eigengap among the first 20.
    n_nonzero : int, optional
        Number of coefficients of each eigenvector; by default ``n_features_to_select``, as in the paper, or 50 if it
        is not stated.

    Examples
    --------
    >>> from fiedler import MCFS
    >>> MCFS(n_clusters=5).formula()
    Regressed(KNN(n_neighbors=5), n_clusters=5)
    """

    _default_graph = staticmethod(lambda: KNN(5))

    def __init__(self, graph: Recipe | None = None, n_clusters: int | None = None, n_nonzero: int | None = None):
        self.graph, self.n_clusters, self.n_nonzero = graph, n_clusters, n_nonzero

    def formula(self) -> Criterion:
        return Regressed(self._recipe("graph"), "lasso", self.n_clusters, self.n_nonzero)


class MRSF(Method):
    """Minimum redundancy spectral feature selection ([MRSF]): rows of a group lasso of the leading eigenvectors.

        A = argmin ½‖Y - ĈA‖² + λ Σ_j ‖a_j‖₂ with ``n_nonzero`` rows that are not 0,   score_j = ‖a_j‖₂

    Unsupervised, large is good. Y holds the leading eigenvectors ξ_k of 𝓛 without the trivial one, times √(2 - λ_k). Ĉ
    holds D^½f̃ of every feature f, scaled to length 1 as in SPEC, so the units of the columns matter only for the
    graph. One regression of all eigenvectors selects the features; a near-duplicate of a better feature usually gets no
    coefficients. Features without coefficients score 0 and keep the order of the columns. ``subset`` explains all
    features instead of a few eigenvectors and needs no number of clusters; the page "The field under three judges" has
    the measured difference.

    Parameters
    ----------
    graph : Recipe, default=KNN(5)
        The graph with the eigenvectors; ``ClassGraph()`` for classes.
    n_clusters : int, optional
        Number of eigenvectors; by default the number of classes in y, or the largest eigengap among the first 20.
    n_nonzero : int, optional
        Number of features with coefficients, or a few more; by default ``n_features_to_select``, or 50 if it is not
        stated.

    Examples
    --------
    >>> from fiedler import MRSF
    >>> MRSF(n_nonzero=20).formula()
    Regressed(KNN(n_neighbors=5), penalty='group lasso', n_nonzero=20)
    """

    _default_graph = staticmethod(lambda: KNN(5))

    def __init__(self, graph: Recipe | None = None, n_clusters: int | None = None, n_nonzero: int | None = None):
        self.graph, self.n_clusters, self.n_nonzero = graph, n_clusters, n_nonzero

    def formula(self) -> Criterion:
        return Regressed(self._recipe("graph"), "group lasso", self.n_clusters, self.n_nonzero)


class TraceRatio(Method):
    """Trace ratio ([NIE] algorithm 1): the set of features with the best ratio of sums, mass over energy.

        λ* = max_S Σ_{j in S} f̃_j'Df̃_j / Σ_{j in S} f_j'Lf_j,   score_j = f̃_j'Df̃_j - λ* f_j'Lf_j

    S runs over all sets of ``n_features`` features. Large is good. The ``n_features`` features with the best scores are
    the set that attains λ*. For ``n_features=1`` this is the feature with the best Laplacian score.
    ``TraceRatio(ClassGraph())`` is the paper's ratio of Fisher scores: its mass is the total scatter, and
    total / within = between / within + 1 has the same best sets. Features are not rescaled, so their scale matters.
    Near-duplicates get neighbouring ranks; ``subset`` and ``redundancy=True`` avoid this.

    Parameters
    ----------
    graph : Recipe, default=KNN()
        The graph of the energies.
    n_features : int, optional
        Size of the set; by default ``n_features_to_select``, or half of the features if it is not stated.

    Examples
    --------
    >>> from fiedler import TraceRatio
    >>> TraceRatio().formula()
    TraceDifference(KNN())
    """

    _default_graph = KNN

    def __init__(self, graph: Recipe | None = None, n_features: int | None = None):
        self.graph, self.n_features = graph, n_features

    def formula(self) -> Criterion:
        return TraceDifference(self._recipe("graph"), self.n_features)


class ReliefF(Method):
    """ReliefF as a graph energy, -2 f'Lf, misses minus hits ([RK]; [SPEC] eq. 12). Classes, large is good.

    With unit-norm features the ranking equals that of φ1 on the same graph ([SPEC] theorem 5). The score uses squared
    differences of the given values, so scale the features first.

    The classical form (Kononenko 1994, [RK]), as in MATLAB and skrebate, uses absolute differences of columns that are
    scaled to the range from 0 to 1, and neighbours by their sum. On the raw iris data it has another order. RReliefF
    ([RK]) is the classical form for a real target; here all neighbours have the same weight.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of nearest hits of a row, and of nearest misses in every other class.
    form : {"energy", "classical", "regression"}, default="energy"
        The score of [SPEC], the classical ReliefF, or RReliefF, which reads a real target.

    Examples
    --------
    >>> from fiedler import ReliefF
    >>> ReliefF(5).formula()
    -2 * Energy(ReliefGraph(n_neighbors=5))
    >>> from sklearn.datasets import load_iris
    >>> ReliefF(form="classical").evaluate(*load_iris(return_X_y=True)).round(2)
    array([0.14, 0.12, 0.36, 0.38])
    """

    def __init__(self, n_neighbors: int = 10, form: str = "energy"):
        self.n_neighbors, self.form = n_neighbors, form

    def formula(self) -> Criterion:
        differences = Energy if self.form == "energy" else RangeDifferences
        return differences(ReliefGraph(self.n_neighbors, self.form)) * -2.0


METHODS: dict[str, type[Criterion]] = {entry.name: globals()[entry.cls] for entry in registry.METHODS}
