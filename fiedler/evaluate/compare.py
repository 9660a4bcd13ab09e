"""Comparison of methods over numbers of features and random draws of labels, together with baselines.

One draw follows [ZL] Algorithm 2: show a few labels, rank the features with these labels and all rows, and predict
every row from the others on the first k features::

    methods x draws -> cells -> table (method, n_features, draw, metric, value, seconds) -> summary

The baselines are random features, the variance, and all features. They are always included.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import rankdata

from ..criteria import Criterion
from ..data.arrays import SCALE_SETTINGS, check_scale, warn_if_uneven
from ..errors import ParameterError
from ..methods import Variance
from ..problem import Problem
from ..supervision import Pairs
from ..syntax import as_criterion
from ..validation import check_choice, check_integer
from ..words import to_frame
from .cells import CLUSTERS, Plan, run_cells
from .curves import check_sizes, spread
from .held_out import Target, check_reads, named_estimator, prepared, read_target, sampled_rows
from .measures import rank_sums, top_k_overlap

_QUICK_ROWS, _QUICK_CELLS, _FEWEST_KNOWN, _FEWEST_ROWS = (
    1000,
    1e6,
    20,
    200,
)  # of an evaluation that is made without being asked for
BASELINES = ("random", "variance", "all")
_METRICS = {"accuracy": ("accuracy", *CLUSTERS, "jaccard"), "rmse": ("rmse", "jaccard")}
JUDGES = ("neighbors", "clusters", "both")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The results of all methods, as returned by :func:`compare`.

    Parameters
    ----------
    table : dict of ndarray
        Columns of equal length: method, n_features, draw, metric, value, and the seconds of the ranking.
    settings : dict
        The parameters of the comparison as plain values.
    criteria : dict
        Formula of each method by name; "random" and "all" have none.
    orders : dict
        Rankings of each method by name, best feature first, up to the largest number of features; empty for a method
        whose ranking does not depend on the draw.
    """

    table: dict[str, np.ndarray]
    settings: dict[str, Any]
    criteria: dict[str, str | None]
    orders: dict[str, list[list[int]]]

    def frame(self) -> Any:
        """The table as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per method, number of features, draw and metric.
        """
        return to_frame(self.table)

    def values(self, method: str, metric: str | None = None) -> np.ndarray:
        """The values of one method.

        Parameters
        ----------
        method : str
            A name of ``criteria``.
        metric : str, optional
            The metric; by default the first of the comparison.

        Returns
        -------
        values : ndarray of shape (draws, sizes)
            The values; the baseline "all" has a single size.
        """
        metric = self.settings["metrics"][0] if metric is None else metric
        mine = (self.table["method"] == method) & (self.table["metric"] == metric)
        if not mine.any():
            message = f"there are no values for method={method!r} and metric={metric!r}"
            raise ValueError(f"{message}; methods: {', '.join(self.criteria)}.")
        return self.table["value"][mine].reshape(len(np.unique(self.table["draw"][mine])), -1)

    def rank_sums(self, metric: str | None = None, methods: Sequence[str] | None = None) -> dict[str, np.ndarray]:
        """Rank sums of the methods over the draws ([KA] eq. 16, Table 2); the lowest sum is the best.

        In every draw the best method has rank 1, and equal values share the better rank.

        Parameters
        ----------
        metric : str, optional
            The metric; by default the first of the comparison.
        methods : sequence of str, optional
            The methods that are ranked against each other; by default all, including the baselines.

        Returns
        -------
        sums : dict of str to ndarray of shape (sizes,)
            Per method one sum for each number of features.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from fiedler.evaluate import compare
        >>> X, y = load_wine(return_X_y=True)
        >>> result = compare(["fisher"], X, y, n_features=[2, 4], n_labels=12, n_draws=5, n_jobs=1, scale="standard")
        >>> {name: sums.tolist() for name, sums in result.rank_sums().items()}
        {'fisher': [10, 10], 'variance': [20, 18], 'random': [14, 15], 'all': [5, 6]}
        """
        metric, names = metric or self.settings["metrics"][0], list(self.criteria if methods is None else methods)
        values = np.stack([self._by_draw(name, metric) for name in names], axis=-1) * (-1 if metric == "rmse" else 1)
        sums = [rank_sums(values[:, at]) for at in range(values.shape[1])]
        return dict(zip(names, np.transpose(sums), strict=True))

    def _by_draw(self, method: str, metric: str) -> np.ndarray:
        """The values of a method, one row per draw of labels and one column per number of features."""
        shape = self.settings["n_draws"], len(self.settings["n_features"])
        return np.broadcast_to(self.values(method, metric)[: shape[0]], shape)

    def summary(self) -> dict[str, Any]:
        """The results as one dict: settings, and per method curves with 95 % bands, average rank, time and stability.

        The average rank is taken over draws and numbers of features; 1 is best, and equal values share their mean rank.
        A value that does not exist, such as a band over a single draw, is None.

        Returns
        -------
        summary : dict
            With "settings", "baselines", "methods" and "best"; numbers, text and lists only.
        """
        ranks, methods = {}, {}
        for metric in self.settings["metrics"]:
            values = [self._by_draw(name, metric) for name in self.criteria]
            mean = rankdata(np.stack(values) * (1 if metric == "rmse" else -1), axis=0).mean(axis=(1, 2))
            ranks[metric] = dict(zip(self.criteria, mean.tolist(), strict=True))
        for name, criterion in self.criteria.items():
            mine, orders, curves = self.table["method"] == name, self.orders[name], {}
            sizes, overlap = np.unique(self.table["n_features"][mine]).tolist(), None
            for metric in ranks:
                found = spread(self.values(name, metric))
                curves[metric] = {"n_features": sizes} | {key: _plain(column) for key, column in found.items()}
            if len(orders) > 1:
                m = self.settings["n_columns"]
                overlap = {i: _plain([top_k_overlap(orders, k, i, m) for k in sizes]) for i in ("jaccard", "kuncheva")}
            about: dict[str, Any] = {"criterion": criterion, "baseline": name in BASELINES, "curves": curves}
            about |= {"seconds": float(self.table["seconds"][mine].mean()), "stability": overlap}
            methods[name] = about | {"average_rank": {metric: found[name] for metric, found in ranks.items()}}
        best = {metric: min(found, key=found.__getitem__) for metric, found in ranks.items()}
        return {"settings": self.settings, "baselines": list(BASELINES), "methods": methods, "best": best}

    def __repr__(self) -> str:
        metric, n_draws = self.settings["metrics"][0], self.settings["n_draws"]
        what = (
            f"{len(self.criteria)} methods, {n_draws} draw{'s' * (n_draws > 1)}, {metric}{sample_words(self.settings)}"
        )
        lines = [f"Comparison({what})", f"{'method':>24}  mean rank  best {metric}  at features"]
        for name, rank, best, size in best_points(self.summary(), metric):
            lines.append(f"{name[-24:]:>24}  {rank:9.2f}  {best:{5 + len(metric)}.4g}  {size:11}")
        return "\n".join(lines)


