"""
The λ of sSelect: from labels to graph
======================================

sSelect is a weighted sum of two terms. One is small if a feature is smooth on the graph of all samples, the other if it
separates the few labelled samples by class. λ weights them. This example shows the ranking as a function of λ. With
labels only, noise features agree with the labels by chance. With the graph only, the strongest structure wins. In
between, each term corrects the other.

Two splits of the samples are planted: a strong one without labels ("loud"), and a weaker one with labels ("asked").
"""

import matplotlib.pyplot as plt
import numpy as np

from fiedler import SpectralSelector, SSelect

# %%
# Ten features follow the loud split, ten the labelled split, and a hundred neither. Six samples are labelled.

rng = np.random.default_rng(5)
asked, loud = rng.integers(2, size=(2, 200))
kind = np.repeat(["loud", "asked", "noise"], [10, 10, 100])
X = rng.normal(size=(200, 120))
X[:, kind == "loud"] += 2.6 * loud[:, None]
X[:, kind == "asked"] += 2.2 * asked[:, None]


def six_labels():
    """Three labels of each class, -1 for all others."""
    labels = np.full(200, -1)
    for label in (0, 1):
        labels[rng.choice(np.flatnonzero(asked == label), 3, replace=False)] = label
    return labels


# %%
# There are ten draws of labels, and one ranking per draw and λ.

lambdas = np.linspace(0, 1, 16)
draws = [six_labels() for _ in range(10)]
ranks = np.array(
    [[SpectralSelector(SSelect(lam=lam), screen=None).fit(X, y).ranking_ for lam in lambdas] for y in draws]
)
first = {name: (ranks[..., kind == name] <= 10).sum(axis=-1) for name in ("asked", "loud", "noise")}
results = {name: count.mean(axis=0) for name, count in first.items()}
for name, mean in results.items():
    print(f"{name:<5} among the first ten, by λ:", *(f"{value:.1f}" for value in mean))

# %%
# Left: ranks in the first draw, one line per feature. Right: kinds of the first ten features, mean over the draws.

colors = {"noise": "0.8", "loud": "tab:orange", "asked": "tab:blue"}
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for name, color in colors.items():
    left.plot(lambdas, ranks[0][:, kind == name], color=color, linewidth=0.6 if name == "noise" else 1.5)
    left.plot([], [], color=color, linewidth=3, label=name)
left.axhline(10.5, color="k", linewidth=0.8, linestyle=":")
left.set(xlabel="λ: from labels (0) to graph (1)", ylabel="rank", ylim=(60, 0), title="One draw, one line per feature")
left.legend(loc="lower right")
right.stackplot(
    lambdas, *(results[name] for name in ("asked", "loud", "noise")), colors=["tab:blue", "tab:orange", "0.8"]
)
right.set(xlabel="λ: from labels (0) to graph (1)", ylabel="among the first ten", title="Mean of ten draws")
right.set(xlim=(0, 1), ylim=(0, 10))
plt.show()
