"""Figures: ``displays`` for notebooks and papers, ``drawings`` for the parts of a figure, ``svg`` for HTML pages.

This room may import ``evaluate`` and everything below it.
"""

from .displays import (
    AgreementDisplay,
    CurveDisplay,
    ExplanationDisplay,
    RankingDisplay,
    SignificanceDisplay,
    StabilityDisplay,
)
