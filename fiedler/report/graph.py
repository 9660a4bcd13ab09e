"""The section on the graph: its properties, the first eigenvalues with their gaps, and a picture of the samples.

The picture places sample i at (ξ_1(i), ξ_2(i)) / √d_i, the first non-trivial eigenvectors of 𝓛 = D^-½ L D^-½ (Laplacian
eigenmaps), each connected component in a square of its own (:mod:`fiedler.plots.placing`). A second picture places the
same samples in the graph of the selected features only.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..criteria import Phi
from ..criteria.phi import number_of_clusters
from ..graphs import KNN, Graph, Recipe, as_recipe
from ..plots import drawings
from ..plots.placing import aligned, place_graph, subgraph
from ..plots.svg import SvgFigure
from ..words import printable
from .case import Case, Summary, built_in, class_colours

MOST_ROWS = 5000  # largest number of rows for which the report builds the graph again
_POINTS, _EDGES, _EIGENVALUES = 1500, 2500, 21  # the largest gap is taken among the first 20, as in φ3
_NAMED, _SHOWN_LOOSE = 5, 60  # loose rows that are named, and that are drawn


def compute_graph(case: Case) -> Summary:
    """Properties of every graph in the formula, and spectrum and embedding of the graph over the samples."""
    n = case.problem.n_samples
    recipes = list({repr(recipe): recipe for recipe in case.criterion.recipes()}.values())
    if n > MOST_ROWS:
        return {"graphs": [], "note": f"The graph is not drawn for more than {MOST_ROWS:,} rows; X has {n:,}."}
    built = [(recipe, graph) for recipe in recipes if (graph := _build(case, recipe)) is not None]
    section: Summary = {"graphs": [_facts(repr(recipe), graph) for recipe, graph in built], "used": False}
    recipe, graph = KNN(), None
    for own, weights in built:
        # Graphs of labels and pairs are disconnected by construction; only a graph over the samples should not be.
        if own.reads == "nothing" and weights.n_components > max(1, len(weights.parts)):
            parts = f"{weights.n_components} components, the largest with {weights.component_sizes[0]} of {n} rows"
            perfect = "A feature that is constant on each component gets a perfect score"
            way_out = "Use more neighbours or a larger bandwidth to connect them"
            case.warn("disconnected", f"{own!r} has {parts}. {perfect}. {way_out}.")
        if own.reads == "nothing" and weights.n_isolated:
            case.warn("isolated", f"{own!r} leaves {weights.n_isolated} of {n} rows without any neighbour.")
        if weights.recall is not None and weights.recall < 0.95:
            case.warn("approximate", f"{own!r} found only {weights.recall:.0%} of the true neighbours.")
        # The picture shows a graph that covers most samples and is not built from the labels only.
        of_samples = own.attracts and not own.signed and (own.reads_X or not own.supervised)
        if not section["used"] and of_samples and weights.storage != "factored" and weights.n_isolated < n / 2:
            recipe, graph, section["used"] = own, weights, True
    if graph is None:
        graph = _build(case, recipe, quiet=True)
        if graph is None:
            return section  # the notes state why
        section["graphs"].append(_facts(f"{recipe!r}, for orientation only", graph))
    return section | {"shown": repr(recipe)} | _picture(case, recipe, graph)


def _build(case: Case, recipe: Recipe, quiet: bool = False) -> Graph | None:
    """The graph of a recipe; warnings during its construction become warnings of the report."""
    try:
        with warnings.catch_warnings(record=True, action="always") as caught:
            graph = case.screened.graph(recipe)
    except (ValueError, TypeError) as error:
        case.notes.append(f"The graph {recipe!r} could not be built: {error}")
        return None
    for message in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning) and not quiet):
        case.warn("underflow" if "underflow" in message else "graph", f"{recipe!r}: {message}")
    return graph


def _facts(name: str, graph: Graph) -> Summary:
    degree = graph.degree[graph.active]
    spread = np.quantile(degree, [0.0, 0.5, 1.0]) if len(degree) else (0.0, 0.0, 0.0)
    counts = ("n_nodes", "n_components", "n_isolated", "bandwidth", "recall")
    about = {"recipe": name} | {key: getattr(graph, key) for key in counts}
    about["n_edges"] = None if graph.n_groups else graph.n_edges  # edges through groups are many, and slow to count
    degrees = dict(zip(("min", "median", "max"), spread, strict=True))
    return about | {"component_sizes": graph.component_sizes[:6], "degree": degrees}


def _picture(case: Case, recipe: Recipe, graph: Graph) -> Summary:
    """Eigenvalues of the graph, the number of clusters, and the pictures of its rows."""
    values, vectors = graph.spectrum(_EIGENVALUES)
    gaps = np.diff(values)[1:]
    largest = 2 + int(np.argmax(gaps)) if len(gaps) else None
    about: Summary = {
        "eigenvalues": np.maximum(values, 0.0),
        "largest_gap_after": largest,
        "clusters": _clusters(case, recipe, largest or 2),
        "n_pieces": graph.n_components + graph.n_isolated,
    }
    if graph.n_nodes < 4:
        return about | {"note": "The graph has fewer than four rows, too few to draw."}
    layout = place_graph(graph, vectors if about["n_pieces"] == 1 else None)
    about["stretched"] = layout.stretched
    about["loose"] = {"n": len(layout.loose), "rows": layout.loose[:_NAMED]}
    tied, far = np.setdiff1d(np.arange(graph.n_nodes), layout.loose), layout.loose[:_SHOWN_LOOSE]
    shown = tied[np.linspace(0, len(tied) - 1, min(len(tied), _POINTS)).astype(np.intp)]
    if len(shown) < len(tied):  # every component has a row in the picture
        _, first = np.unique(graph.components[tied], return_index=True)
        isolated = tied[graph.components[tied] < 0]
        shown = np.unique(np.concatenate([shown, tied[first], isolated[:_POINTS]]))
        case.notes.append(f"The picture of the graph shows {len(shown):,} of its {len(tied):,} rows.")
    rows = np.concatenate([shown, far])  # the loose ones last
    places = layout.places[rows]
    kind, values, classes = case.labels
    labels: Any = None if values is None else values[rows]
    if classes is not None:
        labels = [None if code < 0 else int(code) for code in labels]
    (x, y), names = places.round(4).T, None if classes is None else [str(name) for name in classes]
    about["embedding"] = {"x": x, "y": y, "row": rows, "kind": kind, "label": labels, "n_loose": len(far)}
    about["embedding"] |= {"classes": names, "edges": _drawn_edges(case, graph, rows)}
    return about | {"chosen": _chosen_picture(case, recipe, graph, rows, places)}


def _chosen_picture(case: Case, recipe: Recipe, graph: Graph, rows: np.ndarray, places: np.ndarray) -> Summary | None:
    """The same rows in the graph of the selected features only; None if this graph would be the same one."""
    kept = np.isin(np.arange(case.problem.n_features), case.selector.order_[: case.n_selected])
    if not recipe.reads_X or not kept.any() or np.array_equal(kept, case.kept):
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # they concern a graph that the method does not use
            part = case.problem.take_columns(kept).graph(recipe)
    except (ValueError, TypeError):
        return None
    x, y = aligned(place_graph(part).places[rows], places).round(4).T
    about: Summary = {"x": x, "y": y, "edges": _drawn_edges(None, part, rows), "n_loose": 0}
    about |= {"n_features": int(kept.sum()), "n_pieces": part.n_components + part.n_isolated, "common": None}
    if graph.storage == part.storage == "csr":  # in other graphs all rows are connected
        n = graph.n_nodes
        own, new = (np.minimum(i, j).astype(np.int64) * n + np.maximum(i, j) for i, j, _ in (graph.edges, part.edges))
        about["common"] = float(np.isin(own, new).mean()) if len(own) else None
    return about


def _clusters(case: Case, recipe: Recipe, by_gap: int) -> Summary:
    """The number of clusters for the whole report: as stated for φ3, the number of classes, or by the largest eigengap.

    The rule is that of :func:`fiedler.criteria.phi.number_of_clusters`.
    """
    leaves = case.criterion.resolved().leaves
    phi3 = next((part for part in leaves if isinstance(part, Phi) and part.kind == 3), None)
    own, stated = (recipe, None) if phi3 is None else (as_recipe(phi3.graph), phi3.n_clusters)
    kind, _, classes = case.labels
    if stated is not None:
        n, by = stated, "stated"
    elif kind == "classes":
        n, by = len(classes), "classes"
    else:
        n = by_gap if phi3 is None else number_of_clusters(case.screened.graph(own), case.problem.supervision)
        by = "gap"
    return {"n": n, "by": by, "graph": repr(own)}


# -------------------------------------------------------------------- the picture


def _drawn_edges(case: Case | None, graph: Graph, rows: np.ndarray) -> np.ndarray:
    """Edges between the points of a picture: all edges, or the strongest edges of each row."""
    W = np.abs(np.triu(subgraph(graph, rows).toarray(), 1))
    i, j = np.nonzero(W)
    if len(i) <= _EDGES:
        return np.column_stack([i, j])
    if case is not None:
        all_edges = "" if graph.n_groups else f", of {graph.n_edges:,} edges"
        case.notes.append(f"The picture shows only the strongest edges of each row{all_edges}.")
    each = max(1, _EDGES // len(rows))
    strongest = np.argsort(-(W + W.T), axis=1, kind="stable")[:, :each]
    ends = np.column_stack([np.repeat(np.arange(len(rows)), each), strongest.ravel()])
    ends = np.unique(np.sort(ends, axis=1), axis=0)
    return ends[W[ends[:, 0], ends[:, 1]] > 0]


# -------------------------------------------------------------------- words and figures


def _view(s: Summary) -> Summary:
    graph, few, colours = s["graph"], s["graph"].get("chosen"), class_colours(s["data"]["labels"])
    heads = ["Graph", "Rows", "Edges", "Components", "Isolated", "Least degree", "Median", "Most", "Bandwidth"]
    view: Summary = {"heads": heads, "rows": []}
    for about in graph["graphs"]:
        sizes, pieces = about["component_sizes"], f"{about['n_components']:,}"
        if len(sizes) > 1:
            more = ", …" if about["n_components"] > len(sizes) else ""
            pieces += f" ({', '.join(f'{size:,}' for size in sizes)}{more})"
        edges = "–" if about["n_edges"] is None else f"{about['n_edges']:,}"
        counts = [f"{about['n_nodes']:,}", edges, pieces, f"{about['n_isolated']:,}"]
        counts += [f"{about['degree'][key]:.3g}" for key in ("min", "median", "max")]
        width = "–" if about["bandwidth"] is None else f"{about['bandwidth']:.4g}"
        view["rows"].append((about["recipe"], [*counts, width]))
    if "embedding" in graph:
        picture = graph["embedding"]
        words = f"Rows placed by the first two eigenvectors of {graph['shown']}, coloured by their labels."
        view["embedding"] = _draw_embedding("embedding", words, picture, colours, graph.get("n_pieces", 1))
        view["legend"] = _looks(picture, colours)[1]
    if few is not None:
        words = f"The same rows, placed by {graph['shown']} of the {few['n_features']} selected features only."
        view["chosen"] = _draw_embedding("chosen", words, picture | few, colours, few["n_pieces"])
    if len(graph.get("eigenvalues", [])) > 2:
        view["eigenvalues"] = _draw_eigenvalues(graph)
    return view


def _draw_embedding(key: str, about: str, picture: Summary, colours: list[str], n_pieces: int) -> SvgFigure:
    """The samples, placed by the first two non-trivial eigenvectors; loose rows of the first picture are diamonds."""
    x, y = np.array(picture["x"]), np.array(picture["y"])
    title = "Rows by the selected features" if key == "chosen" else "Rows in the graph"
    with SvgFigure(key, title, f"{len(x)} rows. {about}", height=340) as figure:
        ax = figure.ax
        if len(picture["edges"]):  # all of them as one path
            from matplotlib.path import Path

            ends, line = np.asarray(picture["edges"]).ravel(), [Path.MOVETO, Path.LINETO]
            path = Path(np.column_stack([x[ends], y[ends]]), np.tile(line, len(picture["edges"])))
            drawings.outline(ax, path, fill=False, edgecolor=drawings.paint("muted"), alpha=0.18, linewidth=0.5)
        texts, paint, strength = zip(*_looks(picture, colours)[0], strict=True)
        faint, size = np.array(paint) == "muted", 24 if len(x) <= 300 else 13
        n_tied = len(x) - picture.get("n_loose", 0)
        tied = np.arange(len(x)) < n_tied
        for part in (np.flatnonzero(faint & tied), np.flatnonzero(~faint & tied)):  # labelled rows on top
            if len(part):
                shades = [drawings.shade(drawings.paint(paint[at]), strength[at]) for at in part]
                big = size if faint[part[0]] or faint.sum() < len(x) / 2 else 2.2 * size
                dots = ax.scatter(x[part], y[part], s=big, c=shades, linewidths=0, zorder=3)
                figure.tell(dots, [texts[at] for at in part])
        if n_tied < len(x):
            look: Summary = {"facecolors": drawings.paint("surface"), "marker": "D", "linewidths": 1.6, "zorder": 4}
            edges = list(map(drawings.paint, paint[n_tied:]))
            far = ax.scatter(x[n_tied:], y[n_tied:], s=30, edgecolors=edges, **look)
            figure.tell(far, [f"{text}; almost no weight to other rows" for text in texts[n_tied:]])
        ax.grid(False)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        if n_pieces == 1:  # several components have eigenvectors of their own
            ax.set(xlabel="first eigenvector", ylabel="second eigenvector")
        ax.margins(0.04)
    return figure


def _looks(picture: Summary, colours: list[str]) -> tuple[list[tuple[str, str, float]], list[tuple[str, str, str]]]:
    """Text, name of the colour and opacity of every point; and the legend: text, colour and shape."""
    rows, labels = picture["row"], picture["label"]
    if labels is None:
        return [(f"row {row}", "C0", 0.75) for row in rows], []
    if picture["kind"] == "classes":
        word, faint, names = "unlabelled", (": unlabelled", "muted", 0.35), picture["classes"]
        looks = [(f": {printable(name, 60)}", colours[code], 0.85) for code, name in enumerate(names)]
        known = [faint if code is None else looks[code] for code in labels]
        seen = sorted({label for label in labels if label is not None})
        keys = [(printable(names[code], 30), colours[code], "round") for code in seen if colours[code] != "ink"]
        keys += [(f"{len(seen) - len(keys)} others", "ink", "round")] * (len(seen) > len(keys))
    else:
        word, faint, values = "unknown", (": target unknown", "muted", 0.25), np.array(labels, dtype=float)
        low, high = (np.nanmin(values), np.nanmax(values)) if np.any(~np.isnan(values)) else (0.0, 1.0)
        side = 2.0 * (values - low) / ((high - low) or 1.0) - 1.0  # from -1 to 1
        looks = [
            (f": target {v:.4g}", "C0" if s > 0 else "C1", 0.4 + 0.6 * abs(s))
            for v, s in zip(values, side, strict=True)
        ]
        known = [faint if np.isnan(v) else look for v, look in zip(values, looks, strict=True)]
        keys = [("target, low to high", "C0", "ramp")]
    keys += [(word, "muted", "round")] * (None in labels)
    return [(f"row {row}{text}", paint, opacity) for row, (text, paint, opacity) in zip(rows, known, strict=True)], keys


def _draw_eigenvalues(graph: Summary) -> SvgFigure:
    """The smallest eigenvalues of the normalised Laplacian; the gap after the number of clusters is shaded."""
    values, cut = np.array(graph["eigenvalues"]), graph.get("clusters", {}).get("n", graph["largest_gap_after"])
    at = np.arange(len(values))
    about = f"The {len(values)} smallest eigenvalues of {graph['shown']}."
    with SvgFigure("eigenvalues", "Smallest eigenvalues", about, height=340) as figure:
        ax = figure.ax
        ax.vlines(at, 0, values, color="C0", alpha=0.35, linewidth=2)
        dots = ax.scatter(at, values, s=30, color="C0", linewidths=0, zorder=3)
        gaps = ["", *(f", {gap:.4g} above the previous one" for gap in np.diff(values))]
        figure.tell(dots, [f"eigenvalue {k}: {v:.4g}{gap}" for k, v, gap in zip(at, values, gaps, strict=True)])
        if cut is not None and cut < len(values):
            ax.axvspan(cut - 1, cut, color="C1", alpha=0.13, linewidth=0)
            x, side = (cut - 1.15, "right") if cut > len(values) / 2 else (cut + 0.15, "left")
            look: Summary = {"color": "C1", "ha": side, "va": "top"} | drawings.small()
            ax.text(x, 0.99, f"after {cut}", transform=ax.get_xaxis_transform(), **look)
        ax.set_ylim(0, max(values.max() * 1.06, 1e-9))
        ax.set(xlabel="eigenvector", ylabel="eigenvalue")
        drawings.whole_ticks(ax)
    return figure


GRAPH = built_in("graph", "The graph", compute_graph, _view, label="Graph")
