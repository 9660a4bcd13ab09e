"""The tables and figures of docs/which-method.md: what to use, where it loses, sets of features against everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..pages import DOCS, FOLDERS, fill, save_all, save_figure
from . import figures
from .methods import NARROW
from .rankings import defaults, rank_panels, rankings, redundancy
from .ranks import Results, Slice
from .sets import CURVE, KINDS, SOURCES
from .tables import (
    BASELINES,
    CONSTRAINTS,
    FREE,
    KNN_C4,
    LABELS,
    PEERS,
    PEERS_TOLD,
    RANKINGS,
    TARGETS,
    UNTOLD,
    WIDER,
    WORTH,
    Read,
    Tables,
    by_kind,
    everything,
    free,
    gains,
    number,
    pruned,
    ranked,
    score,
    signed,
    span,
    spelled,
    told,
    values,
)

PAGE = DOCS / "which-method.md"
LARGE = 0.03  # a difference of accuracy that is named data set by data set


def write(results: Results) -> None:
    """Write the tables and figures, and fill the page."""
    study = results.block("study")
    tables = _advice(results) | _free(results) | _told(results) | rankings(study) | redundancy(study)
    save_all(FOLDERS[PAGE], tables | defaults(study) | {"sets": _sets(results)})
    for name, figure in drawn(results, study).items():
        save_figure(figure, DOCS / "figures" / f"which-{name}.svg")
    fill(PAGE)


def summary(results: Results) -> str:
    """Every method's value on every data set, as plain text."""
    lines = []
    for result in results.found:
        lines.append(f"{result['name']} ({result['kind']}), {' x '.join(map(str, result['shape']))}")
        cells = {"no labels": result["free"]["values"]}
        for question in ("labels", "pairs", "targets"):
            cells |= {f"{budget} {question}": cell["values"] for budget, cell in result.get(question, {}).items()}
        for title, found in cells.items():
            means = {name: float(np.mean(values)) for name, values in found.items() if "[" not in name}
            best = sorted(means, key=means.__getitem__, reverse=True)
            lines.append(f"  {title:>12}: " + ", ".join(f"{name} {number(means[name])}" for name in best))
    return "\n".join(lines)


# -------------------------------------------------------------------- what to use, and where it loses


def _advice(results: Results) -> Tables:
    situations = {"no labels": ("free", free, [])}
    for question, what, limits in (
        ("labels", "labels per class", (1, 3)),
        ("pairs", "pairs", ()),
        ("targets", "real targets", ()),
    ):
        budgets = results.budgets(question)
        for low, high in zip((0, *limits), (*limits, budgets[-1]), strict=True):
            part = [b for b in budgets if low < b <= high]
            have = f"{span(part)} {what if part != [1] else what.replace('labels', 'label')}"
            situations[have] = question, told(question, part), part
    header = [
        "you have",
        "use",
        "value",
        "over the best peer",
        "over pruned variance",
        "over random",
        "over all features",
    ]
    chosen, papers, kinds = [], [], []
    for have, (question, read, budgets) in situations.items():
        rankings = RANKINGS[question]
        peers = results.known(question, PEERS if question == "free" else [*PEERS_TOLD, "cur"], budgets)
        names = [
            "subset",
            *([] if question == "free" else [UNTOLD]),
            *rankings,
            *pruned(rankings),
            "variance pruned",
            "random",
        ]
        candidates = list(dict.fromkeys(results.known(question, names, budgets)))
        part = read(results, list(dict.fromkeys([*candidates, *peers, "variance pruned", "random", "all"])))
        chosen.append(_choice(have, part, candidates, peers))
        papers.append(_choice(have, part, [n for n in candidates if not n.startswith(("subset", "random"))], peers))
        kinds += _exceptions(have, part, candidates)
    better = [
        ("`LaplacianScore(KNN(bandwidth=δ))`, δ twice the mean edge", WIDER, "laplacian", "free"),
        ("`ConstraintScore(graph=KNN())`, all pairs of few labels", KNN_C4, "c4", "labels"),
        ("`ConstraintScore(graph=KNN())`, pairs", KNN_C4, "c4", "pairs"),
    ]
    settings = []
    for how, name, usual, question in better:
        duels = [everything(question)(block, [name, usual]).duel(name, usual) for block in results.blocks().values()]
        sure = duels[-1].gain >= WORTH and duels[-1].p_value < 0.05
        settings.append([how, *map(score, duels), "better" if sure else "not told apart"])
    return {
        "advice": (header, chosen),
        "advice-rankings": (header, papers),
        "advice-kinds": (["you have", "kind of data", "ahead of `subset`", "lead"], kinds),
        "settings": (["setting", *results.blocks(), "verdict"], settings),
        "losses": _losses(results),
        "losses-targets": _losses_on_targets(results),
        "unrelated": _unrelated(results),
    }