def beside_baselines(
    criterion: Criterion, problem: Problem, y: Any, n_features: int, task: str = "auto", unlabeled: Any = -1
) -> dict[str, Any] | None:
    """Held-out accuracy or RMSE of the first k features beside all features and k random ones; None if it is slow.

    Two draws of five folds; a fold is predicted with features that were ranked without its labels.
    """
    n, m = problem.X.shape
    most = int(min(n, _QUICK_ROWS, _QUICK_CELLS // max(m, 1)))
    slow = not isinstance(problem.X, (np.ndarray, sp.csc_array)) or "evsc" in repr(criterion).lower()
    target = None if slow or y is None or n_features >= problem.n_features else read_target(y, n, None, unlabeled, task)
    known = np.empty(0) if target is None else target.values[target.known]
    rarest = np.bincount(known).min(initial=n) if target is not None and target.metric == "accuracy" else len(known)
    if len(known) < _FEWEST_KNOWN or rarest < 5 or most < min(n, _FEWEST_ROWS):
        return None
    told = {name: getattr(problem.supervision, name) for name in ("must_link", "cannot_link")}
    told |= {"unlabeled": unlabeled, "task": task, "most_rows": most, "n_draws": 2, "scale": "keep", "n_jobs": 1}
    try:
        found = compare({"chosen": criterion}, problem, y, n_features=[n_features], **told)
    except (ValueError, TypeError):  # the method cannot rank a part of the rows
        return None
    means = {name: float(np.mean(found.values(name))) for name in ("chosen", "all", "random")}
    return {"metric": found.settings["metrics"][0], "n_features": n_features, **means}


def prediction_words(found: Mapping[str, Any]) -> str:
    """What :func:`beside_baselines` found, in words."""
    what = "RMSE" if found["metric"] == "rmse" else found["metric"]
    chosen, every, random = (f"{found[name]:.3g}" for name in ("chosen", "all", "random"))
    return f"{what} {chosen} on held-out rows, all features {every}, {found['n_features']:,} random ones {random}"


def best_points(summary: dict[str, Any], metric: str) -> list[tuple[str, float, float, int]]:
    """Of each method the mean rank, the best mean value, and its number of features; the best mean rank first."""
    found = []
    for name, about in summary["methods"].items():
        curve = about["curves"][metric]
        means = np.array(curve["mean"], dtype=float)
        at = int(np.argmin(means) if metric == "rmse" else np.argmax(means))
        found.append((name, about["average_rank"][metric], float(means[at]), curve["n_features"][at]))
    return sorted(found, key=lambda row: row[1])


def sample_words(settings: Mapping[str, Any]) -> str:
    """The sample of rows that a comparison used, as the end of a list; empty if it used all rows."""
    if settings.get("sampled_from") is None:
        return ""
    return f", a random sample of {settings['n_samples']} of {settings['sampled_from']} rows"


def compare(
    methods: Sequence | Mapping[str, Any],
    X: Any,
    y: Any = None,
    *,
    n_features: Sequence[int] | None = None,
    n_draws: int = 10,
    n_labels: int | None = None,
    n_pairs: int | None = None,
    must_link: Any = None,
    cannot_link: Any = None,
    metrics: Sequence[str] | None = None,
    judge: str | None = None,
    standardize: bool = False,
    estimator: Any = None,
    n_folds: int = 5,
    scored_rows: str = "all",
    protocol: str | None = None,
    unscored: str = "raise",
    unlabeled: Any = -1,
    task: str = "auto",
    scale: str | None = None,
    most_rows: int | None = 5000,
    random_state: int = 0,
    n_jobs: int | None = -1,
    progress: Callable[[int, int], Any] | None = None,
    resume_from: str | os.PathLike | None = None,
) -> Comparison:
    """Compare methods over numbers of features and draws of labels ([ZL] Algorithm 2, [DV] section 5, [KA] section 7).

    Every method ranks the features with all rows of X and the labels (or pairs) of the draw. Methods that read no
    labels rank once. With ``n_labels=None`` each fold is predicted with features ranked on the labels of the other
    folds. If X has more than ``most_rows`` rows, a random sample of them takes the place of X.

    Parameters
    ----------
    methods : sequence of Criterion or str, or dict of name to either
        The methods; the baselines random features, variance and all features are added.
    X : array-like, frame or sparse matrix of shape (n_samples, n_columns)
        The data; see ``scale``.
    y : array-like of shape (n_samples,), optional
        Classes, or a real target. Rows with unknown values are used only for ranking. Without y the metric is
        "jaccard", the share of preserved neighbourhoods.
    n_features : sequence of int, default=5, 10, ..., 50
        Numbers of features to evaluate.
    n_draws : int, default=10
        Number of random draws of labels. Random features get at least 20 draws. Without y there is only one.
    n_labels : int, optional
        Number of labels shown in a draw, equally many in each class; a remainder goes to randomly chosen classes. By
        default all labels except those of the fold to be predicted. 0 shows none: features are chosen without labels,
        and the labels only judge the choice.
    n_pairs : int, optional
        Number of pairs for methods that read pairs, drawn from the shown labels, half must-link and half cannot-link.
        By default all pairs of shown labels are used.
    must_link, cannot_link : array-like of shape (p, 2) or Pairs, optional
        Pairs of rows that belong together, and pairs that do not. Methods that read pairs get them in every draw,
        whichever rows are predicted, and no pairs from labels.
    metrics : sequence of str, optional
        "accuracy", "clustering_accuracy", "nmi", "kmeans_accuracy", "kmeans_nmi", "jaccard" for classes; "rmse",
        "jaccard" for a target; "jaccard" without y. By default the first of these. "clustering_accuracy" and "nmi" are
        those of the best of ten starts of k-means, as in [EV]; the best start is chosen by the classes.
        "kmeans_accuracy" and "kmeans_nmi" are means over the ten starts.
    judge : {"neighbors", "clusters", "both"}, optional
        A name for a choice of metrics; it replaces ``metrics``. "neighbors" means predictions from neighbours
        ("accuracy", "rmse", or "jaccard" without y). "clusters" means clusters of k-means ("kmeans_accuracy" and
        "kmeans_nmi", which need classes in y).
    standardize : bool, default=False
        Whether the chosen columns are standardised before they are judged. The methods rank unstandardised columns.
    estimator : {"knn", "logistic", "ridge", "pls", "svm", "forest"}, classifier or regressor, optional
        The model for predictions, by name (:mod:`fiedler.evaluate.held_out`) or as an object. By default "knn": 1-NN
        for classes and 5-NN for a real target. With a regressor object, integer y is a target.
    n_folds : int, default=5
        Number of cross-validation folds.
    scored_rows : {"all", "hidden"}
        The rows on which predictions are scored. "all" is the protocol of the paper: it includes rows whose labels the
        methods have seen, which favours supervised methods if ``n_labels`` is a large part of the rows. "hidden"
        excludes these rows. The remaining classes can be more unequal in size, so compare with the baselines.
    protocol : {"ZL", "DV"}, optional
        The protocol of a paper where it differs. "ZL" ([ZL] Algorithm 2): methods that read no labels rank with the
        rows whose labels are not shown. "DV" ([DV] section 5): in each fold all methods rank with the other rows only,
        of which ``n_labels`` show their labels.
    unscored : {"raise", "random"}
        What to do if a method gives too few features a score (NaN): raise an error, or add the others in random order.
    unlabeled : object, default=-1
        The class label that means "unknown".
    task : {"auto", "classes", "target"}
        What y holds; "auto" follows the rule of :meth:`fiedler.Supervision.task`. The settings of the result state it.
    scale : {"keep", "standard", "minmax"} or None, default=None
        Scaling of the columns of X before anything else: none, to unit variance, or to [0, 1]. None means "keep", with
        a :class:`fiedler.ScaleWarning` if the columns differ in spread by more than a factor of 1,000.
    most_rows : int or None, default=5000
        If X has more rows, methods rank and are judged on a random sample of this many rows, because the time of
        predictions grows with the square of the number of rows. The sample keeps rows of every class, rows with known
        labels and rows of pairs first, up to half of its size. The settings of the result state it: ``n_samples`` is
        the size of the sample, and ``sampled_from`` the number of rows of X, or None. With None all rows are used.
    random_state : int, default=0
        Random seed. The results do not depend on ``n_jobs`` or on the order of the methods.
    n_jobs : int, default=-1
        Number of processes; -1 means one per core.
    progress : callable, optional
        Called as ``progress(done, total)`` after each cell.
    resume_from : path, optional
        A directory in which each finished cell is stored. A second run with the same data and parameters reads them,
        also after an interruption. If data or parameters differ, cells are computed again.

    Returns
    -------
    comparison : Comparison
        Values per method, number of features, draw and metric; ``summary()`` summarises them.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler.evaluate import compare
    >>> X, y = load_wine(return_X_y=True)
    >>> methods, sizes = ["laplacian", "fisher"], [2, 4]
    >>> result = compare(methods, X / X.std(axis=0), y, n_features=sizes, n_labels=12, n_draws=3, n_jobs=1)
    >>> list(result.table), len(result.table["value"])
    (['method', 'n_features', 'draw', 'metric', 'value', 'seconds'], 61)
    >>> result.summary()["best"]
    {'accuracy': 'all'}
    """
    warns, scale = scale is None, "keep" if scale in (None, "none") else scale
    problem, y = Problem.of(X, must_link=must_link, cannot_link=cannot_link).settled(y)
    problem = problem.scaled(check_scale(scale))
    n_rows, sampled_from = problem.n_samples, None
    model = None if isinstance(estimator, str) else estimator  # a name fits both kinds of y
    target = None if y is None else read_target(y, n_rows, model, unlabeled, task)
    if target is not None:
        estimator = named_estimator(estimator, "target" if target.metric == "rmse" else "classes")
    if problem.supervision.has_pairs and n_pairs is not None:
        message = f"n_pairs={n_pairs} draws pairs from the labels, but must_link or cannot_link is given; omit one."
        raise ParameterError(message, parameter=("must_link", "cannot_link"))
    told = problem.supervision
    pairs = {kind: rows for kind in ("must_link", "cannot_link") if (rows := getattr(told, kind)) is not None}
    if most_rows is not None and n_rows > check_integer("most_rows", most_rows, 20):
        sample = sampled_rows(n_rows, most_rows, target, pairs.values(), random_state)
        problem, sampled_from = problem.take_rows(sample), n_rows
        target = None if target is None else Target(target.values[sample], target.metric)
        pairs = {kind: Pairs(given, n_rows)[sample].pairs for kind, given in pairs.items()}
    check_choice("standardize", standardize, (False, True))
    check_choice("scored_rows", scored_rows, ("all", "hidden"))
    check_choice("unscored", unscored, ("raise", "random"))
    check_choice("protocol", protocol or "ZL", ("ZL", "DV"))
    sizes = check_sizes(n_features, problem.n_features)
    _check_labels(n_labels, target)
    metrics = _chosen_metrics(judge, metrics, target)
    if protocol is not None and (target is None or pairs or target.metric not in metrics):
        message = (
            f"protocol={protocol!r} shows labels and predicts them: it needs y, no pairs, and 'accuracy' or 'rmse'."
        )
        raise ParameterError(message, parameter="protocol", value=protocol)
    rules: dict[str, Any] = {"n_folds": n_folds, "scored_rows": scored_rows, "unscored": unscored}
    others: dict[str, Any] = {"protocol": protocol, "standardize": standardize, "random_state": random_state}
    shown = None if target is None else n_labels
    plan = Plan(problem, target, sizes, metrics, estimator, shown, n_pairs, pairs, **rules, **others)
    n_draws = 1 if target is None else check_integer("n_draws", n_draws, 1)
    criteria = _named(methods, plan)
    if warns and any(not isinstance(each, (str, Variance)) and each.depends_on_scale for each in criteria.values()):
        warn_if_uneven(problem.X, problem.column_names, "compare", SCALE_SETTINGS)
    results = run_cells(plan, criteria, n_draws, resume_from, n_jobs, progress)
    for name, found in results.items():  # the warnings of the workers, each once per method and with its count
        for message, times in Counter(m for result in found for m in result["warnings"]).items():
            warnings.warn(f"{name}, {times} of {len(found)} draws: {message}", UserWarning, stacklevel=2)
    tasks = {"accuracy": "classification", "rmse": "regression"}
    settings = {
        "task": "no labels" if target is None else tasks[target.metric],
        "n_samples": problem.n_samples,
        "sampled_from": sampled_from,
        "n_columns": problem.n_features,
        "n_features": sizes.tolist(),
        "n_draws": n_draws,
        "n_labels": n_labels,
        "n_pairs": sum(map(len, pairs.values())) if pairs else n_pairs,
        "metrics": list(metrics),
        "estimator": None if target is None else repr(prepared(estimator, target, [0])),
    }
    settings |= {**rules, "scale": scale, **others}
    formulas = {name: None if isinstance(c, str) else repr(c) for name, c in criteria.items()}
    orders = {name: [order for result in found for order in result["orders"]] for name, found in results.items()}
    rows = [
        (name, k, number, metric, value, result["seconds"])
        for name, found in results.items()
        for number, result in enumerate(found)
        for metric, k, value in result["values"]
    ]
    columns = zip(("method", "n_features", "draw", "metric", "value", "seconds"), zip(*rows, strict=True), strict=True)
    return Comparison({name: np.array(column) for name, column in columns}, settings, formulas, orders)


@dataclass(frozen=True, eq=False, repr=False)
class LabelBudget:
    """Comparisons at one number of features, one per number of labels or pairs.

    Parameters
    ----------
    of : {"labels", "pairs"}
        What the budget counts.
    n_features : int
        The number of features.
    comparisons : dict of int to Comparison
        The comparison for each number of labels or pairs.
    """

    of: str
    n_features: int
    comparisons: dict[int, Comparison]

    @property
    def table(self) -> dict[str, np.ndarray]:
        """The tables of all comparisons, with a first column ``budget``."""
        found = [(budget, comparison.table) for budget, comparison in self.comparisons.items()]
        parts = [{"budget": np.full(len(table["value"]), budget)} | table for budget, table in found]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def frame(self) -> Any:
        """The table as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            The rows of all comparisons, with a first column ``budget``.
        """
        return to_frame(self.table)

    def summary(self) -> dict[str, Any]:
        """The results as one dict: mean, standard deviation and 95 % band per method, metric and budget.

        Returns
        -------
        summary : dict
            With "budgets" and "methods", among others; numbers, text and lists only.
        """
        parts = [comparison.summary() for comparison in self.comparisons.values()]
        methods: dict[str, Any] = {}
        for name, about in parts[0]["methods"].items():
            curves = {m: [part["methods"][name]["curves"][m] for part in parts] for m in about["curves"]}
            keys = ("mean", "std", "low", "high")
            methods[name] = {m: {key: [c[key][0] for c in found] for key in keys} for m, found in curves.items()}
        budgets = {"of": self.of, "budgets": list(self.comparisons), "n_features": self.n_features}
        return budgets | {"baselines": list(BASELINES), "methods": methods, "settings": parts[0]["settings"]}

    def __repr__(self) -> str:
        first = next(iter(self.comparisons.values()))
        lines = [f"LabelBudget({first.settings['metrics'][0]} with {self.n_features} features, by number of {self.of})"]
        lines.append(f"{self.of:>24}" + "".join(f"{budget:>8}" for budget in self.comparisons))
        for name in first.criteria:
            means = (comparison.values(name).mean() for comparison in self.comparisons.values())
            lines.append(f"{name[-24:]:>24}" + "".join(f"{mean:8.4g}" for mean in means))
        return "\n".join(lines)


def label_budget(
    methods: Sequence | Mapping[str, Any],
    X: Any,
    y: Any,
    budgets: Sequence[int],
    *,
    of: str = "labels",
    n_features: int = 10,
    progress: Callable[[int, int], Any] | None = None,
    **options: Any,
) -> LabelBudget:
    """Compare methods for several numbers of labels or pairs ([ZL] section 4.4.2, Fig. 5; [KA] Figs. 4 and 6).

    Parameters
    ----------
    methods, X, y : object
        As in :func:`compare`.
    budgets : sequence of int
        Numbers of labels or pairs. The labels of a larger budget include those of a smaller budget.
    of : {"labels", "pairs"}
        What the budget counts: ``n_labels`` or ``n_pairs`` of :func:`compare`. With "pairs", methods that read labels
        get all shown labels.
    n_features : int, default=10
        The number of features at which methods are compared.
    progress : callable, optional
        Called as ``progress(done, total)`` after each cell of all comparisons.
    **options : object
        Passed on to :func:`compare`.

    Returns
    -------
    budget : LabelBudget
        One comparison per budget.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler.evaluate import label_budget
    >>> X, y = load_wine(return_X_y=True)
    >>> result = label_budget(["fisher"], X / X.std(axis=0), y, [3, 30], n_features=2, n_draws=3, n_jobs=1)
    >>> [round(mean, 3) for mean in result.summary()["methods"]["fisher"]["accuracy"]["mean"]]
    [0.738, 0.854]
    """
    check_choice("of", of, ("labels", "pairs"))
    budgets, problem = np.unique(budgets).tolist(), Problem.of(X)
    found = {}
    for number, budget in enumerate(budgets):

        def tick(done: int, total: int, before: int = number) -> None:
            if progress is not None:
                progress(before * total + done, len(budgets) * total)

        chosen = {**options, f"n_{of}": budget, "progress": tick}
        found[budget] = compare(methods, problem, y, n_features=[n_features], **chosen)
    return LabelBudget(of, n_features, found)


def _plain(values: Any) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def _named(methods: Any, plan: Plan) -> dict[str, Criterion | str]:
    """Criteria by name, each of which can read what the plan shows; the baselines follow the methods."""
    if isinstance(methods, (str, Criterion)):
        methods = [methods]
    if not isinstance(methods, Mapping):
        names = [method if isinstance(method, str) else repr(method) for method in methods]
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise ValueError(f"methods contains {twice[0]!r} twice; pass a dict of names and criteria instead.")
        methods = dict(zip(names, methods, strict=True))
    taken = {"random", "all"} & set(methods)
    if taken:
        raise ValueError(f"methods uses {min(taken)!r}, the name of a baseline; choose another name.")
    named = {str(name): as_criterion(method) for name, method in methods.items()}
    for name, criterion in named.items():
        reads = check_reads(criterion, plan.target, f"method {name!r}", bool(plan.pairs))
        if reads and plan.n_labels == 0:
            message = f"n_labels=0 shows no labels, but {name!r} requires {' and '.join(sorted(reads))}; show some."
            raise ParameterError(message, parameter="n_labels", value=0)
    named.setdefault("variance", Variance())
    return named | {"random": "random", "all": "all"}


def _chosen_metrics(judge: str | None, metrics: Any, target: Target | None) -> tuple[str, ...]:
    """The metrics of a judge, or those that are given, or the first that y allows."""
    allowed = ("jaccard",) if target is None else _METRICS[target.metric]
    kind = "no y" if target is None else {"accuracy": "classes in y", "rmse": "a real target in y"}[target.metric]
    if judge is None:
        chosen = allowed[:1] if metrics is None else (metrics,) if isinstance(metrics, str) else tuple(metrics)
        if not chosen or not set(chosen) <= set(allowed):
            message = f"metrics={metrics!r} is not possible with {kind}; use {', '.join(map(repr, allowed))}."
            raise ParameterError(message, parameter="metrics", value=metrics)
        return chosen
    check_choice("judge", judge, JUDGES)
    if metrics is not None:
        message = f"judge={judge!r} chooses the metrics, but metrics={metrics!r} is given; omit one."
        raise ParameterError(message, parameter=("judge", "metrics"), value=judge)
    clusters = ("kmeans_accuracy", "kmeans_nmi")
    if judge != "neighbors" and not set(clusters) <= set(allowed):
        message = f"judge={judge!r} compares clusters with classes, but there is {kind}; use judge='neighbors'."
        raise ParameterError(message, parameter="judge", value=judge)
    return {"neighbors": allowed[:1], "clusters": clusters, "both": allowed[:1] + clusters}[judge]


def _check_labels(n_labels: Any, target: Target | None) -> None:
    """Raise an error if fewer labels are known than a draw shows."""
    if n_labels is None or target is None or check_integer("n_labels", n_labels, 0) == 0:
        return
    n_known, wrong = len(target.known), ""
    if target.metric == "rmse":
        if n_labels < 2:
            wrong = "is less than two targets; use 2 or more"
        elif n_labels > n_known:
            wrong = f"is more than the {n_known} known targets in y; use at most {n_known}"
    else:
        sizes = np.bincount(target.values[target.known])
        c, smallest, most = len(sizes), sizes.min(), -(-n_labels // len(sizes))
        if n_labels < c:
            wrong = f"is less than one label for each of the {c} classes; use a multiple of {c}"
        elif smallest < most:
            needs = f"needs {most} labels per class, but the smallest of the {c} classes has {smallest} labelled rows"
            wrong = f"{needs}; use n_labels={c * smallest} or less, or drop that class"
    if wrong:
        raise ParameterError(f"n_labels={n_labels} {wrong}.", parameter="n_labels", value=n_labels)
