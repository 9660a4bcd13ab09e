"""[ZL] Zhao and Liu, semi-supervised feature selection via spectral analysis, section 4: Figures 3 to 7, Table 2."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.stats import spearmanr

from fiedler import Variance

from . import sselect_figures as figures
from .page import DOCS, Section, number
from .sselect_runs import (
    BY_CUT,
    BY_KERNEL,
    FEW,
    FISHER,
    LAMBDA,
    LAPLACIAN,
    MANY,
    PAPER_LABELS,
    RANDOM,
    SSELECT,
    VARIANCE,
    Plan,
    Results,
    run_draws,
    text_set,
)

KEY, TITLE = "sselect", "[ZL] sSelect: semi-supervised feature selection via spectral analysis"

# Table 2: accuracy of sSelect less that of Fisher and of the Laplacian score, averaged over 5 to 50 features.
TABLE_2 = {
    ("PCMAC", 2): (0.0610, 0.1254),
    ("PCMAC", 6): (0.0431, 0.1447),
    ("PCMAC", 10): (0.0873, 0.1753),
    ("BASEHOCK", 2): (0.0560, 0.1389),  # HOCKEYBASE in the paper
    ("BASEHOCK", 6): (0.0836, 0.1775),
    ("BASEHOCK", 10): (0.1150, 0.1997),
    ("MACBASE", 2): (0.0550, 0.1875),
    ("MACBASE", 6): (0.0859, 0.2338),
    ("MACBASE", 10): (0.1377, 0.2682),
}
TABLE_2_AVERAGE = (0.0805, 0.1834)
FIGURE_7A = {2: 0.8, 6: 0.4, 10: 0.2}  # section 4.4.3: the best λ on 200 features; the set is not named
LOSSES_2 = {0.0: 84, 1.0: 8214}  # section 4.4.3: terms with each loss 1 - NMI, two labels
LOSSES_10 = {0.6042: 4, 0.7635: 36, 0.8755: 3, 0.8920: 427, 0.9651: 11, 1.0: 7817}  # footnote 4, ten labels
CLOSE = 0.005  # accuracies nearer than this are not told apart

QUICK = Plan(n_draws=4, labels=PAPER_LABELS, sizes=(10, 30, 50), lambdas=(0.1, 0.3, 0.5, 0.7, 0.9))


def run(quick: bool, n_jobs: int, seed: int = 0) -> Section:
    plan = Plan(**{**vars(QUICK if quick else Plan()), "seed": seed})
    section = Section(KEY, TITLE, folder=None if quick else DOCS)
    results = run_draws(plan, n_jobs)
    _settings(section, results)
    for part in (_figure_3, _table_2, _shown_labels, _figure_4, _figures_5_and_6, _figure_7):
        part(section, results)
    return section


def _settings(section: Section, results: Results) -> None:
    plan, texts = results.plan, {name: text_set(name, results.plan.seed) for name in results.plan.sets}
    sizes = ", ".join(f"{name} {text.X.shape[0]} × {text.n_terms}" for name, text in texts.items())
    widths = ", ".join(f"{name} {text.graph.bandwidth:.1f}" for name, text in texts.items())
    empty = {name: int(np.isnan(text.separability).sum()) for name, text in texts.items()}
    scored = [draw.scored[2] for draws in results.draws.values() for draw in draws]
    section.text(f"""
Settings of all that follows ([ZL] section 4, Algorithm 2). The paper's three pairs of newsgroups with the terms that
the public files have: {sizes} (paper: the same documents, 8298 terms; its HOCKEYBASE is BASEHOCK here; terms in no
document of the pair: {_listed(empty)}). {plan.n_draws} draws show l/2 labels of each class. sSelect ranks with all rows
and the labels shown, λ = {LAMBDA}; the Laplacian score with the rows that are not shown; Fisher with the shown rows
alone. Graph: 10 nearest neighbours with RBF weights; the width is not printed, ours is the mean distance over its edges
({widths}). Every ranking is judged by 5-fold cross-validated 1-NN on all rows.""")
    section.text(f"""
