"""
Is it real? P-values that hold on noise, and those that do not
==============================================================

A ranking of pure noise has a first feature too. One learns how not to test it: a graph built from all features is bent
towards each of them, so that noise looks smooth on it. ``significance`` deals the features into folds and tests each on
a graph of the others, where noise looks like noise.

The data are made: 400 columns of noise, then the same with twenty that follow three hidden groups.
"""

import matplotlib.pyplot as plt
import numpy as np

from fiedler import KNN, Precomputed, Rayleigh, SignificanceDisplay
from fiedler.evaluate import significance

# %%
# The naive way hands over a graph that has read the features and says nothing about it.

rng = np.random.default_rng(0)
noise = rng.normal(size=(150, 400))
planted = noise.copy()
planted[:, :20] += 1.5 * rng.integers(3, size=150)[:, None]


def naive(X):
    """Tests on the graph of all features, as if it had been given."""
    return significance(Rayleigh(Precomputed(KNN().build(X))), X)


tests = {
    ("noise", "naive"): naive(noise),
    ("noise", "cross-fitted"): significance("laplacian", noise, n_repeats=1),
    ("20 planted", "cross-fitted"): significance("laplacian", planted, n_repeats=1),
}

# %%
# P-values of noise are uniform where the test is honest: one in twenty below 0.05. The features are dealt once here; by
# default they are dealt five times and the median counts, which is steadier and errs on the safe side.

below = {key: float(np.mean(test.pvalues <= 0.05)) for key, test in tests.items()}
found = np.flatnonzero(tests["20 planted", "cross-fitted"].qvalues <= 0.1)
results = {"naive": below["noise", "naive"], "honest": below["noise", "cross-fitted"], "found": found}
print(f"noise below 0.05: {results['naive']:.0%} naively, {results['honest']:.1%} cross-fitted")
print(f"with a false discovery rate of 0.1: {len(found)} found, {np.sum(found < 20)} of them planted")

# %%
# The dashed line of a histogram is what noise alone should look like; below, in colour, the effects of what was found.

figure, axes = plt.subplots(2, 3, figsize=(12, 6.4), layout="constrained")
titles = ["Noise, naive", "Noise, cross-fitted", "20 of 400 planted, cross-fitted"]
for column, title, test in zip(axes.T, titles, tests.values(), strict=True):
    SignificanceDisplay.from_significance(test, ax=column)
    column[0].set_title(f"{title}\n{np.mean(test.pvalues <= 0.05):.1%} below 0.05")
plt.show()
