"""
How stable: the same ranking with other labels
==============================================

Ten labels are an accident: ten others would have given another ranking. One learns to see how far a feature's rank
moves over draws of labels, and that the graph, which sees every sample in every draw, holds a ranking together.

The data are scikit-learn's breast cancer samples, 30 features of 569 samples.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from fiedler import FisherScore, SSelect
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
# A bar spans the ranks from the 5 % to the 95 % quantile, a dot is the median; the darker, the more often among the
# first eight.

figure, axes = plt.subplots(1, 3, figsize=(12, 5.6), sharey=True, layout="constrained")
order = np.argsort(drawn["Fisher, 100 labels"].rank_median, kind="stable")
height = np.arange(len(order))
for axis, (name, found) in zip(axes, drawn.items(), strict=True):
    colors = plt.cm.Blues(0.2 + 0.75 * found.frequency[order])
    span = (found.rank_high - found.rank_low)[order]
    axis.barh(height, span, left=found.rank_low[order], color=colors, height=0.7)
    axis.plot(found.rank_median[order], height, "o", color="k", markersize=3)
    axis.axvline(8.5, color="tab:red", linewidth=1, linestyle="--")
    axis.set(
        title=f"{name}\nagreement of the first 8: {found.kuncheva:.2f}", xlabel="rank over 30 draws", ylabel="feature"
    )
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_yticks(height, names[order], fontsize=8)
axes[0].invert_yaxis()
plt.show()
