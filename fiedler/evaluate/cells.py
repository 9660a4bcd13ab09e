"""The cells of a comparison: one method on one draw each, with a random seed that depends only on the draw.

On request every finished cell is stored in its own file. The file is written completely or not at all, and its name is
a hash of the data and all parameters. An interrupted comparison therefore continues where it stopped, and never reads a
cell of another comparison.
"""

from __future__ import annotations

import os
import pickle
import re
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from ..criteria import Criterion
from ..data.work import Kept, counting
from ..engine.distances import row_distances
from ..problem import Problem
from ..supervision import pairs_from_labels
from ..validation import is_sparse
from ..version import software
from .curves import clustered, jaccard_curve
from .held_out import checked_ranking, folds, nearest_class, predicted, prepared, whole_seed

CLUSTERS = ("clustering_accuracy", "nmi", "kmeans_accuracy", "kmeans_nmi")  # measures of k-means
RANDOM_DRAWS = 20  # smallest number of draws for random features, whose results vary much
_TREE, _ALL_PAIRS = 15, 5000  # limits: columns for scikit-learn's tree search, rows for storing all distances
_CELL = re.compile(r"(\.\d+\.part\.)?[0-9a-f]{32}\.json")  # a file of a cell, complete or not
Cell = tuple[str, int | None]  # name of a method, and the draw; None for its only ranking
_FOLDS, _LABELS, _PAIRS, _RANDOM, _MODEL = range(5)  # purposes of the random seeds of a draw


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything that a cell depends on except its method and draw."""

    problem: Problem  # X, and the graphs that read no labels, built once for all cells
    target: Any  # Target, or None without y
    sizes: np.ndarray
    metrics: tuple[str, ...]
    estimator: Any
    n_labels: int | None
    n_pairs: int | None
    pairs: dict[str, np.ndarray]  # must_link and cannot_link, if they are given
    n_folds: int
    scored_rows: str
    unscored: str
    protocol: str | None
    standardize: bool
    random_state: int
    squared: np.ndarray | None = None  # distances between all rows on all features, for repeated 1-NN

    @property
    def judged(self) -> Problem:
        """The columns on which a choice is judged."""
        return self.problem.scaled("standard") if self.standardize else self.problem

    @property
    def predicts(self) -> bool:
        return self.target is not None and self.target.metric in self.metrics

    def rng(self, draw: int, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self.random_state, draw, purpose])


def run_cell(plan: Plan, criterion: Criterion | str, number: int | None, order: list[int] | None) -> dict[str, Any]:
    """All values of one method or baseline on one draw; only its ranking if ``number`` is None."""
    start = time.perf_counter()
    if number is None:
        ranking = _ranking(plan, criterion, None, 0)
        return {"values": [], "seconds": time.perf_counter() - start, "orders": [ranking.tolist()]}
    # The same in a draw for all methods: the labels shown, the folds, the model and the scored rows.
    shown = np.arange(0) if plan.target is None else labels_shown(plan, number)
    model, splits = None, []
    if plan.predicts:
        model = prepared(plan.estimator, plan.target, [plan.random_state, number, _MODEL])
        splits = folds(plan.target, plan.n_folds, model, plan.rng(number, _FOLDS))
    hidden = plan.scored_rows == "hidden" and plan.n_labels is not None and plan.protocol != "DV"
    counted = np.setdiff1d(plan.target.known, shown) if hidden else None
    sizes = np.array([plan.problem.n_features]) if criterion == "all" else plan.sizes
    start = time.perf_counter()
    if order is not None:
        orders = [np.array(order)]
    elif isinstance(criterion, str) or plan.target is None or (plan.n_labels == 0 and plan.protocol is None):
        orders = [_ranking(plan, criterion, None, number)]
    elif plan.protocol == "DV":  # the rows of a fold are not seen at all
        tests = [np.setdiff1d(np.arange(plan.problem.n_samples), test) for _, test in splits]
        parts = [(seen, labels_shown(plan, number, train)) for seen, (train, _) in zip(tests, splits, strict=True)]
        orders = [_ranking(plan, criterion, plan.target.shown(rows), number, seen) for seen, rows in parts]
    elif plan.protocol == "ZL" and not criterion.uses:  # without labels: the rows that show none
        seen = np.setdiff1d(np.arange(plan.problem.n_samples), shown)
        orders = [_ranking(plan, criterion, plan.target.shown(shown), number, seen)]
    else:
        held_out = plan.n_labels is None and plan.predicts
        labels = [train for train, _ in splits] if held_out else [shown]
        orders = [_ranking(plan, criterion, plan.target.shown(rows), number) for rows in labels]
    seconds = (time.perf_counter() - start) / len(orders)
    whole = orders[0]
    if len(orders) > 1 and len(plan.metrics) > 1:  # clusters and neighbourhoods have no folds
        whole = _ranking(plan, criterion, plan.target.shown(shown), number)
    kept = [] if isinstance(criterion, str) or order is not None else [o.tolist() for o in orders]
    found: dict[str, np.ndarray] = {}
    if plan.predicts:
        metric, of_all = plan.target.metric, len(whole) == plan.problem.n_features == sizes[0]
        if of_all and plan.squared is not None:
            found[metric] = nearest_class(plan.squared, plan.target, splits, counted)
        else:
            found[metric] = predicted(plan.judged, plan.target, orders, sizes, splits, model, counted)
    if "jaccard" in plan.metrics:
        found["jaccard"] = jaccard_curve(plan.judged, whole, n_features=sizes.tolist()).mean
    if set(CLUSTERS) & set(plan.metrics):
        found |= clustered(plan.judged, plan.target, whole, sizes, [plan.random_state, number, _MODEL])
    values = [[m, k, float(value)] for m in plan.metrics for k, value in zip(sizes.tolist(), found[m], strict=True)]
    return {"values": values, "seconds": seconds, "orders": kept}


def labels_shown(plan: Plan, number: int, among: np.ndarray | None = None) -> np.ndarray:
    """Rows whose labels are shown in a draw: l/c in each of c classes ([ZL] Algorithm 2, line 2), or any l targets.

    They are drawn from all rows with a known value, or from some of them.
    """
    target, rng = plan.target, plan.rng(number, _LABELS)
    known = target.known if among is None else among
    if plan.n_labels is None:
        return known
    rows = rng.permutation(known)
    if target.metric == "rmse":
        return rows[: plan.n_labels]
    classes = rng.permutation(int(target.values.max()) + 1)  # the first classes get the remaining labels
    quota = plan.n_labels // len(classes) + (np.arange(len(classes)) < plan.n_labels % len(classes))
    return np.concatenate([rows[target.values[rows] == c][:n] for c, n in zip(classes, quota, strict=True)])


def _ranking(
    plan: Plan, criterion: Criterion | str, y: np.ndarray | None, number: int, seen: np.ndarray | None = None
) -> np.ndarray:
    """The first features by a criterion on all or some rows, up to the largest size; all features for a baseline."""
    rng = plan.rng(number, _RANDOM)
    if isinstance(criterion, str):
        m, groups = plan.problem.n_features, plan.problem.groups
        if criterion == "all":
            return np.arange(m)
        order = rng.permutation(m)
        # Columns of a table that are not used come last.
        return order if groups is None else order[np.argsort(groups.sizes[order] == 0, kind="stable")]
    most = int(plan.sizes[-1])
    pairs = plan.pairs if "pairs" in criterion.uses else {}
    if "pairs" in criterion.reads and plan.n_pairs is not None:
        drawn = pairs_from_labels(y, plan.n_pairs, whole_seed([plan.random_state, number, _PAIRS]))
        pairs = dict(zip(("must_link", "cannot_link"), drawn, strict=True))
    rows, where = plan.problem if seen is None else plan.problem.take_rows(seen), f" in draw {number}"
    problem = rows.with_supervision(y if seen is None or y is None else y[seen], **pairs)
    ranking = checked_ranking(criterion, problem, most, where, 1 if plan.unscored == "random" else None)
    order, scored, kept = ranking.order, ranking.n_scored, len(ranking.order) - ranking.n_dropped
    return np.concatenate([order[:scored], rng.permutation(order[scored:kept]), order[kept:]])[:most]


def finished_cells(folder: Path) -> list[Path]:
    """The cells in a folder; an error if the folder holds anything else."""
    if not folder.exists() and not folder.is_symlink():
        return []
    found = sorted(folder.iterdir()) if folder.is_dir() else [folder]
    for path in found:
        if not _CELL.fullmatch(path.name):
            inside = f"({path.name} is in it)"
            raise FileExistsError(f"{folder} is not a folder of an earlier run {inside}; use another folder.")
    return [path for path in found if not path.name.startswith(".")]


def remove_cells(folder: Path) -> None:
    """Remove the cells from a folder, and the folder if it is then empty."""
    if folder.is_dir():
        for path in folder.iterdir():
            if _CELL.fullmatch(path.name):
                path.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()


def _hash(value: Any, what: str) -> str:
    try:
        return joblib.hash(value, coerce_mmap=True)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        needs = f"resume_from needs every {what} to be picklable ({error})"
        raise ValueError(f"{needs}; use a function from a module, not a lambda.") from error


def _work(plan: Plan, criterion: Any, cell: Cell, order: Any, kept: Kept, file: str) -> tuple[Cell, dict[str, Any]]:
    """One cell in a worker, on one thread so that sums do not vary; it is stored before it is returned."""
    name, number = cell
    try:
        with threadpool_limits(1), warnings.catch_warnings(record=True, action="always") as caught:
            result = run_cell(plan, criterion, number, order)
    except Exception as error:
        error.add_note(f"method {name!r}, draw {number}")
        raise
    result |= {"method": name, "draw": number, "warnings": sorted({str(w.message) for w in caught})}
    kept.save(file, result)
    return cell, result


def prepared_for(plan: Plan, criteria: list[Any]) -> Plan:
    """The plan with everything that is the same for all draws: graphs that read no labels, and distances.

    An error while a graph is built is ignored here; the cell that needs the graph raises it again.
    """
    scored = [c for c in criteria if isinstance(c, Criterion)]
    recipes = {r.key: r for c in scored for r in c.recipes() if not r.supervised}
    n, m = plan.problem.X.shape
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):  # the cells repeat the warnings of a graph
        for recipe in recipes.values():
            with suppress(Exception):
                plan.problem.graph(recipe)
        for sets in (c.set_formula() for c in scored):
            if sets is not None and not sets.supervised:
                with suppress(Exception):
                    sets.kernel(plan.problem)
        if plan.standardize:
            _ = plan.judged
        usual = plan.predicts and plan.estimator is None and plan.target.metric == "accuracy"
        if "all" in criteria and usual and m > _TREE and n <= _ALL_PAIRS and plan.squared is None:
            return replace(plan, squared=row_distances(plan.judged.X).matrix())
    return plan


def run_cells(
    plan: Plan, criteria: dict[str, Any], n_draws: int, folder: str | os.PathLike | None, n_jobs: Any, progress: Any
) -> dict[str, list]:
    """The results of every method in every draw; in ``folder`` they are stored under a hash of what they depend on."""
    kept, X, key = Kept(folder), plan.problem.X, ""
    if kept.folder is not None:
        kept.folder.mkdir(parents=True, exist_ok=True)
        values: Any = (X.indptr, X.indices, X.data, X.shape) if is_sparse(X) else X
        groups = None if plan.problem.groups is None else plan.problem.groups.owner
        settings = [v for k, v in sorted(vars(plan).items()) if k not in ("problem", "squared")]
        key = _hash([software(), values, groups, plan.problem.known, settings], "estimator")
    once = [name for name, c in criteria.items() if not isinstance(c, str) and not c.uses]  # the same in every draw
    once = once if plan.protocol is None else []
    draws = {name: max(n_draws, RANDOM_DRAWS) if name == "random" else n_draws for name in criteria}
    done, total = 0, len(once) + sum(draws.values())
    with counting("cells", total) as count:

        def finished(n_cells: int = 1) -> None:
            nonlocal done
            done += n_cells
            count.reach(done)
            if progress is not None and n_cells:
                progress(done, total)

        def finish(orders: dict[Cell, Any]) -> dict[Cell, dict]:
            """The results of some cells, computed or read; what is the same for all of them is prepared once."""
            nonlocal plan
            names = {cell: _hash([key, criteria[cell[0]], cell[1]], "method") if key else "" for cell in orders}
            found: dict[Cell, Any] = {cell: kept.load(f"{name}.json") for cell, name in names.items()}
            todo = [cell for cell in orders if found[cell] is None]
            plan = prepared_for(plan, [criteria[name] for name, _ in todo])
            work = joblib.delayed(_work)
            jobs = [work(plan, criteria[cell[0]], cell, orders[cell], kept, f"{names[cell]}.json") for cell in todo]
            finished(len(orders) - len(jobs))
            arriving = joblib.Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")(jobs)
            try:
                for cell, result in arriving:
                    found[cell] = result
                    finished()
            finally:
                with warnings.catch_warnings(action="ignore"):  # joblib warns about cells that an interruption cancels
                    arriving.close()
            return found

        # Rankings that read no labels are computed once; meanwhile the other cores run cells that do not need them.
        others = [(name, number) for name in criteria if name not in once for number in range(draws[name])]
        results = finish(dict.fromkeys([*((name, None) for name in once), *others]))
        ranked = {name: results[name, None] for name in once}
        again: list[Cell] = [(name, number) for name in once for number in range(n_draws)]
        for cell, result in finish({cell: ranked[cell[0]]["orders"][0] for cell in again}).items():
            results[cell] = result | {name: ranked[cell[0]][name] for name in ("seconds", "warnings")}
    return {name: [results[name, number] for number in range(draws[name])] for name in criteria}
