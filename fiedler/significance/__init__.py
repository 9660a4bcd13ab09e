"""Significance tests of features against noise.

``testing`` tests every feature and corrects for multiple tests. The criterion states how it can be tested: with a null
distribution in closed form (``closed_form``, with sums over weights in ``weights``) or by ``permutations``.
``crossfit`` splits the features into folds, so that no feature is tested on a graph that was built from it.
``cautions`` warns about data for which p-values are unreliable. ``agreement`` finds the
columns that agree with others. This room may import ``criteria`` and everything below
it.
"""
