"""What the papers prove or print, on real data and through the public names of the library."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from fiedler import (
    EVSC,
    KNN,
    RBF,
    SPEC,
    ClassGraph,
    Energy,
    FisherScore,
    LaplacianScore,
    ReliefF,
    ReliefGraph,
    SemiTarget,
    SpectralSelector,
    Variance,
)
from fiedler.evaluate import jaccard_curve


def test_phi3_on_the_class_graph_follows_from_phi1_and_phi2(blobs):
    """[SPEC] footnote 9: λ is 0 for each class and 1 otherwise, so that φ3 = 2 (φ1/φ2 - φ1); hidden labels are -1."""
    X, y = blobs
    few = np.where(np.arange(len(y)) % 4 == 0, -1, y)
    phi1, phi2, phi3 = (SPEC(ClassGraph(), phi).evaluate(X, few) for phi in (1, 2, 3))
    np.testing.assert_allclose(2.0 * (phi1 / phi2 - phi1), phi3, rtol=1e-9)


def test_a_graph_without_labels_is_that_of_ssls_before_it_sees_an_output(rng):
    """[DV] eq. 8: two outputs far apart, of rows that are no neighbours, leave the features alone to be measured."""
    Z = rng.normal(size=(60, 6))
    W = KNN(30, bandwidth=np.sqrt(6 / 2)).build(Z).toarray()
    y = np.full(60, np.nan)
    y[np.argwhere(np.triu(W == 0, 1))[0]] = 0.0, 100.0
    np.testing.assert_allclose(W, SemiTarget(30).build(Z, y).toarray(), rtol=1e-12)


@pytest.mark.data
def test_identities_of_spec_on_faces(paper_data):
    """[SPEC] Theorem 4 (the Laplacian score is φ2), Theorem 5 (ReliefF is φ1 on R) and Fisher's score, PIE10P."""
    X, y, _ = paper_data("warpPIE10P")
    X, y = np.asarray(X, dtype=float), np.unique(y, return_inverse=True)[1]
    graph = KNN().build(X)
    np.testing.assert_allclose(LaplacianScore(graph).evaluate(X), SPEC(graph, phi=2).evaluate(X), rtol=1e-9)
    unit = X / np.linalg.norm(X, axis=0)
    relief = ReliefGraph().build(X, y)
    weight, phi1 = -2.0 * Energy(relief).evaluate(unit), SPEC(relief, 1).evaluate(X)
    np.testing.assert_allclose(weight, -2.0 * phi1, atol=1e-9 * np.abs(weight).max())
    np.testing.assert_allclose(weight, ReliefF().evaluate(X, y) / (X**2).sum(axis=0), atol=1e-9 * np.abs(weight).max())
    fisher = FisherScore().evaluate(X, y)
    np.testing.assert_allclose(SPEC(ClassGraph(), 2).evaluate(X, y), 1.0 / (1.0 + fisher), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.data
def test_evsc_on_faces_is_its_trace_form_and_nearly_the_variance(paper_data):
    """[EV] eq. 15 on PIX10P: the trace form is exact, and the ranking is nearly that of the variance."""
    X = np.asarray(paper_data("pixraw10P")[0], dtype=float)
    fast, exact = EVSC(RBF(), mode="trace").evaluate(X), EVSC(RBF()).evaluate(X)
    np.testing.assert_allclose(fast, exact, rtol=1e-9)
    assert spearmanr(fast, Variance().evaluate(X)).statistic > 0.99


@pytest.mark.slow
@pytest.mark.data
def test_evsc_keeps_more_neighbours_on_tox_than_the_laplacian_score(paper_data):
    """[EV] Table 3, TOX: EVSC keeps more of the neighbours by inner product than the Laplacian score and SPEC."""
    X = np.asarray(paper_data("TOX_171")[0], dtype=float)
    kept = {}
    for name, criterion in {
        "EVSC": EVSC(RBF(), mode="trace"),
        "LS": LaplacianScore(RBF()),
        "SPEC": SPEC(RBF(), 1),
    }.items():
        order = SpectralSelector(criterion, n_features_to_select=1).fit(X).order_
        kept[name] = jaccard_curve(X, order, n_features=[100, 700, 1300], n_neighbors=5).mean.mean()
    assert kept["EVSC"] > max(kept["LS"], kept["SPEC"])
