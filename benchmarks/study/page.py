"""The tables and figures of docs/which-method.md, from the results on every data set.

Tables named free, labels, pairs and targets say what the methods were told. Where two methods are compared, a cell
reads gain, data sets better : worse, Wilcoxon's p.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from ..pages import DOCS, FOLDERS, fill, records, save_all, save_figure
from . import figures
from .methods import NARROW
from .ranks import Duel, Ranking, Results, Slice, holm, rank_methods
from .run import LIMITS
from .sets import CURVE, KINDS, SOURCES

PAGE = DOCS / "which-method.md"
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
LARGE = 0.03  # a difference of accuracy that is named data set by data set

Tables = dict[str, tuple[list[str], list[list[Any]]]]
Read = Callable[[Results, Sequence[str]], Slice]


def write(results: Results) -> None:
    """Write the tables and figures, and fill the page."""
    study = results.block("study")
    tables = _advice(results) | _free(results) | _told(results) | _rankings(study) | _redundancy(study)
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


# -------------------------------------------------------------------- cells


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
            situations[f"{span(part)} {what}"] = question, told(question, part), part
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


# -------------------------------------------------------------------- the papers' rankings


def rank_panels(study: Results) -> dict[str, dict[str, Ranking]]:
    """The rankings behind the diagrams of average ranks, by figure and panel."""
    budgets = study.budgets("labels")
    few, more = [b for b in budgets if b <= 3], [b for b in budgets if b > 3]
    linked = [*CONSTRAINTS, "fisher, labels", "sselect, labels", *BASELINES]
    methods = [*LABELS, *BASELINES]
    same = study.told("labels", [b for b in budgets if b > 1], [*CONSTRAINTS, *LABELS])
    alike = study.measured("redundancy", [*FREE, "random"])
    lean = rank_methods({name: -found for name, found in alike.values.items()})
    return {
        "free-ranks": {"no labels": study.free([*FREE, "random"]).ranking()},
        "labels-ranks": {
            f"{span(part)} labels per class": study.told("labels", part, methods).ranking() for part in (few, more)
        },
        "pairs-ranks": {
            "pairs, mean over their numbers": everything("pairs")(study, linked).ranking(),
            "all pairs of few labels": same.ranking(),
        },
        "targets-ranks": {"few real targets": everything("targets")(study, [*TARGETS, *BASELINES]).ranking()},
        "redundancy-alike": {"redundancy of the first ten features, least is first": lean},
        "redundancy-ranks": {"no labels, pruned": study.free([*pruned([*FREE, "random"]), "random"]).ranking()},
    }


def _rankings(study: Results) -> Tables:
    labels, pairs, targets = (study.budgets(question) for question in ("labels", "pairs", "targets"))
    whole, methods = study.free([*FREE, "random", "all"]), [*FREE, "random"]
    sized = [study.free(methods, size=size) for size in range(3)]
    columns = [*(part.ranking() for part in sized), study.measured("nmi", methods).ranking()]
    names = ("smallest", "middle", "largest", "NMI of clusters")
    text = study.free(
        ["variance", "variance, tf-idf", "laplacian", "laplacian, tf-idf", "laplacian, cosine", "random"], kind="text"
    )
    slices = {b: study.told("labels", [b], [*LABELS, *BASELINES]) for b in labels}
    duels = [("fisher", "sselect"), ("relieff", "sselect"), ("sselect", "variance"), ("relieff", "variance")]
    panels = rank_panels(study)
    drawn, by_labels = panels["pairs-ranks"].values()
    of_pairs = [study.told("pairs", [b], list(drawn.methods)).ranking() for b in pairs]
    of_labels = [study.told("labels", [b], [*CONSTRAINTS, *LABELS]).ranking() for b in labels if b > 1]
    valued = study.told("targets", targets, [*TARGETS, *BASELINES, "all"])
    of_targets = [study.told("targets", [b], [*TARGETS, *BASELINES]).ranking() for b in targets]
    target_ranks = panels["targets-ranks"]["few real targets"]
    rows = ranked([*target_ranks.methods, "all"], [target_ranks, *of_targets])
    tests = [
        [title, r.n_sets, p_text(r.p_value).removeprefix("= "), f"{r.critical_difference:.2f}"]
        for figure in ("free-ranks", "labels-ranks", "pairs-ranks", "targets-ranks")
        for title, r in panels[figure].items()
    ]
    kind_of = {kind: whole.of(kind) for kind in KINDS if whole.of(kind).n_sets > 1}
    by_label = [part.ranking() for part in slices.values()]
    return {
        "tests": (["question", "sets", "Friedman p", "critical difference"], tests),
        "free-ranks": by_kind(whole, ["all"]),
        "free-winners": (
            ["kind", "random beats every method", "the variance is the best method", "best by average rank"],
            [[kind, *_winners(part), part.ranking(methods).best] for kind, part in kind_of.items()],
        ),
        "free-ranks-sizes": (
            ["method", *(f"{name}, {r.n_sets} sets" for name, r in zip(names, columns, strict=True))],
            ranked(whole.ranking(methods).methods, columns),
        ),
        "free-tuned": _tuned(
            study.free([*FREE[1:], *(f"{m} tuned" for m in FREE[1:])]), {m: f"{m} tuned" for m in FREE[1:]}
        ),
        "free-text": (
            ["method", f"average rank, {text.n_sets} sets", "accuracy", "over random"],
            [
                [*row, number(text.mean(row[0])), signed(text.duel(row[0], "random").gain)]
                for row in ranked(text.ranking().methods, [text.ranking()])
            ],
        ),
        "labels-ranks": (
            ["method", *(f"{b} per class" for b in labels)],
            [
                *ranked([*LABELS, *BASELINES], by_label),
                ["sets", *(r.n_sets for r in by_label)],
                ["critical difference", *(f"{r.critical_difference:.2f}" for r in by_label)],
            ],
        ),
        "labels-ranks-kinds": by_kind(study.told("labels", labels, [*LABELS, *BASELINES])),
        "labels-duels": (
            ["method over another", "sets", *(f"{b} per class" for b in labels)],
            [_duel_row(slices.values(), *pair, kind) for pair in duels for kind in ("all", *KINDS)],
        ),
        "labels-tuned": _tuned(
            study.told(
                "labels", [b for b in labels if b > 1], ["relieff", "relieff tuned", "sselect", "sselect tuned"]
            ),
            {"relieff": "relieff tuned", "sselect": "sselect tuned"},
        ),
        "labels-cut": _tuned(
            study.told("labels", [b for b in labels if b > 1], ["sselect", "sselect[lam=auto]", "c4", "c4 tuned"]),
            {"sselect": "sselect[lam=auto]", "c4": "c4 tuned"},
        ),
        "pairs-ranks": (
            ["method", f"all numbers, {drawn.n_sets} sets", *(f"{b} pairs" for b in pairs)],
            ranked(drawn.methods, [drawn, *of_pairs]),
        ),
        "pairs-ranks-kinds": by_kind(study.told("pairs", pairs, list(drawn.methods))),
        "pairs-of-labels": (
            ["method", "all numbers", *(f"{b} per class" for b in labels if b > 1)],
            [
                *ranked(by_labels.methods, [by_labels, *of_labels]),
                ["sets", *(r.n_sets for r in (by_labels, *of_labels))],
            ],
        ),
        "targets-ranks": (
            ["method", f"all numbers, {target_ranks.n_sets} sets", *(f"{b} targets" for b in targets), "RMSE / std"],
            [[*row, number(valued.mean(row[0]))] for row in rows],
        ),
        "targets-sets": (
            ["set", *valued.values],
            [[s, *(number(found[at]) for found in valued.values.values())] for at, s in enumerate(valued.sets)],
        ),
        "targets-tuned": _tuned(
            study.told("targets", [b for b in targets if b >= 10], ["sls", "sls tuned", "ssls", "ssls tuned"]),
            {"sls": "sls tuned", "ssls": "ssls tuned"},
        ),
    }


def _winners(part: Slice) -> list[str]:
    """Data sets where random features beat every method, and where the variance is the best method."""
    best = np.max([part.values[name] for name in FREE], axis=0)
    wins = (part.values["random"] > best, part.values["variance"] >= best)
    named = [[name for name, won in zip(part.sets, each, strict=True) if won] for each in wins]
    return [f"{len(names)} of {part.n_sets}: {', '.join(names) or '–'}" for names in named]


def _tuned(whole: Slice, pairs: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    duels = {method: whole.duel(tuned, method) for method, tuned in pairs.items()}
    means = {method: [number(whole.mean(name)) for name in (method, pairs[method])] for method in pairs}
    rows = [[method, *means[method], signed(found.gain), against(found)] for method, found in duels.items()]
    return ["method", "default", "tuned", "gain", "sets"], rows


def _duel_row(parts: Any, first: str, second: str, kind: str) -> list[str]:
    slices = [part if kind == "all" else part.of(kind) for part in parts]
    duels = [part.duel(first, second) if part.n_sets > 1 else None for part in slices]
    cells = ["–" if d is None else f"{signed(d.gain)} ({d.won} of {d.n_sets})" for d in duels]
    return [f"{first} over {second}", kind, *cells]


# -------------------------------------------------------------------- defaults


def choices() -> dict[tuple[str, str, str], dict[str, str]]:
    """(method, parameter, what it is told) to the name of each value tried, the library's default first."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in records(Path(__file__).with_name("defaults.csv")):
        found.setdefault((row["method"], row["parameter"], row["told"]), {})[row["value"]] = row["name"]
    return found


