"""Proof of scale: memory limits, time against rows, columns and workers, and what the anchor graph gives up.

    make.py      files larger than the memory they are ranked in, written block by block
    job.py       one ranking in a process of its own, with its time and the peak memory of it and its workers
    growth.py    every method under a memory limit; time and memory against size; a cost model
    anchors.py   the anchor graph against exact neighbours

``python -m benchmarks.scale`` measures everything (about 25 minutes, 6 GB of disk in a temporary folder), writes the
tables and fills docs/scaling.md.
"""
