"""Selection of genes in an AnnData, written to ``var["highly_variable"]`` as in scanpy, where ``sc.pp.pca`` reads it.

    select_genes(adata, n_top_genes=2000)                             smooth over neighbouring cells
    select_genes(adata, graph="X_pca")                                neighbours in the components that scanpy found
    select_genes(adata, graph="spatial", batch_key="slide")           spatially variable, over several slides
    select_genes(adata, "sselect", target="cell_type")                with few labels; missing values are unknown
    select_genes(adata, batch_key="sample", significance=True)        one test over all batches

X, or the layer, is used without scaling and normalisation. Apply ``sc.pp.normalize_total`` and ``sc.pp.log1p`` first:
on raw counts the distances between cells mainly reflect their sequencing depths. Spatially variable genes are the
exception: there counts are tested as they are, by their Pearson residuals.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from .criteria import Criterion, MultiScale
from .criteria.order import check_scored, ranks_of
from .criteria.scales import SCALES
from .data.arrays import anndata_matrix, rows_of, take_columns, validate_X
from .data.columns import Distinct
from .engine.counts import is_counts
from .errors import ParameterError
from .graphs import KNN, Graph, Precomputed
from .problem import Problem
from .selection.choice import Choice, choose, fixed_columns
from .selector import SpectralSelector
from .significance.testing import discover
from .syntax import as_criterion, short_text
from .validation import check_integer
from .words import did_you_mean, to_frame

_CHOSEN = "highly_variable"  # the column that functions of scanpy read
_BATCHES = ("nbatches", "intersection")
_OF_A_GENE = ("rank", "score", "pvalue", "qvalue", "effect", "z", "scale", *(f"pvalue_{scale}" for scale in SCALES))
_FEWEST = 3  # smallest number of cells in a batch


def select_genes(
    adata: Any,
    criterion: Any = None,
    *,
    n_top_genes: int | str | None = None,
    layer: str | None = None,
    graph: Any = None,
    target: str | None = None,
    batch_key: str | None = None,
    significance: bool | None = None,
    depth: str | None = "auto",
    key_added: str = "fiedler",
    subset: bool = False,
    inplace: bool = True,
) -> Any:
    """Select genes that vary smoothly over a graph of the cells, and mark them as scanpy marks highly variable genes.

    Parameters
    ----------
    adata : AnnData
        The data, in memory, backed (``read_h5ad(path, backed="r")``) or with a Dask array as X. Only the entries listed
        under Returns are changed; nothing is changed if an error is raised.
    criterion : str, Criterion or SpectralSelector, optional
        By default "laplacian", and "multiscale" on a spatial graph. A name in ``fiedler.METHODS``, text such as
        ``"laplacian[graph=knn[n_neighbors=20,metric=cosine]]"``, or a criterion. Both defaults use a graph, so that
        ``graph`` and ``significance`` have an effect. In agreement with known cell types "laplacian" is better than the
        default of scanpy, but "variance" is as good or better (docs/single-cells.md). A selector is fitted again on
        these genes, with its ``redundancy``, ``unlabeled``, ``alpha``, ``threshold``, ``screen``, ``include``,
        ``scale`` and, if it is set, ``n_features_to_select``.
    n_top_genes : int or "fdr", optional
        Number of genes; "fdr" selects the significant genes, as in :class:`fiedler.SpectralSelector`. By default "fdr"
        for "multiscale", "moran" and "geary", and otherwise 2000.
    layer : str, optional
        A key of ``adata.layers`` instead of X.
    graph : str, or what :meth:`fiedler.Graph.of` takes, optional
        The graph over the cells. A key with "spatial" in it is a spatial graph: "spatial" joins every spot to its six
        nearest spots, by the coordinates in ``adata.obsm["spatial"]``, inside each batch. Other keys of ``adata.obsm``,
        such as "X_pca", give the nearest-neighbour graph in these coordinates, with the parameters of the criterion's
        ``KNN``. A key of ``adata.obsp``, such as "connectivities", comes first. A key of ``obsp`` that ends with
        "distances" holds distances, which become weights exp(-d² / 2δ²) with δ their mean. An edge in either direction
        is kept. By default the graph of the criterion, which is built from the genes;
        ``"laplacian[graph=knn[n_components=50]]"`` builds it from their principal components.
    target : str, optional
        A column of ``adata.obs`` with classes or numbers, for criteria that read labels; missing values are unknown.
    batch_key : str, optional
        A column of ``adata.obs`` with batches, such as slides or donors. With tests, cells are exchangeable inside
        batches only: there is one score and one p-value over all batches, and neither a shift nor another depth of a
        batch is taken for structure. Without tests, genes are selected in every batch separately, and ordered by the
        number of batches that selected them and by their median rank.
    significance : bool, optional
        Whether to add p-values and q-values, by :func:`fiedler.evaluate.significance` with its defaults. By default yes
        for "multiscale", "moran" and "geary", otherwise no. They are valid if the graph was not built from the genes,
        as for a spatial graph. A key without "spatial" in it gives a warning: on "connectivities" and "X_pca", which
        were computed from the same genes, p-values are too small.
    depth : "auto", "pearson", str or None, default="auto"
        For "multiscale", "moran" and "geary": "pearson" tests the Pearson residuals of counts, with the total of a
        spot as its depth; another name is a column of ``adata.obs`` with depths; None tests the values as they are.
        "auto" is "pearson" if the values are counts. If few genes are measured and share patterns, totals are not
        depths: use None, or name a column.
    key_added : str, default="fiedler"
        Prefix of the columns, and the key of the parameters in ``adata.uns``.
    subset : bool, default=False
        Whether to keep only the selected genes in ``adata``.
    inplace : bool, default=True
        Whether to write into ``adata``; otherwise the columns are returned.

    Returns
    -------
    DataFrame or None
        The new columns of ``adata.var``, indexed by gene; with ``subset`` only the selected genes:

        - ``highly_variable``: whether the gene is selected
        - ``fiedler_rank``: the rank among all genes, 1 for the best
        - ``fiedler_score``: the score of the criterion, or its median over batches
        - ``fiedler_pvalue``, ``fiedler_qvalue``, ``fiedler_effect``, ``fiedler_z``: with tests
        - ``fiedler_scale``, ``fiedler_pvalue_edges``, ``_walks``, ``_tissue``: with "multiscale", the scale that
          decided, and the p-value of each
        - ``highly_variable_nbatches``, ``highly_variable_intersection``: with ``batch_key`` and without tests, with the
          names of scanpy

        ``adata.uns["fiedler"]`` gets the parameters and the direction of the score.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from fiedler.anndata import select_genes
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 8))
    >>> X[:30, :3] += 4.0
    >>> adata = anndata.AnnData(X)
    >>> select_genes(adata, n_top_genes=3)
    >>> adata.var_names[adata.var["highly_variable"]].tolist()
    ['0', '1', '2']
    """
    tables = getattr(adata, "tables", None)  # of a SpatialData
    if tables is not None and len(tables) == 1:
        adata = next(iter(tables.values()))
    if not hasattr(adata, "obs_names"):
        raise TypeError(f"adata must be an AnnData, got {type(adata).__name__}; SpectralSelector takes matrices.")
    if layer is not None and layer not in adata.layers:
        raise _unknown("layer", layer, adata.layers, "layers")
    matrix = anndata_matrix(adata, layer)
    if matrix is None:
        raise ValueError(f"adata has no X; choose a layer: {_listed(adata.layers)}.")
    X = validate_X(matrix, adata.var_names)
    if inplace and adata.isbacked and (subset or adata.is_view):  # the result could not be written
        what = "subset=True" if subset else "writing into a view"
        raise ValueError(f"{what} needs adata in memory, but it is backed; use adata.to_memory(), or inplace=False.")
    spatial = isinstance(graph, str) and "spatial" in graph
    criterion = criterion if criterion is not None else "multiscale" if spatial else "laplacian"
    selector = _selector(criterion, n_top_genes, adata.n_vars)
    selector.include = fixed_columns(selector.include, adata.var_names, adata.n_vars)
    known = None if target is None else _column(adata, target, "target").to_numpy(dtype=object)
    batches = None if batch_key is None else _batches(adata, batch_key)
    given, placed = _on_graph(as_criterion(selector.criterion), adata, graph, batches)
    if target is None and placed.reads:
        reads = " and ".join(sorted(placed.reads))
        raise ValueError(f"{placed!r} reads {reads}; name a column of obs as target.")
    if target is not None and not placed.uses:
        others = "use 'subset', 'sselect' or 'fisher' for classes, 'subset' or 'sls' for numbers"
        raise ValueError(f"target={target!r}, but {placed!r} reads no labels; {others}.")
    problem = Problem(X, given=given).with_supervision(known, unlabeled=selector.unlabeled)
    problem = problem.scaled(selector.scale or "keep")
    if significance is None:
        significance = placed.traits.counts
    tested = significance or selector.n_features_to_select == "fdr"
    if placed.traits.counts or depth not in ("auto", None):
        problem = problem.counted(depth_of(depth, X, partial(_column, adata, parameter="depth")))
    if tested and isinstance(graph, str) and not spatial:
        warnings.warn(
            f"graph={graph!r} seems to be built from these genes, so that noise genes get small p-values. Leave graph "
            "out, and every gene is tested on a graph of the others; or pass the graph itself, such as "
            "adata.obsp[key], if it does not come from the genes.",
            UserWarning,
            stacklevel=2,
        )
    if batches is None or tested:
        found = _with_tests(placed, problem.divided(batches), selector, significance)
    else:
        found = _in_batches(placed, problem, selector, batches)
    columns = to_frame({n if n.startswith(_CHOSEN) else f"{key_added}_{n}": found[n] for n in found})
    columns.index = adata.var_names
    if not inplace:
        return columns[columns[_CHOSEN]] if subset else columns
    told = {
        "criterion": short_text(as_criterion(selector.criterion)),
        "greater_is_better": bool(placed.greater_is_better),
        "n_top_genes": selector.n_features_to_select,
        "layer": layer,
        "graph": _called(graph),
        "target": target,
        "batch_key": batch_key,
        "depth": None if problem.depth is None else depth if depth != "auto" else "pearson",
    }
    _write(adata, columns, key_added, {name: value for name, value in told.items() if value is not None}, subset)
    return None


# -------------------------------------------------------------------- what is asked


def _column(adata: Any, key: str, parameter: str) -> Any:
    if key not in adata.obs.columns:
        raise _unknown(parameter, key, adata.obs.columns, "columns of obs")
    return adata.obs[key]


def _batches(adata: Any, key: str) -> np.ndarray:
    """The batch of every cell."""
    batches = _column(adata, key, "batch_key")
    if batches.isna().any():
        raise ValueError(f"batch_key={key!r} has {int(batches.isna().sum())} missing values; every cell needs a batch.")
    seen = Distinct(batches.tolist())  # 1 and "1" are different batches
    sizes = np.bincount(seen.codes)
    if sizes.min() < _FEWEST:
        name = str(seen.values[int(sizes.argmin())])
        raise ValueError(f"batch {name!r} of batch_key={key!r} has {sizes.min()} cells; {_FEWEST} are needed.")
    return seen.codes


def depth_of(depth: str | None, X: Any, column: Callable[[str], Any]) -> Any:
    """What :meth:`Problem.counted` takes; ``column`` reads the depths that have a name."""
    if depth == "auto":
        return "pearson" if is_counts(take_columns(X, slice(0, min(X.shape[1], 100)))) else None
    if depth in (None, "pearson"):
        return depth
    return np.asarray(column(depth), dtype=np.float64)


def _unknown(parameter: str, key: str, known: Any, what: str) -> ValueError:
    hint = did_you_mean(str(key), map(str, known))
    return ValueError(f"{parameter}={key!r} is not among the {what}; {hint}They are: {_listed(known)}.")


def _listed(keys: Any) -> str:
    return ", ".join(str(key) for key in keys if key is not None) or "none"  # anndata lists X as a layer named None


def _selector(criterion: Any, n_top_genes: Any, n_genes: int) -> SpectralSelector:
    """The selector with the parameters to use, including the number of genes."""
    given = isinstance(criterion, SpectralSelector)
    selector = clone(criterion) if given else SpectralSelector(criterion)
    if selector.n_features_to_select is None:
        tested = as_criterion(selector.criterion).traits.counts
        selector.n_features_to_select = n_top_genes if n_top_genes is not None else "fdr" if tested else 2000
    wanted = selector.n_features_to_select
    if isinstance(wanted, str) or (given and isinstance(wanted, float)):
        return selector  # "fdr", "auto" and shares are checked where they are used
    selector.n_features_to_select = check_integer("n_top_genes", wanted, 1)
    if selector.n_features_to_select > n_genes:
        raise ValueError(f"n_top_genes={wanted}, but adata has only {n_genes} genes; use a smaller number.")
    return selector


def _called(graph: Any) -> str | None:
    """The name of a graph: its key, or its type."""
    return graph if graph is None or isinstance(graph, str) else type(graph).__name__


def _on_graph(
    criterion: Criterion, adata: Any, graph: Any, batches: np.ndarray | None
) -> tuple[Graph | None, Criterion]:
    """The given graph, and the criterion that uses it."""
    if graph is None:
        return None, criterion
    if not isinstance(graph, str):
        given = Graph.of(graph, symmetrize="max")
    elif graph in adata.obsp:
        given = stored_graph("obsp", graph, adata.obsp[graph], criterion)
    elif graph in adata.obsm:
        given = stored_graph("obsm", graph, adata.obsm[graph], criterion, batches)
    else:
        raise _unknown("graph", graph, [*adata.obsp, *adata.obsm], "keys of obsp and obsm")
    if given.n_nodes != adata.n_obs:
        raise ValueError(f"graph has {given.n_nodes} nodes, but adata has {adata.n_obs} cells.")
    return given, on_given_graph(criterion, f"graph={_called(graph)!r}")


def stored_graph(part: str, key: str, stored: Any, criterion: Criterion, batches: Any = None) -> Graph:
    """The graph of a matrix in "obsp", or of the nearest rows in coordinates in "obsm", inside each batch.

    The parameters are those of the criterion's own ``KNN``; by default places are joined to their six nearest ones.
    """
    if part == "obsp":
        return Graph.of(stored, distances=key.endswith("distances"), symmetrize="max")
    own = getattr(criterion, "graph", None)
    recipe = MultiScale() if "spatial" in key and not isinstance(own, KNN) else criterion
    near = next((r for r in recipe.recipes() if isinstance(r, KNN)), KNN())
    return Problem.of(np.asarray(stored)).divided(batches).graph(near)


def on_given_graph(criterion: Criterion, called: str) -> Criterion:
    """The criterion with the graph that is passed along in place of its own; ``called`` is what the user said."""
    if any(isinstance(recipe, Precomputed) and recipe.W is None for recipe in criterion.recipes()):
        return criterion
    placed = clone(criterion)
    if "graph" in placed.get_params(deep=False):
        placed.set_params(graph=Precomputed())
    same = {recipe.key for recipe in placed.recipes()} == {recipe.key for recipe in criterion.recipes()}
    if same or placed.reads != criterion.reads:
        none = f"{criterion!r} has no graph over the rows that {called} could replace"
        raise ValueError(f"{none}; use 'laplacian', 'subset' or 'sselect', or use Precomputed() in a formula.")
    return placed


# -------------------------------------------------------------------- what is found


def _chosen(criterion: Criterion, problem: Problem, selector: SpectralSelector) -> Choice:
    """The selected genes of one problem."""
    wanted = selector.n_features_to_select, selector.redundancy, selector.alpha, selector.threshold, selector.screen
    return choose(criterion.resolved(), problem, *wanted, selector.include)


def _with_tests(criterion: Criterion, problem: Problem, selector: SpectralSelector, significance: bool) -> dict:
    """Selection, rank, score and tests of every gene."""
    tested = discover(criterion.resolved(), problem) if significance else None
    found = _chosen(criterion, problem, selector)
    if isinstance(selector.n_features_to_select, int):
        check_scored(criterion, found.scores, found.n_chosen)
    about: dict[str, Any] = {_CHOSEN: found.support, "rank": found.ranking, "score": found.scores}
    if found.pvalues is not None:
        about |= {"pvalue": found.pvalues, "qvalue": found.qvalues, "effect": found.effects}
    if tested is not None:
        about |= {"pvalue": tested.pvalues, "qvalue": tested.qvalues, "effect": tested.effect, "z": tested.z}
        if tested.parts is not None:
            about["scale"] = tested.scale
            about |= {f"pvalue_{name}": p for name, p in zip(SCALES, tested.parts, strict=True)}
    return about


def _in_batches(criterion: Criterion, problem: Problem, selector: SpectralSelector, batches: np.ndarray) -> dict:
    """Select in every batch; then order by number of batches, by median rank, and by position."""
    wanted = selector.n_features_to_select
    if not isinstance(wanted, int):
        message = (
            f"n_top_genes={wanted!r} cannot be combined over batches; use a number of genes, or significance=True."
        )
        raise ParameterError(message, parameter="n_top_genes", value=wanted)
    known, given, found = problem.supervision.y, problem.given, []
    for code in range(int(batches.max()) + 1):
        rows = np.flatnonzero(batches == code)
        here = Problem(rows_of(problem.X, rows), given=None if given is None else given[rows])
        here = here.with_supervision(None if known is None else known[rows], unlabeled=selector.unlabeled)
        found.append(_chosen(criterion, here, selector))
    scores = np.array([each.scores for each in found])
    times = np.sum([each.support & ~np.isnan(each.scores) for each in found], axis=0)
    typical = np.median([each.ranking for each in found], axis=0)
    rank = ranks_of(np.lexsort((np.arange(len(times)), typical, -times)))
    scored = ~np.isnan(scores).all(axis=0)
    score = np.full(len(times), np.nan)
    score[scored] = np.nanmedian(scores[:, scored], axis=0)
    check_scored(criterion, score, wanted)
    about = {_CHOSEN: rank <= wanted, "rank": rank, "score": score}
    return about | {f"{_CHOSEN}_nbatches": times, f"{_CHOSEN}_intersection": times == len(found)}


# -------------------------------------------------------------------- what is written


def _write(adata: Any, columns: Any, key: str, told: dict[str, Any], subset: bool) -> None:
    if adata.is_view:
        adata._init_as_actual(adata.copy())  # writing into a view would copy it with a warning
    ours = [_CHOSEN, *(f"{_CHOSEN}_{name}" for name in _BATCHES), *(f"{key}_{name}" for name in _OF_A_GENE)]
    # Including columns of an earlier call.
    var = adata.var.drop(columns=[name for name in ours if name in adata.var.columns])
    for name in columns:
        var[name] = columns[name].to_numpy()  # by position, because names may repeat
    adata.var = var
    adata.uns[key] = told
    if subset:
        adata._inplace_subset_var(columns[_CHOSEN].to_numpy())
