"""From options to results: read the files, choose the method, fit, and lay the ranking out in columns."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from ..criteria import Criterion
from ..data.columns import Prepared
from ..data.formats import read_table
from ..data.labels import is_known, ranking_text, read_pairs, write_ranking
from ..data.memory import allocation_limit, memory_limit
from ..data.tables import ReadOnce, Table, check_infinite, fill_missing, position
from ..data.work import replacing
from ..methods import SmoothSubset
from ..problem import Problem
from ..selection.choice import ALPHA
from ..selection.screens import noise_remark
from ..selector import SpectralSelector
from ..sets.formula import can_be_formed
from ..supervision import Supervision
from ..syntax import as_criterion
from ..syntax import short_text as text_of
from ..version import __version__
from ..words import direction
from .scale import memory_for_data, placed
from .screen import Screen

_USUAL_SET, _FEW = 50, 10  # features of a set, and those of a ranking that are compared, where no number is asked for
_LARGE = 10.0  # MB of a file whose size is shown while it is read


@dataclass
class Job:
    """Everything a command needs, read and checked."""

    table: Table
    read: Problem  # as it is in the file
    problem: Problem  # scaled, if this is asked for
    pairs: dict[str, Any]  # must_link and cannot_link
    unlabeled: Any
    command: str
    options: dict[str, Any]

    @property
    def y(self) -> np.ndarray | None:
        return self.table.y

    def fit(self, criterion: Criterion, n_features: int | float | str | None) -> SpectralSelector:
        options = {"unlabeled": self.unlabeled, "redundancy": self.options.get("redundancy")}
        options |= {name: self.options.get(name) for name in ("alpha", "screen")}
        options["include"] = self.included or None
        options["scale"] = "keep" if self.options["scale"] else None  # X is scaled already, for all commands alike
        selector = SpectralSelector(_as_text(criterion), n_features_to_select=n_features, **options)
        return selector.fit(self.problem, self.y, **self.pairs)

    @property
    def X(self) -> Any:
        """The matrix, with holes filled."""
        return self.problem.X

    @property
    def included(self) -> list[int]:
        """Column numbers of the features that are selected in any case."""
        names = list(map(str, self.table.feature_names))
        return [position(column, names, self.table.source) for column in self.options.get("include", ())]

    def about(self, criterion: Criterion) -> dict[str, Any]:
        """What was run, for the file that keeps it."""
        return {
            "fiedler": __version__,
            "source": str(self.table.source),
            "n_samples": self.table.shape[0],
            "n_features": self.table.shape[1],
            "method": text_of(criterion),
            "direction": direction(criterion.greater_is_better),
            "seed": self.options["seed"],
        }


def load(data: str, options: dict[str, Any], screen: Screen) -> Job:
    """Read the table, its labels and its pairs."""
    with memory_limit(allocation_limit()):
        return _load(ReadOnce(data), options, screen)


def _load(file: ReadOnce, options: dict[str, Any], screen: Screen) -> Job:
    if options["auto"]:
        _guess(file, options, screen)
    marker = options["unlabeled"]
    keep_all = marker is not None and marker.lower() == "none"
    with screen.watching(f"reading {with_size(file)}"):
        table = read_table(
            file if options["auto"] else str(file),
            target=options["target"],
            id_column=options["id_columns"] or None,
            labels=options["labels"],
            names=options["names"],
            layer=options["layer"],
            unlabeled=None if keep_all else marker,
            header=options["header"],
            memory=memory_for_data(options),
            sheet=options["sheet"],
            drop=list(options["drop"]) or None,
            numeric_only=options["numeric_only"],
            skip_rows=options["skip_rows"],
            transpose=options["transpose"],
            categories=options["category"] or None,
        )
        X = fill_missing(table, options["impute"]) if options["impute"] else table.X
        check_infinite(table)
        told = Prepared(placed(X, options, screen), table.groups)
        problem = Problem.read(told, table.feature_names)
        scaled = problem.scaled(options["scale"] or "keep")
        pairs = _pairs(table, options)
    # A marker that was named has been applied by the reader: -1 is then a class like any other.
    command = click.get_current_context().command.name or ""
    return Job(table, problem, scaled, pairs, -1 if marker is None else None, command, options)


def with_size(data: str | os.PathLike) -> str:
    """The name of a file, and its size if reading may take a while: not every format tells how far it is."""
    size = os.path.getsize(data) / 1e6 if os.path.isfile(data) else 0.0
    return f"{data} ({size:.0f} MB)" if size >= _LARGE else str(data)


def _guess(data: ReadOnce, options: dict[str, Any], screen: Screen) -> None:
    """Fill in what the user has not said by the guesses of a first look, and say so."""
    from ..first_look import flags_of, look

    layout = {name: options[name] for name in ("sheet", "header", "skip_rows", "transpose", "layer")}
    with screen.watching(f"looking at {with_size(data)}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is to be said is said when the table is made
        guesses = look(data, **layout).guesses
    said = {options["target"], *options["id_columns"], *options["drop"], *options.get("include", ())}
    if options["target"] is not None or options["labels"] is not None or guesses["target"] in said:
        guesses["target"] = None
    for name in ("id_columns", "drop"):
        guesses[name] = tuple(column for column in guesses[name] if column not in said)
    guesses["id_columns"] = () if options["id_columns"] else guesses["id_columns"]
    guesses["scale"] = guesses["scale"] if options["scale"] is None else None
    flags = flags_of(guesses)
    screen.note(f"--auto: {' '.join(flags) or 'nothing to add'}")
    options["target"] = options["target"] if guesses["target"] is None else guesses["target"]
    options["id_columns"] = (*options["id_columns"], *guesses["id_columns"])
    options["drop"] = (*options["drop"], *guesses["drop"])
    options["scale"] = guesses["scale"] or options["scale"]
    options["transpose"] = guesses["transpose"] or options["transpose"]


def usual_methods(job: Job, screen: Screen) -> tuple[str, ...]:
    """The methods that are compared where none is named."""
    labels = job.y is not None and is_known(job.y).any()
    task = known_task(job, screen) if labels else "nothing"
    methods = ("subset", "laplacian", *({"classes": ("fisher",), "target": ("correlation",)}.get(task, ())))
    screen.note(f"comparing {', '.join(methods)}; --method chooses others")
    return methods


def _pairs(table: Table, options: dict[str, Any]) -> dict[str, Any]:
    files = {"must": options.get("must_link"), "cannot": options.get("cannot_link"), None: options.get("pairs")}
    read = [read_pairs(path, table.row_ids, table.shape[0], kind) for kind, path in files.items() if path]
    if not read:
        return {}
    must, cannot = (np.concatenate(part) for part in zip(*read, strict=True))
    return {"must_link": must, "cannot_link": cannot}


def _as_text(criterion: Criterion) -> Criterion | str:
    """The criterion as text if this says all of it, so that messages call it as the command line does."""
    text = text_of(criterion)
    try:
        return text if repr(as_criterion(text)) == repr(criterion) else criterion
    except ValueError:
        return criterion


def choose(method: str | None, job: Job, screen: Screen) -> Criterion:
    """The method asked for, or the one that reads what is known."""
    if method is not None:
        criterion = as_criterion(method)
        given = {"--target": job.options["target"], "--labels": job.options["labels"]}
        if not criterion.uses and any(value is not None for value in given.values()):
            screen.note(f"{text_of(criterion)} reads no labels; the target is only kept out of the features")
    else:
        criterion = _usual_method(job, screen)
    note_noise(criterion, job, screen)
    return criterion


def _usual_method(job: Job, screen: Screen) -> Criterion:
    """The set of features that keeps the structure of the rows; a ranking where that would be too large."""
    labels = job.y is not None and is_known(job.y).any()
    task = known_task(job, screen) if labels and not job.pairs else "nothing"
    if can_be_formed(job.X):
        read = "pairs" if job.pairs else {"classes": "class labels", "target": "the target"}.get(task, "no labels")
        screen.note(f"method subset, a set of features chosen with {read}; --method chooses another")
        return SmoothSubset(task=job.options["task"])
    name = "constraint" if job.pairs else {"classes": "sselect", "target": "ssls"}.get(task, "laplacian")
    screen.note(f"method {name}, chosen by what is known about the rows; --method chooses another")
    return as_criterion(name)


def usual_number(criterion: Criterion, job: Job) -> int:
    """Number of features if --top is not given; a ranking needs a number only for redundancy."""
    m = job.table.shape[1]
    fewest = max(1, len(job.included))
    return min(max(_USUAL_SET, fewest), m) if criterion.is_set else m if job.options["redundancy"] else fewest


def number_to_compare(selector: SpectralSelector, top: int | None) -> int:
    """Number of features that --stability compares: --top, or what a set needs, or ten; never all features."""
    from ..evaluate.tuning import enough

    m, explained = len(selector.scores_), getattr(selector, "explained_", None)
    if top is not None:
        return min(top, m)
    if explained is None:
        return max(1, min(_FEW, m // 2))
    return max(1, min(enough(explained)[0] or len(explained), m - 1))


def known_task(job: Job, screen: Screen) -> str:
    """Whether the labels are classes or a target; a note says so if the rule decided it."""
    known, stated = Supervision(job.table.shape[0], job.y, unlabeled=job.unlabeled), job.options["task"]
    task = known.task(stated)
    y = np.asarray(job.y)[is_known(np.asarray(job.y))]
    different = len(set(y.tolist()))
    if stated == "auto" and y.dtype.kind != "O":
        what = f"{different} classes" if task == "classes" else f"a real target with {different} values"
        screen.note(f"the labels are taken as {what}; --task changes this")
    if task == "classes" and 2 * different > len(y) > 2:
        screen.note(f"{different} classes among {len(y)} labelled rows: hardly any class has two")
    return task


def note_noise(criterion: Criterion, job: Job, screen: Screen) -> None:
    """Recommend the screen if most columns are noise and the method builds a graph from them."""
    plain = job.options.get("screen") is None and job.problem.groups is None
    if plain and any(recipe.reads_X for recipe in criterion.recipes()):
        remark = noise_remark(job.X, "--screen agreement")
        if remark is not None:
            screen.note(remark)


@contextmanager
def limited(jobs: int | None) -> Iterator[None]:
    """Limit the number of threads inside the context."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=jobs):
        yield


