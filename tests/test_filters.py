"""Functions of the eigenvalues: Chebyshev polynomials agree with eigenpairs."""

import numpy as np
import pytest

import fiedler.graphs.spectrum
from fiedler import KNN, SPEC


@pytest.mark.parametrize("gamma", [np.expm1, lambda v: v / (1 + v), 4])
@pytest.mark.parametrize("phi", [1, 2])
def test_chebyshev_agrees_with_eigenpairs(two_clusters, monkeypatch, gamma, phi):
    graph = KNN(5).build(two_clusters)
    expected = SPEC(graph, phi, gamma).evaluate(two_clusters)
    by_eigenpairs = SPEC(graph, phi, lambda v: v**4 if gamma == 4 else gamma(v)).evaluate(two_clusters)
    np.testing.assert_allclose(by_eigenpairs, expected, rtol=1e-9)
    monkeypatch.setattr(fiedler.graphs.spectrum, "ALL_PAIRS", 10)
    np.testing.assert_allclose(SPEC(graph, phi, gamma).evaluate(two_clusters), expected, rtol=1e-9)


def test_a_gamma_too_rough_for_chebyshev_says_so(two_clusters, monkeypatch):
    monkeypatch.setattr(fiedler.graphs.spectrum, "ALL_PAIRS", 10)
    with pytest.raises(ValueError, match="gamma is not smooth enough"):
        SPEC(KNN(5), gamma=np.sqrt).evaluate(two_clusters)


def test_a_power_that_overflows_is_refused_at_once(rng):
    X = rng.normal(size=(30, 4))
    for criterion in (SPEC(gamma=1e9), SPEC(gamma=10**9), SPEC(phi=3, gamma=2e3, n_clusters=3)):
        with pytest.raises(ValueError, match=r"gamma=.* is too large a power.*overflows beyond 1000; use a smaller"):
            criterion.evaluate(X)
    assert np.isfinite(SPEC(gamma=1000).evaluate(X)).all()