Three things the paper does not say. Counts on few columns tie, often among hundreds of rows, and the files are sorted
by class: we shuffle the rows and give, where several training rows are equally near, the expected accuracy over a
random choice among them. A term that a method cannot score, because it does not vary over the rows it reads, follows
the others in random order: with two labels Fisher scores {np.median(scored):.0f} terms in the median draw and
{min(scored)} in the poorest. A larger l shows the labels of a smaller one and more, so differences are paired. We add
two baselines that read no label: the terms of largest variance, and random terms.""")


def _figure_3(section: Section, results: Results) -> None:
    cells = [(name, l) for name in results.plan.sets for l in PAPER_LABELS]
    section.heading("Figure 3: accuracy against the number of features")
    section.figure(
        figures.accuracy_against_features(results),
        "accuracy",
        f"Accuracy against the number of selected features for l labels, mean of {results.plan.n_draws} draws",
    )
    methods = (SSELECT, BY_CUT, BY_KERNEL, FISHER, LAPLACIAN, VARIANCE, RANDOM)
    section.text("Accuracy averaged over draws and numbers of features (λ by cut: see Figure 4).")
    section.table(
        ["set, l", *methods],
        [[f"{n}, {l}", *(number(results.level(n, method, l)) for method in methods)] for n, l in cells],
    )
    by_variance, by_chance = (
        sum(results.level(n, better, l) > results.level(n, worse, l) for n, l in cells)
        for better, worse in ((VARIANCE, SSELECT), (RANDOM, LAPLACIAN))
    )
    section.text(f"""
The baselines put the comparison in its place: the terms of largest variance, chosen without any label, do better than
sSelect in {by_variance} of {len(cells)} rows, and random terms better than the Laplacian score in {by_chance}. Variance
of raw counts begins with frequent terms, the Laplacian score, which does not see the scale of a term, with rare ones:
half of its first 50 (all rows) occur in at most {_listed(_frequencies(results, LAPLACIAN))} documents, against
{_listed(_frequencies(results, VARIANCE))}.""")
    curve = {cell: results.curves(cell[0], SSELECT, cell[1]).mean(axis=0) for cell in cells}
    for other in (FISHER, LAPLACIAN):
        above = np.array([curve[n, l] > results.curves(n, other, l).mean(axis=0) for n, l in cells])
        section.finding(
            f"figure-3-{other.lower()}",
            f"Fig. 3: sSelect is consistently better than {other}, at every number of features",
            above.all(),
            f"above it at {above.sum()} of {above.size} points"
            + ("" if above.all() else f"; not {_below(cells, above, results.plan.sizes)}"),
        )
    behind = {f"{n} {l}": results.level(n, FISHER, l) - results.level(n, LAPLACIAN, l) for n, l in cells}
    section.finding(
        "figure-3-order",
        "Fig. 3: Fisher is better than the Laplacian score",
        min(behind.values()) > 0,
        f"Fisher less Laplacian {_listed(behind, '+.3f')}",
    )
    rises = np.array([values[-1] > values[0] for values in curve.values()])
    section.finding(
        "figure-3-more-features",
        "Fig. 3: the more features, the better sSelect",
        rises.all(),
        f"better with the most than with the fewest features in {rises.sum()} of {rises.size} panels",
    )
    half = len(results.plan.sizes) // 2
    early, late = (
        float(np.mean([values[at] - values[at - half] for values in curve.values()]))
        for at in (half, len(results.plan.sizes) - 1)
    )
    section.finding(
        "figure-3-slows-down",
        "Fig. 3: the accuracy of sSelect rises fast at first and slows down",
        early > late > 0,
        f"mean rise {early:.3f} over the first {half} steps, {late:.3f} over the last {half}",
    )
    for key, blind in (("beats-random", RANDOM), ("beats-variance", VARIANCE)):
        gains = {f"{n} {l}": results.gain(n, blind, l)[0] for n, l in cells}
        section.finding(
            key,
            f"Not in the paper: sSelect is better than the {blind} baseline, which reads no label",
            min(gains.values()) > 0,
            f"sSelect less {blind} {_listed(gains, '+.3f')}",
        )


def _table_2(section: Section, results: Results) -> None:
    section.heading("Table 2: accuracy of sSelect less that of the others")
    cells = [cell for cell in TABLE_2 if cell[0] in results.plan.sets]
    gains = np.array([[results.gain(n, other, l) for other in (FISHER, LAPLACIAN)] for n, l in cells])
    computed, half = gains[..., 0], gains[..., 1]
    section.beside(
        "set, l",
        ["less Fisher", "less Laplacian"],
        [*(f"{n}, {l}" for n, l in cells), "average"],
        [*(TABLE_2[cell] for cell in cells), TABLE_2_AVERAGE],
        [*computed, computed.mean(axis=0)],
        digits=4,
    )
    section.text(f"""
