"""Sets of features: what they explain together of a kernel over the samples, and how such a set is built.

Here are the kernel in its two forms (``samples``, ``features``), the formula that puts it together (``formula``),
centred columns (``centred``), and forward selection with its two engines (``forward``, ``rounds``, ``features``). This
room knows graphs and problems. It knows no criterion: factors of a formula only have to give scores.
"""
