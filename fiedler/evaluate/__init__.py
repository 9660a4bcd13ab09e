"""Evaluation of rankings and selections with the measures of the papers.

- ``measures``   agreement of rankings, clustering accuracy, preserved neighbourhoods
- ``held_out``   y of an evaluation, models by name, folds, predictions of held-out rows
- ``curves``     accuracy, error, clusters, neighbourhoods against the number of features
- ``tuning``     choice of λ by cut value, of any parameter, and of the number of features
- ``stability``  the same ranking on resampled rows, labels or pairs
- ``tests``      p-values of features, columns that agree with others, patterns of missing values
- ``explain``    why a feature was chosen, and what changed between two selections
- ``compare``    many methods, draws and sizes together; ``cells`` runs and stores them

This room may import ``selector`` and everything below it.
"""

from .compare import Comparison, LabelBudget, compare, label_budget
from .curves import Curve, accuracy_curve, clustering_curve, good_against_bad, jaccard_curve
from .explain import Difference, Explanation, diff
from .measures import clustering_accuracy, kendall_coefficient, neighborhood_jaccard, rank_sums, top_k_overlap
from .stability import Stability, stability
from .tests import Agreement, MissingValues, Significance, agreement, missing_values, significance
from .tuning import Suggestions, Tuning, cut_value, suggest_n_features, tune, tune_lambda

__all__ = ["Comparison", "LabelBudget", "compare", "label_budget"]
__all__ += ["Curve", "accuracy_curve", "clustering_curve", "good_against_bad", "jaccard_curve"]
__all__ += ["Difference", "Explanation", "Stability", "diff", "stability"]
__all__ += ["clustering_accuracy", "kendall_coefficient", "neighborhood_jaccard", "rank_sums", "top_k_overlap"]
__all__ += ["Agreement", "MissingValues", "Significance", "agreement", "missing_values", "significance"]
__all__ += ["Suggestions", "Tuning", "cut_value", "suggest_n_features", "tune", "tune_lambda"]
