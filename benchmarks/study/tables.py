"""Cells and kinds of tables that the page of the study has several of.

Where two methods are compared, a cell reads gain, data sets better : worse, Wilcoxon's p.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .ranks import Duel, Ranking, Results, Slice
from .sets import KINDS

FREE = ["variance", "laplacian", "spec φ1", "spec φ2 γ=4", "spec φ3", "evsc"]
LABELS = ["fisher", "relieff", "sselect"]
CONSTRAINTS = ["c1", "c2", "c3", "c4"]
TARGETS = ["correlation", "sls", "ssls"]
BASELINES = ["laplacian", "variance", "random"]
PEERS = ["cur", "fps", "fastcan", "mcfs"]
PEERS_TOLD = ["mutual information", "mrmr", "forest", "l1", "fastcan"]
UNTOLD, WIDER, KNN_C4 = "subset, unlabelled", "laplacian[width=2.0]", "c4[graph=knn]"
RANKINGS = {"free": [*FREE, WIDER], "labels": LABELS, "pairs": [*CONSTRAINTS, KNN_C4], "targets": TARGETS}
SPELLING = {  # how the library spells the methods of the study
    "spec φ1": "`spec[phi=1]`",
    "spec φ2 γ=4": "`spec[phi=2,gamma=4]`",
    "spec φ3": "`spec[phi=3]`",
    UNTOLD: "`subset[supervised=False]`",
    **{f"c{variant}": f"`constraint[variant={variant}]`" for variant in (1, 2, 3, 4)},
    KNN_C4: "`constraint[graph=knn]`",
    WIDER: "`laplacian` with twice the mean edge as bandwidth",
    "random": "random features",
}
WORTH = 0.005  # a smaller mean gain is no reason to change a default

Tables = dict[str, tuple[list[str], list[list[Any]]]]
Read = Callable[[Results, Sequence[str]], Slice]


def number(value: float, digits: int = 3) -> str:
    """.812 rather than 0.812, without a sign."""
    return f"{abs(value):.{digits}f}".replace("0.", ".", 1) if abs(value) < 1 else f"{abs(value):.{digits}f}"


def signed(value: float, digits: int = 3) -> str:
    """A difference with its sign: +.032, −.010, ±.000."""
    text = number(value, digits)
    return ("±" if float(text) == 0.0 else "+" if value > 0 else "−") + text


def p_text(p_value: float) -> str:
    return "< .001" if p_value < 0.001 else f"= {number(p_value)}"


def score(found: Duel) -> str:
    return f"{signed(found.gain)}, {found.won}:{found.lost} (p {p_text(found.p_value)})"


def against(found: Duel) -> str:
    return f"{found.won} better, {found.lost} worse of {found.n_sets} (p {p_text(found.p_value)})"


def spelled(method: str) -> str:
    """A method as the library takes it."""
    name = method.removesuffix(" pruned")
    return SPELLING.get(name, f"`{name}`") + " with `redundancy=True`" * (name != method)


def pruned(methods: Sequence[str]) -> list[str]:
    return [f"{method} pruned" for method in methods]


def span(budgets: Sequence[int]) -> str:
    return str(budgets[0]) if len(budgets) == 1 else f"{budgets[0]} to {budgets[-1]}"


def ranked(methods: Sequence[str], rankings: Sequence[Ranking]) -> list[list[str]]:
    """A row per method: its average rank in each ranking, a dash where it is not ranked."""
    return [[m, *(f"{r.rank(m):.2f}" if m in r.methods else "–" for r in rankings)] for m in methods]


def by_kind(whole: Slice, extra: Sequence[str] = (), digits: int = 3) -> tuple[list[str], list[list[str]]]:
    """Average ranks over all data sets and by kind, with the mean value; ``extra`` methods are not ranked."""
    ranking = whole.ranking([name for name in whole.values if name not in extra])
    parts = {kind: whole.of(kind).ranking(ranking.methods) for kind in KINDS if whole.of(kind).n_sets > 1}
    header = ["method", f"average rank, {whole.n_sets} sets", *(f"{kind}, {p.n_sets}" for kind, p in parts.items())]
    rows = ranked([*ranking.methods, *extra], [ranking, *parts.values()])
    return [*header, "accuracy"], [[*row, number(whole.mean(row[0]), digits)] for row in rows]


def gains(results: Results, reads: Mapping[str, Read], rivals: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """``subset`` over every rival, in each block and each way of reading."""
    names = ["subset", *rivals]
    parts = {f"{t}{name}": read(block, names) for t, read in reads.items() for name, block in results.blocks().items()}
    parts = {title: part for title, part in parts.items() if part.n_sets > 1}
    header = ["subset over", *(f"{title}, {part.n_sets} sets" for title, part in parts.items())]
    return header, [[rival, *(score(part.duel("subset", rival)) for part in parts.values())] for rival in rivals]


def values(results: Results, question: str, methods: Sequence[str], unit: str) -> tuple[list[str], list[list[str]]]:
    """Mean value of every method at each budget."""
    budgets = results.budgets(question)
    parts = [results.told(question, [b], results.known(question, methods, [b])) for b in budgets]
    rows = [[m, *(number(p.mean(m)) if m in p.values else "–" for p in parts)] for m in methods]
    return ["method", *(f"{b} {unit}" for b in budgets)], [*rows, ["sets", *(str(part.n_sets) for part in parts)]]


def told(question: str, budgets: Sequence[int]) -> Read:
    return lambda block, names: block.told(question, budgets, names)


def free(block: Results, names: Sequence[str]) -> Slice:
    return block.free(names)


def everything(question: str) -> Read:
    """All budgets of a question together."""
    if question == "free":
        return free
    return lambda block, names: block.told(question, block.budgets(question), names)
