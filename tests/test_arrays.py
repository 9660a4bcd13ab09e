"""X as it comes: shapes, types and values that are no numbers, one clear message each."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from fiedler import (
    METHODS,
    FisherScore,
    LaplacianScore,
    SpectralSelector,
    TableWarning,
    Variance,
)

X = np.random.default_rng(0).normal(size=(30, 5))


Y = np.arange(30) % 3


@pytest.mark.parametrize("name", METHODS)
def test_one_row(name):
    with pytest.raises(ValueError, match="1 sample"):
        SpectralSelector(name).fit(X[:1], [1])


def test_empty_and_one_dimensional_x():
    with pytest.raises(ValueError, match="0 sample"):
        LaplacianScore().evaluate(np.empty((0, 3)))
    with pytest.raises(ValueError, match="0 feature"):
        LaplacianScore().evaluate(np.empty((5, 0)))
    with pytest.raises(ValueError, match="2D array"):
        LaplacianScore().evaluate(np.arange(5.0))


def test_nan_and_inf_name_the_column():
    Z = X.copy()
    Z[[2, 7], 3] = np.nan
    assert np.isfinite(LaplacianScore().evaluate(Z)).all()  # missing values of a dense X are filled
    with pytest.raises(ValueError, match=r"NaN in column 3"):
        LaplacianScore().evaluate(sp.csr_array(Z))
    Z[1, 4] = -np.inf
    with pytest.raises(ValueError, match=r"inf in column 'e' \(1 rows\); impute"):
        SpectralSelector().fit(pd.DataFrame(Z, columns=list("abcde")))
    with pytest.raises(ValueError, match=r"inf in column 'e'"):
        SpectralSelector().fit(pl.DataFrame(np.where(np.isnan(Z), 0, Z), schema=list("abcde")))


def test_a_sum_that_overflows_is_not_an_infinity():
    assert np.isfinite(FisherScore().evaluate(np.where(X > 0, 1e154, 0.0), Y)).all()
    big = np.where(X > 0, 1e307, 0.0)  # finite values whose sum is not
    with pytest.raises(ValueError, match=r"as large as 1e\+307 in column 0, whose squares overflow"):
        Variance().evaluate(big)


def test_strings_complex_and_objects_in_x():
    words = np.array([["1", "2"], ["3", "x"], ["5", "6"]], dtype=object)
    with pytest.raises(ValueError, match=r"X must be numeric, but column 1 holds 'x'.*encode or drop"):
        LaplacianScore().evaluate(words)
    frame = pd.DataFrame({"a": np.arange(12.0) ** 2, "colour": ["red", "green", "red"] * 4})
    with pytest.warns(TableWarning, match="Read as categories, each of them one feature: 'colour'"):
        SpectralSelector().fit(frame)
    with pytest.raises(ValueError, match="Complex data not supported"):
        LaplacianScore().evaluate(X + 1j)
    with pytest.raises(TypeError, match=r"X must be numeric, but column 0 holds \{"):
        LaplacianScore().evaluate([[{"a": 1}, 2], [3, 4], [5, 6]])
