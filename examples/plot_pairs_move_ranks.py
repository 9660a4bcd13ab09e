"""
Pairs move a ranking: from the graph to the experts
===================================================

Without labels a ranking follows the graph, and the graph follows the strongest structure: here the day of the
measurement. This example shows how the ranking changes when an expert gives two, four, eight, ... pairs of samples that
belong together or do not.

The data are generated: 120 patients are measured on two days. Six substances depend on the day, six on the disease that
the pairs are about, and eight on neither.
"""

import matplotlib.pyplot as plt
import numpy as np

from fiedler import ConstraintScore, LaplacianScore, SpectralSelector, pairs_from_labels

# %%
# The effect of the day is larger than that of the disease.

rng = np.random.default_rng(7)
day, ill = rng.integers(2, size=(2, 120))
kind = np.repeat(["day", "disease", "neither"], [6, 6, 8])
X = rng.normal(size=(120, 20)) + 3.0 * np.outer(day, kind == "day") + 2.0 * np.outer(ill, kind == "disease")

# %%
# Without pairs the criterion is the Laplacian score. With pairs it is multiplied by the first constraint score, which
# is small if must-link pairs differ little and cannot-link pairs differ much. Ten experts draw their pairs
# independently.

numbers = [0, 2, 4, 8, 16, 32, 64]


def ranking(number, expert):
    """Ranks of the twenty substances, given a number of pairs of one expert."""
    if not number:
        return SpectralSelector(LaplacianScore(), screen=None).fit(X).ranking_
    must_link, cannot_link = pairs_from_labels(ill, n_pairs=number, random_state=expert)
    both = LaplacianScore() * ConstraintScore(1)
    return SpectralSelector(both, screen=None).fit(X, must_link=must_link, cannot_link=cannot_link).ranking_


ranks = np.array([[ranking(number, expert) for number in numbers] for expert in range(10)])
names = ["disease", "day", "neither"]
results = {name: (ranks[..., kind == name] <= 6).sum(axis=-1).mean(axis=0) for name in names}
for name, mean in results.items():
    print(f"{name:<8} among the first six, by number of pairs:", *(f"{value:.1f}" for value in mean))

# %%
# Left: ranks of the substances with the pairs of one expert. Right: kinds of the first six, mean over the experts.

colors = {"day": "tab:orange", "disease": "tab:blue", "neither": "0.75"}
place = np.arange(len(numbers))
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for j in np.argsort(kind != "neither", kind="stable"):
    left.plot(
        place, ranks[0][:, j], "o-", color=colors[kind[j]], markersize=4, linewidth=1 if kind[j] == "neither" else 2
    )
left.axhline(6.5, color="k", linewidth=0.8, linestyle=":")
left.set(xlabel="number of pairs", ylabel="rank", xticks=place, xticklabels=numbers, ylim=(20.5, 0.5))
left.set(title="Twenty substances, one expert", yticks=[1, 5, 10, 15, 20])
bottom = np.zeros(len(numbers))
for name in names:
    right.bar(place, results[name], bottom=bottom, color=colors[name], label=name)
    bottom += results[name]
right.set(xlabel="number of pairs", ylabel="among the first six", xticks=place, xticklabels=numbers)
right.set_title("Mean of ten experts")
right.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
plt.show()
