"""The one table of methods, recipes and primitives: names, classes, equations. It imports nothing, so all may ask it.

``fiedler`` itself, the syntax, the command line and the docs read it; to add an entry, add a line.
"""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A class of the public vocabulary."""

    name: str  # as text and the command line say it
    cls: str
    equation: str = ""  # where it comes from, as its docstring cites it


METHODS = (
    Entry("variance", "Variance", "[KA] eq. 2"),
    Entry("correlation", "Correlation"),
    Entry("fisher", "FisherScore", "[KA] eq. 1"),
    Entry("relieff", "ReliefF", "[SPEC] eq. 12"),
    Entry("laplacian", "LaplacianScore", "He, Cai, Niyogi 2005; [DV] eq. 2, [ZL] eq. 3.4"),
    Entry("spec", "SPEC", "[SPEC] eq. 9-11"),
    Entry("sselect", "SSelect", "[ZL] eq. 3.8"),
    Entry("sls", "SupervisedLaplacianScore", "[DV] eq. 5"),
    Entry("ssls", "SemiSupervisedLaplacianScore", "[DV] eq. 10"),
    Entry("constraint", "ConstraintScore", "[KA] eq. 9, 10, 12, 13"),
    Entry("evsc", "EVSC", "[EV] eq. 15"),
    Entry("subset", "SmoothSubset"),
    Entry("mcfs", "MCFS", "[MCFS] algorithm 1"),
    Entry("mrsf", "MRSF", "[MRSF]"),
    Entry("trace_ratio", "TraceRatio", "[NIE] algorithm 1"),
)
RECIPES = (
    Entry("knn", "KNN", "[ZL] 4, [SPEC] 4.2"),
    Entry("rbf", "RBF", "[ZL] 3, [SPEC] eq. 1, [KA] eq. 3, [EV] 2.1"),
    Entry("diffusion", "Diffusion", "[SPEC] section 4, after Kondor and Lafferty"),
    Entry("anchors", "Anchors", "Liu, He, Chang 2010"),
    Entry("agreeing", "Agreeing"),
    Entry("classgraph", "ClassGraph", "[SPEC] eq. 2"),
    Entry("reliefgraph", "ReliefGraph", "[SPEC] eq. 12"),
    Entry("targetknn", "TargetKNN", "[DV] eq. 4"),
    Entry("semitarget", "SemiTarget", "[DV] eq. 8 and 9"),
    Entry("mustlink", "MustLink", "[KA] eq. 7"),
    Entry("cannotlink", "CannotLink", "[KA] eq. 8"),
    Entry("within", "Within", "[KA] eq. 11"),
)
PRIMITIVES = (
    Entry("energy", "Energy"),
    Entry("ratio", "Ratio", "[KA] eq. 9, 12"),
    Entry("rayleigh", "Rayleigh"),
    Entry("phi", "Phi", "[SPEC] eq. 9-11"),
    Entry("disagreement", "Disagreement", "[ZL] eq. 3.8"),
    Entry("sensitivity", "Sensitivity", "[EV] eq. 12 and 15"),
    Entry("explained", "Explained"),
    Entry("relevance", "Relevance"),
    Entry("regressed", "Regressed", "[MCFS], [MRSF]"),
    Entry("tracedifference", "TraceDifference", "[NIE]"),
)


def classes(entries: tuple[Entry, ...]) -> list[str]:
    """Their class names."""
    return [entry.cls for entry in entries]
