"""Numbers as plain data for messages: rounded, and None for what JSON cannot write."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def rounded(values: Any, digits: int) -> Any:
    """Lists of numbers rounded to some decimals; nested for arrays of two dimensions."""
    values = np.asarray(values, dtype=float)
    if values.ndim > 1:
        return [rounded(row, digits) for row in values]
    return [round(v, digits) if math.isfinite(v) else None for v in values.tolist()]


def significant(values: Any, digits: int = 6) -> list[float | None]:
    """A list of numbers with some significant digits."""
    return [float(f"{v:.{digits}g}") if math.isfinite(v) else None for v in np.asarray(values, dtype=float).tolist()]
