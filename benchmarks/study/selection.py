"""Sets of features against rankings and peers: told nothing, few labels, pairs, few real targets, in both blocks.

Every comparison is made on the sets of the study, on the fresh ones, and on all together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from ..papers.page import Section
from . import figures
from .choices import NARROW, SAFER
from .questions import CONSTRAINTS, FREE, LABELS, TARGETS
from .ranks import Duel
from .results import Results, Slice
from .sets import CURVE
from .sources import SOURCES
from .words import KINDS, listed, number, p_text, rank_row, signed

PEERS = ("cur", "fps", "fastcan", "mcfs")
PEERS_TOLD = ("mutual information", "mrmr", "forest", "l1", "fastcan")
UNTOLD = "subset, unlabelled"

Read = Callable[[Results, Sequence[str]], Slice]


def pruned(methods: Sequence[str]) -> list[str]:
    """The names of rankings without what is too like a better feature."""
    return [f"{method} pruned" for method in methods]


def grouped(budgets: Sequence[int], *limits: int) -> list[list[int]]:
    """Budgets up to the first limit, up to the second, ..., beyond the last; empty parts left out."""
    edges = [0, *limits, max(budgets, default=0)]
    parts = [[b for b in budgets if low < b <= high] for low, high in pairwise(edges)]
    return [part for part in parts if part]


def span(budgets: Sequence[int]) -> str:
    """2 to 3, or 1."""
    return str(budgets[0]) if len(budgets) == 1 else f"{budgets[0]} to {budgets[-1]}"


def score(found: Duel) -> str:
    """A gain with the sets won and lost and the chance of that, as short as a cell."""
    return f"{signed(found.gain)}, {found.won}:{found.lost} (p {p_text(found.p_value)})"


# -------------------------------------------------------------------- tables of both blocks


def standings(section: Section, results: Results, read: Read, methods: Sequence[str], extra: Sequence[str]) -> None:
    """Mean value and average rank of every method in each block, best first; ``extra`` ones are not ranked."""
    parts = {title: read(block, [*methods, *extra]) for title, block in results.blocks().items()}
    parts = {title: part for title, part in parts.items() if part.n_sets > 1}
    rankings = {title: part.ranking(methods) for title, part in parts.items()}
    header = ["method", *(f"{title}, {part.n_sets} sets" for title, part in parts.items())]
    header += [f"rank, {title}" for title in parts]
    order = [*list(rankings.values())[-1].methods, *extra]
    means = {name: [number(abs(part.mean(name))) for part in parts.values()] for name in order}
    ranks = {name: rank_row(name, list(rankings.values()))[1:] for name in order}
    section.table(header, [[name, *means[name], *ranks[name]] for name in order])


def duels(section: Section, results: Results, reads: Mapping[str, Read], champion: str, rivals: Sequence[str]) -> None:
    """The champion over every rival, in each block and each way of reading."""
    parts = {
        f"{title}{name}": read(block, [champion, *rivals])
        for title, read in reads.items()
        for name, block in results.blocks().items()
    }
    parts = {title: part for title, part in parts.items() if part.n_sets > 1}
    header = [f"{champion} over", *(f"{title}, {part.n_sets} sets" for title, part in parts.items())]
    rows = [[rival, *(score(part.duel(champion, rival)) for part in parts.values())] for rival in rivals]
    section.table(header, rows)


def by_budget(section: Section, results: Results, question: str, methods: Sequence[str], unit: str) -> None:
    """Mean value of every method at each budget, bold where it is the best of those that select."""
    budgets = results.budgets(question)
    columns = {}
    for budget in budgets:
        known = results.known(question, methods, [budget])
        columns[budget] = results.told(question, [budget], known)
    best = {b: max((part.mean(m), m) for m in part.values if m != "all")[1] for b, part in columns.items()}
    rows = []
    for method in methods:
        cells = [number(abs(p.mean(method))) if method in p.values else "–" for p in columns.values()]
        cells = [f"**{cell}**" if best[b] == method else cell for b, cell in zip(budgets, cells, strict=True)]
        rows.append([method, *cells])
    rows.append(["sets", *(str(part.n_sets) for part in columns.values())])
    section.table(["method", *(f"{budget} {unit}" for budget in budgets)], rows)


# -------------------------------------------------------------------- without labels


def without_labels(results: Results, folder: Path | None) -> Section:
    """The set criterion, the peers and the rankings, pruned or not, told nothing."""
    section = Section("which-sets", "1. No labels", folder)
    rivals = results.known("free", [*PEERS, *pruned(FREE), *FREE, "random"])

    def read(block: Results, names: Sequence[str]) -> Slice:
        return block.free(names)

    section.text(f"**{_free_conclusion(results, rivals)}**")
    section.text(
        "Mean accuracy and average rank in each block. `cur` and `fps` are scikit-matter's, `fastcan` the package of "
        "that name told as many principal components as features are asked for, `mcfs` Cai, Zhang and He's. *Pruned* "
        "rankings pass over a feature whose |r| with a better one is above .7, as `redundancy=True` does."
    )
    standings(section, results, read, ["subset", *rivals], ["all"])
    section.text("Accuracy that `subset` gains, sets where it is better : worse, and Wilcoxon's p:")
    duels(section, results, {"": read}, "subset", [*rivals, "all"])
    shown = [m for m in ("cur", "variance pruned", "random") if m in rivals]
    _unrelated(section, results, "Told nothing", read, shown)
    _over_sizes(section, results, rivals)
    section.text("By kind of data, all sets together, average ranks:")
    _by_kind(section, results.free(["subset", *rivals]))
    return section


def _free_conclusion(results: Results, rivals: Sequence[str]) -> str:
    parts = {title: block.free(["subset", *rivals, "all"]) for title, block in results.blocks().items()}
    said = [f"{number(part.mean('subset'))} on the {part.n_sets} sets {_named(title)}" for title, part in parts.items()]
    whole = parts.get("together", next(iter(parts.values())))
    ranking = whole.ranking(["subset", *rivals])
    second = next(name for name in ranking.methods if name != "subset")
    place = ranking.methods.index("subset") + 1
    return (
        f"`subset` reaches {listed(said)}. Of {len(ranking.methods)} ways to choose it has place {place} by average "
        f"rank ({ranking.rank('subset'):.1f}; {second} {ranking.rank(second):.1f}): over {second} "
        f"{score(whole.duel('subset', second))}, over pruned variance "
        f"{score(whole.duel('subset', 'variance pruned'))}, over random features "
        f"{score(whole.duel('subset', 'random'))}. All features stay ahead of it by "
        f"{number(-whole.duel('subset', 'all').gain)}."
    )


def _unrelated(section: Section, results: Results, when: str, read: Read, rivals: Sequence[str]) -> None:
    """The same on the fresh sets that share no rows with one of the study."""
    fresh = results.block("fresh").found
    part = read(Results([r for r in fresh if SOURCES[r["name"]].relative is None]), ["subset", *rivals])
    if part.n_sets > 1:
        said = [f"over {rival} {score(part.duel('subset', rival))}" for rival in rivals]
        section.text(f"{when}, on the {part.n_sets} fresh sets that share no rows with the study's: {listed(said)}.")


def _named(block: str) -> str:
    return {"study": "of the study", "fresh": "that are fresh"}.get(block, block)


def _over_sizes(section: Section, results: Results, rivals: Sequence[str]) -> None:
    shown = [m for m in ("cur", "variance pruned", "laplacian pruned", "random", "all") if m in [*rivals, "all"]]
    parts = [results.free(["subset", *shown], size=size) for size in range(3)]
    section.heading("By number of features")
    section.text("What `subset` gains at the smallest, the middle and the largest number of features:")
    names = ("smallest", "middle", "largest")
    section.table(
        ["subset over", *(f"{name}, {part.n_sets} sets" for name, part in zip(names, parts, strict=True))],
        [[rival, *(score(part.duel("subset", rival)) for part in parts)] for rival in shown],
    )
    lines = results.known("free", ["subset", "cur", "variance pruned", "laplacian pruned", "laplacian"])
    lines = [*lines, "random", "all"]
    panels, places = {}, {}
    for title in ("all", "text", "images", "genes"):
        slices = [results.curve(place, lines) for place in range(len(CURVE))]
        slices = slices if title == "all" else [part.of(title) for part in slices]
        if slices[0].n_sets > 1:
            name = f"{title}, {slices[0].n_sets} sets"
            panels[name] = {method: [part.mean(method) for part in slices] for method in lines}
            places[name] = CURVE
    if panels:
        figure = figures.curves(panels, places, "number of features", "1-NN accuracy", zero=False)
        section.figure(figure, "curves", "Mean accuracy by number of features, sets of 200 columns or more")


def _by_kind(section: Section, whole: Slice) -> None:
    kinds = [kind for kind in KINDS if whole.of(kind).n_sets > 1]
    ranking, parts = whole.ranking(), [whole.of(kind).ranking() for kind in kinds]
    rows = [rank_row(method, [ranking, *parts]) for method in ranking.methods]
    header = [f"all, {whole.n_sets}", *(f"{kind}, {whole.of(kind).n_sets}" for kind in kinds)]
    section.table(["method", *header], rows)


# -------------------------------------------------------------------- told something


def told(question: str, budgets: Sequence[int]) -> Read:
    """Methods told something, at some budgets."""
    return lambda block, names: block.told(question, budgets, names)


def few_labels(results: Results, folder: Path | None) -> Section:
    """The set criterion with the relevance of few labels against everything else that reads them."""
    section = Section("which-told", "2. Few class labels", folder)
    budgets = results.budgets("labels")
    rivals = results.known("labels", [*PEERS_TOLD, *pruned(LABELS), *LABELS], budgets)
    others = [UNTOLD, *results.known("labels", ["cur", "variance pruned"], budgets), "random"]
    groups = grouped([budget for budget in budgets if budget > 1], 3)
    section.text(f"**{' '.join(_told_conclusion(results, group, rivals) for group in groups)}**")
    section.text(
        f"Told one label per class `subset` chooses what it chooses without labels; `{UNTOLD}` is that choice, judged "
        "on the same hidden rows. The mutual information, mRMR, random forests (100 trees), the L1 penalty and fastcan "
        "see the labelled rows, as their users would show them; they need two labels of a class. Mean accuracy, all "
        "sets together (those that can show so many labels):"
    )
    by_budget(section, results, "labels", ["subset", *others, *rivals, "all"], "per class")
    section.text(_at_five(results, [name for name in rivals if name in PEERS_TOLD]))
    _labels_figure(section, results)
    section.text("Accuracy that `subset` gains, sets where it is better : worse, and Wilcoxon's p:")
    reads = {f"{span(group)} per class: ": told("labels", group) for group in groups}
    duels(section, results, reads, "subset", [*others, *(name for name in rivals if name not in LABELS), "all"])
    shown = [name for name in (UNTOLD, "sselect pruned", "relieff pruned", "forest") if name in [*others, *rivals]]
    _unrelated(section, results, f"With {span(groups[-1])} labels per class", told("labels", groups[-1]), shown)
    section.heading("What the labels add, by kind of data")
    section.text(f"`subset` over `{UNTOLD}`:")
    _gain_by_kind(section, results, "labels", "subset", UNTOLD, "per class")
    _safer_floor(section, results)
    _sequential(section, results)
    return section


def _sequential(section: Section, results: Results) -> None:
    """Sequential selection runs on narrow tables alone, so it has a table of its own."""
    parts = {b: results.told("labels", [b], ["subset", "sequential"]) for b in results.budgets("labels") if b > 1}
    parts = {budget: part for budget, part in parts.items() if part.n_sets > 1}
    if parts:
        section.heading("Sequential selection")
        section.text(
            f"On sets of fewer than {NARROW} columns, forward selection by the leave-one-out errors of 1-NN on the "
            "labelled rows is affordable; accuracy, and what `subset` gains:"
        )
        rows = [[name, *(number(part.mean(name)) for part in parts.values())] for name in ("subset", "sequential")]
        rows.append(["gain", *(score(part.duel("subset", "sequential")) for part in parts.values())])
        section.table(["", *(f"{b} per class, {part.n_sets} sets" for b, part in parts.items())], rows)


def _safer_floor(section: Section, results: Results) -> None:
    """Whether a relevance that reads less into few labels would be the better default: chosen on the study's sets."""
    few = [budget for budget in results.budgets("labels") if 1 < budget <= 3]
    study = results.block("study").told("labels", few, ["subset", SAFER, UNTOLD])
    if study.n_sets < 2:
        return
    found = study.duel(SAFER, "subset")
    verdict = "would be chosen" if found.gain > 0 and found.p_value < 0.05 else "is not chosen"
    section.heading("A safer floor")
    section.text(
        "The relevance of a feature never falls below a floor, about the deviation of R² by chance. A floor as high as "
        "the deviation of F, and no labels read up to four degrees of freedom, reads less into two or three labels: "
        f"on the sets of the study it gains {score(found)} at {span(few)} labels per class, so it {verdict}. "
        f"`{SAFER}` over `subset`:"
    )
    _gain_by_kind(section, results, "labels", SAFER, "subset", "per class")


