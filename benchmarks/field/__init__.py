"""Selectors that read no labels, on the same sets, under two judges: nearest neighbours and k-means."""