def ranking(
    job: Job, selector: SpectralSelector, top: int | None, frequency: np.ndarray | None = None, tested: Any = None
) -> dict[str, np.ndarray]:
    """Feature, score and rank (and what else was asked for), best first."""
    order = selector.order_[:top]
    columns = {
        "feature": job.table.feature_names[order],
        "score": selector.scores_[order],
        "rank": selector.ranking_[order],
    }
    explained, behind = (getattr(selector, name, None) for name in ("explained_", "stands_for_"))
    if explained is not None:
        columns["explained"] = np.r_[explained, np.full(len(selector.order_), np.nan)][: len(order)]
    if behind is not None:
        names = job.table.feature_names
        columns["stands_for"] = np.array(["; ".join(map(str, names[behind == j])) for j in order], dtype=object)
    if frequency is not None:
        columns["frequency"] = frequency[order]
    if tested is not None:
        columns |= {"p": tested.pvalues[order], "q": tested.qvalues[order], "effect": tested.effect[order]}
    return columns


def frequencies(job: Job, criterion: Criterion, k: int, n_draws: int) -> Any:
    """How often each feature is among the first k when the method is run on a part of the rows."""
    from ..evaluate import stability

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit on all rows has said what there is to say
        return stability(
            criterion,
            job.problem,
            job.y,
            k=k,
            n_draws=n_draws,
            unlabeled=job.unlabeled,
            random_state=job.options["seed"],
            **job.pairs,
        )


