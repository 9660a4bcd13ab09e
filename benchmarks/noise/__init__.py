"""Columns of noise beside real ones: what selection among them costs, and what a screen gives back."""
