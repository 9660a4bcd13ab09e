"""Plain versions of what the library does fast, shared by several tests."""

import numpy as np

from fiedler.engine.neighbors import nearest_rows


def plain_jaccard(X, features, k):
    def neighbors(Z):
        S = Z.astype(float) @ Z.astype(float).T
        return [
            set(sorted((j for j in range(len(S)) if j != i), key=lambda j: (-S[i, j], j))[:k]) for i in range(len(S))
        ]

    pairs = zip(neighbors(X), neighbors(X[:, features]), strict=True)
    return np.mean([len(a & b) / len(a | b) for a, b in pairs])


def plain_cut(X, k=10):
    """Second smallest eigenvalue of 𝓛 and the number of components, from the definition."""
    n = len(X)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    W = np.zeros((n, n))
    for i in range(n):
        for j in sorted((j for j in range(n) if j != i), key=lambda j: (distances[i, j], j))[:k]:
            W[i, j] = W[j, i] = 1
    d = W.sum(axis=1)
    values = np.linalg.eigvalsh(np.eye(n) - W / np.sqrt(np.outer(d, d)))
    return values[1], int(np.sum(values < 1e-10))


def by_sorting(D2, k):
    """The k nearest of each row by (distance, index), self excluded, as sorted index lists."""
    n = len(D2)
    return [sorted(sorted((j for j in range(n) if j != i), key=lambda j, i=i: (D2[i, j], j))[:k]) for i in range(n)]


def plain(X):
    return ((X[:, None] - X[None]) ** 2).sum(axis=2)


def check(distances, D2, k):
    found, squared = nearest_rows(distances, k)
    assert [sorted(row) for row in found.tolist()] == by_sorting(D2, k)
    rows = np.repeat(np.arange(len(D2)), k)
    np.testing.assert_allclose(squared.ravel(), D2[rows, found.ravel()], rtol=1e-9, atol=1e-300)
