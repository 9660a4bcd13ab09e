"""
SPEC's three scores on one spectrum
===================================

Every feature is a combination of the eigenvectors of a graph, which vary from slowly to fast. The scores φ1, φ2 and φ3
of SPEC weight this combination in three ways. This example shows the spectrum of three features, and how each score
weights it.

The samples lie along a line. The features vary slowly, fast, and at random.
"""

import matplotlib.pyplot as plt
import numpy as np

from fiedler import SPEC, Graph, Precomputed

# %%
# The graph is a path of 120 places. Each place is joined with the next three.

n = 120
rng = np.random.default_rng(0)
offset = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
W = ((offset > 0) & (offset <= 3)).astype(float)
graph = Graph.from_weights(W)
along = np.linspace(0, 1, n)
features = {"slow": np.cos(2 * np.pi * along), "quick": np.cos(14 * np.pi * along), "random": rng.normal(size=n)}
X = np.column_stack(list(features.values()))
X = X / X.std(axis=0) + 0.5  # the same offset for all: φ1 and φ3 see it, φ2 does not

# %%
# α_j² is the share of a feature on the j-th eigenvector. The first eigenvector, λ = 0, holds the mean of the feature.

values, vectors = graph.spectrum()
scaled = np.sqrt(graph.degree)[:, None] * X
shares = (vectors.T @ (scaled / np.linalg.norm(scaled, axis=0))) ** 2
K = 8
scores = {f"φ{kind}": SPEC(Precomputed(W), phi=kind, n_clusters=K).evaluate(X) for kind in (1, 2, 3)}
by_hand = {
    "φ1": values @ shares,
    "φ2": values[1:] @ shares[1:] / shares[1:].sum(axis=0),
    "φ3": (2 - values[1:K]) @ shares[1:K],
}
results = {"scores": scores, "by hand": by_hand}
for name, found in scores.items():
    print(name, ", ".join(f"{feature} {score:.3f}" for feature, score in zip(features, found, strict=True)))

# %%
# Above: the features and their spectra. Below: the weight of each eigenvalue in the three scores. φ1 has the weight λ
# for all eigenvectors, φ2 for all except the mean. φ3 has the weight 2 - λ for the first few and 0 for the others.

figure, axes = plt.subplots(3, 3, figsize=(11, 6.6), layout="constrained", sharex="row")
colors = ["tab:blue", "tab:orange", "0.45"]
for column, (name, color) in enumerate(zip(features, colors, strict=True)):
    axes[0, column].plot(along, X[:, column], color=color)
    axes[0, column].set(title=name, xlabel="place", ylabel="value", ylim=(-3, 4))
    axes[1, column].bar(values, shares[:, column], width=0.02, color=color)
    axes[1, column].set(xlabel="eigenvalue λ", ylabel="share α²", yscale="log", ylim=(1e-5, 1.5))
weights = {"φ1": values, "φ2": np.where(np.arange(n) > 0, values, np.nan)}
weights["φ3"] = np.where((np.arange(n) > 0) & (np.arange(n) < K), 2 - values, 0)
for axis, (name, weight) in zip(axes[2], weights.items(), strict=True):
    axis.plot(values, weight, ".", color="tab:green", markersize=4)
    good = "large" if name == "φ3" else "small"
    numbers = ", ".join(f"{score:.2f}" for score in scores[name])
    axis.set(title=f"{name}: {numbers}\n({good} is good)", xlabel="eigenvalue λ", ylabel="weight", ylim=(-0.1, 2.1))
plt.show()
