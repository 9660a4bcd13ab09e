"""The papers of the methods as data; equation numbers such as [ZL] eq. 3.8 refer to them."""

from __future__ import annotations

from typing import NamedTuple

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
PAPERS = {paper.key: paper for paper in (ZL, SPEC, DV, KA, EV, MCFS, MRSF, NIE)}


def cited(text: str) -> list[Paper]:
    """The papers whose short names occur in a text.

    Examples
    --------
    >>> [str(paper) for paper in cited("[ZL] eq. 3.8")]
    ['[ZL] Zhao & Liu, SDM 2007 (sSelect)']
    """
    return [paper for paper in PAPERS.values() if f"[{paper.key}]" in text]
