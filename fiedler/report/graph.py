"""The graph of a report: facts in words, the first eigenvalues with their gaps, and a picture of the samples.

The picture places sample i at (ξ_1(i), ξ_2(i)) / √d_i, the first non-trivial eigenvectors of 𝓛 = D^-½ L D^-½ (Laplacian
eigenmaps), on the largest connected component.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..graphs import KNN, Graph, Recipe
from .facts import Case

MOST_ROWS = 5000  # rows up to which the report builds the graph again
_POINTS, _EDGES, _EIGENVALUES = 1500, 2500, 12


def graph_section(case: Case) -> dict[str, Any]:
    """Facts about every graph of the formula, and the spectrum and embedding of the one that shows the samples."""
    n = case.problem.n_samples
    recipes = list({repr(recipe): recipe for recipe in case.criterion.recipes()}.values())
    if n > MOST_ROWS:
        return {"graphs": [], "note": f"The graph is not drawn for more than {MOST_ROWS:,} rows; these are {n:,}."}
    built = [(recipe, _build(case, recipe)) for recipe in recipes]
    section: dict[str, Any] = {"graphs": [_facts(repr(recipe), graph) for recipe, graph in built if graph is not None]}
    for recipe, graph in built:
        if graph is not None:
            _check_graph(case, recipe, graph)
    shown = next(((r, g) for r, g in built if g is not None and _shows_samples(r, g)), None)
    section["used"] = shown is not None
    recipe, graph = shown or (KNN(), _build(case, KNN(), quiet=True))
    if graph is None:
        return section  # the notes say why
    if not section["used"]:
        section["graphs"].append(_facts(f"{recipe!r}, for orientation only", graph))
    return section | {"shown": repr(recipe)} | _picture(case, graph)


def _build(case: Case, recipe: Recipe, quiet: bool = False) -> Graph | None:
    """The graph of a recipe; what building warns of becomes a warning of the report."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            graph = case.problem.graph(recipe)
    except (ValueError, TypeError) as error:
        case.notes.append(f"The graph {recipe!r} could not be built: {error}")
        return None
    for message in dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, UserWarning) and not quiet):
        case.warn("underflow" if "underflow" in message else "graph", f"{recipe!r}: {message}")
    return graph


def _shows_samples(recipe: Recipe, graph: Graph) -> bool:
    """Whether the graph lies over most samples and is not made of the labels alone."""
    return (
        recipe.attracts and not recipe.signed and graph.storage != "factored" and graph.n_isolated < graph.n_nodes / 2
    )


def _facts(name: str, graph: Graph) -> dict[str, Any]:
    degree = graph.degree[graph.active]
    low, middle, high = np.quantile(degree, [0.0, 0.5, 1.0]) if len(degree) else (0.0, 0.0, 0.0)
    return {
        "recipe": name,
        "n_nodes": graph.n_nodes,
        "n_edges": graph.n_edges,
        "n_components": graph.n_components,
        "component_sizes": graph.component_sizes[:6],
        "n_isolated": graph.n_isolated,
        "degree": {"min": low, "median": middle, "max": high},
        "bandwidth": graph.bandwidth,
        "recall": graph.recall,
    }


def _check_graph(case: Case, recipe: Recipe, graph: Graph) -> None:
    # Graphs of labels and pairs fall apart by construction; only one over the samples should hold together.
    if recipe.reads == "nothing" and graph.n_components > 1:
        case.warn(
            "disconnected",
            f"{recipe!r} falls into {graph.n_components} components, the largest with {graph.component_sizes[0]} of "
            f"{graph.n_nodes} rows: a feature that is constant on each of them looks perfect. More neighbours or a "
            "larger bandwidth join them.",
        )
    if recipe.reads == "nothing" and graph.n_isolated:
        case.warn("isolated", f"{recipe!r} leaves {graph.n_isolated} of {graph.n_nodes} rows without any neighbour.")
    if graph.recall is not None and graph.recall < 0.95:
        case.warn("approximate", f"{recipe!r} found only {graph.recall:.0%} of the true neighbours.")


def _picture(case: Case, graph: Graph) -> dict[str, Any]:
    nodes = np.flatnonzero(graph.components == 0)
    if len(nodes) < 4:
        return {"note": "The largest component has fewer than four rows, too few to draw."}
    if len(nodes) < graph.n_nodes:
        graph = _largest(graph, nodes)
    values, vectors = graph.spectrum(min(_EIGENVALUES, len(nodes) - 1))
    placed = graph.inverse_root_degree[:, None] * vectors[:, 1:3]
    if placed.shape[1] < 2:
        return {"eigenvalues": values, "note": "The graph has too few eigenvectors to draw."}
    gaps = np.diff(values)[1:]
    shown = np.linspace(0, graph.n_nodes - 1, min(graph.n_nodes, _POINTS)).astype(np.intp)
    if len(shown) < graph.n_nodes:
        case.notes.append(f"The picture of the graph shows {len(shown):,} of its {graph.n_nodes:,} rows.")
    return {
        "eigenvalues": np.maximum(values, 0.0),
        "largest_gap_after": 2 + int(np.argmax(gaps)) if len(gaps) else None,
        "embedding": _embedding(case, graph, placed, shown, nodes[shown]),
    }


def _largest(graph: Graph, nodes: np.ndarray) -> Graph:
    """The heaviest component as a graph of its own."""
    place = np.full(graph.n_nodes, -1)
    place[nodes] = np.arange(len(nodes))
    i, j, w = graph.edges
    inside = place[i] >= 0
    return Graph.from_edges(place[i[inside]], place[j[inside]], w[inside], len(nodes))


def _embedding(case: Case, graph: Graph, placed: np.ndarray, shown: np.ndarray, rows: np.ndarray) -> dict[str, Any]:
    scale = np.abs(placed).max(axis=0)
    x, y = (placed / np.where(scale > 0, scale, 1.0)).round(4).T
    kind, values, classes = case.labels
    labels: Any = None if values is None else values[rows]
    if classes is not None:
        labels = [None if code < 0 else int(code) for code in labels]
    picture: dict[str, Any] = {"x": x[shown], "y": y[shown], "row": rows, "kind": kind, "label": labels, "edges": []}
    picture["classes"] = None if classes is None else [str(name) for name in classes]
    if len(shown) == graph.n_nodes and graph.n_edges <= _EDGES:
        i, j, _ = graph.edges
        picture["edges"] = np.column_stack([i, j])
    return picture
