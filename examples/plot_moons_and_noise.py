"""
Two moons in noise: the graph before and after selection
========================================================

Two moons are easy to separate in their plane. With many columns of noise it is hard, because many neighbours are
neighbours by chance. This example shows that features can still be scored on such a graph: each real feature has some
influence on it, each noise column hardly any. A graph built from the selected features separates the moons. The
default, ``SpectralSelector()``, finds the noise before it builds a graph.

Both coordinates of the moons are measured three times with errors. Thirty more columns are noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from sklearn.datasets import make_moons

from fiedler import KNN, SpectralSelector

# %%
# All columns have unit variance, so the variance does not tell them apart.

rng = np.random.default_rng(4)
plane, moon = make_moons(240, noise=0.05, random_state=0)
copies = np.repeat(plane, 3, axis=1) + 0.1 * rng.normal(size=(240, 6))
X = np.column_stack([copies, rng.normal(size=(240, 30))])
X = (X - X.mean(axis=0)) / X.std(axis=0)

# %%
# No labels are used. First the default; then the scores of single features, with the noise columns in the graph.

default = SpectralSelector().fit(X)
print("default:", np.flatnonzero(default.support_).tolist(), "-", default.screen_)
selector = SpectralSelector("laplacian", n_features_to_select=6, screen=None).fit(X)
graphs = {"all 36 columns": KNN(5).build(X), "the 6 selected": KNN(5).build(selector.transform(X))}
across = {name: float(np.mean(moon[g.edges[0]] != moon[g.edges[1]])) for name, g in graphs.items()}
results = {"default": np.flatnonzero(default.support_), "selected": selector.order_[:6], "across": across}
print("selected:", sorted(results["selected"].tolist()), "- the first six columns are real")
print("edges from one moon to the other:", {name: f"{share:.1%}" for name, share in across.items()})

# %%
# Both graphs are drawn in the plane of the moons. Lines between the moons are red.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), width_ratios=[1, 1, 0.8], layout="constrained")
for axis, (name, graph) in zip(axes, graphs.items(), strict=False):
    start, end, _ = graph.edges
    crossing = moon[start] != moon[end]
    lines = plane[np.column_stack([start, end])]
    axis.add_collection(LineCollection(lines[~crossing], colors="0.6", linewidths=0.5))
    axis.add_collection(LineCollection(lines[crossing], colors="tab:red", linewidths=0.5))
    axis.scatter(*plane.T, c=np.where(moon, "tab:orange", "tab:blue"), s=16, zorder=2)
    axis.set(title=f"Neighbours in {name}:\n{across[name]:.0%} of the lines cross", xticks=[], yticks=[])
    axis.set_aspect("equal")
    axis.spines[:].set_visible(False)
kinds = np.where(np.arange(36) < 6, "tab:blue", "0.7")
axes[2].bar(range(36), selector.scores_[selector.order_], color=kinds[selector.order_])
axes[2].set(title="Scores, best first (moons in blue)", xlabel="rank", ylabel="Laplacian score, small is good")
axes[2].set_ylim(selector.scores_.min() - 0.05, None)
plt.show()
