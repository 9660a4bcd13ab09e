"""Pictures of the guide, drawn by the library in a light and a dark version: `name-light.svg`, `name-dark.svg`.

Run as a program, this module draws the picture of the README again, `docs/result.png`.
"""

from contextlib import contextmanager
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from sklearn.datasets import make_moons

from fiedler import (
    KNN,
    RBF,
    Anchors,
    AxisDisplay,
    ClassGraph,
    Graph,
    LaplacianScore,
    MustLink,
    SpectralSelector,
    TargetKNN,
)

INK = {"light": "#1f2630", "dark": "#e6e9ee"}
FAINT = {"light": "#c9ced6", "dark": "#4b525c"}
COOL, WARM = "#2a6fdb", "#e07b39"


@contextmanager
def theme(mode):
    """Matplotlib in the colours of the page, on nothing."""
    ink = INK[mode]
    keys = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color", "axes.titlecolor")
    rc = dict.fromkeys(keys, ink) | {"svg.hashsalt": "fiedler", "figure.facecolor": "none", "axes.facecolor": "none"}
    with plt.rc_context(rc | {"savefig.facecolor": "none", "font.size": 10}):
        yield ink, FAINT[mode]


def bare(axis, title=""):
    axis.set(xticks=[], yticks=[], aspect="equal")
    axis.set_title(title, fontsize=11)
    axis.spines[:].set_visible(False)
    axis.margins(0.12)


def lines_of(graph, place, most=400):
    """The heaviest lines of a graph and their weights, at most one each."""
    start, end, weight = graph.edges
    keep = start != end
    start, end, weight = start[keep], end[keep], weight[keep]
    heavy = np.argsort(-weight, kind="stable")[:most]
    return place[np.column_stack([start, end])][heavy], weight[heavy] / weight.max()


def hero(ink, faint):
    """The same graph twice: the smoothest feature, and the least smooth one."""
    rng = np.random.default_rng(3)
    place = make_moons(130, noise=0.07, random_state=1)[0]
    X = np.column_stack([place, place @ [1, 1], place @ [1, -1], rng.normal(0, 0.3, size=(130, 4))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    recipe = KNN(6)
    graph = recipe.build(X[:, :4])
    selector = SpectralSelector(LaplacianScore(recipe)).fit(X)
    start, end, weight = graph.edges
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.1), layout="constrained")
    for axis, j, words in zip(axes, selector.order_[[0, -1]], ("smooth feature", "noise feature"), strict=True):
        f = X[:, j]
        change = np.clip(weight * (f[start] - f[end]) ** 2, 0, 1.5) / 1.5
        colors = np.column_stack([np.tile(matplotlib.colors.to_rgb(WARM), (len(change), 1)), 0.12 + 0.88 * change])
        axis.add_collection(LineCollection(place[np.column_stack([start, end])], colors=faint, linewidths=0.7))
        axis.add_collection(LineCollection(place[np.column_stack([start, end])], colors=colors, linewidths=1.1))
        axis.scatter(*place.T, c=f, cmap="viridis", s=34, zorder=2, edgecolors=ink, linewidths=0.3, vmin=-2, vmax=2)
        bare(axis, f"{words}: score {selector.scores_[j]:.2f}")
    return figure


def energy(ink, faint):
    """Five samples: what each of five lines adds to the sum."""
    place = np.array([[0, 0], [0.5, 1], [1, 0.1], [2.2, 0.25], [2.8, 1]])
    start, end, weight = np.array([0, 0, 1, 2, 3]), np.array([1, 2, 2, 3, 4]), np.array([1, 1, 1, 0.2, 1])
    graph = Graph.from_edges(start, end, weight, n_nodes=5)
    F = np.array([[1.0, 1.0], [1.2, 3.0], [1.1, 0.5], [3.0, 2.5], [3.1, 1.0]])
    sums = graph.energy(F)
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 2.9), layout="constrained")
    for axis, f, total, words in zip(axes, F.T, sums, ("smooth", "rough"), strict=True):
        for i, j, w in zip(start, end, weight, strict=True):
            cost = w * (f[i] - f[j]) ** 2
            axis.plot(*place[[i, j]].T, color=faint, linewidth=1 + 4 * w, zorder=0, solid_capstyle="round")
            middle = place[[i, j]].mean(axis=0)
            axis.text(*middle, f"{cost:.2f}", ha="center", va="center", color=WARM, fontsize=10, weight="bold")
        axis.scatter(*place.T, c=f, cmap="viridis", s=620, vmin=0, vmax=3.5, edgecolors=ink, linewidths=0.6)
        for (x, y), value in zip(place, f, strict=True):
            axis.text(x, y, f"{value:g}", ha="center", va="center", color="k" if value > 2 else "w", fontsize=10)
        bare(axis, f"{words}: energy {total:.2f}")
        axis.margins(0.2, 0.3)
    return figure


