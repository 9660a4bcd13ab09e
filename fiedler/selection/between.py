"""Forward selection where K is held between the features: nothing of the samples is touched again.

With G = C'C and q = C w, a = C'q = G w is a row of the Cholesky factor of G, and C'Kq = (C'KC) w. Each step costs two
products with an m x m matrix; w has entries for chosen features only.
"""

from __future__ import annotations

import numpy as np

from ..criteria.setscore import FeatureKernel
from ..engine.threads import one_blas_thread
from .steps import Search, Steps, best


def choose_between_features(kernel: FeatureKernel, search: Search, n_features: int, enough: float) -> Steps:
    """The path, up to n_features or until J reaches ``enough``."""
    with one_blas_thread(float(len(kernel.num)) ** 2):
        return _chosen(kernel, search, n_features, enough)


def _chosen(kernel: FeatureKernel, search: Search, n_features: int, enough: float) -> Steps:
    G, num, den = kernel.gram, kernel.num.copy(), kernel.den.copy()
    m, size = len(num), min(n_features, len(num))
    A, W = np.empty((size, m)), np.zeros((size, m))  # rows C'q and the coefficients of q
    picked, gained = list[int](), list[float]()
    while len(picked) < size and sum(gained) < enough:
        p = best(search.scores(num, den))
        if p < 0:
            break
        k = len(picked)
        w = np.zeros(m)
        w[p] = 1.0
        for _ in range(2):
            w -= (A[:k] @ w) @ W[:k]
        among = [*picked, p]
        square = float(w[among] @ G[np.ix_(among, among)] @ w[among])
        if not square > search.floor[p]:
            den[p] = 0.0  # nothing is left of it, whatever the running difference says
            continue
        w /= np.sqrt(square)
        a, image = G[:, among] @ w[among], kernel.product(w)
        e = float(w @ image)
        # v = (I - QQ')Kq, seen by the columns: what K q has along the directions chosen so far is taken out.
        b = image - (W[:k] @ image) @ A[:k]
        A[k], W[k] = a, w
        num += a * (a * e - 2.0 * b)
        den -= a * a
        den[p] = 0.0
        picked.append(p)
        gained.append(e)
    return Steps(picked, gained, num, den)
