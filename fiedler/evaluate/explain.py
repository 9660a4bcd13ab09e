"""Why a feature was chosen (``SpectralSelector.explain``), and what changed between two selections (``diff``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ParameterError
from ..selection.explanation import Explanation
from ..selector import SpectralSelector
from ..selector import feature_names as names_of
from ..words import html_table, printable, to_frame

__all__ = ["Difference", "Explanation", "diff"]

_SHOWN = 10  # features of a kind in a repr


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """What changed from one selection to another.

    Parameters
    ----------
    feature_names : ndarray of shape (n_features,)
        Features of the first selection in the order of its columns, then features that only the second one has.
    rank_a, rank_b : ndarray of shape (n_features,)
        Rank of each feature in both selections, 1 for the best; NaN if a selection does not have the feature.
    chosen_a, chosen_b : ndarray of bool, shape (n_features,)
        Whether each selection chose the feature.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import SpectralSelector
    >>> from fiedler.evaluate import diff
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> X = (X - X.mean()) / X.std()
    >>> diff(*(SpectralSelector(name, n_features_to_select=3).fit(X, y) for name in ("subset", "fisher")))
    3 features before, 3 after: 2 shared (Jaccard 0.50)
      shared  flavanoids, proline
      lost    color_intensity
      gained  od280/od315_of_diluted_wines
      moved   proline 3 -> 2
    """

    feature_names: np.ndarray
    rank_a: np.ndarray
    rank_b: np.ndarray
    chosen_a: np.ndarray
    chosen_b: np.ndarray

    @property
    def shared(self) -> list[str]:
        """Features that both selections chose, by their rank in the first."""
        return [str(name) for name in self.feature_names[self._changes["shared"]]]

    @property
    def lost(self) -> list[str]:
        """Features that only the first selection chose, best first."""
        return [str(name) for name in self.feature_names[self._changes["lost"]]]

    @property
    def gained(self) -> list[str]:
        """Features that only the second selection chose, best first."""
        return [str(name) for name in self.feature_names[self._changes["gained"]]]

    @property
    def moved(self) -> list[tuple[str, int, int]]:
        """Features that both selections chose at different ranks: name, rank before, rank after; the largest first."""
        both = np.flatnonzero(self.chosen_a & self.chosen_b & (self.rank_a != self.rank_b))
        both = both[np.lexsort((self.rank_a[both], -np.abs(self.rank_a - self.rank_b)[both]))]
        return [(str(self.feature_names[j]), int(self.rank_a[j]), int(self.rank_b[j])) for j in both]

    @property
    def jaccard(self) -> float:
        """Number of shared features divided by the number of features that either selection chose."""
        either = np.count_nonzero(self.chosen_a | self.chosen_b)
        return float(np.count_nonzero(self.chosen_a & self.chosen_b) / either) if either else 1.0

    def frame(self) -> Any:
        """The features that either selection chose, as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per feature: ``change`` is "shared", "lost" or "gained". ``moved`` is the number of ranks by which
            the feature rose (positive) or fell.
        """
        found = self._changes
        rows = np.concatenate(list(found.values()))
        words = np.repeat(np.array(list(found), dtype=object), [len(part) for part in found.values()])
        table = {"feature": self.feature_names[rows], "change": words}
        table |= {"rank_a": self.rank_a[rows], "rank_b": self.rank_b[rows]}
        return to_frame(table | {"moved": (self.rank_a - self.rank_b)[rows]})

    def __repr__(self) -> str:
        return "\n".join([self._title(), *(f"  {word:<7} {text}" for word, text in self._parts())])

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._parts())

    def _title(self) -> str:
        a, b = int(self.chosen_a.sum()), int(self.chosen_b.sum())
        return f"{a} features before, {b} after: {len(self.shared)} shared (Jaccard {self.jaccard:.2f})"

    def _parts(self) -> list[tuple[str, str]]:
        """The first features of each kind, in words."""
        moves = [f"{printable(name, 40)} {before} -> {after}" for name, before, after in self.moved]
        found = []
        for word, names in (("shared", self.shared), ("lost", self.lost), ("gained", self.gained), ("moved", moves)):
            more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
            if names:
                found.append((word, ", ".join(printable(name, 60) for name in names[:_SHOWN]) + more))
        return found

    @property
    def _changes(self) -> dict[str, np.ndarray]:
        """Numbers of the features that were shared, lost and gained, each by rank."""
        a, b = self.chosen_a, self.chosen_b
        first, second = (np.argsort(rank, kind="stable") for rank in (self.rank_a, self.rank_b))
        return {"shared": first[(a & b)[first]], "lost": first[(a & ~b)[first]], "gained": second[(b & ~a)[second]]}


def diff(a: SpectralSelector, b: SpectralSelector) -> Difference:
    """Compare two selections: features that are shared, lost, gained, and moved.

    Features are matched by name. The two selectors may have different criteria and parameters, and may have been fitted
    on different rows or on different columns.

    Parameters
    ----------
    a, b : SpectralSelector
        Fitted selectors, before and after.

    Returns
    -------
    difference : Difference
        Ranks and choices of both, with a frame and a readable repr.

    See Also
    --------
    fiedler.SpectralSelector.explain : Why a feature was chosen.
    top_k_overlap : Overlap of many selections.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from fiedler import SpectralSelector
    >>> from fiedler.evaluate import diff
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> before = SpectralSelector("fisher", n_features_to_select=3).fit(X, y)
    >>> after = SpectralSelector("fisher", n_features_to_select=3, redundancy=0.5).fit(X, y)
    >>> diff(before, after).gained
    ['color_intensity']
    """
    owns, named = [names_of(a), names_of(b)], [hasattr(each, "feature_names_in_") for each in (a, b)]
    sizes = tuple(map(len, owns))
    if sizes[0] == sizes[1] and named[0] != named[1]:  # a selector without names takes those of the other
        owns = [owns[named.index(True)]] * 2
    elif sizes[0] != sizes[1] and not all(named):
        unmatched = f"a has {sizes[0]} features and b has {sizes[1]}, and they cannot be matched without names"
        message = f"{unmatched}; fit both on frames, or on the same columns."
        raise ParameterError(message, parameter=("a", "b"), value=sizes)
    names, found = list(dict.fromkeys([*owns[0], *owns[1]])), {}
    for key, selector, own in zip("ab", (a, b), owns, strict=True):
        if len(set(own)) < len(own):
            message = f"{key} has features of the same name, which cannot be matched; give every column its own name."
            raise ParameterError(message, parameter=key, value=own)
        at = {name: place for place, name in enumerate(own)}
        where = np.array([at.get(name, -1) for name in names], dtype=np.intp)
        found[f"rank_{key}"] = np.where(where < 0, np.nan, selector.ranking_[where])
        found[f"chosen_{key}"] = (where >= 0) & selector.support_[where]
    return Difference(np.array(names, dtype=object), **found)
