"""The five papers' experiments, rerun on their data sets and set beside the printed numbers.

    sselect.py      [ZL]    semi-supervised selection by spectral analysis
    spec.py         [SPEC]  the unifying framework
    ssls.py         [DV]    Laplacian scores for regression
    constraints.py  [KA]    constraint scores
    evsc.py         [EV]    eigenvalue sensitive selection

Each module has ``run(quick, n_jobs) -> Section``; ``python -m benchmarks.papers`` runs them and writes
``docs/reproductions.md`` with its figures. Printed numbers are typed from the papers, all others are computed.
"""
