"""
Near-duplicate features: a ranking, a pruned ranking, a set
===========================================================

Radius, perimeter and area of a cell are highly correlated, and a ranking gives them similar ranks. This example shows
two solutions. ``redundancy=True`` skips features that correlate with a better feature. A set is selected together, so
a near-duplicate adds almost nothing to it.

The data are scikit-learn's breast cancer samples: ten measurements of cells, each with mean, error and worst value.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from fiedler import SpectralSelector

TOP = 8

# %%
# Three selections of eight features without labels.

data = load_breast_cancer()
X, names = StandardScaler().fit_transform(data.data), data.feature_names
fitted = {
    "a ranking": SpectralSelector("laplacian", n_features_to_select=TOP).fit(X),
    "the same, pruned": SpectralSelector("laplacian", n_features_to_select=TOP, redundancy=True).fit(X),
    "a set": SpectralSelector("subset", n_features_to_select=TOP).fit(X),
}

# %%
# For each skipped feature, ``stands_for_`` is the kept feature it correlates with most.

pruned = fitted["the same, pruned"]
for j in pruned.order_[:3]:
    print(f"{names[j]} stands for", ", ".join(names[pruned.stands_for_ == j]) or "itself alone")

# %%
# The share of the variance of all thirty features that a linear map recovers from the eight.


def recovered(columns):
    """Share of the variance of all features in the span of some columns."""
    basis = np.linalg.qr(X[:, columns])[0]
    return float(np.sum((basis.T @ X) ** 2) / np.sum(X**2))


alike = np.abs(np.corrcoef(X.T))
results = {}
for name, selector in fitted.items():
    first = selector.order_[:TOP]
    mean = (alike[np.ix_(first, first)].sum() - TOP) / (TOP * (TOP - 1))
    results[name] = {"alike": float(mean), "recovered": recovered(first)}
    print(f"{name:<18} mean |correlation| {mean:.2f}, recovers {results[name]['recovered']:.0%} of all 30")

# %%
# Dark squares off the diagonal are near-duplicate features.

figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.7), layout="constrained")
for axis, (name, selector) in zip(axes, fitted.items(), strict=True):
    first = selector.order_[:TOP]
    picture = axis.imshow(alike[np.ix_(first, first)], cmap="Blues", vmin=0, vmax=1)
    axis.set_yticks(range(TOP), names[first], fontsize=8)
    axis.set_xticks(range(TOP), range(1, TOP + 1), fontsize=8)
    axis.set_title(f"{name}: recovers {results[name]['recovered']:.0%}", fontsize=11)
figure.colorbar(picture, ax=axes, label="absolute correlation", shrink=0.75)
plt.show()
