"""What the page exports: pairs, labels and the ranking as CSV, a command line and a script that repeat the selection.

Rows are named by their ids if the table has ids, and by their numbers from 0 otherwise, as the command line reads them.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..data.labels import ranking_text
from ..errors import ParameterError
from ..syntax import short_text
from ..version import __version__
from .state import Message, State

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


def table_text(state: State, what: str) -> str:
    """All known pairs or labels; or the ranking, that on all rows if it was computed for the current answers."""
    columns: dict[str, Any]
    if what == "pairs":
        pairs = sorted((i, j, link) for (i, j), (link, _) in state.known.pairs.items())
        columns = {
            "first": [state.row_name(i) for i, _, _ in pairs],
            "second": [state.row_name(j) for _, j, _ in pairs],
        }
        columns["link"] = [link for _, _, link in pairs]
    elif what == "labels":
        rows = sorted(state.known.labels)
        columns = {"row": map(state.row_name, rows), "label": [state.known.labels[row] for row in rows]}
    else:
        final = None if state.final is None or state.final[0] != state.revision else state.final[1].ranked
        ranked = final or state.ranked
        order, n = ranked.order, len(ranked.order)
        columns = {"feature": [state.feature_names[j] for j in order], "score": ranked.scores[order]}
        columns |= {"rank": np.arange(1, n + 1), "selected": (np.arange(n) < ranked.n_selected).astype(int)}
        if ranked.explained is not None:
            columns["explained"] = np.r_[ranked.explained, np.full(n, np.nan)][:n]
    # Names in a ranking are only shown; labels and pairs are read again, so they stay as they are.
    table = {name: np.array(list(values), dtype=object) for name, values in columns.items()}
    return ranking_text(table, escape=what not in ("pairs", "labels"))


def report_text(state: State) -> str:
    """The HTML report about the rows that are shown."""
    from ..report import render_html, summarize

    told, kept = state.supervision(state.rows), ~np.isin(np.arange(len(state.feature_names)), state.known.banned)
    with warnings.catch_warnings(action="ignore"):  # the page shows them
        selector, _ = state.live.fit_kept(state.settings, state.known, told)
    told.pop("unlabeled")
    told["feature_names"] = [name for name, is_kept in zip(state.feature_names, kept, strict=True) if is_kept]
    selector.set_params(scale=state.how)  # the report scales what it is given, and shows it as it is
    about = {"source": state.origin.data or "data in memory", **told}
    return render_html(summarize(selector, state.shown.take_columns(kept), **about))


def command_text(state: State) -> str:
    """A shell command that repeats the ranking from the files pairs.csv and labels.csv."""
    origin, known, settings, names = state.origin, state.known, state.settings, state.feature_names
    options, changed = dict(origin.options), bool(known.labelled_by)
    drop = [*(options.get("drop") or ()), *(names[j] for j in sorted(known.banned))]
    if changed:
        drop += [] if options.get("target") is None else [options["target"]]
        options |= {"target": None, "labels": "labels.csv", "unlabeled": None}
    ids = options.get("id_columns") or ()
    if not state.has_unique_ids:  # rows are named by their numbers in the exported files
        drop, ids = [*drop, *ids], ()
    told = {"target": options.get("target"), "id": ids}
    told |= {name: None if options.get(name) == "auto" else options.get(name) for name in _VALUES}
    told["header" if options.get("header") else "no_header"] = options.get("header") is not None
    told |= {name: bool(options.get(name)) for name in _SWITCHES}
    told |= {"category": options.get("category") or (), "drop": drop, "pairs": "pairs.csv" if known.pairs else None}
    told |= {"include": [names[feature] for feature in known.pinned]}
    words = ["fiedler", "rank", origin.data or "DATA.csv"]
    for name, value in told.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words += [flag] * value
        elif value is not None:
            words += [w for each in (value if isinstance(value, (list, tuple)) else [value]) for w in (flag, str(each))]
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
    links, scale = known.links() if known.pairs else {}, origin.options.get("scale")
    scaled = f".scaled({scale!r})" if scale not in (None, "none", "keep") else ""
    fill = bool(origin.data and origin.options.get("impute"))
    lines = [f'"""The selection of a session of fiedler explore (fiedler {__version__})."""', ""]
    lines += ["from dataclasses import replace", ""] * fill
    lines += ["import numpy as np", "", "from fiedler import Problem, SpectralSelector"]
    lines += ["from fiedler.io import as_labels, fill_missing, read_table", ""]
    if origin.data:
        options, marker = origin.options, origin.options.get("unlabeled")
        same = ("target", "labels", "names", "layer", "header", "sheet", "skip_rows")
        given = {name: options.get(name) for name in same}
        given["unlabeled"] = None if marker is None or str(marker).lower() == "none" else marker
        given |= {name: options.get(name) or None for name in _SWITCHES}
        for name, option in (("id_column", "id_columns"), ("drop", "drop"), ("categories", "category")):
            given[name] = list(options.get(option) or ()) or None
        words = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
        lines.append(f"table = read_table({origin.data!r}{words})")
        lines += [f"table = replace(table, X=fill_missing(table, {options.get('impute')!r}))"] * fill
        lines.append(f"problem = Problem.read(table.prepared, table.feature_names){scaled}")
        lines.append("y, names = table.y, table.feature_names")
    else:
        lines += [f"names = {names!r}", "# X and y are the data of the session; y is None without labels."]
        lines.append(f"problem = Problem.read(X){scaled}")
    if known.labelled_by:
        lines.append(f"labels = {dict(sorted(known.labels.items()))!r}  # row number: label")
        lines.append(f"y = as_labels([labels.get(row) for row in range({known.given.n_samples})])")
    for kind, pairs in links.items():
        lines.append(f"{kind} = np.array({pairs.tolist()!r}, dtype=int).reshape(-1, 2)")
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


# All files: their names, and the functions that write them.
_FILES: dict[str, tuple[str, Callable[[State], str]]] = {
    **{what: (f"{what}.csv", partial(table_text, what=what)) for what in ("pairs", "labels", "ranking")},
    "command": ("command.sh", command_text),
    "script": ("selection.py", script_text),
    "report": ("report.html", report_text),
}
