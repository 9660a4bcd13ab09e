"""What the page exports: pairs, labels and the ranking as CSV, a command line and a script that repeat the selection.

Rows are named by their ids if the table has ids, and by their numbers from 0 otherwise, as the command line reads them.
"""

from __future__ import annotations

import shlex
import warnings
from typing import Any

import numpy as np

from ..data.labels import ranking_text
from ..errors import ParameterError
from ..syntax import short_text
from ..version import __version__
from .answers import Known
from .live import Ranked, Settings
from .origin import Origin
from .state import Message, State

KINDS = ("pairs", "labels", "ranking", "command", "script", "report")
_FILES = {"pairs": "pairs.csv", "labels": "labels.csv", "ranking": "ranking.csv"}
_FILES |= {"command": "command.sh", "script": "selection.py", "report": "report.html"}
# How the command line reads a file: options with one value, switches, and options that can be repeated.
_VALUES = ("labels", "names", "layer", "sheet", "skip_rows", "scale", "unlabeled", "impute", "task")
_SWITCHES, _REPEATED = ("transpose", "numeric_only"), ("category", "drop")
READING = {"target", "id_columns", "header", *_VALUES, *_SWITCHES, *_REPEATED}


def export(state: State, what: Any) -> Message:
    """One of the files, as a message."""
    if what not in KINDS:
        raise ParameterError(f"what must be one of {', '.join(KINDS)}, got {what!r}.", parameter="what")
    return {"type": "export", "what": what, "name": _FILES[what], "text": _exported(state, what)}


def _exported(state: State, what: str) -> str:
    if what == "pairs":
        return pairs_text(state.known, state.row_name)
    if what == "labels":
        return labels_text(state.known, state.row_name)
    if what == "command":
        return command_text(state)
    if what == "script":
        return script_text(state.origin, state.known, state.settings, state.feature_names)
    final = None if state.final is None or state.final[0] != state.revision else state.final[1].ranked
    if state.ranked.trouble is not None:
        raise ParameterError(f"there is no ranking to export: {state.ranked.trouble}")
    if what == "ranking":
        return ranking_csv(final or state.ranked, state.feature_names)
    return _report(state)


