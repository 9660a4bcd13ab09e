"""Evaluation of rankings and selections with the measures of the papers.

This room may import everything below it: ``selector``, ``selection``, ``significance`` and lower rooms.

- ``measures``   agreement of rankings, clustering accuracy, preserved neighbourhoods
- ``curves``     accuracy, error, clusters, neighbourhoods against the number of features
- ``tuning``     choice of λ by cut value, of any parameter, and of the number of features
- ``stability``  the same ranking on resampled rows, labels or pairs
- ``pvalues``    p-values, false discovery rates and effect sizes of features
- ``noise``      which columns agree with others, and which are noise
- ``missing``    missing values, and whether their pattern carries structure
- ``explain``    why a feature was chosen, and what changed between two selections
- ``compare``    many methods, draws and sizes together; ``cells`` runs and stores them
"""

from .compare import Comparison, LabelBudget, compare, label_budget
from .curves import Curve, accuracy_curve, clustering_curve, good_against_bad, jaccard_curve
from .explain import Difference, Explanation, diff
from .measures import clustering_accuracy, kendall_coefficient, neighborhood_jaccard, rank_sums, top_k_overlap
from .missing import MissingValues, missing_values
from .noise import Agreement, agreement
from .pvalues import Significance, significance
from .stability import Stability, stability
from .tuning import Suggestions, Tuning, cut_value, suggest_n_features, tune, tune_lambda

__all__ = [
    "Agreement",
    "Comparison",
    "Curve",
    "Difference",
    "Explanation",
    "LabelBudget",
    "MissingValues",
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
    "diff",
    "good_against_bad",
    "jaccard_curve",
    "kendall_coefficient",
    "label_budget",
    "missing_values",
    "neighborhood_jaccard",
    "rank_sums",
    "significance",
    "stability",
    "suggest_n_features",
    "top_k_overlap",
    "tune",
    "tune_lambda",
]
