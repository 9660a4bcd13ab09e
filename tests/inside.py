"""The one place where tests reach inside the package: limits that they change, and parts that are not public.

``turn`` changes a limit, so that small data show what happens with large data. A module that is renamed, or a constant
that moves, changes this file and no test.
"""

from fiedler.cli import run
from fiedler.criteria import closed_form
from fiedler.engine import agreement, approximate, missing
from fiedler.sources import Source

KNOBS = {
    "agreement: most rows": "fiedler.engine.agreement._MOST_ROWS",
    "anchors: values of long rows": "fiedler.graphs.anchors._WIDE",
    "approximate: as fast": "fiedler.engine.approximate._AS_FAST",
    "approximate: brute force": "fiedler.engine.approximate._BRUTE_FORCE",
    "approximate: choosing": "fiedler.engine.approximate._CHOOSING",
    "approximate: sparse work": "fiedler.engine.approximate._SPARSE_WORK",
    "approximate: work": "fiedler.engine.approximate._WORK",
    "blocks of a batch": "fiedler.data.dask._BATCH",
    "blocks: copied": "fiedler.engine.blocks._COPIED",
    "blocks: many rows": "fiedler.engine.blocks._MANY_ROWS",
    "bytes of a piece": "fiedler.data.text._PIECE",
    "bytes read in Python": "fiedler.data.text._SMALL",
    "cells: random draws": "fiedler.evaluate.cells.RANDOM_DRAWS",
    "centred: filled": "fiedler.sets.centred._FILLED",
    "characters between reports": "fiedler.data.text._COUNTED",
    "columns of Parquet in blocks": "fiedler.data.files._WIDE_PARQUET",
    "compiled: worth compiling": "fiedler.engine.compiled._WORTH_COMPILING",
    "corrections: most rows": "fiedler.criteria.missing._MOST_ROWS",
    "distances: few columns": "fiedler.engine.distances._FEW_COLUMNS",
    "distances: some rows": "fiedler.engine.distances._SOME_ROWS",
    "kmeans: dense values": "fiedler.engine.kmeans._DENSE_VALUES",
    "missing: rare": "fiedler.engine.missing._RARE",
    "missing: spare": "fiedler.engine.missing._SPARE",
    "missing: single pays": "fiedler.engine.missing._SINGLE_PAYS",
    "neighbors: crowd": "fiedler.engine.neighbors._CROWD",
    "neighbors: exact sparse": "fiedler.engine.neighbors._EXACT_SPARSE",
    "neighbors: exact up to": "fiedler.engine.neighbors._EXACT_UP_TO",
    "neighbors: many rows": "fiedler.engine.neighbors._MANY_ROWS",
    "neighbors: products": "fiedler.engine.neighbors._PRODUCTS",
    "redundancy: at once": "fiedler.selection.redundancy._AT_ONCE",
    "relevance: most rows": "fiedler.criteria.relevance._MOST_ROWS",
    "rounds: first round": "fiedler.sets.rounds._FIRST_ROUND",
    "rounds: pool": "fiedler.sets.rounds._POOL",
    "rounds: pool of files": "fiedler.sets.rounds._POOL_OF_FILES",
    "rows of a sheet": "fiedler.data.tables._MOST_ROWS",
    "seconds between looks": "fiedler.data.dask._SECONDS_BETWEEN_LOOKS",
    "seconds without workers": "fiedler.data.dask._PATIENCE",
    "smoothing: exact up to": "fiedler.graphs.smoothing._EXACT_UP_TO",
    "smoothing: polynomial up to": "fiedler.graphs.smoothing._POLYNOMIAL_UP_TO",
    "spectrum: dense eigen": "fiedler.graphs.spectrum._DENSE_EIGEN",
    "spectrum: dense eigen at most": "fiedler.graphs.spectrum._DENSE_EIGEN_AT_MOST",
    "spectrum: restarts": "fiedler.graphs.spectrum._RESTARTS",
}


def turn(monkeypatch, knob, value):
    monkeypatch.setattr(KNOBS[knob], value)


# -------------------------------------------------------------------- what a module keeps to itself

READING = "_checked"  # the method of a source that reads a part of it
PLACING = "_place"  # the method of Anchors that places them
agreement_look, agreement_tested = agreement._look, agreement._tested
sketch_limits, triangles, fingerprint = approximate._limits, closed_form._triangles, run._fingerprint
read_part = Source._checked


def placed(recipe, X):
    """The anchors of a recipe on X."""
    return recipe._place(X)


def anchor_points(anchors):
    return anchors._U


def bytes_of(source):
    return source._bytes


def spy_on_jobs(monkeypatch, jobs):
    """Every job whose fingerprint is asked for joins a list."""
    monkeypatch.setattr(run, "_fingerprint", lambda job: jobs.append(job) or fingerprint(job))


def spy_on_totals(monkeypatch, made):
    """A list grows by one whenever J of all features is computed."""
    from fiedler.sets import features

    counted = features._explained_by_features
    monkeypatch.setattr(features, "_explained_by_features", lambda *given: made.append(1) or counted(*given))


def count_pairs(monkeypatch):
    """The numbers of pairs of rows whose distances over known columns are asked for."""
    counts, between = [], missing._Table.between
    monkeypatch.setattr(missing._Table, "between", lambda self, i, j: counts.append(len(i)) or between(self, i, j))
    return counts


def spy_on_array(monkeypatch, source, spy):
    """``spy(array)`` stands in for the array of a file."""
    monkeypatch.setattr(source, "_array", spy(source._array))


def default_graph(method):
    """The recipe of a method, stated or usual."""
    return method._recipe("graph")


def gave_up_single_precision(distances):
    return distances._double is not None


def reads_filled_blocks(distances):
    return distances._filled
