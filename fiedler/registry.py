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
    Entry("fisher", "FisherScore", "[KA] eq. 1, [FISHER]"),
    Entry("relieff", "ReliefF", "[RK]; [SPEC] eq. 12"),
    Entry("laplacian", "LaplacianScore", "[HCN]; [DV] eq. 2, [ZL] eq. 3.4"),
    Entry("spec", "SPEC", "[SPEC] eq. 9-11"),
    Entry("sselect", "SSelect", "[ZL] eq. 3.8"),
    Entry("sls", "SupervisedLaplacianScore", "[DV] eq. 5"),
    Entry("ssls", "SemiSupervisedLaplacianScore", "[DV] eq. 10"),
    Entry("constraint", "ConstraintScore", "[KA] eq. 9, 10, 12, 13; [ZCZ], [ZLH]"),
    Entry("evsc", "EVSC", "[EV] eq. 15"),
    Entry("subset", "SmoothSubset"),
    Entry("mcfs", "MCFS", "[MCFS] algorithm 1"),
    Entry("mrsf", "MRSF", "[MRSF]"),
    Entry("trace_ratio", "TraceRatio", "[NIE] algorithm 1"),
)
RECIPES = (
    Entry("knn", "KNN", "[ZL] 4, [SPEC] 4.2"),
    Entry("rbf", "RBF", "[ZL] 3, [SPEC] eq. 1, [KA] eq. 3, [EV] 2.1"),
    Entry("diffusion", "Diffusion", "[KL]; [SPEC] section 4"),
    Entry("anchors", "Anchors", "Liu, He, Chang 2010"),
    Entry("agreeing", "Agreeing"),
    Entry("classgraph", "ClassGraph", "[SPEC] eq. 2"),
    Entry("reliefgraph", "ReliefGraph", "[SPEC] eq. 12, [RK]"),
    Entry("targetknn", "TargetKNN", "[DV] eq. 4"),
    Entry("semitarget", "SemiTarget", "[DV] eq. 8 and 9"),
    Entry("mustlink", "MustLink", "[KA] eq. 7"),
    Entry("cannotlink", "CannotLink", "[KA] eq. 8"),
    Entry("within", "Within", "[KA] eq. 11, [ZLH]"),
)
PRIMITIVES = (
    Entry("energy", "Energy"),
    Entry("rangedifferences", "RangeDifferences"),
    Entry("ratio", "Ratio", "[KA] eq. 9, 12; [ZCZ], [ZLH]"),
    Entry("rayleigh", "Rayleigh"),
    Entry("phi", "Phi", "[SPEC] eq. 9-11"),
    Entry("disagreement", "Disagreement", "[ZL] eq. 3.8"),
    Entry("sensitivity", "Sensitivity", "[EV] eq. 12 and 15"),
    Entry("explained", "Explained"),
    Entry("relevance", "Relevance"),
    Entry("regressed", "Regressed", "[MCFS], [MRSF]"),
    Entry("tracedifference", "TraceDifference", "[NIE]"),
    Entry("multiscale", "MultiScale"),
    Entry("moran", "Moran", "Moran 1950"),
    Entry("geary", "Geary", "Geary 1954"),
)


def classes(entries: tuple[Entry, ...]) -> list[str]:
    """Their class names."""
    return [entry.cls for entry in entries]


# -------------------------------------------------------------------- papers


_ICML = "International Conference on Machine Learning"


class Paper(NamedTuple):
    """One paper: the short name used in docstrings, a line for lists, and the data for a bibliography."""

    key: str
    short: str
    authors: str
    title: str
    venue: str
    year: int

    def __str__(self) -> str:
        return f"[{self.key}] {self.short}"


