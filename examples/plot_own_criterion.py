"""
A criterion of your own: graphs, formulas and a spectral function
=================================================================

A method is a graph and a criterion, and criteria can be added, multiplied and scaled. This example uses a graph that
does not come from X, combines it with pairs in one formula, and selects features that vary at a certain scale with a
function γ of the eigenvalues of the graph.

The samples are places on a map, the features are 1003 quantities measured there ("fields"), and the graph joins places
that are close.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import kneighbors_graph

from fiedler import SPEC, ConstraintScore, Graph, Precomputed, Rayleigh, SpectralSelector, pairs_from_labels

# %%
# Three fields are planted: a slow trend, the border between two soils, and ridges. The other 1000 are noise.

rng = np.random.default_rng(3)
east, north = rng.uniform(size=(2, 300))
soil = np.tanh(20 * (north - 0.5 - 0.25 * np.sin(2 * np.pi * east)))
planted = {"trend": east + 0.5 * north, "soil": soil, "ridges": np.sin(5 * np.pi * (east - north))}
names = np.array([*planted, *(f"noise {j}" for j in range(1000))])
X = np.column_stack([*planted.values(), rng.normal(size=(300, 1000))])
X[:, :3] = X[:, :3] / X[:, :3].std(axis=0) + 0.3 * rng.normal(size=(300, 3))

# %%
# The graph joins each place with its six nearest places on the map. It does not use X.

near = kneighbors_graph(np.column_stack([east, north]), 6)
W = near.maximum(near.T)
print(Graph.from_weights(W))

# %%
# A surveyor compared the soils of eight pairs of places: four pairs have the same soil, four have different soils. A
# product is small if both factors are small. The repr of a criterion is its formula.

must_link, cannot_link = pairs_from_labels((soil > 0).astype(int), n_pairs=8, random_state=0)
smooth, pairs = Rayleigh(Precomputed(W)), ConstraintScore(1)
both = smooth * pairs
print(both, "reads", both.reads)

# %%
# Directions are checked. If large is good in one criterion and small in the other, one needs a negative factor.

rough = -1.0 * smooth
print(rough, "- large is good:", rough.greater_is_better)
try:
    rough * pairs
except ValueError as error:
    print("ValueError:", error)

# %%
# γ(λ) = λ is the Laplacian score: the slower a field varies, the better. A γ that is small only around λ = 0.3 prefers
# fields that vary at this scale.


def band(eigenvalues):
    """Small around 0.3, one elsewhere."""
    return 1.0 - np.exp(-(((eigenvalues - 0.3) / 0.1) ** 2))


criteria = {"smooth": smooth, "pairs": pairs, "smooth * pairs": both, "band": SPEC(Precomputed(W), gamma=band)}
results, first = {}, {}
for name, criterion in criteria.items():
    links = {"must_link": must_link, "cannot_link": cannot_link} if "pairs" in criterion.reads else {}
    selector = SpectralSelector(criterion, n_features_to_select=1).fit(X, **links)
    first[name] = selector.order_[0]
    results[name] = dict(zip(planted, selector.ranking_[:3].tolist(), strict=True))
    print(f"{name:<15} first is {names[first[name]]:<10} ranks of the planted fields: {results[name]}")

# %%
# The functions γ and the eigenvalues of the graph, and the field that each criterion ranks first.

figure, axes = plt.subplots(1, 5, figsize=(14, 3.4), layout="constrained", width_ratios=[1.25, 1, 1, 1, 1])
values, scale = Graph.from_weights(W).spectrum(300)[0], np.linspace(0, 2, 400)
axes[0].plot(scale, scale, label="γ = λ (smooth)")
axes[0].plot(scale, band(scale), "--", label="γ = band")
axes[0].plot(values, np.full(len(values), -0.1), "|", color="0.4", label="eigenvalues")
axes[0].set(xlabel="eigenvalue λ", ylabel="penalty γ(λ)", title="Penalty by eigenvalue")
axes[0].legend(loc="upper left", fontsize=8)
for axis, (name, column) in zip(axes[1:], first.items(), strict=True):
    axis.scatter(east, north, c=X[:, column], s=18, cmap="coolwarm")
    axis.set(title=f"{name}:\n{names[column]}", xticks=[], yticks=[], xlabel="east", ylabel="north", aspect="equal")
plt.show()
