"""Where the advised method loses: said plainly, computed like everything else."""

from __future__ import annotations

from .questions import FREE, TARGETS
from .ranks import Duel
from .results import Results, Slice
from .selection import PEERS, PEERS_TOLD, UNTOLD, grouped, pruned, score, span
from .words import listed, number, p_text, signed

LARGE = 0.03  # a difference of accuracy that is named set by set


def losses(results: Results) -> str:
    """Bullets, one per way to lose."""
    said = [_all_features(results), _fresh(results), *_to_rivals(results)]
    said += [_few_labels(results), _pairs(results), _targets(results)]
    return "\n".join(f"- {text}" for text in said if text)


def _all_features(results: Results) -> str:
    part = results.free(["subset", "all"], size=2)
    if not part.n_sets:
        return ""
    found = part.duel("all", "subset")
    return (
        f"**Against all features.** At the largest number of features (50, or half of a narrow table) all features are "
        f"still ahead by {signed(found.gain)}, {_record(found)}: select to read, measure or store fewer features, "
        "not to gain accuracy."
    )


def _fresh(results: Results) -> str:
    """Which rivals it cannot be told apart from, or loses to, on sets that had no say in its defaults."""
    fresh = results.block("fresh")
    rivals = fresh.known("free", [*PEERS, *pruned(FREE), *FREE])
    part = fresh.free(["subset", *rivals])
    if part.n_sets < 2:
        return ""
    level = [name for name in rivals if part.duel("subset", name).p_value >= 0.05]
    said = [f"{name} ({score(part.duel('subset', name))})" for name in sorted(level, key=part.mean, reverse=True)]
    return (
        f"**On fresh sets, without labels,** the lead over the closest is not beyond chance. Of {len(rivals)} rivals, "
        f"{len(level)} are level on these {part.n_sets} sets: {listed(said)}."
        if level
        else ""
    )


def _to_rivals(results: Results) -> list[str]:
    """Single sets, by rival: without labels, and told many labels."""
    said = []
    free = results.known("free", ["cur", "variance pruned", "laplacian pruned"])
    for rival in free:
        said.append(_sets_lost("Without labels", results.free(["subset", rival]), rival))
    budgets = results.budgets("labels")
    for group in grouped([budget for budget in budgets if budget > 1], 3):
        for rival in results.known("labels", ["sselect pruned", "relieff pruned", "forest"], group):
            part = results.told("labels", group, ["subset", rival])
            said.append(_sets_lost(f"With {span(group)} labels per class", part, rival))
    return said


def _sets_lost(told: str, part: Slice, rival: str) -> str:
    lead = part.values[rival] - part.values["subset"]
    order = [at for at in (-lead).argsort() if lead[at] > LARGE]
    if not order:
        return ""
    named = [f"{part.sets[at]} ({signed(lead[at])}: {number(part.values[rival][at])})" for at in order]
    return (
        f"**{told} to {rival}** by more than {number(LARGE, 2)} on {len(order)} of {part.n_sets} sets: "
        f"{listed(named)}; over all sets `subset` stands at {score(part.duel('subset', rival))}."
    )


def _few_labels(results: Results) -> str:
    budgets = [budget for budget in results.budgets("labels") if 1 < budget <= 3]
    part = results.told("labels", budgets, ["subset", UNTOLD])
    genes = part.of("genes")
    if not genes.n_sets:
        return ""
    gain = genes.values["subset"] - genes.values[UNTOLD]
    worst = int(gain.argmin())
    return (
        f"**Two or three labels per class.** Over all sets they change little: {score(part.duel('subset', UNTOLD))}; "
        f"on genes {score(genes.duel('subset', UNTOLD))}, at worst {signed(gain[worst])} on {genes.sets[worst]}."
        " `supervised=False` leaves them unread."
    )


def _pairs(results: Results) -> str:
    numbers = results.budgets("pairs")
    part = results.told("pairs", numbers, ["subset", UNTOLD])
    if not part.n_sets:
        return ""
    found = part.duel("subset", UNTOLD)
    most = results.told("pairs", numbers[-1:], ["subset", UNTOLD]).duel("subset", UNTOLD)
    sure = "beyond chance" if found.p_value < 0.05 else "not beyond chance"
    return (
        f"**Pairs.** {span(numbers)} pairs change `subset` by {score(found)}, which is {sure}; {numbers[-1]} alone by "
        f"{score(most)}. Where the classes of the rows are known, give them instead."
    )


def _targets(results: Results) -> str:
    said = []
    for budget in results.budgets("targets"):
        names = results.known("targets", [*PEERS_TOLD, *pruned(TARGETS), "cur", "random"], [budget])
        part = results.told("targets", [budget], ["subset", *names])
        ahead = [name for name in names if part.mean(name) > part.mean("subset")]
        won = [f"{name} ({score(part.duel(name, 'subset'))})" for name in ahead]
        said += [f"with {budget} {listed(won)}"] if won else []
    return f"**Real targets.** Ahead of `subset` in the mean: {'; '.join(said)}." if said else ""


def _record(found: Duel) -> str:
    return f"{found.won}:{found.lost} (p {p_text(found.p_value)})"