def _report(state: State) -> str:
    """The HTML report about the rows that are shown."""
    from ..report import render_html, summarize

    told = state.supervision(state.rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the page shows them
        selector, problem = state.live.fit_kept(state.settings, state.known, told)
    told.pop("unlabeled")
    banned = set(state.known.banned)
    names = [name for j, name in enumerate(state.feature_names) if j not in banned]
    source = state.origin.data or "data in memory"
    summary = summarize(selector, problem, feature_names=names, source=source, **told)
    return render_html(summary)


def pairs_text(known: Known, name: Any) -> str:
    """All known pairs as CSV: two rows, and must or cannot."""
    pairs = sorted((i, j, link) for (i, j), (link, _) in known.pairs.items())
    columns = {"first": [name(i) for i, _, _ in pairs], "second": [name(j) for _, j, _ in pairs]}
    return ranking_text({**_objects(columns), "link": _object([link for _, _, link in pairs])})


def labels_text(known: Known, name: Any) -> str:
    """All known labels as CSV: row and label."""
    rows = sorted(known.labels)
    return ranking_text(_objects({"row": [name(i) for i in rows], "label": [known.labels[i] for i in rows]}))


def ranking_csv(ranked: Ranked, names: list[str]) -> str:
    """The ranking as CSV: feature, score, rank, whether it is selected, and the share explained by sets."""
    order = ranked.order
    columns: dict[str, Any] = {"feature": _object([names[j] for j in order]), "score": ranked.scores[order]}
    columns["rank"] = np.arange(1, len(order) + 1)
    columns["selected"] = (np.arange(len(order)) < ranked.n_selected).astype(int)
    if ranked.explained is not None:
        columns["explained"] = np.r_[ranked.explained, np.full(len(order), np.nan)][: len(order)]
    return ranking_text(columns)


def command_text(state: State) -> str:
    """A shell command that repeats the ranking from the files pairs.csv and labels.csv."""
    origin, known, settings, names = state.origin, state.known, state.settings, state.feature_names
    options, words = dict(origin.options), ["fiedler", "rank", origin.data or "DATA.csv"]
    drop = [*(options.get("drop") or ()), *(names[j] for j in sorted(known.banned))]
    if _labels_changed(known):
        if options.get("target") is not None:
            drop.append(options["target"])
        options |= {"target": None, "labels": _FILES["labels"], "unlabeled": None}
    if options.get("target") is not None:
        words += ["--target", str(options["target"])]
    ids = [str(column) for column in options.get("id_columns") or ()]
    if state.has_unique_ids:
        words += [word for column in ids for word in ("--id", column)]
    else:  # rows are named by their numbers in the exported files
        drop += ids
    options["drop"] = drop
    for name in _VALUES:
        if options.get(name) not in (None, "auto"):
            words += [_flag(name), str(options[name])]
    if options.get("header") is not None:
        words.append("--header" if options["header"] else "--no-header")
    words += [_flag(name) for name in _SWITCHES if options.get(name)]
    words += [word for name in _REPEATED for column in options.get(name) or () for word in (_flag(name), str(column))]
    if known.pairs:
        words += ["--pairs", _FILES["pairs"]]
    for feature in known.pinned:
        words += ["--include", names[feature]]
    words += [
        "-m",
        short_text(settings.criterion()),
        "--top",
        str(max(settings.n_features, len(known.pinned))),
        "--out",
        _FILES["ranking"],
    ]
    files = [_FILES["labels"]] * _labels_changed(known) + [_FILES["pairs"]] * bool(known.pairs)
    comment = f"# Export {' and '.join(files)} to the same folder first.\n" if files else ""
    if known.banned and state.problem.known is not None:
        comment += "# Missing values are filled without the banned features, so scores can differ a little.\n"
    return comment + shlex.join(words) + "\n"


def script_text(origin: Origin, known: Known, settings: Settings, names: list[str]) -> str:
    """A Python script that repeats the selection; answers are written into it."""
    changed, links = _labels_changed(known), known.links()
    in_memory = [f"names = {names!r}", "# X and y are the data of the session; y is None without labels."]
    reading = _reading(origin) if origin.data else [*in_memory, f"problem = Problem.read(X){_scaled(origin)}"]
    lines = [
        f'"""The selection of a session of fiedler explore (fiedler {__version__})."""',
        "",
        "import numpy as np",
        "",
        "from fiedler import Problem, SpectralSelector",
        "from fiedler.data.columns import Prepared",
        "from fiedler.io import as_labels, fill_missing, read_table",
        "",
        *reading,
    ]
    if changed:
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
    alike = ("target", "labels", "names", "layer", "header", "sheet", "skip_rows")
    given = {name: options.get(name) for name in alike}
    marker = options.get("unlabeled")
    given["unlabeled"] = None if marker is None or str(marker).lower() == "none" else marker
    given |= {name: options.get(name) or None for name in _SWITCHES}
    for name, option in (("id_column", "id_columns"), ("drop", "drop"), ("categories", "category")):
        given[name] = list(options.get(option) or ()) or None
    words = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
    return [
        f"table = read_table({origin.data!r}{words})",
        f"X = fill_missing(table, {options['impute']!r})" if options.get("impute") else "X = table.X",
        f"problem = Problem.read(Prepared(X, table.groups), table.feature_names){_scaled(origin)}",
        "y, names = table.y, table.feature_names",
    ]


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _scaled(origin: Origin) -> str:
    scale = origin.options.get("scale")
    return f".scaled({scale!r})" if scale not in (None, "none", "keep") else ""


def _labels_changed(known: Known) -> bool:
    return bool(known.labelled_by)


def _object(values: list[Any]) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _objects(columns: dict[str, list[Any]]) -> dict[str, np.ndarray]:
    return {name: _object(values) for name, values in columns.items()}
