"""
Images: which pixels unsupervised scores select
===============================================

A pixel is a feature, so the scores of all features form an image. This example compares four unsupervised scores on the
same images. A ranking scores pixels one by one, so neighbouring pixels get similar ranks.

The images are scikit-learn's digits. If ``FIEDLER_DATA`` is set, they are faces of 100 x 100 pixels (pixraw10P).
Neighbouring pixels of the faces are near-duplicates: the best pixels are worse than random pixels, and mostly better if
they are forced apart.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from fiedler import EVSC, RBF, SPEC, LaplacianScore, SpectralSelector, Variance
from fiedler.datasets import load_paper_set
from fiedler.evaluate import accuracy_curve

TOP = 10

# %%
# Grey values are not scaled: all pixels have the same unit, and a pixel that hardly changes should have little weight.

if os.environ.get("FIEDLER_DATA"):
    X, y, _ = load_paper_set("pixraw10P")
    side, gap = 100, 12
    X = X.reshape(-1, side, side).transpose(0, 2, 1).reshape(len(y), -1)  # stored column by column
else:
    X, y = load_digits(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, train_size=300, stratify=y, random_state=0)
    side, gap = 8, 2
X = X.astype(float)

# %%
# Pixels that are equal in all images have no score (NaN) and rank last.

scores = {"Laplacian score": LaplacianScore(), "SPEC, φ3": SPEC(phi=3, n_clusters=10)}
scores |= {"EVSC": EVSC(RBF(scale=0.25)), "variance": Variance()}
fitted = {name: SpectralSelector(score, n_features_to_select=TOP).fit(X) for name, score in scores.items()}
print("pixels without a score:", np.isnan(fitted["variance"].scores_).sum(), "of", X.shape[1])

# %%
# To force pixels apart, go down the ranking and skip pixels that are closer than ``gap`` to a selected pixel.

place = np.indices((side, side)).reshape(2, -1).T  # row and column of every pixel


def apart(order):
    """The first pixels of a ranking that are at least ``gap`` rows or columns from each other."""
    chosen = []
    for pixel in order:
        if len(chosen) < TOP and all(abs(place[pixel] - place[other]).max() >= gap for other in chosen):
            chosen.append(pixel)
    return chosen


def accuracy(pixels):
    """1-NN accuracy with these pixels."""
    return float(accuracy_curve(X, y, pixels, n_features=[len(pixels)], n_repeats=2).mean[0])


results = {name: (accuracy(s.order_[:TOP]), accuracy(apart(s.order_))) for name, s in fitted.items()}
drawn = np.random.default_rng(0).permuted(np.tile(np.arange(X.shape[1]), (10, 1)), axis=1)
results["random"] = tuple(np.mean([(accuracy(o[:TOP]), accuracy(apart(o))) for o in drawn], axis=0))
print(f"1-NN accuracy with {TOP} of {X.shape[1]} pixels: the first pixels, and the first pixels that lie apart")
print(*(f"  {name:<16} {first:.3f}  {spaced:.3f}" for name, (first, spaced) in results.items()), sep="\n")

# %%
# Bright pixels have good ranks, white pixels have no score, and dots are the best pixels.

figure, axes = plt.subplots(2, 3, figsize=(10, 6.2), layout="constrained")
axes[0, 0].imshow(X.mean(axis=0).reshape(side, side), cmap="gray")
axes[0, 0].set_title("mean image")
for axis, (name, selector) in zip(axes.flat[1:], fitted.items(), strict=False):
    rank = np.where(np.isnan(selector.scores_), np.nan, selector.ranking_).reshape(side, side)
    picture = axis.imshow(rank, cmap="viridis_r")
    axis.plot(*place[selector.order_[:TOP]].T[::-1], "o", color="tab:red", markeredgecolor="w", markersize=6)
    axis.set_title(name)
figure.colorbar(picture, ax=axes[:, 1], label="rank of the pixel")
plt.setp(list(axes.flat[:5]), xticks=[], yticks=[])
bars = np.array(list(results.values()))
axes[1, 2].barh(np.arange(5) - 0.2, bars[:, 0], 0.38, color="tab:red", label=f"first {TOP}")
axes[1, 2].barh(np.arange(5) + 0.2, bars[:, 1], 0.38, color="0.6", label=f"first {TOP}, {gap} apart")
axes[1, 2].set(yticks=range(5), yticklabels=results, xlabel="1-NN accuracy", xlim=(0, 1), ylim=(4.6, -0.6))
axes[1, 2].legend(loc="lower center", bbox_to_anchor=(0.4, 1), ncols=2, frameon=False)
plt.show()