def _choice(have: str, part: Slice, candidates: Sequence[str], peers: Sequence[str]) -> list[str]:
    """The candidate with the best average rank, and leave-one-out: what the other data sets would choose for each."""
    best, votes, left_out = part.ranking(candidates).best, Counter(), []
    for place in range(part.n_sets):
        choice = part.take([at for at in range(part.n_sets) if at != place]).ranking(candidates).best
        votes[choice] += 1
        left_out.append(part.values[choice][place])
    value = number(part.mean(best))
    if votes[best] < part.n_sets:
        value += f" ({number(float(np.mean(left_out)))})"
    peer = max(peers, key=part.mean, default=None)
    over = [score(part.duel(best, name)) if name != best else "–" for name in ("variance pruned", "random")]
    beside = f"{peer}: {score(part.duel(best, peer))}" if peer else "–"
    use = f"{spelled(best)} ({votes[best]} of {part.n_sets})"
    return [have, use, value, beside, *over, signed(part.duel(best, "all").gain)]


def _exceptions(have: str, whole: Slice, candidates: Sequence[str]) -> list[list[str]]:
    """Kinds of data on which another candidate is ahead of ``subset``, in the mean and on two thirds of them."""
    found = []
    for kind in KINDS:
        part = whole.of(kind)
        if part.n_sets > 2:
            rival = part.ranking(candidates).best
            ahead = part.duel(rival, "subset")
            if ahead.gain >= 0.01 and ahead.won >= 2 * part.n_sets / 3:
                found.append([have, kind, spelled(rival), score(ahead)])
    return found


def _losses(results: Results) -> tuple[list[str], list[list[str]]]:
    """Single data sets on which a rival is ahead of ``subset`` by more than 0.03."""
    budgets = results.budgets("labels")
    asked: list[tuple[str, str, Read, list[str]]] = [
        ("no labels", "free", free, ["cur", "variance pruned", "laplacian pruned"])
    ]
    for group in ([b for b in budgets if 1 < b <= 3], [b for b in budgets if b > 3]):
        rivals = ["sselect pruned", "relieff pruned", "forest"]
        asked.append((f"{span(group)} labels per class", "labels", told("labels", group), rivals))
    rows = []
    for have, question, read, rivals in asked:
        for rival in results.known(question, rivals, budgets):
            part = read(results, ["subset", rival])
            lead = part.values[rival] - part.values["subset"]
            lost = [f"{part.sets[at]} ({signed(lead[at])})" for at in (-lead).argsort() if lead[at] > LARGE]
            if lost:
                rows.append([have, rival, ", ".join(lost), score(part.duel("subset", rival))])
    return [
        "you have",
        "rival",
        f"ahead of `subset` by more than {number(LARGE, 2)} on",
        "`subset` over it, all data sets",
    ], rows


def _losses_on_targets(results: Results) -> tuple[list[str], list[list[Any]]]:
    """Who is ahead of ``subset`` in the mean, by number of targets."""
    rows = []
    for budget in results.budgets("targets"):
        names = results.known("targets", [*PEERS_TOLD, *pruned(TARGETS), "cur", "random"], [budget])
        part = results.told("targets", [budget], ["subset", *names])
        rows += [[budget, n, score(part.duel(n, "subset"))] for n in names if part.mean(n) > part.mean("subset")]
    return ["targets", "ahead of `subset`", "lead"], rows


def _unrelated(results: Results) -> tuple[list[str], list[list[str]]]:
    """``subset`` on the held-out data sets that share no rows with one of the study."""
    alone = Results([r for r in results.block("held-out").found if not SOURCES[r["name"]]["relative"]])
    most = [budget for budget in results.budgets("labels") if budget > 3]
    rows = []
    for have, read, rivals in (
        ("no labels", free, ["cur", "variance pruned", "random"]),
        (
            f"{span(most)} labels per class",
            told("labels", most),
            [UNTOLD, "sselect pruned", "relieff pruned", "forest"],
        ),
    ):
        rivals = results.known("free" if read is free else "labels", rivals, most)
        part = read(alone, ["subset", *rivals])
        rows += [[have, rival, part.n_sets, score(part.duel("subset", rival))] for rival in rivals]
    return ["you have", "rival", "sets", "`subset` over it"], rows


# -------------------------------------------------------------------- sets of features


def _free(results: Results) -> Tables:
    rivals = results.known("free", [*PEERS, *pruned(FREE), *FREE, "random"])
    parts = {title: block.free(["subset", *rivals, "all"]) for title, block in results.blocks().items()}
    rankings = [part.ranking(["subset", *rivals]) for part in parts.values()]
    header = ["method", *(f"{title}, {p.n_sets} sets" for title, p in parts.items()), *(f"rank, {t}" for t in parts)]
    rows = ranked([*rankings[-1].methods, "all"], rankings)
    shown = ["subset", *results.known("free", ["cur", "variance pruned", "laplacian pruned"]), "random", "all"]
    sizes = [results.free(shown, size=size) for size in range(3)]
    titles = [f"{name}, {p.n_sets} sets" for name, p in zip(("smallest", "middle", "largest"), sizes, strict=True)]
    kinds = by_kind(results.free(["subset", *rivals]))
    return {
        "free-standings": (header, [[m, *(number(p.mean(m)) for p in parts.values()), *cells] for m, *cells in rows]),
        "free-gains": gains(results, {"": free}, [*rivals, "all"]),
        "free-sizes": (
            ["subset over", *titles],
            [[m, *(score(p.duel("subset", m)) for p in sizes)] for m in sizes[0].values if m != "subset"],
        ),
        "free-kinds": (kinds[0][:-1], [row[:-1] for row in kinds[1]]),
    }


