"""
Features among noise: a screen before the graph
===============================================

A graph over the samples is built from all columns, and where most of them are noise, so are its neighbours. One learns
how sixteen columns of noise for each real one blur three groups until the graph no longer knows them, and how the
columns that agree with others are told from those that agree with none, before any graph is built.

The data are made: ten columns that follow three hidden groups, and 160 columns of noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from fiedler import KNN, Agreeing, AgreementDisplay, SpectralSelector
from fiedler.evaluate import agreement

rng = np.random.default_rng(3)
group = np.sort(rng.integers(3, size=150))
real = 1.5 * rng.normal(size=(3, 10))[group] + rng.normal(size=(150, 10))
X = np.hstack([real, 1.5 * rng.normal(size=(150, 160))])

# %%
# Noise correlates with nothing by more than its own values would in another order. Which columns do is found in a few
# rounds, without labels, folds or seeds.

found = agreement(X)
print(found)

# %%
# The same graph with and without the other columns: an edge inside a group is a point in one of the three blocks.

graphs = {"All 170 columns": KNN(5).build(X), f"The {found.n_kept} that agree": Agreeing(KNN(5)).build(X)}


def inside(graph):
    """Share of the edges that join two samples of one group."""
    i, j, _ = graph.edges
    return float(np.mean(group[i] == group[j]))


# %%
# A set of five features, chosen by a graph, needs the screen most: a greedy search seeks out what noise fits by chance.

chosen = {
    screen: SpectralSelector("subset", n_features_to_select=5, screen=screen).fit(X).order_[:5]
    for screen in (None, "agreement")
}
results = {
    "kept": found.kept,
    "inside": [inside(graph) for graph in graphs.values()],
    "plain": chosen[None],
    "screened": chosen["agreement"],
}
for screen, columns in chosen.items():
    print(f"screen={screen!r}: {np.sum(columns < 10)} of 5 features are real")

# %%
# Left and middle, the edges of the two graphs; right, how likely each column agrees with others.

figure, axes = plt.subplots(1, 3, figsize=(12, 4.2), layout="constrained")
for ax, (title, graph) in zip(axes, graphs.items(), strict=False):
    i, j, _ = graph.edges
    same = group[i] == group[j]
    for there, colour in ((same, "C0"), (~same, "C3")):
        ax.scatter(np.r_[i[there], j[there]], np.r_[j[there], i[there]], s=4, color=colour, linewidths=0)
    ax.set(title=f"{title}: {inside(graph):.0%} of the edges\nstay inside a group", xlabel="sample", ylabel="sample")
    ax.set(aspect="equal", xlim=(0, 150), ylim=(150, 0))
AgreementDisplay.from_agreement(found, ax=axes[2])
plt.show()
