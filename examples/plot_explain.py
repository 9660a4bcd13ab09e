"""
Explain a choice: what each feature adds, and what it stands for
================================================================

This example explains a selection. ``explain`` says for every chosen feature what it adds to the features before it,
how much they explain together, and which near-duplicates it stands for. For a feature that was not chosen it says what
beats it. ``diff`` compares two selections: here one without labels, and one that has seen ten labels per class.

The data are scikit-learn's breast cancer samples: ten measurements of cells, each with mean, error and worst value.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from fiedler import ExplanationDisplay, SpectralSelector
from fiedler.evaluate import diff

TOP = 8

# %%
# Two selections of eight features.

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)
few = np.full(len(y), -1)
for label in (0, 1):
    known = np.flatnonzero(y == label)[:10]
    few[known] = label

without = SpectralSelector("subset", n_features_to_select=TOP).fit(X)
with_labels = SpectralSelector("subset", n_features_to_select=TOP).fit(X, few)

# %%
# The explanation without labels. X is needed for the near-duplicates.

explanation = without.explain(X)
print(explanation)

# %%
# One feature in words: the mean radius is a good feature, but a chosen one says the same.

print(explanation.why("mean radius"))

# %%
# What the labels change.

change = diff(without, with_labels)
print(change)

results = {
    "explained": [float(selector.explained_[-1]) for selector in (without, with_labels)],
    "copies": sum(len(explanation.copies(int(j))) for j in explanation.chosen),
    "beaten": explanation.beaten_by("mean radius"),
    "lost": change.lost,
    "gained": change.gained,
}

# %%
# Every bar begins where the features above it end, so the right end of the last bar is what all eight explain.

figure, axes = plt.subplots(1, 2, figsize=(12.5, 4.2), layout="constrained")
for axis, selector, title in zip(axes, (without, with_labels), ("no labels", "10 labels per class"), strict=True):
    ExplanationDisplay.from_explanation(selector.explain(X), ax=axis)
    axis.set(title=title, xlim=(0, 1.25), xticks=np.linspace(0, 1, 6))
plt.show()
