"""What the page exports: pairs, labels and the ranking as CSV, a command line and a script that repeat the selection.

Rows are named by their ids if the table has ids, and by their numbers from 0 otherwise, as the command line reads them.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.labels import ranking_text
from ..errors import ParameterError
from ..syntax import short_text
from ..version import __version__
from .state import Message, Origin, State

# How the command line reads a file: options with one value, switches, and options that can be repeated.
_VALUES = ("labels", "names", "layer", "sheet", "skip_rows", "scale", "unlabeled", "impute", "task")
_SWITCHES, _REPEATED = ("transpose", "numeric_only"), ("category", "drop")
READING = {"target", "id_columns", "header", *_VALUES, *_SWITCHES, *_REPEATED}


def export(state: State, what: Any) -> Message:
    """One of the files, as a message."""
    if what not in _FILES:
        raise ParameterError(f"what must be one of {', '.join(_FILES)}, got {what!r}.", parameter="what")
    if what in ("ranking", "report") and state.ranked.trouble is not None:
        raise ParameterError(f"there is no ranking to export: {state.ranked.trouble}")
    name, write = _FILES[what]
    return {"type": "export", "what": what, "name": name, "text": write(state)}


def report_text(state: State) -> str:
    """The HTML report about the rows that are shown."""
    from ..report import render_html, summarize

    told, banned = state.supervision(state.rows), set(state.known.banned)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows them
        selector, problem = state.live.fit_kept(state.settings, state.known, told)
    told.pop("unlabeled")
    names = [name for j, name in enumerate(state.feature_names) if j not in banned]
    return render_html(
        summarize(selector, problem, feature_names=names, source=state.origin.data or "data in memory", **told)
    )


def pairs_text(state: State) -> str:
    """All known pairs as CSV: two rows, and must or cannot."""
    pairs = sorted((i, j, link) for (i, j), (link, _) in state.known.pairs.items())
    named = [(state.row_name(i), state.row_name(j), link) for i, j, link in pairs]
    return _csv(("first", "second", "link"), named)


def labels_text(state: State) -> str:
    """All known labels as CSV: row and label."""
    return _csv(("row", "label"), [(state.row_name(i), label) for i, label in sorted(state.known.labels.items())])


def _csv(names: tuple[str, ...], rows: list[tuple[Any, ...]], **more: Any) -> str:
    columns = np.empty((len(rows), len(names)), dtype=object)
    for at, row in enumerate(rows):
        columns[at] = row
    return ranking_text(dict(zip(names, columns.T, strict=True)) | more)


def ranking_csv(state: State) -> str:
    """The ranking as CSV: feature, score, rank, whether it is selected, and the share explained by sets.

    It is the ranking on all rows, if it was computed for the current answers.
    """
    final = None if state.final is None or state.final[0] != state.revision else state.final[1].ranked
    ranked = final or state.ranked
    order, n = ranked.order, len(ranked.order)
    columns = {"score": ranked.scores[order], "rank": np.arange(1, n + 1)}
    columns["selected"] = (np.arange(n) < ranked.n_selected).astype(int)
    if ranked.explained is not None:
        columns["explained"] = np.r_[ranked.explained, np.full(n, np.nan)][:n]
    return _csv(("feature",), [(state.feature_names[j],) for j in order], **columns)


def command_text(state: State) -> str:
    """A shell command that repeats the ranking from the files pairs.csv and labels.csv."""
    origin, known, settings, names = state.origin, state.known, state.settings, state.feature_names
    options, words = dict(origin.options), ["fiedler", "rank", origin.data or "DATA.csv"]
    drop = [*(options.get("drop") or ()), *(names[j] for j in sorted(known.banned))]
    changed = bool(known.labelled_by)
    if changed:
        if options.get("target") is not None:
            drop.append(options["target"])
        options |= {"target": None, "labels": "labels.csv", "unlabeled": None}
    if options.get("target") is not None:
        words += ["--target", str(options["target"])]
    ids = [str(column) for column in options.get("id_columns") or ()]
    if state.has_unique_ids:
        words += [word for column in ids for word in ("--id", column)]
    else:  # rows are named by their numbers in the exported files
        drop += ids
    options["drop"] = drop
    flags = {name: f"--{name.replace('_', '-')}" for name in (*_VALUES, *_SWITCHES, *_REPEATED)}
    for name in _VALUES:
        if options.get(name) not in (None, "auto"):
            words += [flags[name], str(options[name])]
    if options.get("header") is not None:
        words.append("--header" if options["header"] else "--no-header")
    words += [flags[name] for name in _SWITCHES if options.get(name)]
    words += [word for name in _REPEATED for column in options.get(name) or () for word in (flags[name], str(column))]
    words += ["--pairs", "pairs.csv"] * bool(known.pairs)
    words += [word for feature in known.pinned for word in ("--include", names[feature])]
    words += ["-m", short_text(settings.criterion()), "--top", str(max(settings.n_features, len(known.pinned)))]
    words += ["--out", "ranking.csv"]
    files = ["labels.csv"] * changed + ["pairs.csv"] * bool(known.pairs)
    comment = f"# Export {' and '.join(files)} to the same folder first.\n" if files else ""
    if known.banned and state.problem.known is not None:
        comment += "# Missing values are filled without the banned features, so scores can differ a little.\n"
    return comment + shlex.join(words) + "\n"


def script_text(state: State) -> str:
    """A Python script that repeats the selection; answers are written into it."""
    origin, known, settings, names = state.origin, state.known, state.settings, state.feature_names
    links, scale = known.links(), origin.options.get("scale")
    scaled = f".scaled({scale!r})" if scale not in (None, "none", "keep") else ""
    lines = [
        f'"""The selection of a session of fiedler explore (fiedler {__version__})."""',
        "",
        *["from dataclasses import replace", ""] * bool(origin.data and origin.options.get("impute")),
        "import numpy as np",
        "",
        "from fiedler import Problem, SpectralSelector",
        "from fiedler.io import as_labels, fill_missing, read_table",
        "",
    ]
    if origin.data:
        lines += [*_reading(origin), f"problem = Problem.read(table.prepared, table.feature_names){scaled}"]
        lines.append("y, names = table.y, table.feature_names")
    else:
        lines += [f"names = {names!r}", "# X and y are the data of the session; y is None without labels."]
        lines.append(f"problem = Problem.read(X){scaled}")
    if known.labelled_by:
        lines.append(f"labels = {dict(sorted(known.labels.items()))!r}  # row number: label")
        lines.append(f"y = as_labels([labels.get(row) for row in range({known.given.n_samples})])")
    for kind, pairs in links.items():
        lines.append(f"{kind} = np.array({np.asarray(pairs).tolist()!r}, dtype=int).reshape(-1, 2)")
    number = min(max(settings.n_features, len(known.pinned)), len(names) - len(known.banned))
    told = "".join(f", {kind}={kind}" for kind in links)
    lines += [
        f"pinned, banned = {known.pinned!r}, {sorted(known.banned)!r}  # numbers of features",
        "kept = np.setdiff1d(np.arange(problem.n_features), banned)",
        "selector = SpectralSelector(",
        f"    {short_text(settings.criterion())!r},",
        f"    n_features_to_select={number},",
        f"    unlabeled={known.y()[1]!r},",
        "    include=np.searchsorted(kept, pinned).tolist() or None,",
        ")",
        "part = problem.take_columns(np.isin(np.arange(problem.n_features), kept))",
        f"selector.fit(part, y{told})",
        f"selected = [str(names[j]) for j in kept[selector.order_[:{number}]]]",
        "print(*selected, sep='\\n')",
    ]
    return "\n".join(lines) + "\n"


def _reading(origin: Origin) -> list[str]:
    """Lines that read the table as the command line did."""
    options = origin.options
    given = {name: options.get(name) for name in ("target", "labels", "names", "layer", "header", "sheet", "skip_rows")}
    marker = options.get("unlabeled")
    given["unlabeled"] = None if marker is None or str(marker).lower() == "none" else marker
    given |= {name: options.get(name) or None for name in _SWITCHES}
    for name, option in (("id_column", "id_columns"), ("drop", "drop"), ("categories", "category")):
        given[name] = list(options.get(option) or ()) or None
    words = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
    fill = f"table = replace(table, X=fill_missing(table, {options.get('impute')!r}))"
    return [f"table = read_table({origin.data!r}{words})", *[fill] * bool(options.get("impute"))]


# For everything that can be exported the name of its file, and the function that writes it.
_FILES: dict[str, tuple[str, Callable[[State], str]]] = {
    "pairs": ("pairs.csv", pairs_text),
    "labels": ("labels.csv", labels_text),
    "ranking": ("ranking.csv", ranking_csv),
    "command": ("command.sh", command_text),
    "script": ("selection.py", script_text),
    "report": ("report.html", report_text),
}