Averages over 5 to 50 features and {results.plan.n_draws} draws. The 95 % band of a difference over the draws is on
average ±{half[:, 0].mean():.3f} against Fisher and ±{half[:, 1].mean():.3f} against the Laplacian score; it
contains zero for {_names(cells, np.abs(computed[:, 0]) <= half[:, 0]) or "no cell"} against Fisher and for
{_names(cells, np.abs(computed[:, 1]) <= half[:, 1]) or "no cell"} against the Laplacian score.""")
    for at, other in enumerate((FISHER, LAPLACIAN)):
        right = computed[:, at] > 0
        section.finding(
            f"table-2-{other.lower()}",
            f"Table 2: sSelect beats {other} on average over the numbers of features, on every set and for every l",
            right.all(),
            f"{right.sum()} of {right.size} signs as printed"
            + ("" if right.all() else f"; not {_names(cells, ~right)}")
            + f"; from {computed[:, at].min():+.4f} to {computed[:, at].max():+.4f}",
        )
    average = computed.mean(axis=0)
    section.text(f"""
On average the gain is {average[0] / TABLE_2_AVERAGE[0]:.0%} of the printed one over Fisher and
{average[1] / TABLE_2_AVERAGE[1]:.0%} over the Laplacian score. We do not know why it is smaller: the vocabularies
differ, and with so few labels many terms have equal Fisher scores, whose order the paper does not give.""")
    section.finding(
        "table-2-average",
        "Table 2: the average gain is larger over the Laplacian score than over Fisher, and both are positive",
        average[1] > average[0] > 0,
        f"{average[0]:+.4f} over Fisher (printed {TABLE_2_AVERAGE[0]:+.4f}), "
        f"{average[1]:+.4f} over the Laplacian score (printed {TABLE_2_AVERAGE[1]:+.4f})",
    )
    growth = {name: [results.gain(name, LAPLACIAN, l)[0] for l in PAPER_LABELS] for name in results.plan.sets}
    section.finding(
        "table-2-growth",
        "Table 2: the gain over the Laplacian score grows with the number of labels",
        all(np.all(np.diff(values) > 0) for values in growth.values()),
        "; ".join(f"{name} {', '.join(f'{v:+.4f}' for v in values)}" for name, values in growth.items()),
    )


def _shown_labels(section: Section, results: Results) -> None:
    section.heading("The labels that were shown are scored too")
    section.text("""
Algorithm 2 measures accuracy on all rows, those included whose labels the method was shown. This table counts only the
hidden ones: accuracy of sSelect, and its gains, all rows → **hidden rows only**.""")
    cells = [(name, l) for name in results.plan.sets for l in PAPER_LABELS]

    def row(n: str, l: int, hidden: bool) -> list[float]:
        gains = [results.gain(n, other, l, hidden)[0] for other in (FISHER, LAPLACIAN)]
        return [results.level(n, SSELECT, l, hidden), *gains]

    counted, hidden = (np.array([row(n, l, hide) for n, l in cells]) for hide in (False, True))
    columns = ["sSelect", "less Fisher", "less Laplacian"]
    section.beside("set, l", columns, [f"{n}, {l}" for n, l in cells], counted, hidden, digits=4)
    change = np.abs(hidden - counted).max()
    section.finding(
        "shown-labels",
        "Not in the paper: scoring the shown labels too changes neither an accuracy nor a gain by more than .005",
        change <= CLOSE,
        f"largest change {change:.4f}",
    )


def _figure_4(section: Section, results: Results) -> None:
    plan = results.plan
    section.heading("Figure 4: λ, cut value and accuracy on the first 10 features (Algorithm 3)")
    section.text("""
