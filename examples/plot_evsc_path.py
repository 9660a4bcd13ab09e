"""
EVSC: how a feature changes the eigenvalues of the graph
========================================================

EVSC (eigenvalue sensitive criterion) measures how strongly a feature influences the graph. This example
multiplies one feature by a weight between 0 and 2 and shows the eigenvalues of the graph. An important feature changes
them. The score is the speed of this change at weight 1.

There are sixty samples in three groups. One feature separates the groups, one is a weak copy of it, one is noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from fiedler import EVSC, RBF

# %%
# The graph is a full RBF kernel. Its bandwidth stays fixed while the weights change.

rng = np.random.default_rng(1)
group = np.repeat([0, 1, 2], 20)
X = np.column_stack([3.0 * group, 0.8 * group, np.zeros(60)]) + 0.4 * rng.normal(size=(60, 3))
names = ["groups", "weak copy", "noise"]
recipe = RBF(bandwidth=2.0)

# %%
# The eigenvalues of the normalised Laplacian for 41 weights of each feature.

weights = np.linspace(0, 2, 41)
paths = {}
for j, name in enumerate(names):
    weighed = [X * np.where(np.arange(3) == j, w, 1.0) for w in weights]
    paths[name] = np.array([recipe.build(scaled).spectrum()[0] for scaled in weighed])

# %%
# The score is the sum of the absolute slopes dλ/dw of all eigenvalues at w = 1, computed from a formula. Finite
# differences along the curves give the same number.

scores = EVSC(recipe).evaluate(X)
at = np.searchsorted(weights, 1.0)
step = weights[at + 1] - weights[at - 1]
slopes = [np.abs((paths[name][at + 1] - paths[name][at - 1]) / step).sum() for name in names]
results = {"scores": scores, "slopes": np.array(slopes)}
for name, score, slope in zip(names, scores, slopes, strict=True):
    print(f"{name:<10} EVSC {score:.4f}, finite differences {slope:.4f}")

# %%
# The figure has the first eleven eigenvalues above 0. The two in red measure how well the three groups are separated.
# If the weight of "groups" decreases, they rise: the graph becomes a single group. The other two features hardly
# change them.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), sharey=True, layout="constrained")
for axis, name, score in zip(axes, names, scores, strict=True):
    axis.plot(weights, paths[name][:, 1:12], color="tab:blue", linewidth=1)
    axis.plot(weights, paths[name][:, 1:3], color="tab:red", linewidth=2)
    axis.axvline(1, color="k", linestyle=":", linewidth=1)
    axis.set(title=f"{name}: EVSC {score:.2f}", xlabel="weight of the feature", ylim=(0, 1.02))
    axis.spines[["top", "right"]].set_visible(False)
plt.setp(axes, ylabel="eigenvalues of the graph")
plt.show()