def _told_conclusion(results: Results, budgets: Sequence[int], rivals: Sequence[str]) -> str:
    part = results.told("labels", budgets, ["subset", UNTOLD, *rivals])
    ranking = part.ranking()
    second = next(name for name in ranking.methods if name != "subset")
    peer = max((name for name in rivals if name in PEERS_TOLD), key=part.mean)
    return (
        f"With {span(budgets)} labels per class {ranking.best} has the best average rank ({ranking.ranks[0]:.1f}; "
        f"{'subset' if ranking.best != 'subset' else second} "
        f"{ranking.rank('subset' if ranking.best != 'subset' else second):.1f}); `subset` over the best peer in the "
        f"mean, {peer}: {score(part.duel('subset', peer))}; over its choice without labels "
        f"{score(part.duel('subset', UNTOLD))}."
    )


def _at_five(results: Results, peers: Sequence[str]) -> str:
    said = []
    for title, block in results.blocks().items():
        part = block.told("labels", [5], ["subset", *peers])
        if part.n_sets and peers:
            best = max(peers, key=part.mean)
            means = f"{number(part.mean('subset'))}, the best of the peers that read labels ({best}) "
            said.append(f"{means}{number(part.mean(best))} on the {part.n_sets} sets {_named(title)}")
    return f"With five labels per class `subset` reaches {'; '.join(said)}."


