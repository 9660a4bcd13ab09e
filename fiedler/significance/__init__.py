"""Significance tests of features against noise.

``testing`` tests every feature and corrects for multiple tests. The criterion states how it can be tested: with a null
distribution in closed form (``closed_form``) or by ``permutations``. ``crossfit`` splits the features into folds, so
that no feature is tested on a graph that was built from it. ``testing`` also warns about data for which p-values are
unreliable. This room may import ``criteria`` and everything below it.
"""
