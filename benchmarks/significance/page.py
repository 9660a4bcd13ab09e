"""docs/is-it-real.md: the null in words, and what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..papers.page import DOCS, Section


def markdown(sections: Sequence[Section]) -> str:
    """The whole page."""
    contents = "\n".join(f"- [{section.title}](#{section.key})" for section in sections)
    return "\n\n".join([_HEAD, contents, *(section.markdown().strip() for section in sections)]) + "\n"


def write(sections: Sequence[Section], docs: Path = DOCS) -> Path:
    page = docs / "is-it-real.md"
    partial = page.with_suffix(".part")
    partial.write_text(markdown(sections))
    partial.replace(page)
    return page


_HEAD = """# Is it real?

A ranking always has a first feature, on noise too. `fiedler.evaluate.significance` asks of every feature whether it is
smoother on the graph than chance, and how much. `python -m benchmarks.significance` wrote this page; all numbers in it
are computed by the library.

```python
from fiedler.evaluate import significance

result = significance("laplacian", X)  # or "fisher", "sls", "sselect", ConstraintScore(1), Rayleigh(any graph)
result.n_significant(alpha=0.1)        # features with a false discovery rate of at most 10 %
result.frame()                         # feature, p, q, z, effect
```

**The null.** Take a feature's values and put them in any other order over the rows: how often is the score as good as
in the order observed? If the feature has nothing to do with the graph, every order is as likely as any other, whatever
the distribution of its values. No order is drawn: mean, variance and third moment of the score over all n! orders
follow exactly from a few sums over the graph and the powers of the feature, and a Pearson III distribution (a shifted
gamma) with these moments gives the tail; of it and the normal tail the larger is taken.

**The graph must not know the feature.** A graph of neighbours built from all features is bent towards each of them,
noise included: its neighbours are neighbours *because* their noise agrees. So features are dealt into folds, and the
graph of a fold is built from all the others. Identical columns go into one fold, and so does what you name in `groups`.
Graphs from labels, targets, pairs, and graphs you bring (`Precomputed`) have read no feature and are taken as they are;
that a graph you bring was not built from the features you test is for you to know.

**What is reported.** `pvalues`, over five dealings their median; `qvalues` by Benjamini and Hochberg, or by Benjamini
and Yekutieli for any dependence; `effect`, 1 - score / its mean under the null, which unlike a p-value does not grow
with the number of rows; `z`. A feature that is constant gets NaN.

**What has no such null** is refused with a reason. φ1, φ3, γ ≠ 1, C2 to C4, SSLS, ReliefF, fewer than 20 rows or
10 + 10 pairs can be tested with `n_permutations=999`, which draws orders on the same cross-fitted graphs; EVSC and the
variance cannot be tested at all: the first is about a graph the feature is part of, the second does not change with the
order."""
