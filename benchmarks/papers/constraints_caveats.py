"""What the paper's conclusions rest on: a factor that never changes, a width that is not printed, a scale."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .constraints_runs import COLON, PROBE, SCORES, SETS, WIDTHS, Results
from .page import Section, number


def what_kendall_measures(section: Section, results: Results) -> None:
    """Kendall's coefficient of C4 with its graph factor as it is, shuffled, and at other widths."""
    section.heading("What Kendall's coefficient measures")
    section.text(
        "C4 is C1 times a Laplacian score that is the same in every run, so its rankings agree more than those of C1, "
        f"whatever that factor knows. Two checks, at {PROBE} constraints. First, the values of the factor are given to "
        f"the wrong features (shuffled C4, mean of {results.effort.n_shuffles} shuffles): the coefficient is still "
        "above K1. Second, what a user notices is which features are chosen: the overlap of the first k between two "
        "runs, corrected for chance (Kuncheva's index; 0 is what random choices give)."
    )
    rows, columns = [], [*SCORES, "shuffled C4"]
    for s in SETS:
        cell, (kendall, overlap) = results.cells[s, 0, PROBE], results.shuffled[s]
        rows.append([f"{s.title} (k = {s.top})", *map(number, [*cell.kendall, kendall, *cell.overlap, overlap])])
    section.table(["data set", *(f"K, {c}" for c in columns), *(f"overlap, {c}" for c in columns)], rows)

    first, fourth = ({s: results.cells[s, 0, PROBE].kendall[v] for s in SETS} for v in (0, 3))
    shuffled = {s: results.shuffled[s][0] for s in SETS}
    kept = {s: (shuffled[s] - first[s]) / (fourth[s] - first[s]) for s in SETS}
    section.finding(
        "kendall-factor",
        "Ours: C1 times a fixed factor that knows nothing has a higher coefficient than C1, on every set",
        all(shuffled[s] > first[s] for s in SETS),
        "share of the gain of K4 over K1 that is left when its factor is shuffled: "
        + ", ".join(f"{s.title} {share:.0%}" for s, share in kept.items()),
    )
    colon = results.cells[COLON, 0, PROBE]
    section.finding(
        "kendall-colon",
        "Ours: on Colon Cancer K4 is far above K1, but the first 20 genes agree no better (by more than 0.05)",
        colon.kendall[3] > 1.5 * colon.kendall[0] and colon.overlap[3] - colon.overlap[0] < 0.05,
        f"K1, K4: {spaced(colon.kendall[[0, 3]])}; overlap: {spaced(colon.overlap[[0, 3]])}",
    )
    _widths(section, results)


def _widths(section: Section, results: Results) -> None:
    section.text(
        "The width t decides K4, too: where it spreads the values of the Laplacian score wider, that factor has more "
        f"say in C4. K4 by t in median distances, and the best of K1 to K3, at {PROBE} constraints:"
    )
    rows = [
        [s.title, *map(number, results.widths[s, PROBE]), number(results.cells[s, 0, PROBE].kendall[:3].max())]
        for s in SETS
    ]
    section.table(["data set", *(f"t = {width:g}" for width in WIDTHS), "best of K1 to K3"], rows)
    section.text(
        "The spread of the factor (standard deviation of its logarithm over the features) and, in brackets, the share "
        "of a row's degree that comes from other rows. Where that share is near 0 the graph joins nothing: the widths "
        "at which K4 leads on the gene expressions are such widths."
    )
    rows = [[s.title, *(f"{a:.2f} ({b:.3f})" for a, b in results.width_facts[s].T)] for s in SETS]
    section.table(["data set", *(f"t = {width:g}" for width in WIDTHS)], rows)
    highest = {width: [] for width in WIDTHS}
    for s in SETS:
        k4 = np.array([results.widths[s, n] for n in results.effort.counts(s)])
        above = (k4 > results.kendall(s)[:, :3].max(axis=1, keepdims=True)).all(axis=0)
        for width, is_highest in zip(WIDTHS, above, strict=True):
            highest[width] += [s.title] * bool(is_highest)
    section.finding(
        "kendall-width",
        "Ours: whether K4 is the highest depends on the width, which the paper does not print",
        len({tuple(titles) for titles in highest.values()}) > 1,
        "the highest at every number of constraints: "
        + "; ".join(f"t = {width:g} on {', '.join(titles) or 'no set'}" for width, titles in highest.items()),
    )


def scale_of_c2(section: Section, results: Results) -> None:
    """C1, C2 and C4 on the same runs, features rescaled."""
    section.heading("C2 depends on the scale of the features")
    section.text(
        "C1, C3 and C4 are ratios, C2 is a difference of energies: multiplying a feature by 10 multiplies its C2 by "
        f"100. The same runs ({PROBE} constraints, graph of the features in [0, 1]) on the features in their own units "
        "and at unit variance: Kendall's coefficient of C2, and the mean rank correlation with the rankings on [0, 1]."
    )
    rows, scales = [], ("own units", "unit variance")
    for s in SETS:
        by_scale = [results.rescaled[s, scale] for scale in scales]
        k2 = [results.cells[s, 0, PROBE].kendall[1], *(found.kendall[1] for found in by_scale)]
        same = np.array([found.same_ranks for found in by_scale])
        rows.append([s.title, *map(number, [*k2, *same[:, 1], same[:, [0, 2]].min()])])
    header = [*(f"K2, {scale}" for scale in ("[0, 1]", *scales)), *(f"same ranks, C2, {scale}" for scale in scales)]
    section.table(["data set", *header, "same ranks, C1 and C4, both"], rows)
    kept = np.array([results.rescaled[s, scale].same_ranks for s in SETS for scale in scales])
    section.finding(
        "c2-scale",
        "Ours: C1 and C4 keep their rankings when features are rescaled, C2 does not",
        kept[:, [0, 2]].min() > 1 - 1e-9 and kept[:, 1].max() < 0.999,
        f"rank correlation: C1 at least {kept[:, 0].min():.4f}, C4 {kept[:, 2].min():.4f}, C2 from "
        f"{kept[:, 1].min():.2f} to {kept[:, 1].max():.2f}",
    )


def spaced(values: Iterable[float], digits: int = 3) -> str:
    """Numbers in a line of evidence."""
    return " ".join(number(value, digits) for value in values)