def recipes(ink, faint):
    """Six recipes over forty samples of two moons."""
    place, group = make_moons(40, noise=0.08, random_state=2)
    known = np.where(np.arange(40) % 3 == 0, group, -1)
    target = np.where(np.arange(40) % 3 == 0, place[:, 0], np.nan)
    must = np.array([(i, j) for i, j in zip(range(0, 36, 3), range(3, 39, 3), strict=True) if group[i] == group[j]])
    drawn = {
        "KNN(4)": (KNN(4).build(place), np.full(40, -1)),
        "RBF(scale=0.25)": (RBF(scale=0.25).build(place), np.full(40, -1)),
        "Anchors(8, 2)": (Anchors(8, 2).build(place), np.full(40, -1)),
        "ClassGraph()": (ClassGraph().build(place, known), known),
        "TargetKNN(3)": (TargetKNN(3).build(place, target), np.where(np.isnan(target), -1, 2)),
        "MustLink()": (MustLink().build(place, must_link=must), np.full(40, -1)),
    }
    figure, axes = plt.subplots(2, 3, figsize=(8.6, 4.4), layout="constrained")
    for axis, (name, (graph, labels)) in zip(axes.flat, drawn.items(), strict=True):
        lines, weight = lines_of(graph, place)
        colors = [(*matplotlib.colors.to_rgb(ink), 0.08 + 0.5 * w) for w in weight]
        axis.add_collection(LineCollection(lines, colors=colors, linewidths=0.9))
        axis.scatter(*place.T, s=22, zorder=2, c=np.array([COOL, WARM, "#3f9d6b", faint])[labels], linewidths=0)
        bare(axis, name)
    return figure


def axis(ink, faint):
    """Chosen wavelengths of the how-to on spectra, below the mean spectrum."""
    rng, nm = np.random.default_rng(0), np.linspace(1100, 2500, 350)
    sugar, water = rng.uniform(size=(2, 150))
    bands = [np.exp(-0.5 * ((nm - centre) / width) ** 2) for centre, width in ((1440, 30), (2080, 40), (1940, 50))]
    spectra = np.outer(sugar, bands[0] + bands[1]) + np.outer(water, bands[2]) + rng.normal(0, 0.2, size=(150, 350))
    X, y = (spectra - spectra.mean(axis=0)) / spectra.std(axis=0), np.full(150, np.nan)
    y[:15] = ((sugar - sugar.mean()) / sugar.std())[:15]
    selector = SpectralSelector("ssls", n_features_to_select=20).fit(X, y)
    display = AxisDisplay.from_selector(selector, spectra, axis=nm)
    display.axes_[1].set_xlabel("wavelength (nm)")
    return display.figure_


def result():
    """Two moons among columns of noise: the graph on all columns, the scores, and the graph on the selected columns."""
    rng = np.random.default_rng(4)
    plane, moon = make_moons(240, noise=0.05, random_state=0)
    repeats = np.repeat(plane, 3, axis=1) + 0.1 * rng.normal(size=(240, 6))
    X = np.column_stack([repeats, rng.normal(size=(240, 30))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    selector = SpectralSelector("laplacian", n_features_to_select=6).fit(X)
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.1), width_ratios=[1, 0.85, 1], layout="constrained")
    graphs = {"all 36 columns": X, "the 6 best columns": selector.transform(X)}
    for axis, (words, columns) in zip(axes[::2], graphs.items(), strict=True):
        start, end, _ = KNN(5).build(columns).edges
        crossing = moon[start] != moon[end]
        lines = plane[np.column_stack([start, end])]
        axis.add_collection(LineCollection(lines[~crossing], colors="0.7", linewidths=0.5))
        axis.add_collection(LineCollection(lines[crossing], colors="tab:red", linewidths=0.5, alpha=0.6))
        axis.scatter(*plane.T, c=np.where(moon, WARM, COOL), s=14, zorder=2, linewidths=0)
        bare(axis, f"Neighbours in {words}:\n{crossing.mean():.0%} join different moons")
    order = selector.order_
    axes[1].bar(range(1, 37), selector.scores_[order], color=np.where(order < 6, "tab:green", "0.75"))
    axes[1].set_title("Laplacian scores without labels:\n6 real columns (green), 30 of noise", fontsize=11)
    axes[1].set(xlabel="rank, best first", ylabel="score, small is good")
    axes[1].spines[["top", "right"]].set_visible(False)
    return figure


PICTURES = (hero, energy, recipes, axis)


def draw(folder):
    """Write all pictures into a folder."""
    for picture in PICTURES:
        for mode in INK:
            with theme(mode) as (ink, faint):
                figure = picture(ink, faint)
                figure.savefig(folder / f"{picture.__name__}-{mode}.svg", metadata={"Date": None}, bbox_inches="tight")
                plt.close(figure)


if __name__ == "__main__":
    result().savefig(Path(__file__).resolve().parents[1] / "result.png", dpi=140)
