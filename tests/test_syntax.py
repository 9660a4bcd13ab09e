"""Criteria as text: what is read, what is written, and that text never runs."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fiedler import (
    EVSC,
    KNN,
    METHODS,
    RBF,
    SPEC,
    CannotLink,
    ClassGraph,
    ConstraintScore,
    Diffusion,
    Energy,
    LaplacianScore,
    MustLink,
    Precomputed,
    Ratio,
    SpectralSelector,
    SSelect,
)
from fiedler.syntax import CRITERIA, RECIPES, parse, unparse


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("laplacian", LaplacianScore()),
        ("LaplacianScore", LaplacianScore()),
        (" sSelect [ lam = 0.1 ] ", SSelect(lam=0.1)),
        ("sselect[lam=0.1,graph=knn[n_neighbors=7]]", SSelect(KNN(7), 0.1)),
        ("sselect(lam=1e-3, graph=KNN(7, weight='binary'))", SSelect(KNN(7, "binary"), 0.001)),
        ("laplacian[knn[7,weight=rbf,bandwidth=none]]", LaplacianScore(KNN(7))),
        ("laplacian[graph=none]", LaplacianScore()),
        ("spec[graph=diffusion[graph=knn[5],beta=2],phi=3]", SPEC(Diffusion(KNN(5), 2), 3)),
        ("spec[class_graph]", SPEC(ClassGraph())),
        ("ratio[must_link,cannot_link]", Ratio(MustLink(), CannotLink())),
        ("laplacian * constraint[variant=1]", LaplacianScore() * ConstraintScore(1)),
        ("2*(laplacian + 0.5*sselect)", 2 * (LaplacianScore() + 0.5 * SSelect())),
        ("-2 * energy[knn]", -2 * Energy(KNN())),
        ("energy[must_link] - 0.1*energy[cannot_link]", Energy(MustLink()) - 0.1 * Energy(CannotLink())),
    ],
)
def test_text_to_criterion(text, expected):
    assert repr(parse(text)) == repr(expected)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_by_name_class_and_repr(name):
    method = METHODS[name]()
    assert unparse(method) == name
    assert type(parse(name)) is type(parse(repr(method))) is type(method)


@pytest.mark.parametrize(
    ("criterion", "text"),
    [
        (SSelect(KNN(7, "binary"), lam=0.25), "sselect[graph=knn[n_neighbors=7,weight=binary],lam=0.25]"),
        (SPEC(RBF(0.123456789), gamma=4), "spec[graph=rbf[bandwidth=0.123456789],gamma=4]"),
        (0.123456789 * LaplacianScore(), "0.123456789 * laplacian"),
        (Energy(MustLink()) - 0.1 * Energy(CannotLink()), "energy[graph=mustlink] - 0.1 * energy[graph=cannotlink]"),
        (LaplacianScore() * (SSelect() + ConstraintScore(1)), "laplacian * (sselect + constraint[variant=1])"),
        (2 * (LaplacianScore() * SSelect()), "2 * (laplacian * sselect)"),
        (LaplacianScore() * (SSelect() * SSelect()), "laplacian * (sselect * sselect)"),
        (LaplacianScore() + (SSelect() + SSelect()), "laplacian + (sselect + sselect)"),
    ],
)
def test_criterion_to_text_and_back(criterion, text):
    assert unparse(criterion) == text
    assert repr(parse(text)) == repr(criterion)
    assert unparse(parse(text)) == text


def test_what_has_no_text():
    with pytest.raises(ValueError, match="gamma is neither a number, a word nor a graph"):
        unparse(SPEC(gamma=abs))
    with pytest.raises(ValueError, match="Precomputed has no name in this syntax"):
        unparse(LaplacianScore(Precomputed([[0, 1], [1, 0]])))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sselekt[lam=1]", r"'sselekt' in criterion='sselekt\[lam=1\]' is not a method; did you mean 'sselect'"),
        ("sselect[lamb=1]", r"sselect has no parameter 'lamb' .*did you mean 'lam'\? Known: graph, lam"),
        ("variance[3]", "takes at most 0 parameters"),
        ("sselect[lam=1,lam=2]", "cannot be read|given twice"),
        ("sselect[none,graph=knn]", "'graph' of sselect is given twice"),
        ("sselect[graph=knnn]", r"'knnn' .* is not a graph; did you mean 'knn'\?"),
        ("sselect[graph=3]", "'3' is not a valid value"),
        ("sselect[lam=1", r"cannot be read \(near character"),
        ("sselect[lambda=1]", r"sselect has no parameter 'lambda' .*; did you mean 'lam'\? Known: graph, lam"),
        ("0.5 * sselect[graph=knn, lambda=0.1]", "no parameter 'lambda'"),
        ("energy", r"energy in criterion='energy' needs graph; write energy\[graph=\.\.\.\]"),
        ("laplacian + 3", "numbers can only multiply"),
        ("3", "is a number, not a method"),
        ("laplacian / 2", "neither a method nor a number"),
        ("fisher + laplacian", "cannot add"),
        ("laplacian * fisher", "cannot multiply"),
        ("sselect[**x]", "has no parameter"),
        ("a.b[1]", "is not a name"),
        ("", "is not a method"),
        ("(" * 300, "cannot be read"),
        ("laplacian" + "+laplacian" * 300, "too long"),
    ],
)
def test_messages(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "laplacian[graph=__import__('os')]",
        "sselect[lam=(lambda: 1)()]",
        "sselect[lam=open('/etc/passwd')]",
        "[x for x in ()]",
        "knn",
        "sselect[lam=[1,2]]",
    ],
)
def test_text_never_runs(text):
    with pytest.raises(ValueError, match="criterion="):
        parse(text)


@given(st.text(alphabet="selctknaprio[]()=,+-*.0123456789 '\"\\\x00{}:", max_size=40))
def test_any_text_gives_a_criterion_or_a_value_error(text):
    with contextlib.suppress(ValueError):
        assert unparse(parse(text))


def test_selector_takes_text(blobs):
    X, y = blobs
    by_text = SpectralSelector("sselect[lam=0.3,graph=knn[n_neighbors=4]]").fit(X, y)
    assert (by_text.scores_ == SpectralSelector(SSelect(KNN(4), 0.3)).fit(X, y).scores_).all()
    nested = SpectralSelector("sselect[lam=0.3]").set_params(criterion__lam=0.5)
    assert nested.criterion.lam == 0.5


def test_names_do_not_clash():
    assert not set(CRITERIA) & set(RECIPES)
    assert EVSC in CRITERIA.values()


def test_a_number_too_large_for_a_float_is_refused():
    with pytest.raises(ValueError, match=r"too large for a float; use one below 1.8e308"):
        parse("sselect[lam=1e400]")
    with pytest.raises(ValueError, match="cannot be written as text: lam"):
        unparse(SSelect(lam=float("inf")))


def test_errors_call_a_method_as_the_user_did():
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(ValueError, match=r"^sselect\[lam=0\.3\] requires y"):
        SpectralSelector("sselect[lam=0.3]").fit(X)
    with pytest.raises(ValueError, match=r"^SSelect\(lam=0\.3\) requires y"):
        SpectralSelector(SSelect(lam=0.3)).fit(X)
