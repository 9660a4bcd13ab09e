"""Criteria: formulas over graphs that score features. They are the second factor of a method.

Energy(G)        f'Lf                                    Rayleigh(G)     f'Lf / f̃'Df̃
Ratio(G, H)      f'L_G f / f'L_H f                       Phi(G)          [SPEC] eq. 9-11
Disagreement(G)  1 - NMI(sign(f̃), y), [ZL] eq. 3.8       Sensitivity(G)  Σ_r |dλ_r/dw_t|, [EV] eq. 15
Explained(G)     tr[(C_S'C_S)⁻¹ C_S'K C_S] of a set S    Relevance(G)    agreement with labels, targets or pairs
Regressed(G)     coefficients of eigenvectors on f       TraceDifference(G)  f̃'Df̃ - λ* f'Lf of the best set

MultiScale(G)    edges, walks and patterns of a given graph, as one p-value; Moran(G) Geary(G)

``criterion`` has the base class, what a fit knows of it, the algebra, and how numbers per column become scores.
``order`` turns scores into an order, ``nulls`` states how a score is tested and ``closed_form`` tests it, ``missing``
corrects scores for missing values, and ``moments`` has the scores without a graph of X. This room may import ``sets``,
``graphs`` and everything below them.
"""

from ..sets.formula import SetFormula
from ..sets.kernel import Term
from .criterion import Criterion, Product, Scaled, Scorer, Sum, Traits
from .disagreement import Disagreement
from .energy import Energy, RangeDifferences, Ratio, Rayleigh
from .explained import Explained, TraceDifference
from .moments import Correlation, FisherScore, Variance
from .nulls import ClosedForm, FeatureOrders, LabelOrders, NoTest, Quotient
from .phi import Phi
from .regressed import Regressed
from .relevance import Relevance
from .scales import Geary, Moran, MultiScale
from .sensitivity import Sensitivity
