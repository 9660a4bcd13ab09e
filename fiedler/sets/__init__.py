"""Sets of features: how much of a kernel over the samples they explain, and forward selection of such sets.

The room contains the kernel (``kernel``) in its two forms (``samples``, ``features``), centred columns (``centred``),
and the formula that defines the kernel, with forward selection (``formula``) and its engine over the samples
(``rounds``). It may import ``graphs``, ``problem`` and everything below them, but no criteria: factors of a formula are
any objects that give scores.
"""
