"""
Is it real? Valid and invalid p-values on noise
===============================================

A ranking of pure noise also has a first feature. This example shows a wrong and a right way to test it. A graph built
from all features is biased towards each of them, so noise looks smooth on it. ``significance`` divides the features
into folds and tests each fold on a graph that was built from the other folds.

The data are generated: 400 columns of noise, and the same columns with twenty that follow three hidden groups.
"""

import matplotlib.pyplot as plt
import numpy as np

from fiedler import KNN, Precomputed, Rayleigh, SignificanceDisplay
from fiedler.evaluate import significance

# %%
# The naive test uses a graph that was built from the tested features.

rng = np.random.default_rng(0)
noise = rng.normal(size=(150, 400))
planted = noise.copy()
planted[:, :20] += 1.5 * rng.integers(3, size=150)[:, None]


def naive(X):
    """Test on the graph of all features, as if it came from elsewhere."""
    return significance(Rayleigh(Precomputed(KNN().build(X))), X)


tests = {
    ("noise", "naive"): naive(noise),
    ("noise", "cross-fitted"): significance("laplacian", noise, n_repeats=1),
    ("20 planted", "cross-fitted"): significance("laplacian", planted, n_repeats=1),
}

# %%
# If a test is valid, p-values of noise are uniform: one in twenty is below 0.05. Here the features are divided into
# folds once. By default this is repeated five times and the median p-value is used, which is more stable and
# conservative.

below = {key: float(np.mean(test.pvalues <= 0.05)) for key, test in tests.items()}
found = np.flatnonzero(tests["20 planted", "cross-fitted"].qvalues <= 0.1)
results = {"naive": below["noise", "naive"], "honest": below["noise", "cross-fitted"], "found": found}
print(f"noise below 0.05: {results['naive']:.0%} naively, {results['honest']:.1%} cross-fitted")
print(f"with a false discovery rate of 0.1: {len(found)} found, {np.sum(found < 20)} of them planted")

# %%
# The dashed line is the expected histogram for noise. Below, effect sizes; significant features are coloured.

figure, axes = plt.subplots(2, 3, figsize=(12, 6.4), layout="constrained")
titles = ["Noise, naive", "Noise, cross-fitted", "20 of 400 planted, cross-fitted"]
for column, title, test in zip(axes.T, titles, tests.values(), strict=True):
    SignificanceDisplay.from_significance(test, ax=column)
    column[0].set_title(f"{title}\n{np.mean(test.pvalues <= 0.05):.1%} below 0.05")
plt.show()
