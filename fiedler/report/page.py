"""The HTML page of a report: the summary in words, tables and figures, put into the template.

The template escapes every value; only the figures, which were serialised as XML, and our own style sheet and script go
in as they are. The page's security policy names the hash of that script, so a browser would run no other.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..words import number, printable
from .figures import METRICS, class_colours, curve_styles, figures

PAGE_ROWS = 300  # rows of the table at first, and with each "show more"
_EMBEDDED = 1_000_000  # characters of the ranking kept inside the page, for the search
_NAME, _LONGEST_NAME = 60, 400  # characters of a feature's name in the table, and those shown where one points at it
_SHORT_NAME = 16  # what fits above a small figure on any screen
_RULES = {
    "explained": "Nine tenths of what all features explain",
    "turning": "Turning point of the sorted scores",
    "gap": "Clearest clusters in the graph on the first features",
    "cv": "Best held-out prediction",
}
_BASELINES = {"all": "all features", "random": "random features"}


@dataclass(frozen=True)
class Column:
    """A further column of the ranking: ``key`` of the summary's features, shown where the summary has it.

    ``name`` is its class on the page, ``share`` writes 0.25 as 25 %, ``down`` sorts the largest first, other numbers
    have so many ``digits``.
    """

    key: str
    name: str
    label: str
    share: bool = False
    down: bool = False
    digits: int = 5

    def text(self, value: Any) -> str:
        return (
            f"{round(100 * value)} %" if self.share and isinstance(value, (int, float)) else short(value, self.digits)
        )


COLUMNS = (  # the only list of them
    Column("explained", "explained", "Explained together", share=True),
    Column("frequency", "often", "Selected again", share=True, down=True),
    Column("p", "p", "p", digits=2),
    Column("q", "q", "q", digits=2),
    Column("effect", "effect", "Effect", down=True, digits=2),
)


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
        columns=_columns(s),
        rows=_table_rows(s),
        ranking_json=jinja2.utils.htmlsafe_json_dumps(rows, separators=(",", ":"), allow_nan=False),
        table_note=note,
        suggestions=_suggestions(s),
        comparison=_comparison(s["comparison"], METRICS, curve_styles),
        distributions=_distributions(s),
        stability_words=_stability_words(s),
        real_words=_real_words(s.get("significance")),
        notes=[note for note in s["notes"] if note not in s.get("missing", {}).values()],
        graph_words=_graph_words(s["graph"]),
        gap_words=_gap_words(s["graph"]),
        graphs=[_graph_row(graph) for graph in s["graph"]["graphs"]],
        embedding_words=_embedding_words(s["graph"]),
        embedding_keys=_embedding_keys(s),
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


def short(value: Any, digits: int = 5) -> str:
    """A number for a reader.

    Examples
    --------
    >>> short(0.123456789), short(1234567), short(None), short("inf"), short(2.0)
    ('0.12346', '1,234,567', '–', 'inf', '2')
    """
    if value is None or isinstance(value, str):
        return value or "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}g}"


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
    """The navigation: one entry for each section that is there."""
    names = [("data", "Data"), ("run", "Run"), ("features", "Features"), ("scores", "How many")]
    names = [("warnings", "Warnings")] * bool(s["warnings"]) + names
    names += [("real", "Is it real")] * bool(s.get("significance"))
    names += [("values", "Values")] * bool(s.get("distributions", {}).get("features"))
    names += [("comparison", "Comparison")] * bool(s["comparison"])
    names += [("agreement", "Agreement"), ("stability", "Stability"), ("graph", "Graph"), ("redundancy", "Redundancy")]
    return names + [("notes", "Notes")] * any(note not in s.get("missing", {}).values() for note in s["notes"])


def _tiles(s: dict[str, Any]) -> list[dict[str, str]]:
    """The cards at the top; each repeats what the section below it shows."""
    data, labels = s["data"], s["data"]["labels"]
    tiles = [_tile("Rows", f"{data['n_samples']:,}"), _tile("Features", f"{data['n_features']:,}")]
    if labels["kind"] in ("classes", "target"):
        what = f"{len(labels['classes'])} classes" if labels["kind"] == "classes" else "real target"
        tiles.append(_tile("Labelled rows", f"{labels['n_known']:,}", what))
    pairs = [f"{count} {name.split('_')[0]}-link" for name, count in data["pairs"].items() if count is not None]
    if pairs:
        total = sum(count for count in data["pairs"].values() if count is not None)
        tiles.append(_tile("Pairs", f"{total:,}", ", ".join(pairs)))
    best = s["features"]["feature"][0]
    tiles.append(_tile("Selected", f"{s['run']['n_selected']:,}", f"best: {printable(best, 28)}", best))
    if s["stability"] is not None:
        words = f"overlap of the first {s['stability']['k']} over {s['stability']['n_draws']} draws"
        tiles.append(_tile("Stability", _percent(s["stability"]["jaccard"]), words))
    return tiles if s["comparison"] is None else [*tiles, _best_tile(s["comparison"])]


def _tile(label: str, value: str, detail: str = "", full: str = "") -> dict[str, str]:
    return {"label": label, "value": value, "detail": detail, "full": full[:_LONGEST_NAME]}


def _best_tile(comparison: dict[str, Any]) -> dict[str, str]:
    """The first row of the table of methods and, where that is a baseline, the first that is none."""
    methods, metric = comparison["methods"], comparison["settings"]["metrics"][0]
    order = _order(comparison)
    full = method_words(order[0], methods[order[0]])
    words = f"mean rank {methods[order[0]]['average_rank'][metric]:.2f} by {METRICS.get(metric, metric)}"
    place = next((at for at, name in enumerate(order) if not methods[name]["baseline"]), 0)
    if place:
        words += f"; best method: {printable(order[place], 28)}, {ordinal(place + 1)} of {len(order)}"
    return _tile("Best method", printable(full, 28), words, f"{full}, {words}")


def _order(comparison: dict[str, Any]) -> list[str]:
    """Methods and baselines by their mean rank, best first."""
    methods, metric = comparison["methods"], comparison["settings"]["metrics"][0]
    return sorted(methods, key=lambda name: methods[name]["average_rank"][metric])


def method_words(name: str, about: dict[str, Any]) -> str:
    """A method of a comparison by its name; a baseline says that it is one."""
    return f"{_BASELINES.get(name, name)} (baseline)" if about["baseline"] else name


def ordinal(place: int) -> str:
    """A place in words.

    Examples
    --------
    >>> [ordinal(place) for place in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def _percent(value: Any) -> str:
    return "–" if value is None else f"{round(100 * number(value))} %"


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


def _columns(s: dict[str, Any]) -> list[Column]:
    return [column for column in COLUMNS if s["features"].get(column.key)]


def _table_rows(s: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that are there without the script."""
    features, k, columns = s["features"], s["run"]["n_selected"], _columns(s)
    return [
        {
            "rank": at + 1,
            "name": printable(name, _NAME),
            "full": printable(name, _LONGEST_NAME) if len(name) > _NAME else "",
            "score": short(features["score"][at]),
            "length": round(100 * features["length"][at], 1),
            "cells": [(column.name, column.text(features[column.key][at])) for column in columns],
            "note": features["note"][at] or "selected" * (at < k),
            "selected": at < k,
        }
        for at, name in enumerate(features["feature"][:PAGE_ROWS])
    ]


def _embedded(s: dict[str, Any], dumps: Any) -> tuple[dict[str, Any], str]:
    """The ranking for the script, as much of it as fits, and a remark where that is not all."""
    features, total, columns = s["features"], len(s["features"]["feature"]), _columns(s)
    rows, room = [], _EMBEDDED
    for at in range(total):
        name, note = printable(features["feature"][at], _LONGEST_NAME), printable(features["note"][at], 200)
        row = [name, _digits(features["score"][at]), round(100 * features["length"][at], 1)]
        row += [note, *(_digits(features[column.key][at]) for column in columns)] if columns or note else []
        room -= len(dumps(row))
        if room < 0:
            break
        rows.append(row)
    about = {"rows": rows, "page": PAGE_ROWS, "selected": s["run"]["n_selected"], "total": total, "longest": _NAME}
    about["columns"] = [asdict(column) for column in columns]
    if len(rows) == total:
        return about, f"The table starts with {PAGE_ROWS} rows; the search covers all." if total > PAGE_ROWS else ""
    return (
        about,
        f"To stay small this page keeps the best {len(rows):,} of {total:,} features; the others are left out.",
    )


def _digits(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


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


def _real_words(tested: dict[str, Any] | None) -> str:
    if not tested:
        return ""
    found, alpha = tested["n_significant"], tested["alpha"]
    share = f"a share of {alpha:g} of these is expected to be noise" if found else "no feature stands out from noise"
    return (
        f"{found:,} of {tested['n_tested']:,} features are significant at a false discovery rate of {alpha:g}: {share}."
    )


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
    order, said = _order(comparison), {name: method_words(name, about) for name, about in methods.items()}
    keys = [
        (said[name], colour, "" if style == "-" else "dashed") for name, (colour, style) in styles(comparison).items()
    ]
    rows = [{"name": said[name], "cells": _comparison_cells(methods[name], metrics)} for name in order]
    tables = [_curve_table(methods, order, metric, name, settings["n_features"]) for metric, name in metrics]
    heads = [
        head for _, name in metrics for head in ("Mean rank" if len(metrics) == 1 else f"Rank, {name}", f"Best {name}")
    ]
    return {
        "words": f"{words}.",
        "metrics": metrics,
        "legend": keys,
        "heads": [*heads, "Seconds"],
        "rows": rows,
        "tables": tables,
    }


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
        words, curve = method_words(method, methods[method]), methods[method]["curves"][metric]
        means = dict(zip(curve["n_features"], curve["mean"], strict=True))
        if method == "all":
            means = dict.fromkeys(sizes, curve["mean"][0])
        rows.append((words, ["–" if means.get(k) is None else f"{means[k]:.4g}" for k in sizes]))
    return {"name": name, "sizes": sizes, "rows": rows}


def _stability_words(s: dict[str, Any]) -> str:
    if (drawn := s["stability"]) is None:
        return ""
    kendall, chance = (number(drawn[key]) for key in ("kendall", "kuncheva"))
    corrected = "" if chance != chance else f" ({chance:.2f} when corrected for chance, Kuncheva)"
    draws = f"{drawn['n_draws']} draws"
    if not drawn.get("given", True):
        draws += " of four fifths of the rows, made for this report,"
    return (
        f"Over {draws} the first {drawn['k']} features overlap by {_percent(drawn['jaccard'])} (Jaccard){corrected}; "
        f"all rankings agree by {kendall:.2f} (Kendall's coefficient, 1 is the same ranking each time)."
    )


def _distributions(s: dict[str, Any]) -> dict[str, Any] | None:
    """Words, colours and the captions of the small figures."""
    section = s.get("distributions", {})
    if not section.get("features"):
        return None
    kind, n, known = section["kind"], section["n_rows"], section["n_known"]
    groups = [group for about in section["features"] for group in about.get("groups", ())]
    drawn = ["histograms"] * any("counts" in group for group in groups)
    drawn += ["single values"] * any("values" in group for group in groups)
    what = {
        "classes": f"in each class: {' or '.join(drawn)}, below them the middle half and the median",
        "target": "against the target",
        "none": "as histograms",
    }[kind]
    rows = "rows" if kind == "none" else "labelled rows"
    of = f"all {n:,} {rows}" if n == known else f"{n:,} of the {known:,} {rows}, evenly spaced"
    words = f"The {len(section['features'])} best features {what}; {of}."
    if any(about["n_outside"] for about in section["features"]):
        words += " What lies far outside is moved to the border of its figure."
    colours = class_colours(s["data"]["labels"])
    keys = [
        (printable(name, 30), "ink" if code is None else colours[code], "round")
        for name, code in section.get("groups", [])
    ]
    return {
        "title": {"classes": "Values by class", "target": "Values and target", "none": "Values"}[kind],
        "words": words,
        "legend": keys,
        "figures": [_caption(about) for about in section["features"]],
    }


def _caption(about: dict[str, Any]) -> dict[str, str]:
    parts = [] if about.get("correlation") is None else [f"correlation {about['correlation']:.2f}".replace("-", "−")]
    parts += [f"{about['n_outside']:,} outside"] * bool(about["n_outside"])
    name = about["feature"]
    return {
        "key": f"values-{about['rank']}",
        "name": f"{about['rank']}. {printable(name, _NAME)}",
        "full": printable(name, _LONGEST_NAME) if len(name) > _SHORT_NAME else "",
        "words": ", ".join(parts),
    }


# -------------------------------------------------------------------- graph and redundancy


def _graph_words(graph: dict[str, Any]) -> str:
    if "shown" not in graph:
        return ""
    words = f"Drawn: {graph['shown']}, a graph the method reads."
    if not graph["used"]:
        words = (
            f"The method reads no graph that lies over the samples alone, so {graph['shown']} is drawn for "
            "orientation; it had no part in the ranking."
        )
    return words + _loose_words(graph.get("loose", {}))


def _loose_words(loose: dict[str, Any]) -> str:
    """Which rows hang on the others by so little that the picture is better without them."""
    if not loose.get("n"):
        return ""
    named, n = [str(row) for row in loose["rows"]], loose["n"]
    if n == 1:
        return f" Row {named[0]} hangs on the others by next to nothing; it is the diamond at the border."
    rest = f" and {n - len(named):,} more" if n > len(named) else f" and {named.pop()}"
    return (
        f" {n:,} rows hang on the others by next to nothing (rows {', '.join(named)}{rest}); they are the diamonds at "
        "the border, and the others are placed without them."
    )


def _embedding_words(graph: dict[str, Any]) -> str:
    stretched = ", crowded parts stretched" if graph.get("stretched") else ""
    part = ", the largest component" if graph.get("n_pieces", 1) > 1 else ""
    return f"placed by the first two non-trivial eigenvectors{part}{stretched}"


def _gap_words(graph: dict[str, Any]) -> str:
    clusters, shown = graph.get("clusters"), len(graph.get("eigenvalues", []))
    if clusters is None:
        cut = graph.get("largest_gap_after")
        return f"the largest gap suggests {cut} clusters" if cut else "of the normalised Laplacian"
    n, own = clusters["n"], "" if clusters["graph"] == graph["shown"] else f" of {clusters['graph']}"
    words = {
        "classes": f"{n} clusters, the number of classes",
        "stated": f"{n} clusters, as the method was told",
        "gap": f"{n} clusters, by the largest gap{own} among the first 20",
    }[clusters["by"]]
    return f"shaded: the gap after {words}" if n < shown else words


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


def _embedding_keys(s: dict[str, Any]) -> list[tuple[str, str, str]]:
    picture = s["graph"].get("embedding")
    if picture is None or picture["label"] is None:
        return []
    unknown = any(label is None for label in picture["label"])
    if picture["kind"] == "target":
        return [("target, low to high", "c1", "ramp")] + [("unknown", "muted", "round")] * unknown
    colours = class_colours(s["data"]["labels"])
    seen, names = sorted({label for label in picture["label"] if label is not None}), picture["classes"]
    keys = [(printable(names[code], 30), colours[code], "round") for code in seen if colours[code] != "ink"]
    keys += [(f"{len(seen) - len(keys)} others", "ink", "round")] * (len(seen) > len(keys))
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
