"""One supervised problem for every entry of METHODS, so that laws can be tested over all of them."""

from dataclasses import dataclass, field

import numpy as np

from fiedler import EVSC, KNN, METHODS, SPEC, ConstraintScore, Criterion, Pairs, SSelect

N, M = 32, 6

# Every method by name, and the variants that take another path through the code.
CRITERIA: dict[str, Criterion] = {name: method() for name, method in METHODS.items()} | {
    "phi1": SPEC(phi=1),
    "phi2 of r^4": SPEC(phi=2, gamma=4),
    "phi1 of exp": SPEC(KNN(4), phi=1, gamma=np.expm1),
    "phi3": SPEC(phi=3, n_clusters=4),
    "C1": ConstraintScore(1),
    "C2": ConstraintScore(2),
    "C3": ConstraintScore(3),
    "sselect on labels": SSelect(lam=0.0),
    "evsc on kNN": EVSC(KNN(6)),
}
NOT_SCALE_INVARIANT = {"subset", "variance", "relieff", "C2", "evsc", "evsc on kNN", "mcfs", "trace_ratio"}
NOT_SHIFT_INVARIANT = {"phi1", "phi3", "phi1 of exp"}


@dataclass
class Data:
    """X with whatever supervision a criterion reads."""

    X: np.ndarray
    y: np.ndarray | None = None
    must_link: object = None
    cannot_link: object = None
    pairs: dict = field(init=False)

    def __post_init__(self):
        self.pairs = {"must_link": self.must_link, "cannot_link": self.cannot_link}

    def permuted(self, rows):
        """The same rows in another order, labels and pairs with them."""
        links = {k: None if p is None else Pairs(p, len(self.X))[rows].pairs for k, p in self.pairs.items()}
        return Data(self.X[rows], None if self.y is None else self.y[rows], **links)


def make(name, seed=0, n=N, m=M):
    """Random tie-free data and the supervision that CRITERIA[name] reads."""
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, m)) * rng.uniform(0.5, 2.0, size=m) + np.outer(classes, rng.normal(size=m))
    reads = CRITERIA[name].reads
    if "target" in reads:
        target = X[:, 0] + 0.3 * rng.normal(size=n)
        target[rng.random(n) < 0.3] = np.nan
        return Data(X, target)
    if "classes" in reads:
        return Data(X, np.where(rng.random(n) < 0.3, -1, classes))
    if "pairs" in reads:
        i, j = rng.integers(n, size=(2, 60))
        i, j = i[i != j], j[i != j]
        same = classes[i] == classes[j]
        return Data(X, None, np.c_[i, j][same][:8], np.c_[i, j][~same][:8])
    return Data(X)


def evaluate(criterion, data, X=None):
    """Scores of a criterion on a Data, X possibly replaced."""
    return criterion.evaluate(data.X if X is None else X, data.y, **data.pairs)