The cut value is the second smallest eigenvalue of the normalised Laplacian of a graph on the selected columns alone.
Which graph is not said. On the 10-neighbour graph of the rest of the paper it is 0 wherever the graph falls apart,
which it often does, and then says nothing; the table gives the mean number of components and the share of draws with a
graph in one piece. (Binary weights: most neighbours are copies at distance 0, and a width taken from them would
vanish.) The full RBF graph with the width of the graph on all features never falls apart in name; a few rows with
extreme counts may still cut themselves off and bring the cut down to zero.""")
    section.figure(
        figures.cut_against_lambda(results),
        "lambda",
        "Cut value on two graphs (small is good) and accuracy (large is good) against λ, first 10 features",
    )
    rows = []
    for name in plan.sets:
        pieces = results.sweep(name, FEW, "n_components")
        for l, counts in zip(PAPER_LABELS, np.moveaxis(pieces, 1, 0), strict=True):
            rows.append([f"{name}, {l}", *(f"{c.mean():.1f} ({np.mean(c == 1):.0%})" for c in counts.T)])
    section.table(["components, set, l", *(f"λ = {lam}" for lam in plan.lambdas)], rows)
    accuracy = {name: results.sweep(name, FEW, "accuracy").mean(axis=0) for name in plan.sets}
    falls = {f"{n} {l}": a[0] - a[-1] for n in plan.sets for l, a in zip(PAPER_LABELS, accuracy[n], strict=True)}
    section.finding(
        "figure-4-large-lambda",
        f"Fig. 4: λ = {plan.lambdas[-1]} is much worse than λ = {LAMBDA}",
        min(falls.values()) > 0.02,
        f"loses {_listed(falls, '.3f')}",
    )
    small = np.array(plan.lambdas) <= 0.3
    short = {
        f"{n} {l}": a.max() - a[small].max() for n in plan.sets for l, a in zip(PAPER_LABELS, accuracy[n], strict=True)
    }
    section.finding(
        "figure-4-region",
        f"Fig. 4: a λ in [.1, .3] is good: within {CLOSE} of the best accuracy of all λ",
        max(short.values()) <= CLOSE,
        f"short of the best by at most {max(short.values()):.4f} ({max(short, key=short.get)})",
    )
    for key, what, graph in (("knn", "cut", "kNN"), ("kernel", "kernel_cut", "full RBF")):
        cuts = {name: results.sweep(name, FEW, what).mean(axis=0).round(9) for name in plan.sets}
        agreement = {name: _agreement(cuts[name], accuracy[name]) for name in plan.sets}
        section.finding(
            f"figure-4-cut-{key}",
            f"Fig. 4: the lower the cut value of the {graph} graph, the higher the accuracy, on every set",
            all(value <= -0.7 for value in agreement.values()),
            f"rank correlation over λ, mean of the three l: {_listed(agreement, '+.2f')}"
            + ("" if all(map(np.isfinite, agreement.values())) else " (–: the cut does not vary)"),
        )
    section.text("""
