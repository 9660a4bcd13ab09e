"""From options to results: read the files, choose the method, fit, and lay the ranking out in columns.

Large files are read in blocks within a limit of memory, by workers if these are asked for.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shlex
import tempfile
import threading
import warnings
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn import config_context, get_config
from threadpoolctl import threadpool_limits

from ..anndata import depth_of, on_given_graph, stored_graph
from ..criteria import Criterion
from ..data import columns, formats, matrices, memory, tables
from ..data.dask import from_source
from ..data.labels import RANKING_SUFFIXES, is_known, read_pairs
from ..data.source import Source
from ..graphs import Anchors
from ..methods import METHODS, SmoothSubset
from ..problem import Problem
from ..selection.choice import ALPHA
from ..selector import SpectralSelector
from ..sets.formula import can_be_formed
from ..supervision import Supervision
from ..syntax import as_criterion, short_text
from ..validation import require
from ..version import __version__, software
from ..words import direction
from .kinds import PROCESS
from .screen import Screen

USUAL_SET, _FEW = 50, 10  # features of a set, and those of a ranking that are compared, where no number is asked for
_MANY_ROWS, _MANY_ROWS_OF_FILES = 100_000, 20_000  # with more, a graph has anchors if no method was named
_LARGE = 10.0  # MB of a file whose size is shown while it is read
_SHARE = 3.0  # how many times scikit-learn's working memory a job was seen to need at its largest moment
_SECONDS = 10  # a scheduler may take to answer
# Options that say where results go and what is shown. Every other option is taken to change the blocks of a job.
_CHANGES_NO_BLOCK = frozenset({"out", "report", "force", "quiet", "escape_formulas"})
_AS_READ = ("target", "labels", "names", "layer", "header", "sheet", "numeric_only", "skip_rows", "transpose")


@dataclass
class Job:
    """Everything a command needs, read and checked."""

    table: tables.Table
    read: Problem  # as it is in the file
    problem: Problem  # scaled, if this is asked for
    pairs: dict[str, Any]  # must_link and cannot_link
    unlabeled: Any
    command: str
    options: dict[str, Any]
    included: list[int]  # column numbers of the features that are selected in any case
    criterion: Any = None  # the method asked for, or the one that reads what is known

    @property
    def on_places(self) -> bool:
        """Whether features are tested on a graph that is given: tests, and their number, are then the default."""
        return self.criterion.traits.counts

    @property
    def told(self) -> dict[str, Any]:
        """What evaluations are told: labels, pairs, and the seed of their draws."""
        return {"y": self.table.y, "unlabeled": self.unlabeled, "random_state": self.options["seed"], **self.pairs}

    def fit(self, n_features: int | float | str | None, screen: Screen) -> SpectralSelector:
        """A selector with the method, or with its text if this says all of it, as messages call it then.

        A note says which features were left out as noise.
        """
        method, text = self.criterion, short_text(self.criterion)
        with suppress(ValueError):
            method = text if repr(as_criterion(text)) == repr(method) else method
        options = {name: self.options.get(name) for name in ("redundancy", "alpha")}
        options |= {"unlabeled": self.unlabeled, "include": self.included or None}
        options["screen"] = None if self.options.get("screen") == "none" else self.options.get("screen", "auto")
        options["scale"] = "keep" if self.options["scale"] else None  # X is scaled already, for all commands alike
        n_features = "fdr" if n_features is None and self.on_places else n_features
        selector = SpectralSelector(method, n_features_to_select=n_features, **options)
        with warnings.catch_warnings():
            if self.options.get("top") is None:  # the number is ours
                warnings.filterwarnings("ignore", "n_features_to_select=")
            selector.fit(self.problem, self.table.y if self.criterion.uses else None, **self.pairs)
        if not getattr(selector, "kept_", np.ones(1, dtype=bool)).all():
            screen.note(f"{selector.screen_}; --screen none keeps them")
        return selector

    def about(self) -> dict[str, Any]:
        """What was run, for the file that keeps it."""
        return {
            "fiedler": __version__,
            "source": str(self.table.source),
            "n_samples": self.table.shape[0],
            "n_features": self.table.shape[1],
            "method": short_text(self.criterion),
            "direction": direction(self.criterion.greater_is_better),
            "seed": self.options["seed"],
        }


def check(data: str, options: dict[str, Any], page: bool = False) -> None:
    """What can be known to fail before any file is read."""
    if options["target"] is not None and options["labels"] is not None:
        raise click.UsageError("--target and --labels both give the labels; choose one.")
    out, session = options.get("out"), options.get("session")
    report = out if page else options.get("report")
    if report and not report.lower().endswith((".html", ".htm")):
        raise click.UsageError(f"{report}: a report is an .html file.")
    suffix = os.path.splitext(str(out))[1].lower()
    needed = [("matplotlib", "report"), ("jinja2", "report")] * bool(report)
    needed += [("pyarrow", "io")] * (suffix in (".parquet", ".feather")) + [("openpyxl", "io")] * (suffix == ".xlsx")
    needed += [("starlette", "explore"), ("uvicorn", "explore")] * ("session" in options)
    for module, extra in needed:  # what is missing is said before the work
        require(module, extra, report or out or "fiedler explore")
    if session is not None and os.path.realpath(session) == os.path.realpath(data):
        raise click.UsageError(f"--session {session} is {data}; answers never replace their own data.")
    if out == "-" and "escape_formulas" not in options:
        raise click.UsageError("--out - writes a ranking to standard output; name a file here.")
    if "report" in options and out not in (None, "-") and not out.lower().endswith(RANKING_SUFFIXES):
        raise click.UsageError(f"--out {out}: results are written as {', '.join(RANKING_SUFFIXES)}.")
    inputs = [data, *(options.get(name) for name in ("labels", "names", "must_link", "cannot_link", "pairs"))]
    for path in (out, report):
        if path in (None, "-"):
            continue
        length, most = len(os.fsencode(os.path.basename(path))), longest_name(os.path.dirname(path) or ".")
        if length > most:
            has = f"this name has {length} bytes, but a name in this folder has at most {most}"
            raise click.UsageError(f"{path[:20]}...: {has}; choose a shorter one.")
        for given in filter(None, inputs):  # two names may lead to one file, through links too
            both = os.path.exists(given) and os.path.exists(path)
            if os.path.samefile(given, path) if both else os.path.realpath(given) == os.path.realpath(path):
                raise click.UsageError(f"{path} is {given}, which is read; results never replace their own data.")
        formats.check_output(path, options["force"])


def load(data: str, options: dict[str, Any], screen: Screen) -> Job:
    """Read the table, its labels and its pairs, and choose the method."""
    # A method that cannot be is refused before a file is read.
    for method in options.get("methods", (options.get("method"),)):
        _ = method is not None and as_criterion(method).greater_is_better
    marker = options["unlabeled"]
    with memory.memory_limit(memory.allocation_limit()):
        file: Any = tables.ReadOnce(data) if options["auto"] else data
        if options["auto"]:
            _guess(file, options, screen)
        with screen.watching(f"reading {with_size(data)}"):
            table = formats.read_table(
                file,
                id_column=[*options["id_columns"], *_place_columns(data, options)] or None,
                unlabeled=None if str(marker).lower() == "none" else marker,
                memory=memory_for_data(options),
                drop=list(options["drop"]) or None,
                categories=options["category"] or None,
                **{name: options[name] for name in _AS_READ},
            )
            X = tables.fill_missing(table, options["impute"]) if options["impute"] else table.X
            tables.check_infinite(table)
            if options.get("workers") or options.get("scheduler"):
                if isinstance(X, Source):
                    X = from_source(X)
                else:
                    whole = "this format is read as a whole, so --workers and --scheduler are not used"
                    screen.note(f"{whole}; Zarr and HDF5 are not")
            problem = Problem.read(columns.Prepared(X, table.groups), table.feature_names)
            scaled, pairs = _placed(data, options, problem.scaled(options["scale"] or "keep")), {}
            files = {"must": options["must_link"], "cannot": options["cannot_link"], None: options["pairs"]}
            read = [read_pairs(path, table.row_ids, table.shape[0], kind) for kind, path in files.items() if path]
            if read:
                must, cannot = (np.concatenate(part) for part in zip(*read, strict=True))
                pairs = {"must_link": must, "cannot_link": cannot}
    if not (options["auto"] or options["target"] or options["labels"]):
        from ..first_look import called_targets

        names, categories = table.feature_names.tolist(), [] if table.groups is None else list(table.groups.levels)
        called, ends = called_targets(names), {0, len(names) - 1}
        if called or (len(categories) == 1 and ends & {*categories}):
            name = shlex.quote(str(names[called[0] if called else categories[0]]))
            screen.note(f"{name} looks like a target, but is a feature here; use --target {name}, or --drop {name}")
    # A marker that was named has been applied by the reader: -1 is then a class like any other.
    command = click.get_current_context().command.name or ""
    names = list(map(str, table.feature_names))
    included = [tables.position(column, names, table.source) for column in options.get("include", ())]
    problem = problem if options["scale"] else scaled
    job = Job(table, problem, scaled, pairs, -1 if marker is None else None, command, options, included)
    if "methods" in options and not options["methods"]:
        more = {"classes": ("fisher",), "target": ("correlation",)}.get(_known_task(job, screen), ())
        options["methods"] = ("subset", "laplacian", *more)
        screen.note(f"comparing {', '.join(options['methods'])}; --method chooses others")
    job.criterion = as_criterion(options["methods"][0]) if "methods" in options else _chosen(job, screen)
    return job


# -------------------------------------------------------------------- where the rows are


def _place_columns(data: str, options: dict[str, Any]) -> list[str]:
    """Columns of a table that say where the rows are, which are no features; an .h5ad file keeps them apart."""
    if formats.file_format(data) == "h5ad":
        return []
    depth = options.get("depth", "auto")
    named = [*_coordinates(options), options.get("block"), depth if depth not in ("auto", "none") else None]
    return [column for column in named if column]


def _coordinates(options: dict[str, Any]) -> list[str]:
    return [name.strip() for name in (options.get("coordinates") or "").split(",") if name.strip()]


def _placed(data: str, options: dict[str, Any], problem: Problem) -> Problem:
    """The problem on the graph, in the blocks and with the depths that are asked for."""
    key, columns, block, depth = options.get("graph"), _coordinates(options), options.get("block"), options.get("depth")
    layout = {name: options[name] for name in ("header", "sheet", "skip_rows", "transpose", "layer")}

    def column(name: str) -> Any:
        """One column of the table, or of obs."""
        with warnings.catch_warnings(action="ignore"):  # what there is to say about the table has been said
            return formats.read_table(data, target=name, memory=memory_for_data(options), **layout).y

    blocks = None if block is None else column(block)
    if key is None and not columns:
        return problem.divided(blocks)
    if key is not None and columns:
        raise click.UsageError("--graph and --coordinates both give a graph; choose one.")
    if key is not None and formats.file_format(data) != "h5ad":
        raise click.UsageError(f"--graph {key}: {data} holds no graphs; name columns with --coordinates x,y.")
    if key is not None:
        part, stored = matrices.read_places(Path(data), key)
    else:
        part, stored = "obsm", np.column_stack([np.asarray(column(name), dtype=np.float64) for name in columns])
    options["method"] = options["method"] or "multiscale"
    criterion = as_criterion(options["method"])
    problem = Problem.of(problem, graph=stored_graph(part, key or "spatial", stored, criterion, blocks))
    problem.places = None if part == "obsp" else np.asarray(stored, dtype=np.float64)[:, :2]
    if criterion.traits.counts:
        problem = problem.counted(depth_of(None if depth == "none" else depth, problem.X, column))
    return problem.divided(blocks)


def with_size(data: str | os.PathLike) -> str:
    """The name of a file, and its size if reading may take a while: not every format tells how far it is."""
    size = os.path.getsize(data) / 1e6 if os.path.isfile(data) else 0.0
    return f"{data} ({size:.0f} MB)" if size >= _LARGE else str(data)


def _guess(data: tables.ReadOnce, options: dict[str, Any], screen: Screen) -> None:
    """Fill in what the user has not said by the guesses of a first look, and say so."""
    from ..first_look import FLAGS, flags_of, look

    layout = {name: options[name] for name in ("sheet", "header", "skip_rows", "transpose", "layer")}
    # What is to be said is said when the table is made.
    with screen.watching(f"looking at {with_size(data)}"), warnings.catch_warnings(action="ignore"):
        seen = look(data, **layout)
    guesses, mixed = seen.guesses, any(column.kind == "category" for column in seen.columns)
    if options["numeric_only"] and mixed:  # with its categories the table would be standardised
        guesses["scale"] = "standard"
    said = {options["target"], *options["id_columns"], *options["drop"], *options.get("include", ())}
    if options["target"] is not None or options["labels"] is not None or guesses["target"] in said:
        guesses["target"] = None
    for name in ("id_columns", "drop"):
        guesses[name] = tuple(column for column in guesses[name] if column not in said)
    guesses["id_columns"] = () if options["id_columns"] else guesses["id_columns"]
    guesses["scale"] = guesses["scale"] if options["scale"] is None else None
    flags = flags_of(guesses)
    more = f" and {(len(flags) - 2 * FLAGS) // 2} more" * (len(flags) > 2 * FLAGS + 1)
    screen.note(f"--auto: {' '.join(flags[: 2 * FLAGS] if more else flags) or 'nothing to add'}{more}")
    options |= {name: guesses[name] for name in ("target", "scale", "sheet") if guesses[name] is not None}
    options |= {name: (*options[name], *guesses[name]) for name in ("id_columns", "drop")}
    options["transpose"] = guesses["transpose"] or options["transpose"]


# -------------------------------------------------------------------- which method


def _chosen(job: Job, screen: Screen) -> Criterion:
    """The method asked for; or the set that keeps the structure of the rows, or a ranking if that is too large."""
    if job.options["method"] is not None:
        criterion = as_criterion(job.options["method"])
        if job.problem.given is not None:
            criterion = on_given_graph(criterion, "--graph or --coordinates")
        if not criterion.uses and (job.options["target"] is not None or job.options["labels"] is not None):
            screen.note(f"{short_text(criterion)} reads no labels; the target is only kept out of the features")
    else:
        task, X = "nothing" if job.pairs else _known_task(job, screen), job.problem.X
        # One graph of few anchors for all parts: a search for neighbours grows with the square of the rows.
        many = X.shape[0] > (_MANY_ROWS_OF_FILES if isinstance(X, Source) else _MANY_ROWS)
        named = "[graph=anchors]" if many else ""
        if can_be_formed(X):
            read = "pairs" if job.pairs else {"classes": "class labels", "target": "the target"}.get(task, "no labels")
            screen.note(f"method subset{named}, a set of features chosen with {read}; --method chooses another")
            criterion = SmoothSubset(Anchors() if many else None, task=job.options["task"])
        else:
            name = "constraint" if job.pairs else {"classes": "sselect", "target": "ssls"}.get(task, "laplacian")
            named = named if "graph" in signature(METHODS[name]).parameters else ""
            screen.note(f"method {name}{named}, chosen by what is known about the rows; --method chooses another")
            criterion = as_criterion(f"{name}{named}")
        if named:
            plain = short_text(criterion).partition("[")[0]
            screen.note(
                f"{X.shape[0]:,} rows are many, so the graph has anchors; -m {plain} has neighbours and is slower"
            )
    return criterion


def _known_task(job: Job, screen: Screen) -> str:
    """Whether the labels are classes, a target or nothing; a note says so if the rule decided it."""
    y, stated = job.table.y, job.options["task"]
    if y is None or not is_known(y).any():
        return "nothing"
    task, y = Supervision(len(y), y, unlabeled=job.unlabeled).task(stated), y[is_known(y)]
    different = len(set(y.tolist()))
    if stated == "auto" and y.dtype.kind != "O":
        what = f"{different} classes" if task == "classes" else f"a real target with {different} values"
        screen.note(f"the labels are taken as {what}; --task changes this")
    if task == "classes" and 2 * different > len(y) > 2:
        screen.note(f"{different} classes among {len(y)} labelled rows: hardly any class has two")
    return task


# -------------------------------------------------------------------- rank and compare


def ranking(job: Job, selector: SpectralSelector, drawn: Any = None, tested: Any = None) -> dict[str, np.ndarray]:
    """Feature, score (or what it adds to a set) and rank, and what else was asked for, best first."""
    order, names = selector.order_[: job.options["top"]], job.table.feature_names
    explained, behind, gains = (getattr(selector, name, None) for name in ("explained_", "stands_for_", "gains_"))
    value = {"score": selector.scores_[order]} if gains is None else {"gain": gains[order]}
    columns = {"feature": names[order], **value, "rank": selector.ranking_[order]}
    if explained is not None:
        columns["explained"] = np.r_[explained, np.full(len(selector.order_), np.nan)][: len(order)]
    if behind is not None:
        columns["stands_for"] = np.array(["; ".join(map(str, names[behind == j])) for j in order], dtype=object)
    if drawn is not None:
        columns["frequency"] = drawn.frequency[order]
    if tested is not None:
        columns |= {"p": tested.pvalues[order], "q": tested.qvalues[order], "effect": tested.effect[order]}
        if tested.scale is not None:
            columns["scale"] = tested.scale[order]
    return columns


def frequencies(job: Job, selector: SpectralSelector) -> Any:
    """How often each feature is among the first k on a part of the rows: k is --top, what a set needs, or ten."""
    from ..evaluate import stability
    from ..evaluate.tuning import enough

    m, top, explained = len(selector.scores_), job.options["top"], getattr(selector, "explained_", None)
    if top is not None:
        k = min(top, m)
    else:
        k = m // 2 if explained is None else m - 1  # never all features
        k = max(1, min(_FEW if explained is None else enough(explained)[0] or len(explained), k))
    with warnings.catch_warnings(action="ignore"):  # the fit on all rows has said what there is to say
        return stability(job.criterion, job.problem, k=k, n_draws=job.options["stability"], **job.told)


def tested(job: Job, screen: Screen) -> Any:
    """Test which features are more than noise, and print their number as a note."""
    from ..evaluate import significance

    alpha = job.options.get("alpha") or ALPHA
    found = significance(job.criterion, job.problem, alpha=alpha, **job.told)
    real, m = found.n_significant(alpha), len(found.pvalues)
    of = "" if found.test == "score" else f"; p: {found.test}"
    if of and job.options.get("target"):
        of = f"; p: association with {job.options['target']}"
    screen.note(f"{real} of {m} features are more than noise at a false discovery rate of {alpha:g}{of}")
    return found


def prediction(job: Job, selector: SpectralSelector, n_features: int | None, screen: Screen) -> str:
    """What the first features predict on held-out rows, in words; empty without labels, or if it would be slow.

    By default these are the features of a set that are enough to explain the table.
    """
    y = job.table.y
    if screen.quiet or y is None or not is_known(y).any():
        return ""
    from ..evaluate.compare import beside_baselines, prediction_words
    from ..evaluate.tuning import enough

    first = n_features or (enough(selector.explained_)[0] if job.criterion.is_set else None)
    if first is None:
        return ""
    with screen.watching("predicting held-out rows"), warnings.catch_warnings(action="ignore"):
        found = beside_baselines(job.criterion, job.problem, y, first, job.options["task"], job.unlabeled)
    return "" if found is None else f"{first:,} features: {prediction_words(found)}"


def comparison(job: Job, screen: Screen, resume_from: Any = None) -> Any:
    """Every method on every draw; finished cells are kept in a folder."""
    from ..evaluate import compare

    given, n = job.options, job.table.shape[0]
    if given["rows"] < n:
        sample = f"a random sample of {given['rows']} of {n} rows"
        screen.note(f"methods are compared on {sample} (--seed); --rows {n} uses all")
    options = {name: given[name] for name in ("judge", "estimator", "standardize", "task")}
    options |= {"n_features": given["features"], "n_draws": given["draws"], "n_labels": given["shown"]}
    options |= {"metrics": given["metrics"] or None, "most_rows": given["rows"]}
    options |= {"n_jobs": given["jobs"] or -1, "resume_from": resume_from}
    with screen.watching("comparing"):
        return compare(given["methods"], job.problem, **options, **job.told)


def comparison_columns(result: Any) -> tuple[dict[str, np.ndarray], str]:
    """One row per method, best first: its mean rank, its best mean value and where, seconds and stability there."""
    from ..evaluate.compare import best_points, sample_words

    summary = result.summary()
    metric, settings, rows = summary["settings"]["metrics"][0], summary["settings"], []
    for name, rank, best, size in best_points(summary, metric):
        about = summary["methods"][name]
        at, stable = about["curves"][metric]["n_features"].index(size), about["stability"]
        rows.append((name, rank, best, size, about["seconds"], np.nan if stable is None else stable["jaccard"][at]))
    names = ("method", "mean_rank", f"best_{metric}", "n_features", "seconds", "stability")
    columns = {name: np.array(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
    what = f"{metric} of {len(rows)} methods, {settings['n_draws']} draws{sample_words(settings)}"
    return columns, f"{what}; mean rank 1 is best"


# -------------------------------------------------------------------- memory, workers, and what is kept until the end


def memory_for_data(options: dict[str, Any]) -> float:
    """Bytes a matrix may take before it is left in its file."""
    if "memory" not in options:
        return float("inf")  # a command that needs all of it
    if options.get("workers") or options.get("scheduler"):
        return 0.0  # the workers read it
    return (options["memory"] - PROCESS if options["memory"] else memory.physical_bytes()) / 4


@contextmanager
def resources(options: dict[str, Any], screen: Screen) -> Iterator[None]:
    """The stated cores and memory, shared among the stated workers, for what happens in here."""
    working, workers = get_config()["working_memory"], options.get("workers")
    most: Any = options.get("memory")
    # Bytes of each process that reads data: this one, or the workers when this one has had what it needs to lead.
    each = (most - PROCESS) / workers if most and workers else most
    if most:
        memory.give_back_at_once()
        working = (each - PROCESS) / _SHARE / 2**20
        if working < 8:
            raise click.UsageError(f"--memory leaves each of {workers} workers too little; use fewer, or more memory.")
    limit = memory.memory_limit(most or memory.allocation_limit())  # read from the system once
    cores = threadpool_limits(limits=options.get("jobs"))
    with cores, config_context(working_memory=working), limit, ExitStack() as stack:
        if workers or options.get("scheduler"):
            _join_cluster(stack, workers, options.get("scheduler"), each or "auto", screen)
        yield


def _join_cluster(stack: ExitStack, workers: int | None, address: str | None, limit: Any, screen: Screen) -> None:
    """Start workers here, or use those of a cluster, until the stack is closed."""
    if workers and address:
        raise click.UsageError("--workers starts workers here and --scheduler uses those of a cluster; choose one.")
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ImportError("--workers and --scheduler need Dask: pip install 'fiedler[dask]'") from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # failures reach the user as one line, from here
    if address:
        try:
            stack.enter_context(Client(address, timeout=f"{_SECONDS}s"))
        except (OSError, ValueError, TimeoutError):
            silence = f"no Dask scheduler answers there within {_SECONDS} s; start one with 'dask scheduler'"
            raise ValueError(f"--scheduler {address}: {silence}, or use --workers.") from None
        return
    import dask

    about = {"n_workers": workers, "threads_per_worker": 1, "memory_limit": limit, "dashboard_address": ":0"}
    # A worker that pauses to wait for memory would wait for ever where the interpreter itself takes most of it.
    settings = dask.config.set({"distributed.worker.memory.pause": False})
    with screen.watching(f"starting {workers} workers"), settings:
        stack.enter_context(Client(stack.enter_context(LocalCluster(processes=True, **about))))


@contextmanager
def running(job: Any, screen: Screen, text: str) -> Iterator[None]:
    """Show the progress of a job. Finished blocks of a large file are kept beside the output until the job is done."""
    large = isinstance(job.problem.X, Source)
    if large and job.options.get("report"):
        raise ValueError(f"--report needs {job.table.source} as a whole; give more --memory, or leave the report out.")
    folder = beside(job.options.get("out"), "blocks") if large else None
    shown = screen.watching(text, folder, _fingerprint(job) if large else "")
    with _said_if_interrupted("blocks", folder, screen), shown as run:
        yield
    if run.n_reused:
        screen.note(f"{run.n_reused} finished blocks of an earlier run were used again")


@contextmanager
def keeping_cells(out: str | None, screen: Screen) -> Iterator[Path | None]:
    """The folder beside the output where a comparison keeps its finished cells until the output is written."""
    from ..evaluate.cells import finished_cells, remove_cells

    folder = beside(out, "cells")
    if folder is None:
        yield None
        return
    found = len(finished_cells(folder))
    if found:
        screen.note(f"{folder} has {found} finished cells of an earlier run; those of the same job are used again")
    with _said_if_interrupted("cells", folder, screen):
        try:
            yield folder
        except BaseException:
            if not finished_cells(folder):
                remove_cells(folder)
            raise
    remove_cells(folder)


@contextmanager
def _said_if_interrupted(what: str, folder: Path | None, screen: Screen) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if folder is not None and folder.exists():
            screen.note(f"finished {what} are kept in {folder}; the same command continues from there")
        raise


def beside(out: str | None, ending: str) -> Path | None:
    """The folder for finished parts of a result: its name and an ending, cut to what the file system takes."""
    if out in (None, "-"):
        return None
    path = Path(str(out))
    name, most = path.name, longest_name(path.parent) - len(ending) - 1
    while len(os.fsencode(name)) > most:
        name = name[:-1]
    return path.with_name(f"{name}.{ending}")


def longest_name(folder: Any) -> int:
    """Bytes a name in this folder may have."""
    try:
        return os.pathconf(folder, "PC_NAME_MAX")
    except (AttributeError, ValueError, OSError):
        return 255


def _fingerprint(job: Any) -> str:
    """Changes with anything that can change a block: everything the job was told, but for ``_CHANGES_NO_BLOCK``."""
    y = None if job.table.y is None else [repr(value) for value in np.asarray(job.table.y, dtype=object).tolist()]
    pairs = {kind: values.tolist() for kind, values in job.pairs.items()}
    told = sorted((name, repr(value)) for name, value in job.options.items() if name not in _CHANGES_NO_BLOCK)
    blocks = job.problem.X.fingerprint(), get_config()["working_memory"]
    about = (software(), job.command, short_text(job.criterion), told, blocks, y, pairs, job.unlabeled)
    return hashlib.blake2b(repr(about).encode(), digest_size=16).hexdigest()


# -------------------------------------------------------------------- explore


def explore(data: str, job: Job, screen: Screen, command: str) -> None:
    """Serve the page until it is closed."""
    from ..explore import Origin, Session
    from ..explore.server import serve
    from ..explore.session import SessionFile, default_file

    options, table = job.options, job.table
    with screen.watching("ranking"):
        about = {"feature_names": table.feature_names, "row_ids": table.row_ids, "image": options["image"]}
        about |= {"n_features": None if options["top"] is None else min(options["top"], table.shape[1])}
        about |= {"method": job.criterion, "unlabeled": job.unlabeled, "most_rows": options["rows"]}
        about |= {"scale": options["scale"] or "keep"}  # a note has told of columns that differ
        session = Session(job.read, job.table.y, **job.pairs, **about, origin=Origin(data, options, command))
        kept = SessionFile(options["session"] or default_file(data))
        found = kept.load(session)
        _ = session.places  # so that the page opens at once
    if found:
        screen.note(f"{len(session.answers)} answers of {kept.path} are used again")
    if session.sampled:
        screen.note(f"{len(session.rows)} of {table.shape[0]} rows are shown and ranked live")
    with ExitStack() as stack:

        def opened(address: str) -> None:
            click.echo(f"The page is open at {address}")
            screen.done(f"Answers are kept in {kept.path}. Close the page or press Ctrl-C to end.")
            if not options["no_browser"]:
                path = redirect_file(address)
                stack.callback(path.unlink, missing_ok=True)
                threading.Thread(target=webbrowser.open, args=(path.as_uri(),), daemon=True).start()

        with suppress(KeyboardInterrupt):  # the usual end; every answer is on disk
            serve(session, port=options["port"], save=kept.save, opened=opened)
    if kept.path.exists():
        again = f"to go on from there: {command}"
        screen.done(f"{len(session.answers)} answers are kept in {kept.path}; {again}")
    else:
        screen.done("no answer was given, so nothing is kept")


def redirect_file(address: str) -> Path:
    """A file for this user only that leads to the address: the command line of a browser is visible to all users."""
    handle, name = tempfile.mkstemp(prefix="fiedler-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">')
    return Path(name)
