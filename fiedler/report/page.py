"""The HTML page of a report: the summary in words, tables and figures, put into the template.

The template escapes every value; only the figures, which were serialised as XML, and our own style sheet and script go
in as they are. The page's security policy names the hash of that script, so a browser would run no other.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from ..words import number, printable
from .figures import METRICS, curve_styles, figures

PAGE_ROWS = 300  # rows of the table at first, and with each "show more"
_EMBEDDED = 1_000_000  # characters of the ranking kept inside the page, for the search
_LONGEST_NAME = 120
_RULES = {
    "turning": "Turning point of the sorted scores",
    "gap": "Clearest clusters in the graph on the first features",
    "cv": "Best held-out prediction",
}


def page(summary: dict[str, Any]) -> str:
    """The complete page."""
    jinja2 = _jinja2()
    from markupsafe import Markup

    folder = Path(__file__).parent
    environment = jinja2.Environment(
        autoescape=True,
        loader=jinja2.FileSystemLoader(folder),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.ChainableUndefined,
    )
    script = folder.joinpath("report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    s = _shown(summary)
    drawn = {name: Markup(drawing.svg) for name, drawing in figures(s).items()}
    rows, note = _embedded(s, jinja2.utils.htmlsafe_json_dumps)
    text = environment.get_template("report.html.j2").render(
        s=s,
        title=f"{s['run']['n_selected']:,} of {s['data']['n_features']:,} features selected",
        words=data_words(s["data"]),
        sections=_sections(s),
        tiles=_tiles(s),
        figures=drawn,
        data_facts=_data_facts(s["data"]),
        classes=_class_bars(s["data"]["labels"]),
        seed_words=_seed_words(s),
        often=s["stability"] is not None,
        rows=_table_rows(s),
        ranking_json=jinja2.utils.htmlsafe_json_dumps(rows, separators=(",", ":"), allow_nan=False),
        table_note=note,
        suggestions=_suggestions(s),
        comparison=_comparison(s["comparison"], METRICS, curve_styles),
        stability_words=_stability_words(s),
        graph_words=_graph_words(s["graph"]),
        gap_words=_gap_words(s["graph"]),
        graphs=[_graph_row(graph) for graph in s["graph"]["graphs"]],
        embedding_keys=_embedding_keys(s["graph"].get("embedding")),
        **_redundancy(s),
        js=Markup(script),
        script_hash=Markup(f"'sha256-{digest}'"),
    )
    return text.strip() + "\n"


def _jinja2() -> Any:
    try:
        import jinja2
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"the HTML report needs {error.name}; install it with: pip install 'fiedler[report]'."
        ) from None
    return jinja2


def _shown(value: Any) -> Any:
    """The summary with every text fit for a page."""
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return printable(value) if isinstance(value, str) else value


def short(value: Any) -> str:
    """A number for a reader.

    Examples
    --------
    >>> short(0.123456789), short(1234567), short(None), short("inf"), short(2.0)
    ('0.12346', '1,234,567', '–', 'inf', '2')
    """
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"


# -------------------------------------------------------------------- head


def data_words(data: dict[str, Any]) -> str:
    """Rows, features and what is known about the rows, in a line."""
    labels, n = data["labels"], data["n_samples"]
    words = f"{n:,} rows, {data['n_features']:,} features"
    if labels["kind"] == "classes":
        words += f"; {labels['n_known']:,} of {n:,} rows with a class ({len(labels['classes'])} classes)"
    elif labels["kind"] == "target":
        words += f"; {labels['n_known']:,} of {n:,} rows with a target"
    pairs = [f"{count} {name.replace('_', '-')}" for name, count in data["pairs"].items() if count is not None]
    return words + (f"; {' and '.join(pairs)} pairs" if pairs else "")


def _sections(s: dict[str, Any]) -> list[tuple[str, str]]:
    names = [
        ("warnings", "Warnings"),
        ("data", "Data"),
        ("run", "Run"),
        ("features", "Features"),
        ("scores", "How many"),
    ]
    names += [("comparison", "Comparison"), ("agreement", "Agreement"), ("stability", "Stability")]
    names += [("graph", "Graph"), ("redundancy", "Redundancy"), ("notes", "Notes")]
    return [(key, label) for key, label in names if s.get(key, True)]


def _tiles(s: dict[str, Any]) -> list[tuple[str, str, str]]:
    data, labels = s["data"], s["data"]["labels"]
    tiles = [("Rows", f"{data['n_samples']:,}", ""), ("Features", f"{data['n_features']:,}", "")]
    if labels["kind"] in ("classes", "target"):
        what = f"{len(labels['classes'])} classes" if labels["kind"] == "classes" else "real target"
        tiles.append(("Labelled rows", f"{labels['n_known']:,}", what))
    pairs = [f"{count} {name.split('_')[0]}-link" for name, count in data["pairs"].items() if count is not None]
    if pairs:
        total = sum(count for count in data["pairs"].values() if count is not None)
        tiles.append(("Pairs", f"{total:,}", ", ".join(pairs)))
    tiles.append(("Selected", f"{s['run']['n_selected']:,}", f"best: {printable(s['features']['feature'][0], 28)}"))
    if s["stability"] is not None:
        overlap = number(s["stability"]["jaccard"])
        tiles.append(("Stability", f"{overlap:.0%}", f"overlap of the first {s['stability']['k']}"))
    if s["comparison"] is not None:
        metric = s["comparison"]["settings"]["metrics"][0]
        found = {n: a["average_rank"][metric] for n, a in s["comparison"]["methods"].items() if not a["baseline"]}
        best = min(found, key=found.__getitem__)
        tiles.append(("Best method", printable(best, 18), f"mean rank {found[best]:.2f} by {metric.replace('_', ' ')}"))
    return tiles


def _data_facts(data: dict[str, Any]) -> list[tuple[str, str]]:
    size = f"{data['n_samples']:,} rows × {data['n_features']:,} features"
    kind = f"{'sparse' if data['sparse'] else 'dense'} {data['dtype']}, {100 * data['nonzero']:.3g} % not zero"
    constant = f"{data['n_constant']:,}"
    if data["constant"]:
        more = ", …" if data["n_constant"] > 5 else ""
        constant += f" ({', '.join(printable(name, 40) for name in data['constant'][:5])}{more})"
    facts = [("Source", data["source"])] if data["source"] else []
    facts += [("Size", size), ("Stored as", kind), ("Constant features", constant)]
    labels = data["labels"]
    words = {"none": "no labels", "unknown": "given, but neither classes nor numbers that can be read"}
    if labels["kind"] in words:
        facts.append(("Labels", words[labels["kind"]]))
    elif labels["kind"] == "target":
        span = f"from {short(labels['min'])} to {short(labels['max'])}, mean {short(labels['mean'])}"
        facts.append(("Target", f"known for {labels['n_known']:,} rows, {span}"))
    else:
        unknown = data["n_samples"] - labels["n_known"]
        facts.append(("Labels", f"{len(labels['classes'])} classes; {unknown:,} rows unlabelled"))
    pairs = [f"{n:,} {name.replace('_', '-')}" for name, n in data["pairs"].items() if n is not None]
    return [*facts, ("Pairs", ", ".join(pairs))] if pairs else facts


def _class_bars(labels: dict[str, Any], most: int = 12) -> list[tuple[str, str, float]]:
    found = sorted(labels.get("classes", []), key=lambda item: -item[1])
    largest = max((count for _, count in found), default=1) or 1
    bars = [(printable(name, 40), f"{n:,}", round(100 * n / largest, 1)) for name, n in found[:most]]
    rest = sum(count for _, count in found[most:])
    return [*bars, (f"{len(found) - most} more classes", f"{rest:,}", 0)] if rest else bars


def _seed_words(s: dict[str, Any]) -> str:
    if s["run"]["seed"] is None:
        return "none: a ranking draws nothing at random"
    return f"{s['run']['seed']} (draws of the evaluation; the ranking itself draws nothing)"


# -------------------------------------------------------------------- the ranking


def _table_rows(s: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that are there without the script."""
    columns, k = s["features"], s["run"]["n_selected"]
    often = columns.get("frequency")
    return [
        {
            "rank": at + 1,
            "name": printable(columns["feature"][at], _LONGEST_NAME),
            "score": short(columns["score"][at]),
            "length": round(100 * columns["length"][at], 1),
            "often": f"{round(100 * often[at])} %" if often else "",
            "note": columns["note"][at] or "selected" * (at < k),
            "selected": at < k,
        }
        for at in range(min(PAGE_ROWS, len(columns["feature"])))
    ]