def defaults(study: Results) -> Tables:
    """Average rank of every value of every parameter, and λ of sSelect by number of labels."""
    header = [
        "method",
        "parameter",
        "average rank of each value",
        "critical difference",
        "Friedman p",
        "rival",
        "verdict",
    ]
    budgets = study.budgets("labels")
    shares = dict(sorted(choices()["sselect", "lam", "labels"].items()))
    parts = [study.told("labels", [b], list(shares.values())) for b in budgets]
    return {
        "defaults": (header, [verdict(study, *key, variants) for key, variants in choices().items()]),
        "defaults-lambda": (
            ["λ", *(f"{b} per class" for b in budgets)],
            [
                [share, *(f"{p.ranking().rank(name):.2f} ({signed(p.duel(name, 'sselect').gain)})" for p in parts)]
                for share, name in shares.items()
            ],
        ),
    }


def verdict(study: Results, method: str, parameter: str, question: str, variants: Mapping[str, str]) -> list[str]:
    """Change a default where another value gains beyond chance and its rank is beyond the critical difference."""
    part = everything(question)(study, list(variants.values()))
    ranking, (default, *others) = part.ranking(), variants.values()
    duels = {name: part.duel(name, default) for name in others}
    corrected = dict(zip(duels, holm([found.p_value for found in duels.values()]), strict=True))
    gaining = [name for name, found in duels.items() if found.gain >= WORTH]
    # The rival is the value that most surely gains; where none gains, the one with the best rank.
    rival = min(gaining, key=corrected.__getitem__) if gaining else min(duels, key=ranking.rank)
    sure = duels[rival].gain >= WORTH and corrected[rival] < 0.05
    word = "keep" if not sure else "change" if ranking.differ(rival, default) else "consider"
    value = {name: label for label, name in variants.items()}
    cells = ", ".join(f"{label}: {ranking.rank(name):.2f}" for label, name in variants.items())
    apart, p_value = f"{ranking.critical_difference:.2f}", p_text(ranking.p_value).removeprefix("= ")
    told_rival = f"{value[rival]}: {signed(duels[rival].gain)}, {against(duels[rival])}"
    return [method, parameter, cells, apart, p_value, told_rival, word]


