"""How good, how stable, how many: rankings judged by the papers' own measures.

- ``measures``   agreement of rankings, clustering accuracy, kept neighbourhoods
- ``curves``     accuracy, error, clusters, neighbourhoods against the number of features
- ``tuning``     λ by cut value, any parameter, how many features
- ``stability``  the same ranking on resampled rows, labels or pairs
- ``significance``  p-values that hold on noise
- ``noise``      which columns agree with others, and which are noise
- ``compare``    many methods, draws and sizes at once; ``cells`` runs and keeps them
"""

from .compare import Comparison, LabelBudget, compare, label_budget
from .curves import Curve, accuracy_curve, clustering_curve, good_against_bad, jaccard_curve
from .measures import clustering_accuracy, kendall_coefficient, neighborhood_jaccard, rank_sums, top_k_overlap
from .noise import Agreement, agreement
from .pvalues import Significance, significance
from .stability import Stability, stability
from .tuning import Suggestions, Tuning, cut_value, suggest_n_features, tune, tune_lambda

__all__ = [
    "Agreement",
    "Comparison",
    "Curve",
    "LabelBudget",
    "Significance",
    "Stability",
    "Suggestions",
    "Tuning",
    "accuracy_curve",
    "agreement",
    "clustering_accuracy",
    "clustering_curve",
    "compare",
    "cut_value",
    "good_against_bad",
    "jaccard_curve",
    "kendall_coefficient",
    "label_budget",
    "neighborhood_jaccard",
    "rank_sums",
    "significance",
    "stability",
    "suggest_n_features",
    "top_k_overlap",
    "tune",
    "tune_lambda",
]