def _embedded(s: dict[str, Any], dumps: Any) -> tuple[dict[str, Any], str]:
    """The ranking for the script, as much of it as fits, and a remark where that is not all."""
    columns, total = s["features"], len(s["features"]["feature"])
    often, rows, room = columns.get("frequency"), [], _EMBEDDED
    for at in range(total):
        name, note = printable(columns["feature"][at], _LONGEST_NAME), printable(columns["note"][at], 200)
        score = columns["score"][at]
        score = float(f"{score:.6g}") if isinstance(score, float) else score
        row = [name, score, round(100 * columns["length"][at], 1)]
        row += [often[at] if often else None, note] if often or note else []  # most have neither
        room -= len(dumps(row))
        if room < 0:
            break
        rows.append(row)
    about = {"rows": rows, "page": PAGE_ROWS, "selected": s["run"]["n_selected"], "total": total, "often": bool(often)}
    if len(rows) == total:
        return about, f"The table starts with {PAGE_ROWS} rows; the search covers all." if total > PAGE_ROWS else ""
    return (
        about,
        f"To stay small this page keeps the best {len(rows):,} of {total:,} features; the others are left out.",
    )


def _suggestions(s: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {
            "n": "–" if item["n_features"] is None else f"{item['n_features']:,}",
            "title": _RULES.get(item["rule"], item["rule"]),
            "reason": item["reason"],
        }
        for item in s["suggestions"]
    ]


