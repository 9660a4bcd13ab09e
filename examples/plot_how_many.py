"""
How many features: what is explained, predicted, and stays
==========================================================

A selection needs a size, and there is no one right answer. One learns to look at three curves before choosing: how much
of all features a set explains, how well a classifier does with it, and how much of it stays when the samples are drawn
again. ``n_features_to_select="auto"`` takes nine tenths of the first.

The images are scikit-learn's digits, 64 pixels each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from fiedler import SpectralSelector
from fiedler.evaluate import accuracy_curve, stability, suggest_n_features

# %%
# A run of forty features holds all smaller sets: ``order_`` is nested.

X, y = load_digits(return_X_y=True)
X, _, y, _ = train_test_split(X, y, train_size=300, stratify=y, random_state=0)
path = SpectralSelector("subset", n_features_to_select=40).fit(X)
auto = SpectralSelector("subset", n_features_to_select="auto").fit(X)
print(
    f"auto: {auto.n_features_} pixels explain {path.explained_[auto.n_features_ - 1]:.1%} of what all {X.shape[1]} do"
)

# %%
# Labels are used here only to judge, and to let cross-validation suggest a size.

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
# The dashed line is "auto".

figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
axes[0].plot(range(1, 41), path.explained_, color="tab:blue")
axes[0].axhline(0.9, color="0.6", linewidth=0.8)
axes[0].set(title="Explained", ylabel="share of what all pixels explain", ylim=(0, 1.02))
axes[1].plot(sizes, accuracy, "o-", color="tab:orange")
axes[1].axhline(everything, color="k", linestyle=":", label="all 64 pixels")
axes[1].set(title="Predicted", ylabel="1-NN accuracy", ylim=(0, 1.02))
axes[1].legend(loc="lower right", frameon=False)
axes[2].plot(some, stays, "o-", color="tab:green")
axes[2].set(title="Stays", ylabel="overlap of two draws of rows (Jaccard)", ylim=(0, 1.02))
for axis in axes:
    axis.axvline(auto.n_features_, color="tab:red", linestyle="--", linewidth=1)
    axis.set_xlabel("number of pixels")
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
