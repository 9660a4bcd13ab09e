"""The program of `make demo`: sets and rankings of a real data set, a comparison of methods, and an HTML report.

The data come with scikit-learn: 569 breast cancer samples with 30 features. The program selects sets without labels and
with 10 labels, and ranks the features with 10 labels and with 20 pairs. It compares methods over draws of 10 labels,
together with random features, the variance and all features. Finally it repeats the toy example of the constraint paper
and its four Kendall coefficients. The data are written to a CSV file, with which `fiedler explore` can be tried.
"""

import csv
import itertools
import sys
from pathlib import Path

import numpy as np
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from fiedler import ConstraintScore, SmoothSubset, SpectralSelector, SSelect, pairs_from_labels
from fiedler.datasets import constraint_toy
from fiedler.evaluate import compare, kendall_coefficient, stability
from fiedler.report import summarize, write_html

TOP = 5
REPORT, TABLE = Path("out") / "demo.html", Path("out") / "cells.csv"


def ten_labels(y, seed=0):
    """Five labels of each class, -1 (unknown) for all others."""
    rng, few = np.random.default_rng(seed), np.full(len(y), -1)
    for label in np.unique(y):
        few[rng.choice(np.flatnonzero(y == label), 5, replace=False)] = label
    return few


def show_rankings(X, y, names):
    """Print the first features of two sets and two rankings."""
    must_link, cannot_link = pairs_from_labels(y, n_pairs=20, random_state=0)
    pairs = {"must_link": must_link, "cannot_link": cannot_link}
    fitted = {
        "a set, no labels": SpectralSelector(SmoothSubset(), n_features_to_select=TOP).fit(X),
        "a set, 10 labels": SpectralSelector(SmoothSubset(), n_features_to_select=TOP).fit(X, ten_labels(y)),
        "a ranking, 10 labels": SpectralSelector(SSelect(), n_features_to_select=TOP).fit(X, ten_labels(y)),
        "a ranking, 20 pairs": SpectralSelector(ConstraintScore(), n_features_to_select=TOP).fit(X, **pairs),
    }
    print(f"Breast cancer, {X.shape[0]} samples x {X.shape[1]} features: the first {TOP}\n")
    print("      " + "".join(f"{title:<25}" for title in fitted))
    print("      " + "".join(f"{selector.criterion_!r:<25}" for selector in fitted.values()))
    for place in range(TOP):
        print(f"{place + 1:>4}  " + "".join(f"{names[selector.order_[place]]:<25}" for selector in fitted.values()))
    explained = fitted["a set, no labels"].explained_
    print(
        f"\nThe first feature of the set reaches {explained[0]:.0%} of J(all features), {TOP} features reach "
        f"{explained[-1]:.0%}."
    )
    return fitted["a set, 10 labels"]


def show_comparison(X, y):
    """Print 1-nearest-neighbour accuracy by number of features, means over draws of 10 labels."""
    sizes = [1, 2, 5, 10, 20]
    methods = ["subset", "laplacian", "sselect", "fisher", "constraint"]
    comparison = compare(methods, X, y, n_features=sizes, n_draws=5, n_labels=10, random_state=0)
    print("\n1-nearest-neighbour accuracy on the first features, mean of 5 draws of 10 labels\n")
    print(f"{'features':<12}" + "".join(f"{size:>8}" for size in sizes))
    for name in comparison.criteria:
        means = comparison.values(name).mean(axis=0)
        print(
            f"{name:<12}" + (f"{means[0]:>8.3f} on all 30" if name == "all" else "".join(f"{v:>8.3f}" for v in means))
        )
    return comparison


def show_toy():
    """Print the Kendall coefficients of C1 to C4 over the nine choices of constraints in the paper's toy example."""
    X, _ = constraint_toy()
    choices = list(itertools.product([(0, 1), (0, 2), (1, 2)], [(0, 3), (1, 3), (2, 3)]))
    print("\nKendall's coefficient in the toy example of the constraint paper (printed: .4325 .2258 .3333 .4333)\n")
    for variant in (1, 2, 3, 4):
        criterion = ConstraintScore(variant, n_neighbors=2)
        scores = [criterion.evaluate(X, must_link=[m], cannot_link=[c]) for m, c in choices]
        print(f"  C{variant}  {kendall_coefficient(rankdata(np.round(scores, 12), axis=1)):.4f}")


def write_table(path, X, y, names, classes):
    """Write the data with 10 labels as CSV: an id, the features, and the diagnosis if it is known."""
    few = ten_labels(y)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["sample", *names, "diagnosis"])
        for i, row in enumerate(X):
            writer.writerow([f"s{i}", *(f"{value:.6g}" for value in row), classes[few[i]] if few[i] >= 0 else ""])


def main():
    data = load_breast_cancer()
    X, y, names = StandardScaler().fit_transform(data.data), data.target, list(data.feature_names)
    selector = show_rankings(X, y, names)
    comparison = show_comparison(X, y)
    show_toy()
    few = ten_labels(y)
    again = stability(SmoothSubset(), X, few, k=TOP, n_draws=30, random_state=0)
    summary = summarize(
        selector, X, few, feature_names=names, source="breast cancer, 10 labels", stability=again, comparison=comparison
    )
    REPORT.parent.mkdir(exist_ok=True)
    write_html(REPORT, summary, force=True)
    write_table(TABLE, X, y, names, list(data.target_names))
    print(f"\nOpen the report in a browser: {REPORT.resolve()}")
    print("Label samples by hand and watch the ranking follow:")
    print(f"  {sys.executable} -m fiedler explore {TABLE} --target diagnosis --id sample")


if __name__ == "__main__":
    main()
