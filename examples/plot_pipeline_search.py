"""
Pipeline and grid search: graphs, criteria and pairs
====================================================

A grid search can choose the number of neighbours of a graph, and also the criterion itself. This example shows the
names of these parameters. It also shows how ``Pairs`` are split together with the rows in cross-validation, with
scikit-learn's metadata routing. Plain row numbers would refer to the wrong rows.
"""

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from fiedler import KNN, ConstraintScore, Pairs, SpectralSelector, pairs_from_labels

# %%
# The 30 features of the breast cancer data, and 150 shuffled copies of them, which carry no information (probes).

rng = np.random.default_rng(0)
X, y = load_breast_cancer(return_X_y=True)
X = np.hstack([X, *(rng.permuted(X, axis=0) for _ in range(5))])

# %%
# 120 pairs of patients were compared. ``Pairs`` has one entry per sample and is split like any other array.

must_link, cannot_link = (Pairs(found, len(y)) for found in pairs_from_labels(y, n_pairs=120, random_state=0))
parts = train_test_split(X, y, must_link, cannot_link, test_size=0.4, stratify=y, random_state=0)
X_train, X_test, y_train, y_test, must_train, _, cannot_train, _ = parts
print(f"{must_link} and {cannot_link}; in the training part {must_train} and {cannot_train}")

# %%
# The selector requests the pairs; the scaler and the classifier do not. Without a screen, the probes are left to the
# criterion.

sklearn.set_config(enable_metadata_routing=True)
select = SpectralSelector("constraint", screen=None).set_fit_request(must_link=True, cannot_link=True)
pipeline = Pipeline([("scale", StandardScaler()), ("select", select), ("classify", KNeighborsClassifier(5))])

# %%
# The first grid varies the graph of one criterion, the second the criterion. Both vary the number of features. Every
# criterion here uses pairs; other criteria would warn that the pairs are ignored.

sizes, neighbors = [2, 5, 10, 20, 180], [3, 10, 30]
others = {"C1": ConstraintScore(1), "C2": ConstraintScore(2), "C4, full graph": ConstraintScore(4)}
grid = [
    {
        "select__criterion": [ConstraintScore(4, graph=KNN())],
        "select__criterion__graph__n_neighbors": neighbors,
        "select__n_features_to_select": sizes,
    },
    {"select__criterion": list(others.values()), "select__n_features_to_select": sizes},
]
folds = StratifiedKFold(4, shuffle=True, random_state=0)
search = GridSearchCV(pipeline, grid, cv=folds).fit(X_train, y_train, must_link=must_train, cannot_link=cannot_train)
chosen = search.best_estimator_["select"]
print("best:", chosen.criterion, "with", chosen.n_features_, "features")

# %%
# The probes test the selection, and the held-out patients test the whole pipeline.

plain = Pipeline([("scale", StandardScaler()), ("classify", KNeighborsClassifier(5))]).fit(X_train, y_train)
results = {"selected": chosen.get_support(indices=True), "pairs": (len(must_train.pairs), len(cannot_train.pairs))}
results |= {"accuracy": search.score(X_test, y_test), "all features": plain.score(X_test, y_test)}
print(results)

# %%
# Each cell is a cross-validated accuracy. The number of neighbours matters little here; the criterion and the number of
# features matter more.

scores = search.cv_results_["mean_test_score"].reshape(-1, len(sizes))
figure, axis = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
picture = axis.imshow(scores, cmap="viridis", aspect="auto")
for (row, column), score in np.ndenumerate(scores):
    axis.text(column, row, f"{score:.3f}", ha="center", va="center", color="k" if score > scores.mean() else "w")
axis.axhline(len(neighbors) - 0.5, color="w", linewidth=3)
axis.set_xticks(range(len(sizes)), [*sizes[:-1], f"all {sizes[-1]}"])
axis.set_yticks(range(len(scores)), [*(f"C4, {k} neighbours" for k in neighbors), *others])
axis.set(xlabel="number of features", title="Grid search over graphs and criteria")
figure.colorbar(picture, label="accuracy in 4-fold cross-validation")
plt.show()