def _labels_figure(section: Section, results: Results) -> None:
    budgets = results.budgets("labels")
    names = results.known("labels", ["subset", UNTOLD, "sselect pruned", "relieff pruned", "forest", "mrmr"], budgets)
    names += ["random", "all"]
    panels, places = {}, {}
    for title in ("all kinds", *KINDS):
        parts = {b: results.told("labels", [b], results.known("labels", names, [b])) for b in budgets}
        parts = {b: part if title == "all kinds" else part.of(title) for b, part in parts.items()}
        full = min((set(part.sets) for part in parts.values()), key=len)
        parts = {b: part.take([at for at, name in enumerate(part.sets) if name in full]) for b, part in parts.items()}
        if len(full) < 2:
            continue
        name = f"{title}, {len(full)} sets"
        places[name] = budgets
        nan = float("nan")
        panels[name] = {m: [p.mean(m) if m in p.values else nan for p in parts.values()] for m in names}
    if panels:
        figure = figures.curves(panels, places, "labels per class", "1-NN accuracy", zero=False)
        section.figure(figure, "labels", "Mean accuracy by labels per class, sets that have every number of labels")


def _gain_by_kind(section: Section, results: Results, question: str, first: str, second: str, unit: str) -> None:
    parts = {b: results.told(question, [b], [first, second]) for b in results.budgets(question)}
    rows = []
    for kind in ("all", *KINDS):
        slices = [part if kind == "all" else part.of(kind) for part in parts.values()]
        rows.append([kind, *(score(part.duel(first, second)) if part.n_sets > 1 else "–" for part in slices)])
    section.table(["kind", *(f"{budget} {unit}" for budget in parts)], rows)


