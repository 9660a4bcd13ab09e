"""docs/which-method.md: the decision table, what was run, and the six questions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..papers.page import DOCS, Section, line
from .advice import situations
from .defaults import defaults
from .questions import FREE, few_labels, no_labels, pairs, real_targets
from .redundancy import redundancy
from .results import Results
from .run import FEW_ROWS, Settings
from .sets import SOURCES
from .words import number

QUESTIONS = (no_labels, few_labels, pairs, real_targets, defaults, redundancy)


def write(results: Results, docs: Path = DOCS) -> Path:
    """Write the page and its figures; nothing but the results decides what they say."""
    sections = [question(results, docs) for question in QUESTIONS]
    page = docs / "which-method.md"
    partial = page.with_suffix(".part")
    partial.write_text(markdown(results, sections))
    partial.replace(page)
    return page


def markdown(results: Results, sections: list[Section]) -> str:
    """The whole page."""
    contents = "\n".join(f"- [{section.title}](#{section.key})" for section in sections)
    parts = [_HEAD, "## What to use", _decision_table(results), _against_all(results), _READING]
    parts += ["## Contents", contents]
    parts += ["## What was run", _what_was_run(results), _sets_table(results)]
    return "\n\n".join([*parts, *(section.markdown().strip() for section in sections)]) + "\n"


def conclusions(results: Results) -> str:
    """The sentence that answers each question."""
    sections = [question(results, None) for question in QUESTIONS]
    bold = [next(part for part in section.markdown().split("\n\n") if part.startswith("**")) for section in sections]
    return "\n\n".join(f"{s.title}\n{text.strip('*')}" for s, text in zip(sections, bold, strict=True))


def summary(results: Results) -> str:
    """Every method's value on every set, as plain text."""
    lines = []
    for result in results.found:
        lines.append(f"{result['name']} ({result['kind']}), {' x '.join(map(str, result['shape']))}")
        one = Results([result])
        names = [name for name in result["free"]["values"] if "[" not in name]
        lines.append(_line("no labels", one.free(names, task=result["task"]).values))
        for question in ("labels", "pairs", "targets"):
            for budget, cell in result.get(question, {}).items():
                names = [name for name in cell["values"] if "[" not in name]
                lines.append(_line(f"{budget} {question}", one.told(question, [int(budget)], names).values))
    return "\n".join(lines)


def _line(title: str, values: dict) -> str:
    ordered = sorted(values, key=lambda name: -float(values[name][0]))
    return f"  {title:>12}: " + ", ".join(f"{name} {number(abs(float(values[name][0])))}" for name in ordered)


def _decision_table(results: Results) -> str:
    header = ["you have", "data", "use", "gain over random", "over variance", "against all features", "how sure"]
    rows = [advice.row() for advice in situations(results)]
    return "\n".join([line(header), "|---|---|---|--:|--:|--:|---|", *map(line, rows)])


def _against_all(results: Results) -> str:
    """What selecting costs in accuracy, with the best method of each set taken with hindsight."""
    names = [*FREE, *(f"{method} pruned" for method in FREE)]
    part = results.free([*names, "all"])
    ahead = int(np.sum(part.values["all"] >= np.max([part.values[name] for name in names], axis=0)))
    advice = "to read, measure or store fewer of them, not to gain accuracy" if 2 * ahead > part.n_sets else "freely"
    return (
        f"1-NN on all features is level with or ahead of the best of the {len(names)} rankings without labels, pruned "
        f"or not, on {ahead} of {part.n_sets} sets: select features {advice}."
    )


def _what_was_run(results: Results) -> str:
    settings = Settings()
    with_classes = [about for about in results.about() if about["task"] == "classes"]
    with_targets = [about for about in results.about() if about["task"] == "target"]
    return _RUN.format(
        n_classes=len(with_classes),
        n_targets=len(with_targets),
        rows=settings.max_rows,
        draws=settings.draws,
        few=FEW_ROWS,
    )


def _sets_table(results: Results) -> str:
    header = ["set", "kind", "rows", "features", "classes", "numbers of features", "about"]
    rows = [
        [
            about["name"],
            about["kind"],
            *about["shape"],
            about["classes"] or "real target",
            ", ".join(map(str, about["sizes"])),
            SOURCES[about["name"]].about,
        ]
        for about in results.about()
    ]
    return "\n".join([line(header), "|---|---|--:|--:|--:|---|---|", *map(line, rows)])


_HEAD = """# Which method when

Every method of the library on many real data sets: without labels, with few labels, with pairs, with few real targets,
beside random features, the variance and all features. `python -m benchmarks.study` wrote this page; the names and
numbers in its sentences are computed, and a second run gives the same."""

_READING = """\
- *use*: the method with the best average rank on the sets of that kind, with the library's defaults, its ranking
  pruned or not.
- *Gains* are differences of mean accuracy (for real targets of the RMSE in standard deviations; positive is better
  there too). They are honest about the choice: for every set the method is chosen on the **other** sets of its kind and
  measured on this one.
- *Against all features* compares the method named with keeping every feature.
- *How sure*: **sure**, better on every one of at least five sets; **likely**, on two thirds of them and in the mean;
  **unsure**, less than that.
- *pruned*: going down the ranking, features that correlate above .7 with a better one are passed over; the few lines
  it takes are in [section 6](#which-redundancy). Questions 1 to 5 compare the rankings as they are."""

_RUN = """{n_classes} sets with classes and {n_targets} with a real target, at most {rows} rows of each, rows shuffled.
Every method ranks the features of all rows, told the labels, pairs or targets of a few; {draws} draws, twice as many on
sets of at most {few} rows, the same for all methods. A choice of features is judged by predicting every row whose label
was hidden from all other rows, with 1-NN (classes) or 5-NN (real targets) on those features alone, at 10, 20 and 50
features, in tables of fewer than 200 columns at an eighth, a quarter and a half of them. Features to which a method
gives no score follow in random order.

Accuracies of different sets cannot be compared, so methods are compared by ranks: per set the mean over draws and
numbers of features first, then the rank among the methods, then the mean over sets, each set counting once. Friedman's
test (Iman and Davenport's F) asks whether there is any difference, Nemenyi's critical difference (5 %) how far apart
two average ranks must be; both after Demšar (2006). Single pairs are compared by Wilcoxon's signed-rank test over sets.
`orlraws10P` shows ten of the people of `ORL`, so these two are not independent.

Scaling: text as counts; images and log2 expression as they are, since all columns share one unit; tables to [0, 1];
with real targets z-scores, where the variance is taken before (of spectra as they are, of tables scaled to [0, 1]),
because z-scored columns all have variance 1. EVSC on more than {few} rows is ranked by the trace of its derivatives,
which orders features nearly as the definition does."""
