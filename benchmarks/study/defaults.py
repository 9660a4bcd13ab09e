"""Do the library's defaults hold: every value of every parameter tried, judged over all sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..papers.page import Section, line
from . import figures
from .questions import FREE
from .ranks import Duel, Ranking, holm, rank_methods
from .results import Results, Slice
from .selection import score
from .words import against, listed, number, p_text, signed

WORTH = 0.005  # a smaller mean gain is no reason to change a default


@dataclass(frozen=True)
class Choice:
    """One parameter of one method: the name of each value tried, the library's default first."""

    method: str
    parameter: str
    variants: dict[str, str]
    values: Callable[[Results, list[str]], Slice]

    @property
    def default(self) -> str:
        return next(iter(self.variants.values()))

    @property
    def others(self) -> list[str]:
        return list(self.variants.values())[1:]

    def label(self, name: str) -> str:
        """The value that a variant stands for."""
        return next(value for value, variant in self.variants.items() if variant == name)


def _free(results: Results, names: list[str]) -> Slice:
    return results.free(names)


def _labels(results: Results, names: list[str]) -> Slice:
    return results.told("labels", results.budgets("labels"), names)


def _pairs(results: Results, names: list[str]) -> Slice:
    return results.told("pairs", results.budgets("pairs"), names)


def _targets(results: Results, names: list[str]) -> Slice:
    return results.told("targets", results.budgets("targets"), names)


def _variants(method: str, key: str, default: object, *others: object) -> dict[str, str]:
    return {str(default): method, **{str(value): f"{method}[{key}={value}]" for value in others}}


def _graph_choices(method: str, values: Callable) -> list[Choice]:
    neighbors = _variants(method, "k", 10, 5, 20)
    widths = _variants(method, "width", 1.0, 0.5, 2.0)
    widths["binary"] = f"{method}[weight=binary]"
    return [Choice(method, "n_neighbors", neighbors, values), Choice(method, "bandwidth / mean edge", widths, values)]


_C4_GRAPHS = {
    "RBF 0.25": "c4",
    "RBF 0.5": "c4[scale=0.5]",
    "RBF 1.0": "c4[scale=1.0]",
    "KNN": "c4[graph=knn]",
}
CHOICES = [
    Choice("subset", "power", _variants("subset", "power", 0.5, 0.25, 1.0), _free),
    Choice("subset", "n_neighbors", _variants("subset", "k", 5, 3, 10), _free),
    *(choice for method in FREE[1:5] for choice in _graph_choices(method, _free)),
    Choice(
        "laplacian",
        "graph",
        {"KNN": "laplacian"} | {f"RBF {scale}": f"laplacian[rbf={scale}]" for scale in (0.25, 0.5, 1.0)},
        _free,
    ),
    Choice("evsc", "RBF scale", _variants("evsc", "scale", 1.0, 0.5, 0.25), _free),
    *_graph_choices("sselect", _labels),
    Choice("sselect", "lam", _variants("sselect", "lam", 0.1, 0.01, 0.5, 0.9, "auto"), _labels),
    Choice("relieff", "n_neighbors", _variants("relieff", "k", 10, 3, 1), _labels),
    Choice("c4", "graph, labels", _C4_GRAPHS, _labels),
    Choice("c4", "graph, pairs", _C4_GRAPHS, _pairs),
    Choice("sls", "n_neighbors", _variants("sls", "k", 5, 2, 10), _targets),
    Choice("sls", "t", _variants("sls", "t", 1.0, 0.25, 4.0), _targets),
    Choice("ssls", "n_neighbors", _variants("ssls", "k", 30, 10, 60), _targets),
    Choice("ssls", "t", _variants("ssls", "t", 1.0, 0.25, 4.0), _targets),
    Choice("ssls", "weight_labeled", _variants("ssls", "C", 5.0, 1.0, 25.0), _targets),
]


@dataclass(frozen=True)
class Verdict:
    """What the sets say about one default: the other value that speaks loudest against it, and how loudly."""

    choice: Choice
    part: Slice
    rival: str
    found: Duel
    p_value: float  # Wilcoxon's, corrected for the other values of the parameter

    @property
    def word(self) -> str:
        if self.found.gain < WORTH or self.p_value >= 0.05:
            return "keep"
        return "**change**" if self.part.ranking().differ(self.rival, self.choice.default) else "consider"

    def change(self) -> str:
        """The change that would follow, with its gain."""
        old, new = self.choice.label(self.choice.default), self.choice.label(self.rival)
        return f"{self.choice.method} {self.choice.parameter} {old} → {new} ({signed(self.found.gain)})"

    def row(self) -> list[str]:
        choice, ranking = self.choice, self.part.ranking()
        cells = [f"{value}: {ranking.rank(name):.2f}" for value, name in choice.variants.items()]
        cells[0] = f"**{cells[0]}**"
        apart, p_value = f"{ranking.critical_difference:.2f}", p_text(ranking.p_value).removeprefix("= ")
        rival = f"{choice.label(self.rival)}: {signed(self.found.gain)}, {against(self.found)}"
        return [choice.method, choice.parameter, ", ".join(cells), apart, p_value, rival, self.word]