def tested(job: Job, criterion: Criterion, screen: Screen) -> Any:
    """Test which features are more than noise, and print their number as a note."""
    from ..evaluate import significance

    alpha = job.options["alpha"] or ALPHA
    options = {"unlabeled": job.unlabeled, "random_state": job.options["seed"]}
    found = significance(criterion, job.problem, job.y, alpha=alpha, **options, **job.pairs)
    real, m = found.n_significant(alpha), len(found.pvalues)
    screen.note(f"{real} of {m} features are more than noise at a false discovery rate of {alpha:g}")
    return found


def comparison(job: Job, screen: Screen, resume_from: Any = None) -> Any:
    """Every method on every draw; finished cells are kept in a folder."""
    from ..evaluate import compare

    options = job.options
    if options["rows"] < job.table.shape[0]:
        sample = f"a random sample of {options['rows']} of {job.table.shape[0]} rows"
        screen.note(f"methods are compared on {sample} (--seed); --rows {job.table.shape[0]} uses all")
    with screen.watching("comparing"):
        return compare(
            options["methods"],
            job.problem,
            job.y,
            n_features=options["features"],
            n_draws=options["draws"],
            n_labels=options["shown"],
            metrics=options["metrics"] or None,
            judge=options["judge"],
            estimator=options["estimator"],
            standardize=options["standardize"],
            unlabeled=job.unlabeled,
            task=options["task"],
            **job.pairs,
            most_rows=options["rows"],
            random_state=options["seed"],
            n_jobs=options["jobs"] or -1,
            resume_from=resume_from,
        )


