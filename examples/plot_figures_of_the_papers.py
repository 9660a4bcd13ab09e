"""
The figures of the papers
=========================

The five papers judge a method with a few kinds of figures. This example draws each with one call. The data here are
measurements of tumours with two classes; sSelect, the constraint scores and EVSC are methods of the papers.

- Accuracy against the number of features, with baselines ([ZL] Fig. 3, [SPEC] Fig. 2, [DV] Fig. 1, [KA] Fig. 3).
- Accuracy against the number of labels ([ZL] Fig. 5).
- λ of sSelect against the cut value and the accuracy ([ZL] Fig. 4), and the two parts of its score ([ZL] Fig. 7).
- Agreement of the rankings of several draws against the number of pairs ([KA] Fig. 2), and rank sums ([KA] Table 2).
- Sorted scores of EVSC with their turning point ([EV] Fig. 4), and good against bad features ([EV] Fig. 5).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from fiedler import (
    ConstraintScore,
    CurveDisplay,
    PartsDisplay,
    RankingDisplay,
    SpectralSelector,
    SSelect,
    pairs_from_labels,
)
from fiedler.evaluate import Curve, compare, good_against_bad, kendall_coefficient, label_budget, tune_lambda

X, y = load_breast_cancer(return_X_y=True)
X, y = minmax_scale(X[::3]), y[::3]
few = np.where(np.arange(len(y)) % 19 == 0, y, -1)
figure, axes = plt.subplots(2, 4, figsize=(17, 7.5), layout="constrained")

# %%
# Accuracy against the number of features and of labels. ``protocol="ZL"`` ranks without labels on the other rows.

methods = {"sSelect": SSelect(), "Fisher": "fisher", "LS": "laplacian"}
options = {"n_draws": 5, "n_jobs": 1, "protocol": "ZL"}
curves = compare(methods, X, y, n_features=[1, 2, 5, 10], n_labels=6, **options)
CurveDisplay.from_comparison(curves, ax=axes[0, 0])
budget = label_budget(methods, X, y, [2, 6, 10], n_features=5, **options)
CurveDisplay.from_result(budget, ax=axes[0, 1])

# %%
# λ against the cut value of the first features, and against their accuracy, which needs all labels. On these data the
# smallest cut is not the best accuracy. Beside it are the two terms that λ weights, for every feature: the Laplacian
# score, and 1 - NMI with the labels.

tuned = tune_lambda(X, few, n_features=10, y_true=y)
CurveDisplay.from_result(tuned, ax=axes[0, 2])
chosen = SpectralSelector(tuned.best, n_features_to_select=10).fit(X, few)
parts = PartsDisplay.from_selector(chosen, X, few, ax=axes[0, 3])

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
CurveDisplay.from_result(agree, axis="number of pairs", ax=axes[1, 0])
ranks = RankingDisplay.from_comparison(curves, n_features=5, methods=methods, ax=axes[1, 1])
print("rank sums for 1, 2, 5 and 10 features:", curves.rank_sums(methods=methods))

# %%
# The scores of EVSC, sorted. The grey line is their turning point. The first features of the ranking preserve more
# neighbourhoods than the last (JAS); ``metric="clustering_accuracy"`` compares their clusters with the classes (ACC).

evsc = SpectralSelector("evsc", n_features_to_select=10).fit(X)
CurveDisplay.from_scores(evsc, ax=axes[1, 2])
good, bad = pair = good_against_bad(X - X.mean(axis=0), y, evsc.order_, metric="jaccard", n_features=[2, 5, 10, 15])
CurveDisplay.from_result(pair, ax=axes[1, 3])
results = {"tuned": tuned, "ranks": ranks, "agree": agree, "parts": parts, "good": good, "bad": bad}
plt.show()
