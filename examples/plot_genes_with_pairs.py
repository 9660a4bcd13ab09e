"""
Gene expression with pairs: constraint scores and their stability
=================================================================

The class of a tissue may be unknown while an expert can say that two samples belong together or do not. This example
ranks genes from such must-link and cannot-link pairs. It measures how much the ranking depends on the pairs: over all
genes with Kendall's coefficient, and among the selected genes with Kuncheva's index.

The expression matrix is generated; with ``FIEDLER_DATA`` set it is the colon tumour data of Alon et al. (colon_alon).
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from fiedler import ConstraintScore, SpectralSelector, pairs_from_labels
from fiedler.datasets import load_paper_set
from fiedler.evaluate import stability

TOP = 20

# %%
# Log expression of two tissues: five programmes of co-regulated genes that do not depend on the tissue, and 20 marker
# genes that do.


def make_expression(n_samples=60, n_genes=400, random_state=0):
    """Expression, tissue, names of the genes."""
    rng = np.random.default_rng(random_state)
    tissue = np.arange(n_samples) % 2
    programmes = 0.3 * rng.normal(size=(n_samples, 5)) @ rng.normal(size=(5, n_genes))
    X = rng.normal(7, 2, size=n_genes) + programmes + rng.normal(size=(n_samples, n_genes))
    markers = rng.choice(n_genes, TOP, replace=False)
    X[:, markers] += 3 * np.outer(tissue, rng.choice([-1, 1], TOP))
    return X, tissue, np.array([f"{'marker' if j in markers else 'gene'} {j}" for j in range(n_genes)])


real = bool(os.environ.get("FIEDLER_DATA"))
X, y, genes = load_paper_set("colon_alon") if real else make_expression()
X = StandardScaler().fit_transform(np.log2(X) if real else X)

# %%
# C1 uses the pairs only. C4 multiplies C1 by the Laplacian score, which uses all samples.

scores = {"C1": ConstraintScore(1), "C4": ConstraintScore(4)}
must_link, cannot_link = pairs_from_labels(y, n_pairs=40, random_state=0)
for name, score in scores.items():
    selector = SpectralSelector(score, n_features_to_select=TOP).fit(X, must_link=must_link, cannot_link=cannot_link)
    print(f"{name} = {score.formula()!r}: {', '.join(genes[selector.order_[:6]])}, ...")

# %%
# For each number of pairs, the pairs are drawn 20 times.

numbers = [10, 20, 40, 80]
draws = {name: [stability(s, X, y, k=TOP, resample="pairs", size=n) for n in numbers] for name, s in scores.items()}
markers = np.char.startswith(genes, "marker")
results = {
    "kendall": {name: [stable.kendall for stable in found] for name, found in draws.items()},
    "overlap": {name: [stable.kuncheva for stable in found] for name, found in draws.items()},
    "markers": {name: [stable.frequency[markers].sum() for stable in found] for name, found in draws.items()},
}
if real:
    del results["markers"]  # real data have no planted markers
print("pairs:", numbers)
for (what, name), found in {(what, name): results[what][name] for what in results for name in scores}.items():
    print(f"{name} {what}:", *(f"{value:.3f}" for value in found))

# %%
# The rankings of C4 agree more, because its graph is the same in every draw. The selected genes at the top agree hardly
# more or not at all: Kendall's coefficient also counts the many genes at the bottom.

figure, axes = plt.subplots(1, 3, figsize=(11, 4.4), layout="constrained", width_ratios=[1, 1, 1.15])
for name, marker in (("C1", "o-"), ("C4", "s--")):
    axes[0].plot(numbers, results["kendall"][name], marker, label=name)
    axes[1].plot(numbers, results["overlap"][name], marker, label=name)
axes[0].set(title="Agreement of whole rankings", ylabel="Kendall's coefficient")
axes[1].set(title=f"Agreement of the first {TOP} genes", ylabel="Kuncheva's index (0 is chance)")
for axis in axes[:2]:
    axis.set(xlabel="number of pairs", xticks=numbers, ylim=(0, None))
    axis.legend(loc="upper left")
frequency = draws["C4"][2].frequency
often = np.argsort(-frequency, kind="stable")[:24][::-1]
axes[2].barh(range(24), frequency[often], color=np.where(markers[often], "tab:red", "0.6"))
axes[2].set(title="C4 with 40 pairs" + ", markers in red" * (not real), xlabel="share of draws that select it")
axes[2].set_yticks(range(24), genes[often], fontsize=8)
plt.show()
