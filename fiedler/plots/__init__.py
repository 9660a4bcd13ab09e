"""Figures: ``displays`` for notebooks and papers, ``marks`` what all of them are drawn with, ``svg`` for pages."""

from .displays import (
    CurveDisplay,
    RankingDisplay,
    SignificanceDisplay,
    StabilityDisplay,
    plot_curves,
    plot_ranking,
    plot_significance,
    plot_stability,
)