def _told(results: Results) -> Tables:
    labels, pairs, targets = (results.budgets(question) for question in ("labels", "pairs", "targets"))
    few, more = [b for b in labels if 1 < b <= 3], [b for b in labels if b > 3]
    rivals = results.known("labels", [*PEERS_TOLD, *pruned(LABELS), *LABELS], labels)
    others = [UNTOLD, *results.known("labels", ["cur", "variance pruned"], labels), "random"]
    reads = {f"{span(group)} per class: ": told("labels", group) for group in (few, more)}
    added = {b: results.told("labels", [b], ["subset", UNTOLD]) for b in labels}
    slices = {kind: [p if kind == "all" else p.of(kind) for p in added.values()] for kind in ("all", *KINDS)}
    narrow = {b: results.told("labels", [b], ["subset", "sequential"]) for b in labels if b > 1}
    narrow = {b: part for b, part in narrow.items() if part.n_sets > 1}
    linked = [*pruned([*CONSTRAINTS, KNN_C4]), *CONSTRAINTS, "variance pruned", "random"]
    ways = {
        f"{span(g)} pairs: ": told("pairs", g) for g in ([b for b in pairs if b <= 20], [b for b in pairs if b > 20])
    }
    valued = results.known("targets", [*PEERS_TOLD, *pruned(TARGETS), *TARGETS], targets)
    around = [UNTOLD, *results.known("targets", ["cur"], targets), "variance pruned", "random"]
    return {
        "labels-values": values(results, "labels", ["subset", *others, *rivals, "all"], "per class"),
        "labels-gains": gains(results, reads, [*others, *(name for name in rivals if name not in LABELS), "all"]),
        "labels-kinds": (
            ["kind", *(f"{b} per class" for b in labels)],
            [[k, *(score(p.duel("subset", UNTOLD)) if p.n_sets > 1 else "–" for p in ps)] for k, ps in slices.items()],
        ),
        "labels-sequential": (
            [f"under {NARROW} columns", *(f"{b} per class, {part.n_sets} sets" for b, part in narrow.items())],
            [
                *([name, *(number(p.mean(name)) for p in narrow.values())] for name in ("subset", "sequential")),
                ["gain", *(score(p.duel("subset", "sequential")) for p in narrow.values())],
            ],
        ),
        "pairs-values": values(results, "pairs", ["subset", UNTOLD, "subset, labels", *linked, "all"], "pairs"),
        "pairs-gains": gains(results, ways, [UNTOLD, *(name for name in linked if name not in CONSTRAINTS)]),
        "targets-values": values(results, "targets", ["subset", *around, *valued, "all"], "targets"),
        "targets-gains": gains(
            results, {"": told("targets", targets)}, [*around, *(n for n in valued if n not in TARGETS), "all"]
        ),
    }


# -------------------------------------------------------------------- the data sets, and figures


def _sets(results: Results) -> tuple[list[str], list[list[Any]]]:
    header = ["set", "block", "kind", "rows", "features", "classes", "numbers of features", "about", "rows shared with"]
    rows = []
    for about in results.about():
        source, sizes = SOURCES[about["name"]], ", ".join(map(str, about["sizes"]))
        told_sets = [about["name"], about["block"], about["kind"], *about["shape"], about["classes"] or "real target"]
        rows.append([*told_sets, sizes, source["about"], source["relative"] or "–"])
    return header, rows


def drawn(results: Results, study: Results) -> dict[str, Any]:
    """Figures by name: average ranks, and curves over numbers of features and of labels."""
    found = {name: figures.critical_differences(panels) for name, panels in rank_panels(study).items()}
    names = results.known("free", ["subset", "cur", "variance pruned", "laplacian pruned", "laplacian"])
    lines = [results.curve(place, [*names, "random", "all"]) for place in range(len(CURVE))]
    found["sets-curves"] = figures.curves(
        lines, ("text", "images", "genes"), CURVE, "number of features", "1-NN accuracy"
    )
    budgets = results.budgets("labels")
    names = ["subset", UNTOLD, "sselect pruned", "relieff pruned", "forest", "mrmr", "random", "all"]
    lines = [results.told("labels", [b], results.known("labels", names, [b])) for b in budgets]
    found["told-labels"] = figures.curves(lines, KINDS, budgets, "labels per class", "1-NN accuracy")
    slices = [study.told("labels", [b], [*LABELS, *BASELINES]) for b in budgets]
    lines = [Slice(p.sets, p.kinds, {m: v - p.values["random"] for m, v in p.values.items()}) for p in slices]
    found["labels-gain"] = figures.curves(lines, KINDS, budgets, "labels per class", "accuracy over random features")
    return found
