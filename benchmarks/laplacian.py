"""Laplacian score end to end: fiedler against scikit-learn + scipy written by hand, as a ratio in one run."""

import time

import numpy as np
from sklearn.neighbors import kneighbors_graph

from fiedler import LaplacianScore


def by_hand(X, k=10):
    """A good user's version: scikit-learn's neighbours, scipy's products on the whole array."""
    W = kneighbors_graph(X, k, mode="distance")
    W = W.maximum(W.T)
    W.data = np.exp(-(W.data**2) / (2 * W.data.mean() ** 2))
    d = np.asarray(W.sum(axis=1)).ravel()
    F = X - d @ X / d.sum()
    mass = np.einsum("i,ij,ij->j", d, F, F)
    return 1.0 - np.einsum("ij,ij->j", F, W @ F) / mass


def best_of(function, X, repeats=5):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(X)
        times.append(time.perf_counter() - start)
    return min(times)


def main():
    rng = np.random.default_rng(0)
    print(f"{'shape':>14} {'by hand':>9} {'fiedler':>9} {'ratio':>7}")
    for shape in ((178, 13), (200, 10_000), (2000, 500), (2000, 5000)):
        X = rng.normal(size=shape)
        np.testing.assert_allclose(LaplacianScore().evaluate(X), by_hand(X), rtol=1e-6)
        hand, ours = best_of(by_hand, X), best_of(LaplacianScore().evaluate, X)
        print(f"{shape[0]:>6} x {shape[1]:<5} {hand:>8.3f}s {ours:>8.3f}s {hand / ours:>6.1f}x")


if __name__ == "__main__":
    main()