# -------------------------------------------------------------------- evaluation


def _comparison(comparison: dict[str, Any] | None, names: dict[str, str], styles: Any) -> dict[str, Any] | None:
    if comparison is None:
        return None
    settings, methods = comparison["settings"], comparison["methods"]
    metrics = [(metric, names.get(metric, metric)) for metric in settings["metrics"]]
    shown = (
        f"{settings['n_labels']} labels shown in each draw"
        if settings["n_labels"]
        else "labels of the other folds shown"
    )
    words = f"{len(methods)} methods, {settings['n_draws']} draws, {settings['n_folds']} folds"
    if settings["estimator"]:
        words += f", {shown}; predicted by {settings['estimator']}"
    first = settings["metrics"][0]
    order = sorted(methods, key=lambda name: methods[name]["average_rank"][first])
    keys = [(name, colour, "" if style == "-" else "dashed") for name, (colour, style) in styles(comparison).items()]
    rows = [{"name": name, "cells": _comparison_cells(methods[name], metrics)} for name in order]
    tables = [_curve_table(methods, order, metric, name, settings["n_features"]) for metric, name in metrics]
    return {"words": f"{words}.", "metrics": metrics, "legend": keys, "rows": rows, "tables": tables}


def _comparison_cells(about: dict[str, Any], metrics: list[tuple[str, str]]) -> list[str]:
    cells = []
    for metric, _ in metrics:
        curve = about["curves"][metric]
        means = [number(value) for value in curve["mean"]]
        best = min(means) if metric == "rmse" else max(means)
        size = curve["n_features"][means.index(best)]
        cells += [f"{about['average_rank'][metric]:.2f}", f"{best:.4g} at {size:,}"]
    return [*cells, "–" if about["criterion"] is None else f"{about['seconds']:.3f}"]


