"""
Anchors: a graph for millions of rows
=====================================

A neighbour graph compares rows with rows. An anchor graph connects every row to a few of some hundred anchors, and
joins rows that share an anchor. Its cost is linear in the number of rows, and it reads them once. This example shows
the graph, and how close its scores come to those of exact neighbours as the number of anchors grows.

The data are 1,500 points along a spiral with forty features, few enough for the exact graph.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from scipy.stats import spearmanr

from fiedler import KNN, Anchors, LaplacianScore

# %%
# The first two features are the coordinates of the spiral. The others are slow and fast waves along it, with noise.

rng = np.random.default_rng(2)
along = np.sort(rng.uniform(0, 1, 1500))
curve = np.column_stack([np.cos(3 * np.pi * along) * (1 + along), np.sin(3 * np.pi * along) * (1 + along)])
speed = rng.uniform(0.5, 12, 38)
waves = np.sin(np.pi * np.outer(along, speed) + rng.uniform(0, 6, 38))
X = np.column_stack([curve, waves + 0.3 * rng.normal(size=waves.shape)])

# %%
# The Laplacian scores on the exact graph, and on anchor graphs of increasing size.

exact = LaplacianScore(KNN(10, weight="binary")).evaluate(X)
numbers = [10, 20, 50, 100, 200, 400]
scores = {a: LaplacianScore(Anchors(a)).evaluate(X) for a in numbers}
agreement = [float(spearmanr(exact, scores[a]).statistic) for a in numbers]
results = {"agreement": dict(zip(numbers, agreement, strict=True))}
print(*(f"{a:>4} anchors: rank correlation {rho:.3f}" for a, rho in results["agreement"].items()), sep="\n")

# %%
# The graph with 40 anchors, drawn in the plane of the spiral: a row shares anchors with the rows around it. The figure
# has 1,500 of the many edges.

graph = Anchors(40, 3).build(X[:, :2])
W = np.triu(graph.toarray(), 1)
start, end = np.nonzero(W)
shown = rng.choice(len(start), 1500, replace=False, p=W[start, end] / W[start, end].sum())
figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
lines = curve[np.column_stack([start[shown], end[shown]])]
axes[0].add_collection(LineCollection(lines, colors="tab:blue", linewidths=0.6, alpha=0.5))
axes[0].scatter(*curve[::5].T, s=5, color="k", zorder=2)
axes[0].set(title="Rows that share an anchor", xticks=[], yticks=[], aspect="equal")
axes[0].spines[:].set_visible(False)
for a, color in ((20, "tab:orange"), (400, "tab:blue")):
    axes[1].plot(exact, scores[a], ".", color=color, label=f"{a} anchors")
axes[1].plot([0, 1.05], [0, 1.05], color="0.7", linewidth=0.8, zorder=0)
axes[1].set(title="Scores of 40 features", xlabel="on exact neighbours", ylabel="on anchors")
axes[1].legend(frameon=False)
axes[2].plot(numbers, agreement, "o-", color="tab:blue")
axes[2].set(title="Agreement of the rankings", xlabel="number of anchors", ylabel="rank correlation", xscale="log")
axes[2].set(xticks=numbers, xticklabels=numbers, ylim=(None, 1.005))
axes[2].minorticks_off()
plt.show()