λ by cut takes the λ with the smallest cut value in each draw: on the kNN graph as `SSelect(lam="auto")` does (among
graphs in one piece where there are any), on the full RBF graph the smallest λ among equals. Chosen λ, mean over the
draws, and the accuracy this gains or loses against λ = .1 on average over the numbers of features:""")
    header, rows = ["set, l", "λ by kNN cut", "gain", "λ by kernel cut", "gain"], []
    gains: dict[str, dict[str, float]] = {BY_CUT: {}, BY_KERNEL: {}}
    for name in plan.sets:
        for l in PAPER_LABELS:
            line = [f"{name}, {l}"]
            for method, found in gains.items():
                found[f"{name} {l}"] = 0.0 - results.gain(name, method, l)[0]
                chosen = [draw.chosen[method, l] for draw in results.draws[name]]
                line += [f"{np.mean(chosen):.2f}", f"{found[f'{name} {l}']:+.4f}"]
            rows.append(line)
    section.table(header, rows)
    for key, method in (("auto-knn", BY_CUT), ("auto-kernel", BY_KERNEL)):
        found = gains[method]
        worst = min(found, key=found.get)
        section.finding(
            key,
            f"Algorithm 3 finds a proper λ: {method} loses no more than {CLOSE} against λ = {LAMBDA}",
            found[worst] >= -CLOSE,
            f"mean {np.mean(list(found.values())):+.4f}, worst {found[worst]:+.4f} ({worst})",
        )


def _figures_5_and_6(section: Section, results: Results) -> None:
    plan = results.plan
    section.heading("Figures 5 and 6: more labels, more features")
    section.text("The paper does not say at how many features Figure 5 is taken; ours averages over all of them.")
    section.figure(
        figures.accuracy_against_labels(results),
        "labels",
        "Accuracy of sSelect against the number of labels, 95 % bands",
    )
    section.figure(
        figures.accuracy_surface(results), "surface", "Accuracy of sSelect against the numbers of labels and features"
    )
    levels = {name: np.array([results.level(name, SSELECT, l) for l in plan.labels]) for name in plan.sets}
    trend = {name: float(spearmanr(plan.labels, values).statistic) for name, values in levels.items()}
    section.finding(
        "figure-5",
        "Fig. 5: the more labels, the better the accuracy, as a trend",
        min(trend.values()) >= 0.7,
        f"rank correlation {_listed(trend, '+.2f')}; from l = {plan.labels[0]} to {plan.labels[-1]} "
        + ", ".join(f"{name} {values[0]:.3f} to {values[-1]:.3f}" for name, values in levels.items()),
    )
    surfaces = {n: np.array([results.curves(n, SSELECT, l).mean(axis=0) for l in plan.labels]) for n in plan.sets}
    short = {name: surface.max() - surface[-1, -1] for name, surface in surfaces.items()}
    section.finding(
        "figure-6",
        "Fig. 6: most labels with most features is the best corner, within .02 of the highest point",
        max(short.values()) <= 0.02,
        f"below the highest point by {_listed(short, '.3f')}",
    )


def _figure_7(section: Section, results: Results) -> None:
    plan, lambdas = results.plan, np.array(results.plan.lambdas)
    section.heading("Figure 7: λ on 200 features, and the two parts of the score")
    section.text("Which set the paper shows is not said; here are all three. Cut values are those of the kNN graph.")
    section.figure(figures.many_features(results), "many", "Accuracy and cut value against λ, first 200 features")
    best = {
        size: np.array([lambdas[results.sweep(n, size, "accuracy").mean(axis=0).argmax(axis=1)] for n in plan.sets])
        for size in (FEW, MANY)
    }
    section.text("The λ of highest accuracy on 200 features, smallest of equals (the printed set is not named):")
    printed = [list(FIGURE_7A.values())] * len(plan.sets)
    section.beside("set", [f"l = {l}" for l in PAPER_LABELS], plan.sets, printed, best[MANY], digits=1)
    larger = np.all(best[MANY] > best[FEW], axis=1)
    falls = np.all(np.diff(best[MANY]) <= 0, axis=1) & (best[MANY][:, -1] < best[MANY][:, 0])
    moves = {
        n: ", ".join(f"{few:.1f} to {many:.1f}" for few, many in zip(*rows, strict=True))
        for n, *rows in zip(plan.sets, best[FEW], best[MANY], strict=True)
    }
    section.finding(
        "figure-7-shift",
        "Fig. 7 (a): with 200 features instead of 10 the best λ is larger, on every set and for every l",
        larger.all(),
        f"on {larger.sum()} of {len(larger)} sets; for l = 2, 6, 10 " + "; ".join(f"{n} {m}" for n, m in moves.items()),
    )
    section.finding(
        "figure-7-labels",
        "Fig. 7 (a): the more labels, the smaller the best λ on 200 features, on every set",
        falls.all(),
        f"on {falls.sum()} of {len(falls)} sets; for l = 2, 6, 10 "
        + "; ".join(
            f"{n} {', '.join(f'{lam:.1f}' for lam in row)}" for n, row in zip(plan.sets, best[MANY], strict=True)
        ),
    )
    section.figure(figures.sorted_scores(results), "scores", "Both parts of eq. 3.8, sorted, l = 2, first draw")
    section.text("Number of terms with each loss 1 - NMI ([ZL] section 4.4.3 and footnote 4), mean over the draws:")
    for l, losses in ((2, LOSSES_2), (10, LOSSES_10)):
        counts = [[_having(results, name, l, loss).mean() for loss in losses] for name in plan.sets]
        columns = [f"l = {l}: {loss:.4f}" for loss in losses]
        section.beside("set", columns, plan.sets, [list(losses.values())] * len(plan.sets), counts, digits=0)
    distinct = {
        (name, l): np.mean([len(np.unique(draw.losses[l].round(9))) for draw in results.draws[name]])
        for name in plan.sets
        for l in (2, 10)
    }
    smooth = {name: len(np.unique(text_set(name, plan.seed).separability.round(9))) for name in plan.sets}
    section.finding(
        "figure-7-discrete",
        "Fig. 7 (c), (d): with two labels the labelled part takes two values only, the unlabelled part a great many",
        all(distinct[name, 2] == 2 and smooth[name] > 1000 for name in plan.sets),
        f"values of the labelled part: 2 for l = 2, "
        f"{_listed({name: distinct[name, 10] for name in plan.sets}, '.1f')} on average for l = 10; "
        f"of the unlabelled part {_listed(smooth)}",
    )
    below = {n: sum(np.sum(draw.losses[10] < 1 - 5e-5) for draw in results.draws[n]) for n in plan.sets}
    printed_below = [loss for loss in LOSSES_10 if loss < 1]
    share = {n: sum(_having(results, n, 10, loss).sum() for loss in printed_below) / below[n] for n in plan.sets}
    section.finding(
        "footnote-4",
        "Footnote 4: with ten labels the five printed losses are those of 98 % of the terms below 1, or more",
        min(share.values()) >= 0.98,
        f"share of those terms {_listed(share, '.2%')}",
    )


def _frequencies(results: Results, method: str) -> dict[str, int]:
    """In how many documents half of a method's first 50 terms occur at most."""
    found = {}
    for name in results.plan.sets:
        text = text_set(name, results.plan.seed)
        scores = text.separability if method == LAPLACIAN else -Variance().evaluate(text.X)
        found[name] = int(np.median((text.X[:, np.argsort(scores)[:50]] > 0).sum(axis=0)))
    return found


