"""docs/which-method.md: what to use, where it loses, what was run, then the questions one by one."""

from __future__ import annotations

from pathlib import Path

from ..papers.page import DOCS, Section, line
from . import outside, questions, selection
from .advice import Advice, advise, exceptions, of_papers, situations
from .defaults import better_settings, defaults
from .losses import losses
from .redundancy import redundancy
from .results import Results
from .run import FEW_ROWS, Settings
from .sources import SOURCES
from .words import number

SETS = (selection.without_labels, selection.few_labels, selection.few_pairs, selection.few_targets)
RANKINGS = (
    questions.no_labels,
    questions.few_labels,
    questions.pairs,
    questions.real_targets,
    defaults,
    redundancy,
)


def sections_of(results: Results, docs: Path | None) -> list[Section]:
    """Sets of features on all sets, then the papers' rankings on those of the study."""
    study = results.block("study")
    return [*(question(results, docs) for question in SETS), *(question(study, docs) for question in RANKINGS)]


def write(results: Results, docs: Path = DOCS) -> Path:
    """Write the page and its figures; nothing but the results decides what they say."""
    page = docs / "which-method.md"
    partial = page.with_suffix(".part")
    partial.write_text(markdown(results, sections_of(results, docs)))
    partial.replace(page)
    return page


def markdown(results: Results, sections: list[Section]) -> str:
    """The whole page."""
    contents = "\n".join(f"- [{section.title}](#{section.key})" for section in sections)
    parts = [_HEAD, "## What to use", *_decision_table(results), _READING, *_GLANCE]
    parts += ["## Where it loses", losses(results), "## Contents", contents]
    parts += ["## What was run", _what_was_run(results), _peers_run(), _sets_table(results)]
    return "\n\n".join([*parts, *(section.markdown().strip() for section in sections)]) + "\n"


def conclusions(results: Results) -> str:
    """The sentence that answers each question."""
    sections = sections_of(results, None)
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


def _decision_table(results: Results) -> list[str]:
    known = situations(results)
    advised = [advise(situation) for situation in known]
    pairs = zip(advised, known, strict=True)
    apart = [text for advice, situation in pairs for text in exceptions(advice, situation.candidates)]
    said = "Kinds of data that ask for something else:" if apart else "No kind of data asks for something else."
    wanted = "Where a ranking is wanted, one score per feature, of the papers' methods and the variance:"
    papers = [advise(of_papers(situation)) for situation in known]
    listed = ["\n".join(f"- {text}" for text in apart)] if apart else []
    return [_advice_table(advised), said, *listed, wanted, _advice_table(papers), *better_settings(results)]


def _advice_table(rows: list[Advice]) -> str:
    header = [
        "you have",
        "use",
        "value",
        "over the best peer",
        "over pruned variance",
        "over random",
        "over all features",
    ]
    return "\n".join([line(header), "|---|---|--:|---|---|---|--:|", *(line(advice.row()) for advice in rows)])


def _what_was_run(results: Results) -> str:
    settings = Settings()
    with_classes = [about for about in results.about() if about["task"] == "classes"]
    with_targets = [about for about in results.about() if about["task"] == "target"]
    return _RUN.format(
        n_classes=len(with_classes),
        n_targets=len(with_targets),
        n_fresh=len(results.block("fresh").found),
        rows=settings.max_rows,
        draws=settings.draws,
        few=FEW_ROWS,
    )


def _peers_run() -> str:
    found = outside.versions()
    if not found:
        return "scikit-matter and fastcan were left out: `make .venv-bench/.ready` gives them an environment."
    named = ", ".join(f"{name} {version}" for name, version in found.items())
    return f"Peers of other packages ran in an environment of their own: {named}."


def _sets_table(results: Results) -> str:
    header = ["set", "block", "kind", "rows", "features", "classes", "numbers of features", "about", "rows shared with"]
    rows = [
        [
            about["name"],
            about["block"],
            about["kind"],
            *about["shape"],
            about["classes"] or "real target",
            ", ".join(map(str, about["sizes"])),
            SOURCES[about["name"]].about,
            SOURCES[about["name"]].relative or "–",
        ]
        for about in results.about()
    ]
    return "\n".join([line(header), "|---|---|---|--:|--:|--:|---|---|---|", *map(line, rows)])


_HEAD = """# Which method when

Sets of features, the papers' rankings and the selectors of other packages on many real data sets: without labels, with
few labels, with pairs, with few real targets, beside random features, the variance and all features.
`python -m benchmarks.study` wrote this page; the names and numbers in its sentences are computed, and a second run
gives the same."""

_READING = """\
- *use*: the method of the library with the best average rank over all sets, with its defaults. In brackets for how
  many sets the **other** sets alone choose it. Where they do so for all, the numbers are honest about the choice; where
  not, the value in brackets is that of the methods they choose.
- *Value*: the mean accuracy; for real targets the RMSE in standard deviations of the target, and a gain is a smaller
  one. Other cells read gain, sets better : worse, Wilcoxon's p.
- *The best peer* is the one with the best mean, chosen with hindsight.
- *`redundancy=True`*, in tables *pruned*: going down a ranking, features that correlate above .7 with a better one are
  passed over.
- The defaults of `subset` were found on sets of the block *study*; the block *fresh* had no say in them, so where the
  two blocks differ, believe the second."""

_GLANCE = (
    "![Mean accuracy by number of features](figures/which-sets-curves.svg)",
    "![Mean accuracy by labels per class](figures/which-told-labels.svg)",
)

_RUN = """{n_classes} sets with classes and {n_targets} with a real target, at most {rows} rows of each, rows shuffled;
those of the block *fresh* ({n_fresh}) had no say in any choice of a method, a default or a parameter, though some share
their rows with a set of the study. Sections 1 to 4 compare sets of features, rankings and peers on all of them,
sections 5 to 10 the papers' rankings, as they are, on the sets of the study.

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
