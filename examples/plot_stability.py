"""
How stable: the same ranking with other labels
==============================================

Ten labels are an accident: ten others would have given another ranking. One learns to see how far a feature's rank
moves over draws of labels, and that the graph, which sees every sample in every draw, holds a ranking together.

The data are scikit-learn's breast cancer samples, 30 features of 569 samples.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from fiedler import FisherScore, SSelect, StabilityDisplay
from fiedler.evaluate import stability

# %%
# The Fisher score sees the labelled samples alone; sSelect with λ = 0.5 sees the graph of all 569 besides.

data = load_breast_cancer()
X, y, names = StandardScaler().fit_transform(data.data), data.target, data.feature_names

# %%
# Thirty draws of labels each. Kuncheva's index compares the first eight of two draws: 0 is chance, 1 the same.

methods = {"Fisher, 10 labels": (FisherScore(), 10), "sSelect, 10 labels": (SSelect(lam=0.5), 10)}
methods |= {"Fisher, 100 labels": (FisherScore(), 100)}
drawn = {}
for name, (criterion, n_labels) in methods.items():
    drawn[name] = stability(criterion, X, y, k=8, resample="labels", size=n_labels, n_draws=30)
    print(f"{name:<20} {drawn[name]}")
results = {name: found.kuncheva for name, found in drawn.items()}

# %%
# On the left the ten most frequent features of each method, on the right the ranks they had: the median is a dot on a
# line from the 5 % to the 95 % quantile.

figure, axes = plt.subplots(3, 2, figsize=(10, 9), layout="constrained")
for (left, right), (name, found) in zip(axes, drawn.items(), strict=True):
    StabilityDisplay.from_stability(found, n_features=10, feature_names=names, ax=(left, right))
    left.set_title(f"{name}: the first 8 agree by {found.kuncheva:.2f}")
    right.set_xlim(0, len(names))
    right.axvline(8.5, color="tab:red", linewidth=1, linestyle="--")
plt.show()
