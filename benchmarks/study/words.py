"""Numbers and names as the page writes them, and the parts that several questions share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..papers.page import Section
from .ranks import Duel, Ranking
from .results import Slice
from .sets import KINDS as KINDS  # passed on: the order of kinds in every table


def number(value: float, digits: int = 3) -> str:
    """.812 rather than 0.812."""
    return f"{value:.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign: +.032, -.010, ±.000."""
    text = number(abs(value), digits)
    return ("±" if float(text) == 0.0 else "+" if value > 0 else "−") + text


def p_text(p_value: float) -> str:
    """A p-value as it is read: three digits, or below a thousandth."""
    return "< .001" if p_value < 0.001 else f"= {number(p_value)}"


def listed(words: Sequence[str], nothing: str = "none") -> str:
    """a, b and c."""
    words = list(words)
    if len(words) < 2:
        return words[0] if words else nothing
    return f"{', '.join(words[:-1])} and {words[-1]}"


def sentence(text: str) -> str:
    """A clause as a sentence: its first letter large, the others as they are."""
    return f"{text[:1].upper()}{text[1:]}."


def against(found: Duel) -> str:
    """Sets won and lost, and the chance of that."""
    return f"{found.won} better, {found.lost} worse of {found.n_sets} (p {p_text(found.p_value)})"


def tested(ranking: Ranking) -> str:
    """What Friedman's test and the critical difference say, in one clause."""
    strength = "differ" if ranking.p_value < 0.05 else "cannot be told apart"
    return (
        f"over {ranking.n_sets} sets the methods {strength} (Friedman p {p_text(ranking.p_value)}; "
        f"critical difference {ranking.critical_difference:.2f})"
    )


def level_with_best(ranking: Ranking) -> list[str]:
    """The methods within the critical difference of the best."""
    return [method for method in ranking.methods[1:] if not ranking.differ(ranking.best, method)]


def ranked_table(section: Section, whole: Slice, extra: Sequence[str] = ()) -> None:
    """Average rank over all sets and by kind, with the mean value; ``extra`` methods get their mean only."""
    ranking = whole.ranking([name for name in whole.values if name not in extra])
    kinds = [kind for kind in KINDS if whole.of(kind).n_sets > 1]
    parts = {kind: whole.of(kind).ranking(ranking.methods) for kind in kinds}
    header = ["method", f"average rank, {whole.n_sets} sets", *(f"{k}, {parts[k].n_sets}" for k in kinds), "accuracy"]
    rows = [[*rank_row(m, [ranking, *parts.values()]), number(whole.mean(m))] for m in ranking.methods]
    rows += [[name, *["–"] * (1 + len(kinds)), number(whole.mean(name))] for name in extra]
    section.table(header, rows)


def rank_row(method: str, rankings: Sequence[Ranking]) -> list[str]:
    """A method's average rank in each ranking, bold where it is the best."""
    cells = [f"{r.rank(method):.2f}" if method in r.methods else "–" for r in rankings]
    best = [method in r.methods and np.isclose(r.rank(method), r.ranks[0]) for r in rankings]
    return [method, *(f"**{cell}**" if first else cell for cell, first in zip(cells, best, strict=True))]


def overtakes(duels: dict[int, Duel]) -> int | None:
    """The smallest budget from which on a method stays ahead, in the mean and on more sets than not."""
    ahead = {budget: found.gain > 0 and found.won > found.lost for budget, found in duels.items()}
    late = [budget for budget in ahead if all(first for later, first in ahead.items() if later >= budget)]
    return min(late, default=None)
