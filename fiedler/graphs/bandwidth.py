"""Widths δ of the weights exp(-d² / 2δ²), and what is said where one is too small."""

from __future__ import annotations

import warnings

import numpy as np


def safe_bandwidth(usual: float, nearest_squared: np.ndarray) -> float:
    """A width at which even the loneliest row keeps a weight of at least exp(-50) to its nearest neighbour."""
    return max(usual, float(np.sqrt(nearest_squared.max())) / 10.0)


def warn_underflow(n_rows: int, name: str, value: float, suggestion: float) -> None:
    warnings.warn(
        f"{name}={value:.6g} is so small that all weights between {n_rows} rows and the others underflow to 0, which "
        f"cuts those rows off the graph; {name}={suggestion:.6g} works on these data.",
        UserWarning,
        stacklevel=2,
    )
