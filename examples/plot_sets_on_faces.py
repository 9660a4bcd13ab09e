"""
Sets and rankings of pixels
===========================

A ranking scores features one by one, so its best pixels lie close together and are redundant. A set is selected
together: each pixel must add something to those selected before. This example shows the pixels that four methods
select, and the accuracy of a nearest-neighbour classifier on these pixels.

The images are scikit-learn's digits. If ``FIEDLER_DATA`` is set, they are 400 faces of forty people (ORL). On a single
data set any of the last three methods may be ahead; docs/which-method.md has averages over many data sets.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from fiedler import SpectralSelector
from fiedler.datasets import load_paper_set
from fiedler.evaluate import accuracy_curve

SIZES = [2, 4, 6, 8, 10, 15, 20, 30]
SHOWN = 20

if os.environ.get("FIEDLER_DATA"):
    X, y, _ = load_paper_set("ORL")
    height, width = 32, 32
    X = X.reshape(-1, width, height).transpose(0, 2, 1).reshape(len(y), -1)  # stored column by column
else:
    X, y = load_digits(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, train_size=300, stratify=y, random_state=0)
    height, width = 8, 8
X = X.astype(float)

# %%
# CUR is a common method to select a set. It takes the column with the largest leverage on the first singular vector,
# removes this column from all others, and repeats. scikit-matter also implements it.


def cur(X, k):
    """Columns by leverage, one after the other, each orthogonalised against the chosen ones."""
    rest, chosen = X - X.mean(axis=0), []
    for _ in range(k):
        leverage = np.abs(np.linalg.svd(rest, full_matrices=False)[2][0])
        leverage[chosen] = 0.0
        chosen.append(int(np.argmax(leverage)))
        direction = rest[:, chosen[-1]] / np.linalg.norm(rest[:, chosen[-1]])
        rest = rest - np.outer(direction, direction @ rest)
    return np.array(chosen)


# %%
# ``redundancy=True`` skips pixels whose correlation with a better pixel is above 0.7. No method uses labels.

most = max(SIZES)
orders = {
    "Laplacian score": SpectralSelector("laplacian", n_features_to_select=most).fit(X).order_,
    "Laplacian score, pruned": SpectralSelector("laplacian", n_features_to_select=most, redundancy=True).fit(X).order_,
    "CUR": cur(X, most),
    "subset": SpectralSelector("subset", n_features_to_select=most).fit(X).order_,
}
results = {name: accuracy_curve(X, y, order, n_features=SIZES, n_repeats=3).mean for name, order in orders.items()}
everything = float(accuracy_curve(X, y, np.arange(X.shape[1]), n_features=[X.shape[1]], n_repeats=3).mean[0])
print(f"1-NN accuracy with 10 and {SHOWN} of {X.shape[1]} pixels; with all of them {everything:.3f}")
for name, curve in results.items():
    print(f"  {name:<24} {curve[SIZES.index(10)]:.3f}  {curve[SIZES.index(SHOWN)]:.3f}")

# %%
# The first pixels of each method on the mean image, and the accuracy by number of pixels.

colors = {"Laplacian score": "tab:gray", "Laplacian score, pruned": "tab:olive", "CUR": "tab:blue", "subset": "tab:red"}
figure, axes = plt.subplots(1, 5, figsize=(13, 3.1), width_ratios=[1, 1, 1, 1, 1.7], layout="constrained")
for axis, (name, order) in zip(axes, orders.items(), strict=False):
    rows, columns = np.divmod(order[:SHOWN], width)
    axis.imshow(X.mean(axis=0).reshape(height, width), cmap="gray", alpha=0.75)
    axis.plot(columns, rows, "o", color=colors[name], markeredgecolor="w", markersize=6)
    axis.set(xticks=[], yticks=[])
    axis.set_title(f"{name}\n{results[name][SIZES.index(SHOWN)]:.0%} with {SHOWN} pixels", fontsize=9)
for name, curve in results.items():
    axes[4].plot(SIZES, curve, "o-", color=colors[name], label=name, markersize=4)
axes[4].axhline(everything, color="k", linewidth=1, linestyle=":", label=f"all {X.shape[1]} pixels")
axes[4].set(xlabel="number of pixels", ylabel="1-NN accuracy", ylim=(0, 1.03))
axes[4].legend(loc="lower right", frameon=False, fontsize=8)
plt.show()