ZL = Paper(
    *("ZL", "Zhao & Liu, SDM 2007 (sSelect)", "Z. Zhao, H. Liu"),
    *("Semi-supervised feature selection via spectral analysis", "SIAM International Conference on Data Mining", 2007),
)
SPEC = Paper(
    *("SPEC", "Zhao & Liu, ICML 2007", "Z. Zhao, H. Liu"),
    *("Spectral feature selection for supervised and unsupervised learning", _ICML, 2007),
)
DV = Paper(
    *("DV", "Doquire & Verleysen 2011 (SLS, SSLS)", "G. Doquire, M. Verleysen"),
    "Graph Laplacian for semi-supervised feature selection in regression problems",
    *("International Work-Conference on Artificial Neural Networks", 2011),
)
KA = Paper(
    *("KA", "Kalakech et al. 2011 (constraint scores)", "M. Kalakech, P. Biela, L. Macaire, D. Hamad"),
    "Constraint scores for semi-supervised feature selection: a comparative study",
    *("Pattern Recognition Letters 32", 2011),
)
EV = Paper(
    *("EV", "Jiang & Ren, ICML 2011 (EVSC)", "Y. Jiang, J. Ren"),
    *("Eigenvalue sensitive feature selection", _ICML, 2011),
)
MCFS = Paper(
    *("MCFS", "Cai, Zhang & He, KDD 2010", "D. Cai, C. Zhang, X. He"),
    "Unsupervised feature selection for multi-cluster data",
    *("ACM SIGKDD International Conference on Knowledge Discovery and Data Mining", 2010),
)
MRSF = Paper(
    *("MRSF", "Zhao, Wang & Liu, AAAI 2010", "Z. Zhao, L. Wang, H. Liu"),
    "Efficient spectral feature selection with minimum redundancy",
    *("AAAI Conference on Artificial Intelligence", 2010),
)
NIE = Paper(
    *("NIE", "Nie et al., AAAI 2008 (trace ratio)", "F. Nie, S. Xiang, Y. Jia, C. Zhang, S. Yan"),
    *("Trace ratio criterion for feature selection", "AAAI Conference on Artificial Intelligence", 2008),
)
HCN = Paper(
    *("HCN", "He, Cai & Niyogi, NIPS 2005 (Laplacian score)", "X. He, D. Cai, P. Niyogi"),
    *("Laplacian score for feature selection", "Advances in Neural Information Processing Systems", 2005),
)
ZCZ = Paper(
    *("ZCZ", "Zhang, Chen & Zhou 2008 (C1, C2)", "D. Zhang, S. Chen, Z.-H. Zhou"),
    "Constraint score: a new filter method for feature selection with pairwise constraints",
    *("Pattern Recognition 41", 2008),
)
ZLH = Paper(
    *("ZLH", "Zhao, Lu & He 2008 (C3)", "J. Zhao, K. Lu, X. He"),
    *("Locality sensitive semi-supervised feature selection", "Neurocomputing 71", 2008),
)
KL = Paper(
    *("KL", "Kondor & Lafferty, ICML 2002 (diffusion)", "R. I. Kondor, J. Lafferty"),
    *("Diffusion kernels on graphs and other discrete input spaces", _ICML, 2002),
)
RK = Paper(
    *("RK", "Robnik-Šikonja & Kononenko 2003 (ReliefF)", "M. Robnik-Šikonja, I. Kononenko"),
    *("Theoretical and empirical analysis of ReliefF and RReliefF", "Machine Learning 53", 2003),
)
FISHER = Paper(
    *("FISHER", "Fisher 1936 (his criterion)", "R. A. Fisher"),
    *("The use of multiple measurements in taxonomic problems", "Annals of Eugenics 7", 1936),
)
PAPERS = {p.key: p for p in (ZL, SPEC, DV, KA, EV, MCFS, MRSF, NIE, HCN, ZCZ, ZLH, KL, RK, FISHER)}


def cited(text: str) -> list[Paper]:
    """The papers whose short names occur in a text.

    Examples
    --------
    >>> [str(paper) for paper in cited("[ZL] eq. 3.8")]
    ['[ZL] Zhao & Liu, SDM 2007 (sSelect)']
    """
    return [paper for paper in PAPERS.values() if f"[{paper.key}]" in text]
