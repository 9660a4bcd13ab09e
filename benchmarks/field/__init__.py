"""Selectors that read no labels, on the same sets, under three judges: nearest neighbours, k-means and a linear SVM."""