def comparison_columns(result: Any) -> tuple[dict[str, np.ndarray], str]:
    """One row per method, best first: its mean rank, its best mean value and where, seconds and stability there."""
    from ..evaluate.compare import sample_words

    summary = result.summary()
    metric, settings = summary["settings"]["metrics"][0], summary["settings"]
    best = np.argmin if metric == "rmse" else np.argmax
    rows = []
    for name, about in summary["methods"].items():
        curve = about["curves"][metric]
        at = int(best(curve["mean"]))
        overlap = np.nan if about["stability"] is None else about["stability"]["jaccard"][at]
        size, value = curve["n_features"][at], curve["mean"][at]
        rows.append((name, about["average_rank"][metric], value, size, about["seconds"], overlap))
    rows.sort(key=lambda row: row[1])
    names = ("method", "mean_rank", f"best_{metric}", "n_features", "seconds", "stability")
    columns = {name: np.array(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
    what = f"{metric} of {len(rows)} methods, {settings['n_draws']} draws{sample_words(settings)}"
    return columns, f"{what}; mean rank 1 is best"


def deliver(columns: dict[str, np.ndarray], options: dict[str, Any], about: dict[str, Any]) -> bool:
    """Write a ranking where it was asked for; on standard output for "-"."""
    if options["out"] == "-":
        print(ranking_text(columns), end="")
    elif options["out"]:
        formulas = "escape" if options["escape_formulas"] else "keep"
        write_ranking(options["out"], columns, force=options["force"], about=about, formulas=formulas)
    return bool(options["out"])


def write_comparison(path: str, result: Any, force: bool) -> None:
    """The summary as JSON, every value as anything else."""
    if not path.lower().endswith(".json"):
        write_ranking(path, result.table, force=force)
        return
    with replacing(path, force) as temporary:
        temporary.write_text(json.dumps(result.summary(), indent=1, allow_nan=False) + "\n", encoding="utf-8")


def title(job: Job, criterion: Criterion) -> str:
    n, m = job.table.shape
    good = direction(criterion.greater_is_better)
    return f"{text_of(criterion)} on {job.table.source.name}: {n} rows, {m} features; {good}"
