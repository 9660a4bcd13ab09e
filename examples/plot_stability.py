"""
Stability: the same method with other labels
============================================

Ten labels are a random choice, and ten other labels would give another ranking. This example shows how much the rank
of a feature changes over draws of labels. A method that also uses the graph of all samples is more stable.

The data are scikit-learn's breast cancer samples, 30 features of 569 samples.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from fiedler import FisherScore, SSelect, StabilityDisplay
from fiedler.evaluate import stability

# %%
# The Fisher score uses the labelled samples only. sSelect with λ = 0.5 also uses the graph of all 569 samples.

data = load_breast_cancer()
X, y, names = StandardScaler().fit_transform(data.data), data.target, data.feature_names

# %%
# Thirty draws of labels per method. Kuncheva's index compares the first eight features of two draws: 0 is chance, 1
# equal.

methods = {"Fisher, 10 labels": (FisherScore(), 10), "sSelect, 10 labels": (SSelect(lam=0.5), 10)}
methods |= {"Fisher, 100 labels": (FisherScore(), 100)}
drawn = {}
for name, (criterion, n_labels) in methods.items():
    drawn[name] = stability(criterion, X, y, k=8, resample="labels", size=n_labels, n_draws=30)
    print(f"{name:<20} {drawn[name]}")
results = {name: found.kuncheva for name, found in drawn.items()}

# %%
# Left: the ten features that each method selects most often. Right: their ranks. The dot is the median, and the line
# goes from the 5 % to the 95 % quantile.

figure, axes = plt.subplots(3, 2, figsize=(10, 9), layout="constrained")
for (left, right), (name, found) in zip(axes, drawn.items(), strict=True):
    StabilityDisplay.from_stability(found, n_features=10, feature_names=names, ax=(left, right))
    left.set_title(f"{name}: the first 8 agree by {found.kuncheva:.2f}")
    right.set_xlim(0, len(names))
    right.axvline(8.5, color="tab:red", linewidth=1, linestyle="--")
plt.show()
