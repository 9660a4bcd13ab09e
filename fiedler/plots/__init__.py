"""Figures: ``displays`` for notebooks and papers, ``drawings`` what they and the report draw, ``svg`` for pages."""

from .displays import AgreementDisplay, CurveDisplay, RankingDisplay, SignificanceDisplay, StabilityDisplay
