"""Which method when: sets of features, rankings and peers on many real sets, told nothing, labels, pairs or targets.

    sources.py    where the sets come from: those of the study, and fresh ones that had no say in any choice
    sets.py       how each set is scaled, which labels a draw shows
    judge.py      leave-one-out 1-NN and 5-NN on chosen columns, redundancy, clusters
    rankings.py   the methods' rankings on one set; what does not depend on the labels is computed once
    choices.py    the library's set methods and the peers on one set
    peers.py      peers with NumPy and scikit-learn     outside.py     peers of other packages, in their environment
    run.py        all cells of a set, in parallel over sets, each set kept as a file so that a run can go on
    ranks.py      average ranks, Friedman's test, Nemenyi's critical difference
    results.py    the computed values as tables of one value per method and set
    selection.py  sets against rankings and peers, in both blocks: tables, figures, sentences from the numbers
    questions.py  the papers' rankings among themselves: without labels, with few labels, pairs, real targets
    defaults.py   every value of every parameter        redundancy.py  how alike the first features are, and pruning
    advice.py     the short table at the top            losses.py      where the advised method loses
    words.py      numbers and names as written          figures.py     critical differences, curves
    page.py       the page

``python -m benchmarks.study`` runs it and writes ``docs/which-method.md`` with its figures.
"""
