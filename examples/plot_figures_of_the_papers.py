"""
The figures of the papers
=========================

The five papers judge a method with a few kinds of figures. This example draws each with one call. The data here are
measurements of tumours with two classes; sSelect, the constraint scores and EVSC are methods of the papers.

- Accuracy against the number of features, with baselines ([ZL] Fig. 3, [SPEC] Fig. 2, [DV] Fig. 1, [KA] Fig. 3).
- Accuracy against the number of labels ([ZL] Fig. 5).
- λ of sSelect against the cut value ([ZL] Fig. 4), and the two parts of its score ([ZL] Fig. 7).
- Agreement of the rankings of several draws against the number of pairs ([KA] Fig. 2), and rank sums ([KA] Table 2).
- Sorted scores of EVSC with their turning point ([EV] Fig. 4).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from fiedler import (
    KNN,
    ConstraintScore,
    CurveDisplay,
    Disagreement,
    Rayleigh,
    SpectralSelector,
    SSelect,
    pairs_from_labels,
)
from fiedler.evaluate import Curve, compare, kendall_coefficient, label_budget, rank_sums, tune_lambda

X, y = load_breast_cancer(return_X_y=True)
X, y = minmax_scale(X[::3]), y[::3]
few = np.where(np.arange(len(y)) % 19 == 0, y, -1)
figure, axes = plt.subplots(2, 3, figsize=(13, 7.5), layout="constrained")

# %%
# Accuracy against the number of features and of labels. ``protocol="ZL"`` ranks without labels on the other rows.

methods = {"sSelect": SSelect(), "Fisher": "fisher", "LS": "laplacian"}
options = {"n_draws": 5, "n_jobs": 1, "protocol": "ZL"}
curves = compare(methods, X, y, n_features=[1, 2, 5, 10], n_labels=6, **options)
CurveDisplay.from_comparison(curves, ax=axes[0, 0])
budget = label_budget(methods, X, y, [2, 6, 10], n_features=5, **options)
CurveDisplay.from_result(budget, ax=axes[0, 1])

# %%
# λ against the cut value of the first features, and the two terms that λ weights, for every feature.

tuned = tune_lambda(X, few, n_features=10)
CurveDisplay.from_result(tuned, ax=axes[0, 2])
parts = Rayleigh(KNN()).evaluate(X), Disagreement(KNN()).evaluate(X, few)
axes[1, 0].scatter(*parts, s=18)
axes[1, 0].set(xlabel="Laplacian score", ylabel="1 - NMI with the labels", title="the two parts of sSelect")

# %%
# Kendall's coefficient of the rankings of ten draws of pairs. The rank sums compare accuracies; the lowest is the best.

counts, runs = [4, 10, 20], range(10)
agree = {}
for variant in (1, 4):
    coefficients = []
    for count in counts:
        drawn = [pairs_from_labels(y, count, seed) for seed in runs]
        scores = [ConstraintScore(variant).evaluate(X, must_link=must, cannot_link=cannot) for must, cannot in drawn]
        coefficients.append(kendall_coefficient([rankdata(score) for score in scores]))
    agree[f"C{variant}"] = Curve("Kendall's coefficient", np.array(counts), np.array([coefficients]))
CurveDisplay.from_result(agree, axis="number of pairs", ax=axes[1, 1])
accuracies = np.column_stack([curves.values(name)[:, 2] for name in methods])
sums = dict(zip(methods, rank_sums(accuracies).tolist(), strict=True))
print("rank sums of the accuracy with five features:", sums)

# %%
# The scores of EVSC, sorted. The grey line is their turning point.

evsc = SpectralSelector("evsc", n_features_to_select=10).fit(X)
CurveDisplay.from_scores(evsc, ax=axes[1, 2])
results = {"tuned": tuned, "sums": sums, "agree": agree, "parts": parts, "budget": budget}
plt.show()
