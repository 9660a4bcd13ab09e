"""How p-values of features behave on noise, on planted and on real structure, and what breaks them."""
