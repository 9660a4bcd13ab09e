"""Which method when: every method on many real sets, without labels, with few labels, with pairs, with few targets.

    sets.py       the data sets, how each is scaled, which labels a draw shows
    judge.py      leave-one-out 1-NN and 5-NN on chosen columns, redundancy, clusters
    rankings.py   the methods' rankings on one set; what does not depend on the labels is computed once
    run.py        all cells of a set, in parallel over sets, each set kept as a file so that a run can go on
    ranks.py      average ranks, Friedman's test, Nemenyi's critical difference
    results.py    the computed values as tables of one value per method and set
    questions.py  without labels, with few labels, pairs, real targets: tables, figures, sentences from the numbers
    defaults.py   every value of every parameter       redundancy.py  how alike the first features are, and pruning
    advice.py     the decision table at the top        page.py        the page
    words.py      numbers and names as written         figures.py     critical differences, curves

``python -m benchmarks.study`` runs it and writes ``docs/which-method.md`` with its figures.
"""