def few_pairs(results: Results, folder: Path | None) -> Section:
    """The set criterion with the relevance of pairs against the constraint scores."""
    section = Section("which-linked", "3. Pairs", folder)
    budgets = results.budgets("pairs")
    better = results.known("pairs", ["c4[graph=knn] pruned"], budgets)
    rivals = [*pruned(CONSTRAINTS), *better, *CONSTRAINTS, "variance pruned", "random"]
    part = results.told("pairs", budgets, ["subset", UNTOLD, "subset, labels", *rivals])
    best = max((name for name in rivals if name.startswith("c")), key=part.mean)
    gain = part.duel("subset", UNTOLD)
    section.text(
        f"**Told pairs `subset` is {'ahead of' if gain.gain > 0 else 'behind'} its choice without them by "
        f"{number(abs(gain.gain))} ({gain.won}:{gain.lost}, p {p_text(gain.p_value)}), and ahead of the best "
        f"constraint score, {best}, by {score(part.duel('subset', best))}. The classes of the same rows are worth "
        f"more: {score(part.duel('subset, labels', 'subset'))}.**"
    )
    by_budget(section, results, "pairs", ["subset", UNTOLD, "subset, labels", *rivals, "all"], "pairs")
    reads = {f"{span(group)} pairs: ": told("pairs", group) for group in grouped(budgets, 20)}
    duels(section, results, reads, "subset", [UNTOLD, *(name for name in rivals if name not in CONSTRAINTS)])
    return section


def few_targets(results: Results, folder: Path | None) -> Section:
    """The set criterion with the relevance of real targets against everything else that reads them."""
    section = Section("which-valued", "4. Real targets", folder)
    budgets = results.budgets("targets")
    rivals = results.known("targets", [*PEERS_TOLD, *pruned(TARGETS), *TARGETS], budgets)
    others = [UNTOLD, *results.known("targets", ["cur"], budgets), "variance pruned", "random"]
    part = results.told("targets", budgets, ["subset", UNTOLD, *rivals])
    best = max(rivals, key=part.mean)
    section.text(
        f"**Over {part.n_sets} sets the RMSE of `subset` is {number(-part.mean('subset'))} standard deviations, "
        f"without targets {number(-part.mean(UNTOLD))}, of the best other, {best}, {number(-part.mean(best))}: "
        f"`subset` gains {score(part.duel('subset', UNTOLD))} and {score(part.duel('subset', best))}.**"
    )
    section.text("RMSE in standard deviations of the target, mean over the sets; a gain is a smaller RMSE.")
    by_budget(section, results, "targets", ["subset", *others, *rivals, "all"], "targets")
    rivals = [name for name in rivals if name not in TARGETS]
    duels(section, results, {"": told("targets", budgets)}, "subset", [*others, *rivals, "all"])
    return section
