"""
A feature on a graph: what smooth means
=======================================

All methods use one sum over the edges of a graph: the squared difference of a feature between the two ends of each
edge. This example draws it. Every dot is a sample, lines join neighbours, and the colour of a dot is the value of one
feature. The redder a line, the larger its share of the sum.

The samples lie on a spiral. Eight features change along it, some slowly and some fast, and four are noise.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap

from fiedler import KNN, LaplacianScore, SpectralSelector

# %%
# The position along the spiral is not a feature. The features are waves of four lengths along it, with noise.

rng = np.random.default_rng(0)
along = np.sort(rng.uniform(0.12, 1, 220))
place = (along * np.array([np.cos(4 * np.pi * along), np.sin(4 * np.pi * along)])).T
waves = {f"{kind.__name__} {k}": kind(k * np.pi * along) for k in (1, 2, 4, 16) for kind in (np.sin, np.cos)}
X = np.column_stack([*waves.values()]) + 0.1 * rng.normal(size=(220, 8))
X = np.column_stack([X, rng.normal(0, 0.35, size=(220, 4))])
names = [*waves, *(f"noise {j}" for j in range(4))]

# %%
# The graph joins each sample with its ten nearest neighbours in all twelve features. The Laplacian score is the sum
# over the edges, divided by the variance of the feature.

graph = KNN(10).build(X)
print(graph)
selector = SpectralSelector(LaplacianScore(KNN(10)), n_features_to_select=4, screen=None).fit(X)
results = dict(zip(names, selector.scores_.tolist(), strict=True))
print(*(f"{names[j]:<8} {selector.scores_[j]:.3f}" for j in selector.order_), sep="\n")

# %%
# The energy of a feature is the sum of w (f_i - f_j)² over the edges.

start, end, weight = graph.edges
f = X[:, selector.order_[0]]
assert np.isclose(np.sum(weight * (f[start] - f[end]) ** 2), graph.energy(f[:, None])[0])

# %%
# The best, a medium and the worst feature. For the worst feature nearly every line is red.

grey_to_red = LinearSegmentedColormap.from_list("grey to red", ["0.85", "tab:red"])
figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for axis, j in zip(axes, selector.order_[[0, 6, -1]], strict=True):
    f = (X[:, j] - X[:, j].mean()) / X[:, j].std()
    share = np.clip(weight * (f[start] - f[end]) ** 2, 0, 2)
    inside = np.argsort(share)
    lines = LineCollection(place[np.column_stack([start, end])][inside], cmap=grey_to_red, linewidths=0.8)
    lines.set_array(share[inside])
    axis.add_collection(lines)
    dots = axis.scatter(*place.T, c=f, cmap="viridis", s=26, vmin=-2, vmax=2, zorder=2, edgecolors="w", linewidths=0.4)
    axis.set(title=f"{names[j]}: score {selector.scores_[j]:.2f}", xticks=[], yticks=[], aspect="equal")
    axis.spines[:].set_visible(False)
figure.colorbar(dots, ax=axes, label="value of the feature (in sd)", shrink=0.8)
plt.show()