def _having(results: Results, name: str, l: int, loss: float) -> np.ndarray:
    """How many terms have that loss to four digits, per draw."""
    return np.array([np.sum(np.abs(draw.losses[l] - loss) < 6e-5) for draw in results.draws[name]])


def _agreement(cuts: np.ndarray, accuracy: np.ndarray) -> float:
    """Rank correlation of cut value and accuracy over λ, mean over l; NaN where a cut does not vary at all."""
    varies = [cut.max() > cut.min() for cut in cuts]
    pairs = zip(cuts, accuracy, strict=True)
    return float(np.mean([spearmanr(*pair).statistic for pair in pairs])) if all(varies) else float("nan")


def _listed(values: dict, form: str = "") -> str:
    return ", ".join(f"{name} {'–' if value != value else format(value, form)}" for name, value in values.items())


def _names(cells: Iterable[tuple[str, int]], chosen: np.ndarray) -> str:
    return ", ".join(f"{n} {l}" for (n, l), taken in zip(cells, chosen, strict=True) if taken)


def _below(cells: list[tuple[str, int]], above: np.ndarray, sizes: tuple[int, ...]) -> str:
    rows = zip(cells, above, strict=True)
    found = {f"{n} {l}": [size for size, up in zip(sizes, row, strict=True) if not up] for (n, l), row in rows}
    return "; ".join(f"{cell} at {', '.join(map(str, at))}" for cell, at in found.items() if at)
