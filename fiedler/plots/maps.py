"""Features on a map: every row at its place, in a darker shade for a larger value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..validation import check_integer
from . import drawings
from .displays import Display
from .placing import side_by_side


@dataclass(kw_only=True, eq=False, repr=False)
class SpatialDisplay(Display):
    """Features on a map: every row at its place, in a darker shade for a larger value; one map per feature.

    Parameters
    ----------
    places : ndarray of shape (n_samples, 2)
        Coordinates of the rows.
    values : ndarray of shape (n_samples, number of features)
        One column per map.
    features : sequence of str
        Title of each map.

    Attributes
    ----------
    axes_ : tuple of matplotlib Axes
        One for each map, row by row.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> from fiedler import SpatialDisplay
    >>> from fiedler.anndata import select_genes
    >>> rng = np.random.default_rng(0)
    >>> places = rng.uniform(size=(300, 2))
    >>> rate = np.ones((300, 40))
    >>> rate[:, 0] += 4 * (places[:, 0] > 0.5)
    >>> adata = anndata.AnnData(rng.poisson(rate).astype(float), obsm={"spatial": places})
    >>> select_genes(adata, graph="spatial")
    >>> SpatialDisplay.from_anndata(adata, n_genes=1).features
    ['0 (tissue)']
    """

    places: Any
    values: Any
    features: Sequence[str]

    def plot(self, ax: Any = None, **style: Any) -> Self:
        """Draw the maps.

        Parameters
        ----------
        ax : array of matplotlib Axes, optional
            One for each feature; by default new axes, four in a row.
        **style : object
            ``size`` and ``colour`` of the dots.

        Returns
        -------
        display : SpatialDisplay
            The display itself.
        """
        n, (wide, high) = len(self.features), np.ptp(self.places, axis=0)
        if ax is None:
            import matplotlib.pyplot as plt

            columns = min(4, n)
            each = 2.4 * max(1.0, min(wide / (high or 1.0), 3.0))
            size, rows = each * columns, -(-n // columns)
            ax = plt.subplots(rows, columns, figsize=(size, 2.7 * rows), layout="constrained", squeeze=False)[1]
        self.axes_ = tuple(np.ravel(ax))
        self.figure_ = self.axes_[0].figure
        size_of_dots = float(np.clip(130.0 / np.sqrt(len(self.places)), 0.8, 7.0))
        look: dict[str, Any] = {"size": size_of_dots, "draw": drawings.dots} | style
        for axes, values, name in zip(self.axes_, self.values.T, self.features, strict=False):
            drawings.tissue(axes, self.places, drawings.shades_of(values), **look)
            axes.set_title(name, fontsize=9).set_parse_math(False)
        for axes in self.axes_[n:]:
            axes.set_visible(False)
        return self

    @classmethod
    def from_anndata(
        cls,
        adata: Any,
        genes: Sequence[str] | None = None,
        *,
        n_genes: int = 12,
        key: str = "fiedler",
        basis: str = "spatial",
        batch_key: str | None = None,
        layer: str | None = None,
        ax: Any = None,
        **style: Any,
    ) -> SpatialDisplay:
        """Draw genes on their tissue; slides are drawn next to each other.

        Parameters
        ----------
        adata : AnnData
            With coordinates, and with the columns that :func:`fiedler.anndata.select_genes` has written, unless genes
            are named.
        genes : sequence of str, optional
            The genes; by default the best ones of every scale in turn.
        n_genes : int, default=12
            Number of genes if they are not named.
        key : str, default="fiedler"
            The prefix of the columns.
        basis : str, default="spatial"
            The key of the coordinates in ``adata.obsm``.
        batch_key : str, optional
            The column of ``adata.obs`` with slides; by default that of :func:`fiedler.anndata.select_genes`.
        layer : str, optional
            A layer instead of X.
        ax : array of matplotlib Axes, optional
            One for each gene.
        **style : object
            As of :meth:`plot`.

        Returns
        -------
        display : SpatialDisplay
            The drawn display.
        """
        check_integer("n_genes", n_genes, 1)
        if basis not in adata.obsm:
            raise ValueError(f"adata.obsm has no {basis!r}; it has: {', '.join(adata.obsm) or 'nothing'}.")
        var, told = adata.var, adata.uns.get(key, {})
        if genes is None:
            if f"{key}_rank" not in var:
                raise ValueError(
                    f"adata.var has no {key}_rank; call select_genes(adata, graph={basis!r}), or name genes."
                )
            best = var.sort_values(f"{key}_rank")
            if f"{key}_scale" in best:  # the best of each scale, then the second of each
                turn = best.groupby(f"{key}_scale", observed=True).cumcount()
                best = best.assign(_turn=turn).head(4 * n_genes).sort_values(["_turn", f"{key}_rank"])
            genes = best.index[:n_genes].tolist()
        places = np.asarray(adata.obsm[basis], dtype=np.float64)[:, :2]
        batch_key = told.get("batch_key") if batch_key is None else batch_key
        blocks = None if batch_key is None else np.unique(adata.obs[batch_key].astype(str), return_inverse=True)[1]
        values = adata[:, list(genes)].to_df(layer or told.get("layer")).to_numpy(dtype=np.float64)
        if told.get("depth") is not None:
            totals = adata.layers[told["layer"]] if "layer" in told else adata.X
            of_row = totals.sum(axis=1) if told["depth"] == "pearson" else adata.obs[told["depth"]]
            values = values / np.asarray(of_row, dtype=np.float64).reshape(-1, 1)
        names = list(map(str, genes))
        if f"{key}_scale" in var:
            names = [f"{name} ({var.loc[name, f'{key}_scale']})" for name in names]
        display = cls(places=side_by_side(places, blocks), values=values, features=names)
        return display.plot(ax, **style)
