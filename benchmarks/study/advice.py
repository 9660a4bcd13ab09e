"""What to use when: one row per situation, the choice measured on sets that had no say in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .questions import CONSTRAINTS, FREE, LABELS, TARGETS
from .ranks import Duel
from .results import Results, Slice
from .selection import PEERS, PEERS_TOLD, UNTOLD, grouped, pruned, score, span
from .words import KINDS, number, signed

# How the library spells the methods of the study.
SPELLING = {
    "spec φ1": "spec[phi=1]",
    "spec φ2 γ=4": "spec[phi=2,gamma=4]",
    "spec φ3": "spec[phi=3]",
    UNTOLD: "subset[supervised=False]",
    **{f"c{variant}": f"constraint[variant={variant}]" for variant in (1, 2, 3, 4)},
    "c4[graph=knn]": "constraint[graph=knn]",
}
WIDER = "laplacian[width=2.0]"  # its width is told as a number, so it has no short spelling
WORTH = 0.01  # a smaller mean gain is not named


@dataclass(frozen=True)
class Situation:
    """What a user has, the methods of the library that could serve, and the peers that could."""

    have: str
    read: Callable[[Sequence[str]], Slice]
    candidates: tuple[str, ...]
    peers: tuple[str, ...]

    def part(self) -> Slice:
        names = [*self.candidates, *self.peers, "variance pruned", "random", "all"]
        return self.read(list(dict.fromkeys(names)))


@dataclass(frozen=True)
class Advice:
    """What to use in one situation, what it brings, and what following the advice of the other sets brings to each."""

    have: str
    use: str
    chosen: int  # how often the other sets would have chosen it
    left_out: np.ndarray  # values of the choices made without each set
    part: Slice
    peer: str | None  # the one with the best mean

    def over(self, other: str) -> Duel:
        return self.part.duel(self.use, other)

    def row(self) -> list[str]:
        peer = f"{self.peer}: {score(self.over(self.peer))}" if self.peer else "–"
        use = f"{spelled(self.use)} ({self.chosen} of {self.part.n_sets})"
        value = number(abs(self.part.mean(self.use)))
        if self.chosen < self.part.n_sets:
            value += f" ({number(abs(float(self.left_out.mean())))})"
        gains = [score(self.over(name)) if name != self.use else "–" for name in ("variance pruned", "random")]
        return [self.have, use, value, peer, *gains, signed(self.over("all").gain)]


def spelled(method: str) -> str:
    """A method as the library takes it; the baselines in words."""
    name = method.removesuffix(" pruned")
    redundancy = " with `redundancy=True`" * (name != method)
    if name == "random":
        return f"random features{redundancy}"
    if name == WIDER:
        return f"`laplacian` with twice the mean edge as bandwidth{redundancy}"
    return f"`{SPELLING.get(name, name)}`{redundancy}"


def advise(situation: Situation) -> Advice:
    """The candidate with the best average rank; each set is judged by the one that the other sets would choose."""
    part = situation.part()
    candidates = list(situation.candidates)
    best = part.ranking(candidates).best
    chosen, left_out = Counter(), np.empty(part.n_sets)
    for place in range(part.n_sets):
        others = part.take([at for at in range(part.n_sets) if at != place])
        choice = others.ranking(candidates).best
        chosen[choice] += 1
        left_out[place] = part.values[choice][place]
    peer = max(situation.peers, key=part.mean, default=None)
    return Advice(situation.have, best, chosen[best], left_out, part, peer)


def situations(results: Results) -> list[Situation]:
    """Every row of the table: by what is known, then the same for those who want a ranking of a paper."""
    rankings = {
        "free": [*FREE, WIDER],
        "labels": LABELS,
        "pairs": [*CONSTRAINTS, "c4[graph=knn]"],
        "targets": TARGETS,
    }
    free_peers = tuple(results.known("free", PEERS))
    found = [_situation(results, "no labels", "free", [], rankings["free"], free_peers)]
    for question, what, limits in (
        ("labels", "labels per class", (1, 3)),
        ("pairs", "pairs", ()),
        ("targets", "real targets", ()),
    ):
        for budgets in grouped(results.budgets(question), *limits):
            have = f"{span(budgets)} {what if budgets[-1] > 1 else what.replace('labels', 'label')}"
            peers = tuple(results.known(question, [*PEERS_TOLD, "cur"], budgets))
            found.append(_situation(results, have, question, budgets, rankings[question], peers))
    return [situation for situation in found if situation.part().n_sets > 2]


def _situation(
    results: Results, have: str, question: str, budgets: list[int], rankings: Sequence[str], peers: tuple[str, ...]
) -> Situation:
    free = question == "free"

    def read(names: Sequence[str]) -> Slice:
        return results.free(names) if free else results.told(question, budgets, names)

    candidates = ["subset", *([] if free else [UNTOLD]), *rankings, *pruned(rankings), "variance pruned", "random"]
    return Situation(have, read, tuple(dict.fromkeys(results.known(question, candidates, budgets))), peers)


def of_papers(situation: Situation) -> Situation:
    """The same for someone who wants a ranking of a paper."""
    kept = tuple(name for name in situation.candidates if not name.startswith(("subset", "random")))
    return Situation(situation.have, situation.read, kept, situation.peers)


def exceptions(advice: Advice, candidates: Sequence[str]) -> list[str]:
    """Kinds of data on which another candidate is ahead, in the mean and on two thirds of the sets."""
    found = []
    for kind in KINDS:
        part = advice.part.of(kind)
        if part.n_sets < 3:
            continue
        rival = part.ranking(list(candidates)).best
        ahead = part.duel(rival, advice.use)
        if ahead.gain >= WORTH and ahead.won >= 2 * part.n_sets / 3:
            found.append(f"{advice.have}, {kind}: {spelled(rival)} is ahead of {spelled(advice.use)}, {score(ahead)}")
    return found