def verdicts(results: Results, choices: Sequence[Choice]) -> list[Verdict]:
    """One verdict per parameter that at least two sets can judge."""
    parts = [(choice, choice.values(results, list(choice.variants.values()))) for choice in choices]
    parts = [(choice, part) for choice, part in parts if part.n_sets > 1]
    return [_verdict(choice, part) for choice, part in parts]


def _verdict(choice: Choice, part: Slice) -> Verdict:
    duels = {name: part.duel(name, choice.default) for name in choice.others}
    corrected = dict(zip(duels, holm([found.p_value for found in duels.values()]), strict=True))
    gaining = [name for name, found in duels.items() if found.gain >= WORTH]
    # The one that most surely gains; where none gains, the one with the best rank.
    rival = min(gaining, key=corrected.get) if gaining else min(duels, key=part.ranking().rank)
    return Verdict(choice, part, rival, duels[rival], corrected[rival])


def defaults(results: Results, folder: Path | None) -> Section:
    """Average rank of every value of every parameter, and whether the default should change."""
    section = Section("which-defaults", "9. Do the defaults hold?", folder)
    found = verdicts(results, CHOICES)
    change = [verdict.change() for verdict in found if verdict.word == "**change**"]
    consider = [verdict.change() for verdict in found if verdict.word == "consider"]
    section.text(
        f"**{len(found) - len(change) - len(consider)} of {len(found)} defaults stand. Better beyond doubt: "
        f"{listed(change, 'none')}. Worth considering: {listed(consider, 'none')}.**"
    )
    section.text(
        "One parameter is changed at a time; the default is bold. Values are means over all numbers of labels, pairs "
        "or targets and of features. *Rival* is the other value that most surely gains at least "
        f"{number(WORTH)} in accuracy (or standard deviations), else the one with the best rank. *Consider*: its gain "
        "is beyond chance (Wilcoxon, 5 %, Holm's correction for the values of the row, not for the number of rows); "
        "**change**: its average rank is also better by more than the critical difference. A graph left "
        "at None is the paper's in every method, so a better graph is advice on what to pass, such as "
        "`ConstraintScore(graph=KNN())`; neighbours, widths and λ of the library are those that stand here."
    )
    header = [
        "method",
        "parameter",
        "average rank of each value",
        "critical difference",
        "Friedman p",
        "rival",
        "verdict",
    ]
    section.table(header, [verdict.row() for verdict in found])
    many = max(verdict.part.n_sets for verdict in found)  # few sets (real targets) can tell little
    shown = sorted((v for v in found if v.part.n_sets == many), key=lambda v: v.part.ranking().p_value)[:4]
    panels = {f"{v.choice.method}, {v.choice.parameter}": _by_value(v) for v in shown}
    section.figure(
        figures.critical_differences(panels),
        "ranks",
        "Average ranks of the values of the four parameters that matter most by Friedman's test",
    )
    _lambda_by_budget(section, results)
    return section


def better_settings(results: Results) -> list[str]:
    """Settings that the methods with the papers' names do not have by default, in each block."""
    blocks, rows = results.blocks(), []
    header = ["setting", *blocks, "verdict"]
    for better, usual, how, values in BETTER:
        found = [values(block, [better, usual]).duel(better, usual) for block in blocks.values()]
        sure = found[-1].gain >= WORTH and found[-1].p_value < 0.05
        rows.append([how, *map(score, found), "better" if sure else "not told apart"])
    table = "\n".join([line(header), "|---|" + "---|" * (len(header) - 1), *map(line, rows)])
    said = (
        "Methods with the papers' names keep the papers' defaults. Settings that may be passed, gain over the default:"
    )
    return [said, table]


BETTER = (
    ("laplacian[width=2.0]", "laplacian", "`LaplacianScore(KNN(bandwidth=δ))`, δ twice the mean edge", _free),
    ("c4[graph=knn]", "c4", "`ConstraintScore(graph=KNN())`, all pairs of few labels", _labels),
    ("c4[graph=knn]", "c4", "`ConstraintScore(graph=KNN())`, pairs", _pairs),
)


def _by_value(verdict: Verdict) -> Ranking:
    names = {name: value for value, name in verdict.choice.variants.items()}
    names[verdict.choice.default] += " (default)"
    return rank_methods({names[name]: values for name, values in verdict.part.values.items()})


def _lambda_by_budget(section: Section, results: Results) -> None:
    variants = _variants("sselect", "lam", 0.1, 0.01, 0.5, 0.9, "auto")
    variants = {value: variants[value] for value in ("0.01", "0.1", "0.5", "0.9", "auto")}
    budgets = results.budgets("labels")
    parts = {b: results.told("labels", [b], list(variants.values())) for b in budgets}
    section.heading("λ of sSelect by number of labels")
    section.text("Average rank of λ and, in brackets, the gain over λ = .1:")
    rows = []
    for value, name in variants.items():
        cells = [f"{p.ranking().rank(name):.2f} ({signed(p.duel(name, 'sselect').gain)})" for p in parts.values()]
        rows.append([f"λ = {value}", *cells])
    section.table(["", *(f"{budget} per class" for budget in budgets)], rows)
