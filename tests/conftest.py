"""Data shared by the tests: small generated sets, and the papers' sets where FIEDLER_DATA points to them."""

import gzip
import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def paper_data():
    """``load(name) -> X, y, feature_names`` for the papers' data sets; skips without FIEDLER_DATA."""
    folder = os.environ.get("FIEDLER_DATA")
    if not folder or not (Path(folder) / "load.py").exists():
        pytest.skip("FIEDLER_DATA does not point to the papers' data sets")
    spec = importlib.util.spec_from_file_location("paper_data_load", Path(folder) / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load


@pytest.fixture
def rng():
    return np.random.default_rng(20071)


@pytest.fixture
def blobs(rng):
    """Three overlapping classes, 45 rows, 8 features, tie-free."""
    y = np.repeat([0, 1, 2], 15)
    X = rng.normal(size=(45, 8)) + np.outer(y, np.linspace(2, 0, 8))
    return X, y


@pytest.fixture
def write(tmp_path):
    """``write(text, name) -> path``; compressed where the name says so."""

    def write_text(text, name="data.csv"):
        path = tmp_path / name
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_text
