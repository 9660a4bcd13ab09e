"""The decision table: what to use when, chosen by average rank and measured on sets that had no say in the choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from .questions import CONSTRAINTS, FREE, LABELS, TARGETS
from .ranks import Duel, duel
from .results import Results, Slice
from .words import KINDS, signed

# How the library spells the methods of the study.
SPELLING = {
    "spec φ1": "spec[phi=1]",
    "spec φ2 γ=4": "spec[phi=2,gamma=4]",
    "spec φ3": "spec[phi=3]",
    **{f"c{variant}": f"constraint[variant={variant}]" for variant in (1, 2, 3, 4)},
}


@dataclass(frozen=True)
class Advice:
    """What to use in one situation, and what following such advice brought on sets left out of the choice."""

    have: str
    kind: str
    use: str
    over_random: Duel
    over_variance: Duel
    everything: float  # mean of the method named minus that of all features
    sure: str

    def row(self) -> list[str]:
        gains = [signed(self.over_random.gain), signed(self.over_variance.gain), signed(self.everything)]
        nothing = ": no choice beats them in the mean" * (self.use == "random")
        return [self.have, self.kind, spelled(self.use) + nothing, *gains, self.sure]


def spelled(method: str) -> str:
    """A method as the library takes it; the baselines in words."""
    pruned = ", pruned" * method.endswith(" pruned")
    name, _, weights = method.removesuffix(" pruned").partition(", ")
    if name == "random":
        return f"random features{pruned}"
    return f"`{SPELLING.get(name, name)}`" + (f" on {weights}" if weights else "") + pruned


def advise(have: str, kind: str, part: Slice, candidates: Sequence[str]) -> Advice:
    """The candidate with the best average rank, or random features where such a choice does not beat them.

    Gains are those of a choice made without the set it is measured on.
    """
    best = part.ranking(candidates).best
    left_out = []
    for place in range(part.n_sets):
        others = part.take([at for at in range(part.n_sets) if at != place])
        left_out.append(part.values[others.ranking(candidates).best][place])
    chance, chosen = duel(left_out, part.values["random"]), np.array(left_out)
    if best == "random" or chance.gain <= 0:
        return _random(have, kind, part, candidates)
    sure = "sure" if chance.lost == 0 and chance.won == chance.n_sets >= 5 else "likely"
    sure = sure if chance.won >= 2 * chance.n_sets / 3 else "unsure"
    beside = f"{sure}: better than random on {chance.won} of {chance.n_sets}"
    variance = duel(chosen, part.values["variance"])
    return Advice(have, kind, best, chance, variance, part.mean(best) - part.mean("all"), beside)


def _random(have: str, kind: str, part: Slice, candidates: Sequence[str]) -> Advice:
    rival = next(name for name in part.ranking(candidates).methods if name != "random")
    found, same = part.duel("random", rival), part.duel("random", "random")
    sure = "sure" if found.won == found.n_sets >= 5 else "likely" if found.won >= 2 * found.n_sets / 3 else "unsure"
    beside = f"{sure}: random is better than {spelled(rival)} on {found.won} of {found.n_sets}"
    everything = part.mean("random") - part.mean("all")
    return Advice(have, kind, "random", same, part.duel("random", "variance"), everything, beside)


def situations(results: Results) -> list[Advice]:
    """Every row of the decision table that the computed sets allow: three sets of a kind at least."""
    found = []

    def add(have: str, kind: str, read: Callable[[list[str]], Slice], candidates: Sequence[str]) -> None:
        names = list(dict.fromkeys([*candidates, "variance", "random"]))
        names += [f"{name} pruned" for name in names] + ["variance, tf-idf"] * (kind == "text")
        part = read([*names, "all"])
        part = part.of(kind) if kind in KINDS else part
        if part.n_sets > 2:
            found.append(advise(have, kind, part, names))

    for kind in KINDS:
        add("no labels", kind, partial(results.free, kind=kind), FREE)
    for question, what, candidates, limits in (
        ("labels", "labels per class", [*LABELS, "laplacian"], (2, 5)),
        ("pairs", "pairs", [*CONSTRAINTS, "laplacian"], (20,)),
        ("targets", "real targets", [*TARGETS, "laplacian"], (10,)),
    ):
        for few in _split(results.budgets(question), limits):
            have = f"{few[0]} to {few[-1]} {what}" if len(few) > 1 else f"{few[0]} {what}"

            def read(names: list[str], question: str = question, few: list[int] = few) -> Slice:
                return results.told(question, few, names)

            for kind in KINDS if question != "targets" else ("spectra and tables",):
                add(have, kind, read, candidates)
    return found


def _split(budgets: Sequence[int], limits: Sequence[int]) -> list[list[int]]:
    """Budgets up to the first limit, up to the second, ..., beyond the last; empty parts left out."""
    edges = [0, *limits, np.inf]
    parts = [[budget for budget in budgets if low < budget <= high] for low, high in pairwise(edges)]
    return [part for part in parts if part]
