"""The set criterion: how much of a kernel over the samples linear combinations of the chosen columns explain."""

from __future__ import annotations

from typing import Any

from ..graphs import Recipe, as_recipe
from ..graphs.smoothing import FILTERS
from ..sets.formula import SetFormula, Term
from ..validation import check_choice, check_share
from .criterion import Criterion
from .energy import Rayleigh
from .nulls import NoTest, Null


class Explained(Criterion):
    """J(S) = tr[(C_S'C_S)⁻¹ C_S'K C_S], the share of a kernel K that a set of features explains. Large is good.

    ``evaluate`` scores every feature as if it were chosen first. A selector adds one feature after the other, each time
    the one with the largest num / den^power, with num = c̃'Kc̃ and den = c̃'c̃. Here c̃ is the residual of a column on the
    features chosen so far. A near-duplicate of a chosen feature has almost no residual, so it is not chosen.

    Set forms of other scores are special cases. ``filter="identity"`` is forward selection component analysis.
    ``of="graph"`` with ``filter="walk"`` is the Laplacian score (LS) of sets, which is 1 - LS for one feature; on
    ``ClassGraph()`` it is the Fisher score (F) of sets, which is F / (1 + F) for one feature.

    Parameters
    ----------
    graph : Recipe or None
        The graph; None is allowed only with ``filter="identity"``.
    filter : {"smooth", "steps", "walk", "identity"}, float or callable, default="smooth"
        The filter F, a function of 𝓛; see :mod:`fiedler.graphs.smoothing`. "steps" is a fast alternative to "smooth":
        it needs no eigenvectors. A number is a power γ and means γ(2) - γ(𝓛).
    of : {"features", "graph"}, default="features"
        What is explained. "features": K = F C C' F, all features averaged over neighbours. "graph": K = F, the graph
        itself, with samples weighted by their degrees.
    power : float in [0, 1], default=0.5
        1 takes the largest gain of J; smaller values prefer columns with a larger residual.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from fiedler import Explained, KNN, LaplacianScore, SpectralSelector
    >>> X = load_iris(as_frame=True).data
    >>> SpectralSelector(Explained(KNN(5)), n_features_to_select=2).fit(X).get_feature_names_out()
    array(['sepal length (cm)', 'petal length (cm)'], dtype=object)
    >>> (Explained(KNN(5), "walk", of="graph", power=1).evaluate(X) + LaplacianScore(KNN(5)).evaluate(X)).round(9)
    array([1., 1., 1., 1.])
    """

    reads_scale = accepts_groups = True

    def __init__(self, graph: Recipe | None, filter: Any = "smooth", of: str = "features", power: float = 0.5):
        self.graph, self.filter, self.of, self.power = graph, filter, of, power

    @property
    def greater_is_better(self) -> bool:
        return True

    def null(self) -> Null:
        # A feature of the set is significant if it is smooth on the graph.
        if self.graph is None:
            return NoTest("has no graph, so features cannot be tested against noise; give it a graph.")
        return Rayleigh(as_recipe(self.graph)).null()

    def set_formula(self) -> SetFormula:
        check_choice("of", self.of, ("features", "graph"))
        check_share("power", self.power)
        graph = None if self.graph is None else as_recipe(self.graph)
        if isinstance(self.filter, str):
            check_choice("filter", self.filter, FILTERS)
        if graph is not None and (graph.signed or not graph.attracts):
            raise ValueError(
                f"graph={graph!r} cannot smooth: its edges may mean 'different'; use edges that mean 'similar', "
                "such as KNN(), ClassGraph() or MustLink()."
            )
        return SetFormula((Term(graph, self.filter, self.of),), (), float(self.power))
