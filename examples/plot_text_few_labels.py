"""
Text with few labels: sSelect, Fisher and Laplacian score
=========================================================

The Fisher score uses only the ten labelled documents, and the Laplacian score follows the strongest structure. This
example shows sSelect, which uses both: the labels tell *which* structure is meant, and all documents tell which words
carry it.

The documents are generated. If ``FIEDLER_DATA`` is set, they are the newsgroups on baseball and hockey (BASEHOCK).
There sSelect and Fisher are equally good, and neither is better than the variance.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from fiedler import KNN, FisherScore, LaplacianScore, SpectralSelector, SSelect
from fiedler.datasets import load_paper_set
from fiedler.evaluate import compare

# %%
# Every document has a topic, which is the class, and a genre, which influences the words more but is not the class.


def make_documents(n_documents=300, n_words=1000, random_state=0):
    """Word counts, topics, names of the words: 40 topical ones, 40 of the genres, a long tail of others."""
    rng = np.random.default_rng(random_state)
    topic, genre = rng.integers(2, size=(2, n_documents))
    background = 1.0 / np.arange(10, n_words + 10)
    marked = rng.choice(np.arange(50, 600), size=(4, 20), replace=False)
    typical = np.zeros((4, n_words))
    np.put_along_axis(typical, marked, 1 / 20, axis=1)
    mixture = 0.75 * background / background.sum() + 0.1 * typical[topic] + 0.15 * typical[2 + genre]
    counts = np.array([rng.multinomial(rng.integers(50, 200), p) for p in mixture])
    names = np.array([f"word {j}" for j in range(n_words)], dtype="U9")
    names[marked] = [[f"{'topic' if kind < 2 else 'genre'} {j}" for j in row] for kind, row in enumerate(marked)]
    return sp.csr_array(counts), topic, names


real = bool(os.environ.get("FIEDLER_DATA"))
X, y, words = load_paper_set("BASEHOCK") if real else make_documents()
print(f"{X.shape[0]} documents x {X.shape[1]} words, {X.nnz / np.prod(X.shape):.1%} of the counts are not zero")

# %%
# The words are ranked with five labelled documents of each class; -1 means unknown.

rng = np.random.default_rng(1)
shown = np.concatenate([rng.choice(np.flatnonzero(y == label), 5, replace=False) for label in np.unique(y)])
ten_labels = np.where(np.isin(np.arange(len(y)), shown), y.astype(int), -1)
graph = KNN(metric="cosine")  # documents differ in length
methods = {"sSelect": SSelect(graph, lam=0.1), "Fisher": FisherScore(), "Laplacian": LaplacianScore(graph)}
ranked = {name: SpectralSelector(m, n_features_to_select=40).fit(X, ten_labels) for name, m in methods.items()}
for name, selector in ranked.items():
    print(f"{name:<10}", ", ".join(words[selector.order_[:8]]))

# %%
# One draw of labels shows little. Therefore the draw is repeated, and the class of the unlabelled documents is
# predicted. Words that are constant on the labelled documents have no Fisher score. They follow the others in random
# order.

protocol = {"n_features": [10, 20, 40], "n_labels": 10, "n_draws": 6, "scored_rows": "hidden", "unscored": "random"}
result = compare(methods, X, y, n_jobs=1, **protocol)
print(result)
results = {name: result.values(name)[:, -1].mean() for name in [*methods, "random", "all"]}
if not real:
    topical = np.char.startswith(words, "topic")
    orders = {name: result.orders[name] or [ranked[name].order_] for name in methods}  # one if no labels are used
    results["topical"] = {name: np.mean([topical[order[:40]].sum() for order in orders[name]]) for name in methods}
    print("topical words among the first 40:", {name: f"{mean:.1f}" for name, mean in results["topical"].items()})

# %%
# Left: the best words of the first draw. Right: the accuracy by number of words.

colors = {"sSelect": "C0", "Fisher": "C1", "Laplacian": "C2", "variance": "C4", "random": "0.5"}
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for column, name in enumerate(methods):
    left.text(column, 0, name, color=colors[name], weight="bold", ha="center")
    for row, word in enumerate(words[ranked[name].order_[:12]], start=1):
        left.text(column, row, word, ha="center", weight="bold" if word.startswith("topic ") else "normal")
left.set(xlim=(-0.5, 2.5), ylim=(12.5, -0.7), title="Best words with 10 labels" + " (topical ones bold)" * (not real))
left.axis("off")
summary = result.summary()["methods"]
for name, color in colors.items():
    curve = summary[name]["curves"]["accuracy"]
    right.plot(curve["n_features"], curve["mean"], "o-", color=color, label=name)
    right.fill_between(curve["n_features"], curve["low"], curve["high"], color=color, alpha=0.15)
right.axhline(results["all"], color="k", linestyle=":", label=f"all {X.shape[1]} words")
right.set(xlabel="number of words", ylabel="1-NN accuracy on hidden rows", title="6 draws of 10 labels, 95 % band")
right.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
plt.show()
