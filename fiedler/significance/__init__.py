"""Significance: is a feature more than noise?

``testing`` tests every feature and corrects for their number. It asks the criterion how it can be tested, and uses the
null in closed form (``closed_form``, with sums over weights in ``weights``) or ``permutations``. ``crossfit`` deals the
features into folds, so that no feature is tested on a graph that it has shaped. ``cautions`` warns of data on which
p-values mean less. ``agreement`` finds the columns that agree with others. This room may import criteria and everything
below them.
"""
