"""Figures: ``displays`` for notebooks and papers, ``maps`` of rows with places, ``drawings`` (one drawing of each kind,
on any axes), ``svg`` for HTML pages, and ``placing``: where samples are drawn, by eigenvectors, and features, along an
axis of numbers.

This room may import ``evaluate`` and everything below it.
"""

from .displays import (
    AgreementDisplay,
    AxisDisplay,
    CurveDisplay,
    ExplanationDisplay,
    PartsDisplay,
    RankingDisplay,
    SignificanceDisplay,
    StabilityDisplay,
)
from .maps import SpatialDisplay
