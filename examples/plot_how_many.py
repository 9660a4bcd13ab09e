"""
How many features? Explained share, accuracy and stability
==========================================================

No single rule gives the right number of features. This example shows three curves that help to choose it: the share of
J(all features) that a set reaches, the accuracy of a classifier on the set, and the overlap of the sets of two random
draws of samples. ``n_features_to_select="auto"`` selects nine tenths on the first curve.

The images are scikit-learn's digits, 64 pixels each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from fiedler import SpectralSelector
from fiedler.evaluate import accuracy_curve, stability, suggest_n_features

# %%
# A selection of forty features contains all smaller sets: ``order_`` is nested.

X, y = load_digits(return_X_y=True)
X, _, y, _ = train_test_split(X, y, train_size=300, stratify=y, random_state=0)
path = SpectralSelector("subset", n_features_to_select=40).fit(X)
auto = SpectralSelector("subset", n_features_to_select="auto").fit(X)
print(
    f"auto: {auto.n_features_} pixels reach {path.explained_[auto.n_features_ - 1]:.1%} of J(all {X.shape[1]} pixels)"
)

# %%
# Labels are used only to measure the accuracy, and for the rule that uses cross-validation.

sizes = [1, 2, 4, 6, 8, 10, 15, 20, 25, 30, 40]
accuracy = accuracy_curve(X, y, path.order_, n_features=sizes, n_repeats=1).mean
everything = float(accuracy_curve(X, y, np.arange(64), n_features=[64], n_repeats=1).mean[0])
some = [2, 5, 10, 20, 40]
stays = [stability("subset", X, k=k, n_draws=5).jaccard for k in some]
suggested = suggest_n_features("subset", X, y, n_features=[5, 10, 20, 30])
print(suggested)
results = {"auto": auto.n_features_, "explained": path.explained_, "accuracy": dict(zip(sizes, accuracy, strict=True))}
results |= {"all": everything, "stays": stays}

# %%
# The dashed line is the number of features that "auto" selects.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
axes[0].plot(range(1, 41), path.explained_, color="tab:blue")
axes[0].axhline(0.9, color="0.6", linewidth=0.8)
axes[0].set(title="Explained share", ylabel="share of J(all pixels)", ylim=(0, 1.02))
axes[1].plot(sizes, accuracy, "o-", color="tab:orange")
axes[1].axhline(everything, color="k", linestyle=":", label="all 64 pixels")
axes[1].set(title="Accuracy", ylabel="1-NN accuracy", ylim=(0, 1.02))
axes[1].legend(loc="lower right", frameon=False)
axes[2].plot(some, stays, "o-", color="tab:green")
axes[2].set(title="Stability", ylabel="overlap of two draws of rows (Jaccard)", ylim=(0, 1.02))
for axis in axes:
    axis.axvline(auto.n_features_, color="tab:red", linestyle="--", linewidth=1)
    axis.set_xlabel("number of pixels")
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
