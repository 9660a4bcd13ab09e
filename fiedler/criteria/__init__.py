"""The second factor, criteria: formulas over graphs, a file per primitive.

Energy(G)        f'Lf                                    Rayleigh(G)     f'Lf / f̃'Df̃
Ratio(G, H)      f'L_G f / f'L_H f                       Phi(G)          [SPEC] eq. 9-11
Disagreement(G)  1 - NMI(sign(f̃), y), [ZL] eq. 3.8       Sensitivity(G)  Σ_r |dλ_r/dw_t|, [EV] eq. 15
"""

from .criterion import Criterion, Product, Scaled, Scorer, Sum
from .disagreement import Disagreement
from .energy import Energy, Ratio, Rayleigh
from .phi import Phi
from .sensitivity import Sensitivity
