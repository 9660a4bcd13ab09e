"""Which method when: sets of features, rankings and peers on many real data sets.

    sets.py     the data sets: where they come from, how each is scaled, which labels a draw shows
    methods.py  what the library's methods choose on one data set     peers.py    what other packages choose
    judge.py    leave-one-out 1-NN and 5-NN on chosen columns         run.py      all data sets, in parallel
    ranks.py    average ranks, Friedman's test, Nemenyi's critical difference
    page.py     what to use, and sets of features                     rankings.py the papers' rankings
    tables.py   cells and kinds of tables                             figures.py  the figures

``python -m benchmarks.study`` runs it, writes ``results/`` and fills ``docs/which-method.md``.
"""
