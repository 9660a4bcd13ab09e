"""Proof of scale: memory limits, time against rows, columns and workers, and what the anchor graph gives up.

    make.py      files larger than the memory they are ranked in, written block by block
    job.py       one ranking in a process of its own, with its time and the peak memory of it and its workers
    limits.py    every method under a stated memory limit on a file five times larger
    growth.py    time and memory against n, m and workers; exponents; a cost model and what it says of 10⁹ rows
    anchors.py   the anchor graph against exact neighbours
    page.py      docs/scaling.md

``python -m benchmarks.scale`` runs everything (about 25 minutes, 6 GB of disk in a temporary folder).
"""