def _curve_table(methods: dict[str, Any], order: list[str], metric: str, name: str, sizes: list[int]) -> dict[str, Any]:
    rows = []
    for method in order:
        curve = methods[method]["curves"][metric]
        means = dict(zip(curve["n_features"], curve["mean"], strict=True))
        if method == "all":
            means = dict.fromkeys(sizes, curve["mean"][0])
        rows.append((method, ["–" if means.get(k) is None else f"{means[k]:.4g}" for k in sizes]))
    return {"name": name, "sizes": sizes, "rows": rows}


def _stability_words(s: dict[str, Any]) -> str:
    if (drawn := s["stability"]) is None:
        return ""
    overlap, kendall, chance = (number(drawn[key]) for key in ("jaccard", "kendall", "kuncheva"))
    corrected = "" if chance != chance else f" ({chance:.2f} when corrected for chance, Kuncheva)"
    return (
        f"Over {drawn['n_draws']} draws the first {drawn['k']} features overlap by {overlap:.2f} (Jaccard){corrected}; "
        f"all rankings agree by {kendall:.2f} (Kendall's coefficient, 1 is the same ranking each time)."
    )


# -------------------------------------------------------------------- graph and redundancy


def _graph_words(graph: dict[str, Any]) -> str:
    if "shown" not in graph:
        return ""
    if graph["used"]:
        return f"Drawn: {graph['shown']}, a graph the method reads."
    return (
        f"The method reads no graph that lies over the samples alone, so {graph['shown']} is drawn for orientation; "
        "it had no part in the ranking."
    )


def _gap_words(graph: dict[str, Any]) -> str:
    cut = graph.get("largest_gap_after")
    return f"the largest gap suggests {cut} clusters" if cut else "of the normalised Laplacian"


def _graph_row(graph: dict[str, Any]) -> dict[str, Any]:
    sizes, degree = graph["component_sizes"], graph["degree"]
    pieces = f"{graph['n_components']:,}"
    if len(sizes) > 1:
        more = ", …" if graph["n_components"] > len(sizes) else ""
        pieces += f" ({', '.join(f'{size:,}' for size in sizes)}{more})"
    degrees = [f"{degree[key]:.3g}" for key in ("min", "median", "max")]
    width = "–" if graph["bandwidth"] is None else f"{graph['bandwidth']:.4g}"
    counts = [f"{graph['n_nodes']:,}", f"{graph['n_edges']:,}", pieces, f"{graph['n_isolated']:,}"]
    return {"recipe": graph["recipe"], "cells": [*counts, *degrees, width]}


def _embedding_keys(picture: dict[str, Any] | None, most: int = 12) -> list[tuple[str, str, str]]:
    if picture is None or picture["label"] is None:
        return []
    unknown = any(label is None for label in picture["label"])
    if picture["kind"] == "target":
        return [("target, low to high", "c1", "ramp")] + [("unknown", "muted", "round")] * unknown
    seen = sorted({label for label in picture["label"] if label is not None})
    keys = [(printable(picture["classes"][code], 30), f"c{code % 8 + 1}", "round") for code in seen[:most]]
    keys += [(f"{len(seen) - most} more", "ink", "round")] * (len(seen) > most)
    return keys + [("unlabelled", "muted", "round")] * unknown


def _redundancy(s: dict[str, Any], most: int = 14) -> dict[str, Any]:
    section, names = s["redundancy"], s["features"]["feature"]
    if "repeats" not in section:
        return {"redundancy_words": "", "repeats": [], "more_repeats": 0}
    found = sorted(section["repeats"], key=lambda item: -abs(item["correlation"]))
    words = (
        f"{len(found)} of the {section['examined']} best selected features correlate {section['threshold']} or more "
        "with a better one. The methods score every feature on its own, so near copies rank side by side."
    )
    named = [f"{rank}. {printable(name, 60)}" for rank, name in enumerate(names[: s["run"]["n_selected"]], 1)]
    rows = [(named[i["rank"] - 1], named[i["of"] - 1], f"{i['correlation']:.2f}") for i in found[:most]]
    return {"redundancy_words": words, "repeats": rows, "more_repeats": max(0, len(found) - most)}
