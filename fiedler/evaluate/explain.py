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
        return self._names(self.chosen_a & self.chosen_b, self.rank_a)

    @property
    def lost(self) -> list[str]:
        """Features that only the first selection chose, best first."""
        return self._names(self.chosen_a & ~self.chosen_b, self.rank_a)

    @property
    def gained(self) -> list[str]:
        """Features that only the second selection chose, best first."""
        return self._names(self.chosen_b & ~self.chosen_a, self.rank_b)

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
        kinds = [
            ("shared", self.chosen_a & self.chosen_b, self.rank_a),
            ("lost", self.chosen_a & ~self.chosen_b, self.rank_a),
            ("gained", self.chosen_b & ~self.chosen_a, self.rank_b),
        ]
        found = [_sorted(mask, rank) for _, mask, rank in kinds]
        rows = np.concatenate(found)
        words = np.repeat(np.array([word for word, _, _ in kinds], dtype=object), [len(part) for part in found])
        table = {"feature": self.feature_names[rows], "change": words}
        table |= {"rank_a": self.rank_a[rows], "rank_b": self.rank_b[rows]}
        return to_frame(table | {"moved": (self.rank_a - self.rank_b)[rows]})

    def __repr__(self) -> str:
        lines = [self._title()]
        for word, text in self._parts():
            lines.append(f"  {word:<7} {text}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html_table(self._title(), [[word, text] for word, text in self._parts()])

    def _title(self) -> str:
        a, b = int(self.chosen_a.sum()), int(self.chosen_b.sum())
        return f"{a} features before, {b} after: {len(self.shared)} shared (Jaccard {self.jaccard:.2f})"

    def _parts(self) -> list[tuple[str, str]]:
        moves = [f"{printable(name, 40)} {before} -> {after}" for name, before, after in self.moved]
        parts = [("shared", self.shared), ("lost", self.lost), ("gained", self.gained), ("moved", moves)]
        return [(word, _listed(names)) for word, names in parts if names]

    def _names(self, mask: np.ndarray, rank: np.ndarray) -> list[str]:
        return [str(self.feature_names[j]) for j in _sorted(mask, rank)]


def _sorted(mask: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """The positions of a mask, by rank."""
    found = np.flatnonzero(mask)
    return found[np.argsort(rank[found], kind="stable")]


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(printable(name, 60) for name in names[:_SHOWN]) + more


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
    names_a, names_b = _names_of_both(a, b)
    places = {name: place for place, name in enumerate(names_a)}
    added = [name for name in names_b if name not in places]
    names = [*names_a, *added]
    columns = {"a": (a, names_a), "b": (b, names_b)}
    found: dict[str, np.ndarray] = {}
    for key, (selector, own) in columns.items():
        at = {name: place for place, name in enumerate(own)}
        where = np.array([at.get(name, -1) for name in names], dtype=np.intp)
        found[f"rank_{key}"] = np.where(where < 0, np.nan, selector.ranking_[where])
        found[f"chosen_{key}"] = (where >= 0) & selector.support_[where]
    return Difference(np.array(names, dtype=object), **found)


def _names_of_both(a: SpectralSelector, b: SpectralSelector) -> tuple[list[str], list[str]]:
    """Names of the features of two selectors; a selector without names takes those of the other."""
    named_a, named_b = names_of(a), names_of(b)
    if len(named_a) == len(named_b) and hasattr(a, "feature_names_in_") != hasattr(b, "feature_names_in_"):
        named_a = named_b = named_a if hasattr(a, "feature_names_in_") else named_b
    elif len(named_a) != len(named_b) and not (hasattr(a, "feature_names_in_") and hasattr(b, "feature_names_in_")):
        raise ParameterError(
            f"a has {len(named_a)} features and b has {len(named_b)}, and they cannot be matched without names; fit "
            "both on frames, or on the same columns.",
            parameter=("a", "b"),
            value=(len(named_a), len(named_b)),
        )
    for which, names in (("a", named_a), ("b", named_b)):
        if len(set(names)) < len(names):
            raise ParameterError(
                f"{which} has features of the same name, which cannot be matched; give every column its own name.",
                parameter=which,
                value=names,
            )
    return named_a, named_b
