"""Figures: ``displays`` for notebooks and papers, ``drawings`` for the parts of a figure, ``svg`` for HTML pages,
``placing`` and ``axis`` for where samples and features are drawn.

This room may import ``evaluate`` and everything below it.
"""

from .displays import (
    AgreementDisplay,
    AxisDisplay,
    CurveDisplay,
    ExplanationDisplay,
    RankingDisplay,
    SignificanceDisplay,
    StabilityDisplay,
)