# -------------------------------------------------------------------- redundancy


def _redundancy(study: Results) -> Tables:
    methods, limits = [*FREE, "random"], sorted(LIMITS)
    alike, value = study.measured("redundancy", methods), study.free(methods)
    lean = rank_panels(study)["redundancy-alike"]["redundancy of the first ten features, least is first"]
    parts = [alike, *(alike.of(kind) for kind in KINDS)]
    within = [_within(alike, value), *(_within(alike.of(kind), value.of(kind)) for kind in KINDS)]
    rows = []
    for question, names in (("free", methods), ("labels", LABELS), ("pairs", CONSTRAINTS), ("targets", TARGETS)):
        part = everything(question)(study, [*names, *pruned(names)])
        kinds = [part.of(kind) for kind in KINDS]
        for name in names:
            cells = [
                signed(p.duel(f"{name} pruned", name).gain) if p.n_sets and question != "targets" else "–"
                for p in kinds
            ]
            found = part.duel(f"{name} pruned", name)
            rows.append(
                [name, "nothing" if question == "free" else question, signed(found.gain), *cells, against(found)]
            )
    whole = study.free([*FREE, *pruned(FREE)])
    mean = [
        np.mean([p.duel(f"{m} pruned", m).gain for m in FREE]) for p in (whole, *(whole.of(kind) for kind in KINDS))
    ]
    suffixes = ["", *(" pruned" if limit == LIMITS[0] else f" pruned[r={limit}]" for limit in limits)]
    by_limit = {m: study.free([f"{m}{suffix}" for suffix in suffixes]) for m in FREE}
    beaten = []
    for title, names in (("as they are", FREE), ("pruned", pruned(FREE))):
        part = study.free([*names, "random"])
        wins = part.values["random"] > np.max([part.values[name] for name in names], axis=0)
        beaten.append([title, f"{wins.sum()} of {part.n_sets}"])
    return {
        "redundancy-alike": (
            ["method", f"average rank, {alike.n_sets} sets", "all", *KINDS],
            [
                *([*row, *(number(p.mean(row[0]), 2) for p in parts)] for row in ranked(lean.methods, [lean])),
                ["rank correlation of |r| with accuracy", "–", *(signed(rho, 2) for rho in within)],
            ],
        ),
        "redundancy-gains": (
            ["method", "told", "gain", *KINDS, "sets"],
            [*rows, ["mean of the six methods", "nothing", *map(signed, mean), "–"]],
        ),
        "redundancy-limits": (
            ["method", "as ranked", *(f"≤ {number(limit, 1)}" for limit in limits)],
            [
                [m, *(f"{p.ranking().rank(n):.2f} ({signed(p.duel(n, m).gain)})" for n in p.values)]
                for m, p in by_limit.items()
            ],
        ),
        "redundancy-random": (["rankings", "random features beat every method on"], beaten),
        "redundancy-ranks": by_kind(study.free([*pruned([*FREE, "random"]), "random"])),
    }


def _within(alike: Slice, value: Slice) -> float:
    """Mean over data sets of the rank correlation between redundancy and accuracy over methods."""
    tables = (np.array(list(part.values.values())).T for part in (alike, value))
    found = np.array([spearmanr(x, y).statistic for x, y in zip(*tables, strict=True)])
    return float(found[np.isfinite(found)].mean())


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
