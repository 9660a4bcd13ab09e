"""Explained: the set criterion, what the chosen columns, mixed at will, explain of a kernel over the samples."""

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

    ``evaluate`` scores features one by one, the first step; a selector adds feature after feature, each time the one
    with the largest num / den^power, where num = c̃'Kc̃, den = c̃'c̃ and c̃ is what the features chosen so far leave of a
    column. Near copies of what is chosen have nothing left, so a set holds none.

    Set forms of other scores are cases of it: ``filter="identity"`` is forward selection component analysis;
    ``of="graph"`` with ``filter="walk"`` the Laplacian score of sets (one feature: 1 - LS), on ``ClassGraph()`` the
    Fisher score of sets (one feature: F / (1 + F)).

    Parameters
    ----------
    graph : Recipe or None
        None only for ``filter="identity"``.
    filter : {"smooth", "walk", "identity"}, float or callable, default="smooth"
        F, a function of 𝓛: see :mod:`fiedler.graphs.smoothing`. A power γ stands for γ(2) - γ(𝓛).
    of : {"features", "graph"}, default="features"
        What is explained: K = F C C' F, all features averaged over neighbours; or K = F, the graph itself, with
        samples weighed by their degrees.
    power : float in [0, 1], default=0.5
        1 takes the largest gain of J; smaller values prefer columns with more of their own left.

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

    reads_scale = True

    def __init__(self, graph: Recipe | None, filter: Any = "smooth", of: str = "features", power: float = 0.5):
        self.graph, self.filter, self.of, self.power = graph, filter, of, power

    @property
    def greater_is_better(self) -> bool:
        return True

    def null(self) -> Null:
        # A feature of the set is real if it is smooth on the graph.
        if self.graph is None:
            return NoTest("has no graph, so no feature can be more than noise on it; give it one.")
        return Rayleigh(as_recipe(self.graph)).null()

    def set_formula(self) -> SetFormula:
        check_choice("of", self.of, ("features", "graph"))
        check_share("power", self.power)
        graph = None if self.graph is None else as_recipe(self.graph)
        if isinstance(self.filter, str):
            check_choice("filter", self.filter, FILTERS)
        if graph is not None and (graph.signed or not graph.attracts):
            raise ValueError(
                f"graph={graph!r} cannot smooth: its edges may say 'different'; use one whose edges all say 'alike', "
                "such as KNN(), ClassGraph() or MustLink()."
            )
        return SetFormula((Term(graph, self.filter, self.of),), (), float(self.power))
