"""Figures for papers and notebooks, in scikit-learn's Display convention.

    SomeDisplay.from_...(result, ax=None) -> display with ax_ and figure_; display.plot(ax) draws it again

The matplotlib axes can be changed afterwards. This module needs the extra ``report``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ..criteria import Product, Scaled, Sum
from ..criteria.disagreement import AutoLambda, semi_supervised
from ..errors import ParameterError
from ..evaluate.compare import Comparison, LabelBudget
from ..evaluate.curves import spread
from ..evaluate.explain import Explanation
from ..evaluate.stability import Stability
from ..evaluate.tests import Agreement, Significance
from ..evaluate.tuning import Tuning, turning_point
from ..problem import Problem
from ..selector import SpectralSelector, by_feature
from ..selector import feature_names as names_of
from ..validation import check_integer, check_share
from ..words import direction
from . import drawings
from .placing import FEWEST, axis_of, mean_profiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["AgreementDisplay", "AxisDisplay", "CurveDisplay", "ExplanationDisplay"]
__all__ += ["PartsDisplay", "RankingDisplay", "SignificanceDisplay", "StabilityDisplay"]

_SHARE = "share of what all features explain"
_DTYPES: dict[str, Any] = dict.fromkeys(("scores", "start", "length"), np.float64) | {"kept": bool}


class Display:
    """A figure on one or two matplotlib axes, given or new."""

    _axes, _stacked = 1, False  # number of axes, and whether new ones are one below the other
    _size: tuple[float, float | None] = (6.4, None)  # of a new figure in inches; without a height a line per feature
    figure_: Figure | SubFigure
    features: Sequence[str]

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if field.type == "Any":  # an array-like parameter
                setattr(self, field.name, np.asarray(value, dtype=_DTYPES.get(field.name)))
            elif str(field.type).startswith("Sequence") and value is not None:
                setattr(self, field.name, list(value))

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on, two for a figure of two parts; by default new axes.
        **style : object
            Passed on to the method of Axes that draws the bars or lines.

        Returns
        -------
        display : Display
            The display itself.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("plots need matplotlib; install it with: pip install 'fiedler[report]'.") from None
        if ax is None:
            size = self._size[0], self._size[1] or 1.2 + 0.25 * len(self.features)
            grid = (self._axes, 1) if self._stacked else (1, self._axes)
            ax = plt.subplots(*grid, sharex=self._stacked, figsize=size, layout="constrained")[1]
        self.figure_ = np.ravel(ax)[0].figure
        if self._axes == 1:
            self.ax_ = ax
        else:
            self.axes_ = tuple(ax)
        self._draw(ax, **style)
        return self

    _draw: Any  # what a display draws on its axes


def _legend(ax: Axes, *entries: Any) -> None:
    """A legend in which "$" is plain text."""
    for text in ax.legend(*entries, frameon=False).get_texts():
        text.set_parse_math(False)


@dataclass(kw_only=True, eq=False, repr=False)
class RankingDisplay(Display):
    """The best features and their scores, or their gains in a set; selected features are in full colour.

    The features of a set are sorted by what they add, the selected ones first. :class:`ExplanationDisplay` shows them
    in the order in which they were chosen. :meth:`from_comparison` draws the rank sums of methods in the same way.

    Parameters
    ----------
    features : sequence of str
        Names of the features, best first.
    scores : ndarray
        Raw scores of these features, or gains.
    n_selected : int
        Number of these features that are selected.
    greater_is_better : bool
        Direction of the scores.
    name : str, optional
        Name of the method.
    label : str, optional
        What the bars show; by default the score and its direction.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What it is drawn on.
    figure_ : matplotlib Figure
        Their figure.
    bars_ : matplotlib BarContainer
        One bar per feature.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import RankingDisplay, SpectralSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = RankingDisplay.from_selector(SpectralSelector("fisher").fit(X, y), n_features=5)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][:2]
    ['flavanoids', 'proline']
    """

    features: Sequence[str]
    scores: Any
    n_selected: int
    greater_is_better: bool
    name: str | None = None
    label: str | None = None

    @classmethod
    def from_selector(
        cls,
        selector: SpectralSelector,
        *,
        n_features: int = 20,
        feature_names: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> RankingDisplay:
        """Draw the ranking of a fitted selector.

        Parameters
        ----------
        selector : SpectralSelector
            Fitted.
        n_features : int, default=20
            How many of the best to show.
        feature_names : sequence of str, optional
            Names of the features; by default those of the fit, or x0, x1, ...
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **style : object
            Passed on to ``Axes.barh``.

        Returns
        -------
        display : RankingDisplay
            Drawn.
        """
        check_integer("n_features", n_features, 1)
        names, order, values, label = names_of(selector, feature_names), selector.order_, selector.scores_, None
        if hasattr(selector, "gains_"):
            values, label = selector.gains_, f"gain ({_SHARE})"
            order = np.lexsort((selector.ranking_, -values, ~selector.support_))
        shown, criterion = order[:n_features], selector.criterion_
        about: dict[str, Any] = {"features": [names[j] for j in shown], "scores": values[shown], "label": label}
        about |= {"greater_is_better": criterion.greater_is_better, "name": repr(criterion)}
        return cls(n_selected=int(selector.n_features_), **about).plot(ax, **style)

    @classmethod
    def from_comparison(
        cls,
        comparison: Comparison,
        *,
        n_features: int | None = None,
        metric: str | None = None,
        methods: Sequence[str] | None = None,
        ax: Any = None,
        **style: Any,
    ) -> RankingDisplay:
        """Draw the rank sums of methods over the draws of a comparison ([KA] Table 2); the best is in full colour.

        Parameters
        ----------
        comparison : Comparison
            The result of :func:`fiedler.evaluate.compare`.
        n_features : int, optional
            A number of features of the comparison; by default the largest.
        metric : str, optional
            A metric of the comparison; by default the first.
        methods : sequence of str, optional
            The methods that are ranked against each other; by default all, including the baselines.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **style : object
            Passed on to ``Axes.barh``.

        Returns
        -------
        display : RankingDisplay
            Drawn.
        """
        sums, sizes = comparison.rank_sums(metric, methods), list(comparison.settings["n_features"])
        n_features = sizes[-1] if n_features is None else n_features
        if n_features not in sizes:
            message = f"n_features={n_features} was not compared; use one of {', '.join(map(str, sizes))}."
            raise ParameterError(message, parameter="n_features", value=n_features)
        of = {name: int(values[sizes.index(n_features)]) for name, values in sums.items()}
        names, words = sorted(of, key=of.__getitem__), metric or comparison.settings["metrics"][0]
        values = [of[name] for name in names]
        title = f"{drawings.METRICS.get(words, words)}, {n_features} feature{'s' * (n_features > 1)}"
        about: dict[str, Any] = {"name": title, "n_selected": values.count(values[0]), "greater_is_better": False}
        about |= {"label": f"rank sum over {comparison.settings['n_draws']} draws (small is good)"}
        return cls(features=names, scores=values, **about).plot(ax, **style)

    def _draw(self, ax: Axes, **style: Any) -> None:
        colours = ["C0" if place < self.n_selected else drawings.pale() for place in range(len(self.features))]
        finite = np.where(np.isfinite(self.scores), self.scores, np.nan)
        self.bars_ = drawings.named_bars(ax, self.features, finite, **({"color": colours} | style))
        ax.set(xlabel=self.label or f"score ({direction(self.greater_is_better)})", title=self.name or "")


@dataclass(kw_only=True, eq=False, repr=False)
class ExplanationDisplay(Display):
    """What every chosen feature adds, in the order in which the features were chosen, and the near-duplicates of each.

    For a set every bar begins at the share that the features above it explain, and ends at the share that they explain
    together with this feature. For a ranking the bar is the lead: how much better the score is than the mean score of
    the features that were not chosen, in standard deviations. The number of near-duplicates is written behind the bar.

    Parameters
    ----------
    features : sequence of str
        Names of the chosen features, best first.
    start, length : ndarray
        Where each bar begins, and its length.
    copies : sequence of int
        Number of near-duplicates of each feature.
    label : str
        What the bars show.
    title : str, optional
        Title of the figure.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What it is drawn on.
    figure_ : matplotlib Figure
        Their figure.
    bars_ : matplotlib BarContainer
        One bar per feature.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import ExplanationDisplay, SpectralSelector
    >>> X = load_wine(as_frame=True).data
    >>> X = (X - X.mean()) / X.std()
    >>> selector = SpectralSelector("subset", n_features_to_select=4).fit(X)
    >>> ExplanationDisplay.from_explanation(selector.explain(X)).copies
    [2, 0, 0, 0]
    """

    features: Sequence[str]
    start: Any
    length: Any
    copies: Sequence[int]
    label: str
    title: str | None = None

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, n_features: int = 20, ax: Axes | None = None, **style: Any
    ) -> ExplanationDisplay:
        """Draw the result of :meth:`fiedler.SpectralSelector.explain`.

        Parameters
        ----------
        explanation : Explanation
            Its result.
        n_features : int, default=20
            How many of the chosen features to show.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **style : object
            Passed on to ``Axes.barh``.

        Returns
        -------
        display : ExplanationDisplay
            Drawn.
        """
        shown = explanation.chosen[: check_integer("n_features", n_features, 1)]
        length, start, label = explanation.gains, np.zeros(len(shown)), _SHARE
        if length is None:
            length, label = np.asarray(explanation.lead)[shown], "lead over the rest, in standard deviations"
        else:
            length = length[shown]
            start = np.cumsum(np.nan_to_num(length)) - length
        bars = {"start": start, "length": length, "label": label, "title": explanation.criterion}
        features = [str(explanation.feature_names[j]) for j in shown]
        copies = [len(explanation.copies(int(j))) for j in shown]
        return cls(features=features, copies=copies, **bars).plot(ax, **style)

    def _draw(self, ax: Axes, **style: Any) -> None:
        start, length, paint = np.nan_to_num(self.start), np.nan_to_num(self.length), drawings.paint
        self.bars_ = drawings.named_bars(ax, self.features, length, left=start, **style)
        ax.axvline(0.0, linewidth=0.8, color=paint("rule"))
        look: dict[str, Any] = {"textcoords": "offset points", "va": "center", "color": paint("muted")}
        for place, (n, end) in enumerate(zip(self.copies, np.nan_to_num(self.start + self.length), strict=True)):
            if n:  # the number of near-duplicates behind the bar
                words = f"+{n} near {'copy' if n == 1 else 'copies'}"
                ax.annotate(words, (max(float(end), 0.0), place), (4, 0), **look, **drawings.small())
        ax.set(xlabel=self.label, title=self.title or "")


@dataclass(kw_only=True, eq=False, repr=False)
class CurveDisplay(Display):
    """A measure against the number of features, labels or pairs, or against a parameter, with 95 % bands.

    Parameters
    ----------
    curves : dict of str to dict
        Per method ``n_features`` (the numbers on the horizontal axis), ``mean``, ``low`` and ``high``.
    metric : str
        Name of the measure.
    axis : str, default="number of features"
        Name of the horizontal axis.
    right : dict of str to dict, optional
        A second measure by name, with numbers as in ``curves``; its vertical axis is on the right.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What it is drawn on.
    figure_ : matplotlib Figure
        Their figure.
    lines_ : dict of str to matplotlib Line2D
        The line of each method, or of each measure.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import CurveDisplay
    >>> from fiedler.evaluate import compare
    >>> X, y = load_wine(return_X_y=True)
    >>> result = compare(["fisher"], X, y, n_features=[2, 4], n_labels=12, n_draws=2, n_jobs=1)
    >>> list(CurveDisplay.from_comparison(result).lines_)
    ['fisher', 'variance', 'random', 'all']
    """

    curves: dict[str, dict[str, Any]]
    metric: str
    axis: str = "number of features"
    right: dict[str, dict[str, Any]] | None = None
    _size = 6.4, 4.4

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, *, metric: str | None = None, methods: Any = None, ax: Any = None, **style: Any
    ) -> CurveDisplay:
        """Draw the curves of :func:`fiedler.evaluate.compare`.

        Parameters
        ----------
        comparison : Comparison
            Its result.
        metric : str, optional
            A metric of the comparison; by default the first.
        methods : sequence of str, optional
            Names of the methods; by default all, including the baselines.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **style : object
            Passed on to ``Axes.plot``.

        Returns
        -------
        display : CurveDisplay
            Drawn.
        """
        summary = comparison.summary()
        compared, metric = summary["settings"]["metrics"], metric or summary["settings"]["metrics"][0]
        if metric not in compared:
            raise ValueError(f"metric={metric!r} was not compared; use one of {', '.join(map(repr, compared))}.")
        chosen = list(summary["methods"]) if methods is None else list(methods)
        unknown = [name for name in chosen if name not in summary["methods"]]
        if unknown:
            raise ValueError(f"no method {unknown[0]!r} in the comparison; methods: {', '.join(summary['methods'])}.")
        curves = {name: summary["methods"][name]["curves"][metric] for name in chosen}
        return cls(curves=curves, metric=metric).plot(ax, **style)

    @classmethod
    def from_result(
        cls, result: Any, *, metric: str | None = None, axis: str = "number of features", ax: Any = None, **style: Any
    ) -> CurveDisplay:
        """Draw a label budget, a curve or several, or the choices of one parameter.

        Parameters
        ----------
        result : LabelBudget, Curve, dict of str to Curve, pair of Curves, or Tuning
            A result of :func:`fiedler.evaluate.label_budget` (the measure against the number of labels or pairs), of a
            function that gives a curve, of :func:`fiedler.evaluate.good_against_bad`, or of
            :func:`fiedler.evaluate.tune` with one numeric parameter (its cut value, or the measure; with ``y_true``
            also the accuracy, on the right).
        metric : str, optional
            A metric of the budget; by default the first.
        axis : str, default="number of features"
            Name of the horizontal axis of curves; those of a budget and of a tuning are known.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **style : object
            Passed on to ``Axes.plot``.

        Returns
        -------
        display : CurveDisplay
            Drawn.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from fiedler import CurveDisplay
        >>> from fiedler.evaluate import tune_lambda
        >>> X, y = load_wine(return_X_y=True)
        >>> few = y.copy()
        >>> few[::2] = -1
        >>> list(CurveDisplay.from_result(tune_lambda(X, few, [0.1, 0.5, 0.9], y_true=y)).lines_)
        ['cut value', 'accuracy']
        """
        if isinstance(result, LabelBudget):
            summary = result.summary()
            compared = summary["settings"]["metrics"]
            if (metric := metric or compared[0]) not in compared:
                raise ValueError(f"metric={metric!r} was not compared; use one of {', '.join(map(repr, compared))}.")
            x, axis = {"n_features": summary["budgets"]}, f"number of {result.of}"
            curves = {name: x | about[metric] for name, about in summary["methods"].items()}
            return cls(curves=curves, metric=metric, axis=axis).plot(ax, **style)
        if isinstance(result, Tuning):
            table = {name: column for name, column in result.table.items() if name != "std"}
            axis, *others = result.best_params
            if others or table[axis].dtype.kind not in "iuf":
                raise ValueError(f"a figure needs one parameter with numbers, got {', '.join(result.best_params)}.")
            level, metric = np.full(len(table[axis]), np.nan), "cut value" if result.by == "cut" else result.by
            told = {"n_features": table[axis], "low": level, "high": level}
            measured: list[str] = [name for name in ("accuracy", "rmse") if name in table]
            right = {name: told | {"mean": table[name]} for name in measured}
            name = metric if right else repr(result.best).partition("(")[0]
            curves = {name: told | {"mean": table["cut" if result.by == "cut" else "mean"]}}
            return cls(curves=curves, metric=metric, axis=axis, right=right or None).plot(ax, **style)
        if isinstance(result, tuple):
            result = dict(zip(("first features", "last features"), result, strict=True))
        found = result if isinstance(result, dict) else {result.metric: result}
        curves = {name: {"n_features": curve.n_features, **spread(curve.values)} for name, curve in found.items()}
        return cls(curves=curves, metric=next(iter(found.values())).metric, axis=axis).plot(ax, **style)

    @classmethod
    def from_scores(cls, selector: SpectralSelector, *, ax: Any = None, **style: Any) -> CurveDisplay:
        """Draw the sorted scores of a fitted ranking, with a line at their turning point ([EV] Fig. 4).

        Parameters
        ----------
        selector : SpectralSelector
            Fitted, with a criterion that gives scores.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **style : object
            Passed on to ``Axes.plot``.

        Returns
        -------
        display : CurveDisplay
            Drawn.
        """
        scores = selector.scores_[selector.order_]
        scores = scores[np.isfinite(scores)]
        level, name = np.full(len(scores), np.nan), repr(selector.criterion_).partition("(")[0]
        told = {"n_features": np.arange(1, len(scores) + 1), "mean": scores, "low": level, "high": level}
        display = cls(curves={name: told}, metric="score", axis="rank of the feature").plot(ax, **style)
        if (turn := turning_point(scores)[0]) is not None:
            display.ax_.axvline(turn, color="0.6", linewidth=1.0)
        return display

    def _draw(self, ax: Axes, **style: Any) -> None:
        self.lines_ = drawings.method_curves(ax, self.curves, self.metric, axis=self.axis, **style)
        if self.right:
            beside, look = ax.twinx(), {"color": "C1", "linestyle": "--"} | style
            beside.grid(False)
            second: dict[str, Any] = {"metric": next(iter(self.right)), "axis": self.axis} | look
            self.lines_ |= drawings.method_curves(beside, self.right, **second)
        _legend(ax, list(self.lines_.values()), list(self.lines_))


@dataclass(kw_only=True, eq=False, repr=False)
class PartsDisplay(Display):
    """The two parts of a score against each other, a dot per feature ([ZL] Fig. 7); selected ones are in full colour.

    A score with two parts is a sum or a product of two criteria, such as sSelect, SSLS and the constraint score C4.

    Parameters
    ----------
    features : sequence of str
        Names of the features.
    parts : ndarray of shape (2, n_features)
        The two parts of each score, without their weights.
    selected : ndarray of bool
        The selected features.
    labels : sequence of two str
        What the parts are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What it is drawn on.
    figure_ : matplotlib Figure
        Their figure.
    dots_ : matplotlib PathCollection
        One dot per feature, the selected ones last.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import PartsDisplay, SpectralSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> few = np.where(np.arange(len(y)) % 6 == 0, y, -1)
    >>> selector = SpectralSelector("sselect", n_features_to_select=3, scale="standard").fit(X, few)
    >>> PartsDisplay.from_selector(selector, X, few).labels
    ['Rayleigh(KNN()) (small is good)', 'Disagreement(KNN()) (small is good)']
    """

    features: Sequence[str]
    parts: Any
    selected: Any
    labels: Sequence[str]
    _size = 6.4, 4.4

    @classmethod
    def from_selector(
        cls,
        selector: SpectralSelector,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        graph: Any = None,
        ax: Any = None,
        **style: Any,
    ) -> PartsDisplay:
        """Draw the two parts of the score of a fitted selector.

        Parameters
        ----------
        selector : SpectralSelector
            Fitted.
        X, y, must_link, cannot_link, graph : object
            What the selector was fitted on.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **style : object
            Passed on to ``Axes.scatter``.

        Returns
        -------
        display : PartsDisplay
            Drawn.
        """
        selector, groups = by_feature(selector), None if isinstance(X, Problem) else getattr(selector, "groups_", None)
        formula = selector.criterion_.expanded()
        if isinstance(formula, AutoLambda):  # λ weights the parts, but does not change them
            formula = semi_supervised(0.5, formula.graph)
        if not isinstance(formula, (Sum, Product)) or formula.is_set:
            what = "is not a sum or a product of two criteria that score single features"
            raise ValueError(f"{selector.criterion_!r} {what}; use one such as 'sselect' or 'ssls'.")
        told = {"must_link": must_link, "cannot_link": cannot_link, "unlabeled": selector.unlabeled, "graph": graph}
        kept = getattr(selector, "kept_", np.ones(len(selector.scores_), dtype=bool))
        problem = Problem.of(X, y, groups=groups, **told).scaled(selector.scale or "keep").take_columns(kept)
        parts, labels, names = [], [], names_of(selector, None)
        for part in (formula.left, formula.right):
            part = part.criterion if isinstance(part, Scaled) else part
            parts.append(part.score(problem if "pairs" in part.uses else problem.without_pairs()))
            labels.append(f"{part!r} ({direction(part.greater_is_better)})")
        features = [names[j] for j in np.flatnonzero(kept)]
        return cls(features=features, parts=parts, selected=selector.support_[kept], labels=labels).plot(ax, **style)

    def _draw(self, ax: Axes, **style: Any) -> None:
        order = np.argsort(self.selected, kind="stable")  # the selected ones are drawn last
        colours = ["C0" if there else drawings.pale() for there in self.selected[order]]
        look: dict[str, Any] = {"s": 18, "c": colours, "linewidths": 0} | style
        self.dots_ = ax.scatter(*self.parts[:, order], **look)
        ax.set(xlabel=self.labels[0], ylabel=self.labels[1])
        ax.set_title(f"{np.count_nonzero(self.selected)} of {len(self.selected)} features selected")


@dataclass(kw_only=True, eq=False, repr=False)
class StabilityDisplay(Display):
    """Selection frequency and range of ranks of the most frequently selected features.

    Parameters
    ----------
    features : sequence of str
        Names of the features, the most frequent first.
    frequency, rank_low, rank_median, rank_high : ndarray
        As in :class:`fiedler.evaluate.Stability`, in the order of ``features``.
    k, n_draws : int
        Number of features in a selection, and number of draws.

    Attributes
    ----------
    axes_ : tuple of two matplotlib Axes
        The axes: frequencies on the left, ranks on the right.
    figure_ : matplotlib Figure
        Their figure.
    bars_ : matplotlib BarContainer
        One bar per feature.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import StabilityDisplay
    >>> from fiedler.evaluate import stability
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> display = StabilityDisplay.from_stability(stability("fisher", X, y, k=3), n_features=4)
    >>> display.features[0]
    'flavanoids'
    """

    features: Sequence[str]
    frequency: Any
    rank_low: Any
    rank_median: Any
    rank_high: Any
    k: int
    n_draws: int
    _axes, _size = 2, (9.6, None)

    @classmethod
    def from_stability(
        cls, stability: Stability, *, n_features: int = 20, feature_names: Any = None, ax: Any = None, **style: Any
    ) -> StabilityDisplay:
        """Draw the result of :func:`fiedler.evaluate.stability`.

        Parameters
        ----------
        stability : Stability
            Its result.
        n_features : int, default=20
            Number of features to show, the most frequent first, ties by median rank.
        feature_names : sequence of str, optional
            Names of the features; by default those of ``stability``.
        ax : two matplotlib Axes, optional
            What to draw on; by default new ones.
        **style : object
            Passed on to ``Axes.barh``.

        Returns
        -------
        display : StabilityDisplay
            Drawn.
        """
        names = stability.feature_names if feature_names is None else feature_names
        shown = np.lexsort((stability.rank_median, -stability.frequency))[: check_integer("n_features", n_features, 1)]
        columns = ("frequency", "rank_low", "rank_median", "rank_high")
        values = {name: np.asarray(getattr(stability, name))[shown] for name in columns}
        features = [str(names[j]) for j in shown]
        return cls(features=features, k=stability.k, n_draws=stability.n_draws, **values).plot(ax, **style)

    def _draw(self, ax: Sequence[Axes], **style: Any) -> None:
        left, right = ax
        self.bars_ = drawings.selection_frequency(left, self.features, self.frequency, **style)
        left.set_xlabel(f"share of {self.n_draws} draws among the first {self.k}")
        drawings.rank_intervals(right, self.features, self.rank_low, self.rank_median, self.rank_high)
        right.set_yticklabels([])


@dataclass(kw_only=True, eq=False, repr=False)
class SignificanceDisplay(Display):
    """A histogram of the p-values with the level of noise, and effect sizes by rank; significant ones are in colour.

    Parameters
    ----------
    pvalues, qvalues, effect : ndarray
        As in :class:`fiedler.evaluate.Significance`.
    alpha : float, default=0.1
        Largest q-value of a feature found.

    Attributes
    ----------
    axes_ : tuple of two matplotlib Axes
        What it is drawn on.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import SignificanceDisplay
    >>> from fiedler.evaluate import significance
    >>> X, y = load_wine(return_X_y=True)
    >>> SignificanceDisplay.from_significance(significance("fisher", X, y)).axes_[1].get_title()
    '13 of 13 features with q ≤ 0.1'
    """

    pvalues: Any
    qvalues: Any
    effect: Any
    alpha: float = 0.1
    _axes, _size = 2, (9.6, 4.0)

    def __post_init__(self) -> None:
        check_share("alpha", self.alpha)
        super().__post_init__()

    @classmethod
    def from_significance(
        cls, significance: Significance, *, alpha: float = 0.1, ax: Sequence[Axes] | None = None, **style: Any
    ) -> SignificanceDisplay:
        """Draw the result of :func:`fiedler.evaluate.significance`.

        Parameters
        ----------
        significance : Significance
            Its result.
        alpha : float, default=0.1
            Largest q-value of a feature found.
        ax : two matplotlib Axes, optional
            What to draw on; by default new ones.
        **style : object
            Passed on to ``Axes.bar``.

        Returns
        -------
        display : SignificanceDisplay
            Drawn.
        """
        values = {name: getattr(significance, name) for name in ("pvalues", "qvalues", "effect")}
        return cls(alpha=alpha, **values).plot(ax, **style)

    def _draw(self, ax: Sequence[Axes], **style: Any) -> None:
        left, right = ax
        p, found = self.pvalues[~np.isnan(self.pvalues)], self.qvalues <= self.alpha
        drawings.pvalue_histogram(left, np.histogram(p, bins=drawings.BINS, range=(0.0, 1.0))[0], **style)
        drawings.effects_by_rank(right, range(len(found)), self.effect, found)
        right.set_title(f"{np.count_nonzero(found)} of {len(p)} features with q ≤ {self.alpha:g}")


@dataclass(kw_only=True, eq=False, repr=False)
class AgreementDisplay(Display):
    """How likely each column agrees with others, by rank, and the cut between what is kept and what is dropped.

    Parameters
    ----------
    features : sequence of str
        Names of the columns.
    posterior : ndarray
        As in :class:`fiedler.evaluate.Agreement`.
    kept : ndarray of bool
        The columns that are kept.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What it is drawn on.
    figure_ : matplotlib Figure
        Their figure.
    dots_ : matplotlib PathCollection
        One dot per column; a sample of the columns if there are very many.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import AgreementDisplay
    >>> from fiedler.evaluate import agreement
    >>> AgreementDisplay.from_agreement(agreement(load_wine().data)).ax_.get_title()
    '13 of 13 columns agree with others'
    """

    features: Sequence[str]
    posterior: Any
    kept: Any
    _size = 6.4, 4.0

    @classmethod
    def from_agreement(cls, agreement: Agreement, *, ax: Axes | None = None, **style: Any) -> AgreementDisplay:
        """Draw the result of :func:`fiedler.evaluate.agreement`.

        Parameters
        ----------
        agreement : Agreement
            Its result.
        ax : matplotlib Axes, optional
            What to draw on; by default new axes.
        **style : object
            Passed on to ``Axes.scatter``.

        Returns
        -------
        display : AgreementDisplay
            Drawn.
        """
        names, order = [str(name) for name in agreement.feature_names], agreement.order
        ordered = {"posterior": agreement.posterior[order], "kept": agreement.kept[order]}
        return cls(features=[names[j] for j in order], **ordered).plot(ax, **style)

    def _draw(self, ax: Axes, **style: Any) -> None:
        self.dots_ = drawings.posterior_by_rank(ax, self.features, self.posterior, self.kept, **style)
        ax.set_title(f"{np.count_nonzero(self.kept)} of {len(self.kept)} columns agree with others")


@dataclass(kw_only=True, eq=False, repr=False)
class AxisDisplay(Display):
    """Chosen features along a numeric axis, such as wavelengths or times, below the mean profile of each class.

    The upper figure shows the mean of all rows, or of each class. The lower figure shows the score of every feature, or
    its gain in a set. Chosen features are dots; a line or a grey band marks them in both figures.

    Parameters
    ----------
    axis : ndarray
        The position of each feature, ascending or descending.
    profiles : ndarray of shape (number of profiles, n_features)
        Mean profiles.
    values : ndarray
        Score or gain of each feature.
    chosen : ndarray of int
        The chosen features, best first.
    classes : sequence of str, optional
        Name of each profile.
    label : str, default="score"
        What the lower figure shows.

    Attributes
    ----------
    axes_ : tuple of two matplotlib Axes
        Profiles above, scores below.
    figure_ : matplotlib Figure
        Their figure.
    dots_ : matplotlib PathCollection
        One dot per chosen feature.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fiedler import AxisDisplay, SpectralSelector
    >>> nm, y = np.arange(900, 1700, 20), np.repeat([0, 1], 30)
    >>> X = np.random.default_rng(0).normal(size=(60, 40))
    >>> X[:, 14:18] += 3 * y[:, None]
    >>> X = pd.DataFrame(X, columns=nm.astype(str))
    >>> selector = SpectralSelector("fisher", n_features_to_select=4).fit(X, y)
    >>> display = AxisDisplay.from_selector(selector, X, y)
    >>> np.sort(display.axis[display.chosen])
    array([1180., 1200., 1220., 1240.])
    """

    axis: Any
    profiles: Any
    values: Any
    chosen: Any
    classes: Sequence[str] | None = None
    label: str = "score"
    _axes, _stacked, _size = 2, True, (6.4, 4.8)

    @classmethod
    def from_selector(
        cls, selector: SpectralSelector, X: Any, y: Any = None, *, axis: Any = None, ax: Any = None, **style: Any
    ) -> AxisDisplay:
        """Draw the chosen features of a fitted selector along their axis.

        Parameters
        ----------
        selector : SpectralSelector
            Fitted.
        X : array-like, frame or sparse matrix of shape (n_samples, n_features)
            The data, for the mean profiles.
        y : array-like of shape (n_samples,), optional
            Classes; each of at most eight classes has a profile of its own.
        axis : array-like of shape (n_features,), optional
            The position of each feature; by default the names of the features as numbers.
        ax : two matplotlib Axes, optional
            What to draw on; by default new ones.
        **style : object
            Passed on to ``Axes.set`` of both axes, such as ``xlabel``.

        Returns
        -------
        display : AxisDisplay
            Drawn.
        """
        names = names_of(selector, None)
        found = axis_of([str(name) for name in (names if axis is None else axis)])
        if found is None or len(found[0]) != len(selector.scores_):
            needs = f"{len(selector.scores_)} ascending or descending numbers, at least {FEWEST}"
            begin = f"the names of the features begin with {str(names[0])!r}"
            given = begin if axis is None else "axis does not have them"
            message = f"AxisDisplay needs {needs}, but {given}; pass axis=, the position of each feature."
            raise ParameterError(message, parameter="axis", value=axis)
        problem = Problem.read(X, getattr(selector, "feature_names_in_", None)).with_supervision(y)
        codes, classes = (None, None) if y is None else problem.supervision.classes("AxisDisplay")
        profiles, named = mean_profiles(problem, codes, classes)
        about: dict[str, Any] = {"label": f"score ({direction(selector.criterion_.greater_is_better)})"}
        about |= {"values": selector.scores_, "chosen": selector.order_[: int(selector.n_features_)]}
        if hasattr(selector, "gains_"):
            about |= {"values": selector.gains_, "label": "gain"}
        return cls(axis=found[0], profiles=profiles, classes=named, **about).plot(ax, **style)

    def _draw(self, ax: Sequence[Axes], **style: Any) -> None:
        above, below = ax
        colours = [f"C{at}" for at in range(len(self.profiles))] if self.classes else ["C0"]
        lines = drawings.profiles_over_axis(above, self.axis, self.profiles, colours, self.chosen)
        self.dots_ = drawings.scores_over_axis(
            below, self.axis, self.values, self.chosen, [], gains=self.label == "gain"
        )
        below.set_ylabel(self.label)
        if self.classes:
            _legend(above, lines, self.classes)
        above.set(**style)
        below.set(**style)
