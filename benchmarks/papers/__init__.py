"""The five papers' experiments, rerun on their data sets and set beside the printed numbers.

    sselect.py      [ZL]    semi-supervised selection by spectral analysis
    spec.py         [SPEC]  the unifying framework
    ssls.py         [DV]    Laplacian scores for regression
    constraints.py  [KA]    constraint scores
    evsc.py         [EV]    eigenvalue sensitive selection
    printed/        the numbers that the papers print        claims.csv   what the papers say of them
    results/        what the last run computed               figures.py   the figures, drawn from results/curves

Each module has ``run(quick, n_jobs) -> Report``. ``python -m benchmarks.papers`` runs them, writes their tables and
fills ``docs/reproductions.md``.
"""
