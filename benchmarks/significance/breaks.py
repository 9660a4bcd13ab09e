"""What breaks exchangeability, how badly, whether it is noticed, and what repairs it."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np

from fiedler.evaluate import significance

from ..papers.page import Section
from .noise import generator, rejected, shares

N, M, BLOCK = 200, 500, 10


def correlated(rng: np.random.Generator, rho: float) -> np.ndarray:
    """Blocks of ten noise columns that share a share rho of their variance."""
    shared = np.repeat(rng.standard_normal((N, M // BLOCK)), BLOCK, axis=1)
    return np.sqrt(rho) * shared + np.sqrt(1 - rho) * rng.standard_normal((N, M))


def autoregressive(rng: np.random.Generator, phi: float, every: int = 1) -> np.ndarray:
    """Noise whose rows follow each other in time, AR(1); of a longer series one row in ``every``."""
    X = rng.standard_normal((N * every, M))
    for i in range(1, len(X)):
        X[i] = phi * X[i - 1] + np.sqrt(1 - phi**2) * X[i]
    return X[::every]


def counts(rng: np.random.Generator, spread: float) -> np.ndarray:
    """Poisson counts of independent features in rows of unequal size."""
    return rng.poisson(rng.lognormal(0.0, spread, size=(N, 1)) * rng.uniform(0.5, 3.0, size=M)).astype(float)


def shares_of_total(X: np.ndarray) -> np.ndarray:
    totals = X.sum(axis=1, keepdims=True)
    return np.log1p(X / totals * np.median(totals))


def measure(quick: bool) -> list[dict]:
    blocks, draws = np.arange(M) // BLOCK, 1 if quick else 4
    cases: list[tuple[str, Any, dict]] = [
        ("blocks of 10 columns, correlation .3", lambda rng: correlated(rng, 0.3), {}),
        ("the same, blocks as `groups`", lambda rng: correlated(rng, 0.3), {"groups": blocks}),
        ("blocks of 10 columns, correlation .8", lambda rng: correlated(rng, 0.8), {}),
        ("the same, blocks as `groups`", lambda rng: correlated(rng, 0.8), {"groups": blocks}),
        ("rows in time, AR(1) .3", lambda rng: autoregressive(rng, 0.3), {}),
        ("rows in time, AR(1) .9", lambda rng: autoregressive(rng, 0.9), {}),
        ("the same, every 40th row of a longer series", lambda rng: autoregressive(rng, 0.9, 40), {}),
        ("counts, row totals spread .5", lambda rng: counts(rng, 0.5), {}),
        ("the same, log of shares of the total", lambda rng: shares_of_total(counts(rng, 0.5)), {}),
    ]
    found = []
    for name, draw, options in cases:
        p, said = [], set()
        for number in range(draws):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                p.append(significance("laplacian", draw(generator("breaks", number)), n_repeats=1, **options).pvalues)
            said |= {_word(str(w.message)) for w in caught} - {""}
        found.append({"name": name, "ours": rejected(np.concatenate(p)), "said": sorted(said)})
    return found


def _word(message: str) -> str:
    words = {"share structure": "shared structure", "follow each other": "order of rows", "row totals": "row totals"}
    return next((word for part, word in words.items() if part in message), "")


def section(rows: list[dict]) -> Section:
    made = Section("breaks", "5. What breaks it")
    made.text(
        f"All features are noise, {N} rows and {M} columns, but values are not exchangeable: columns share noise, "
        "rows follow each other in time, or rows have sizes. Shares rejected at one dealing, and what `significance` "
        "warns of."
    )
    table = [[r["name"], *shares(r["ours"]), ", ".join(r["said"]) or "–"] for r in rows]
    made.table(["noise", ".05", ".01", ".001", "warns of"], table)
    made.text(
        "- **Columns that share noise** are structure to a graph: probes of one gene, pixels side by side, lags of one "
        "series. Name such blocks in `groups`; then nobody in a block builds the graph the block is tested on.\n"
        "- **Rows in time or in batches** are alike in every feature. No dealing of features helps: take rows far "
        "enough apart, or test against a target.\n"
        "- **Size factors**: counts follow the total of their row. Divide by it first."
    )
    by_name = [(r["name"], r["ours"][0]) for r in rows]
    repaired = [(before, after) for (_, before), (name, after) in pairwise(by_name) if "same" in name]
    made.finding(
        "repair",
        "groups, thinned rows and shares of the total bring .05 to at most .08",
        all(after <= 0.08 for _, after in repaired),
        "; ".join(f"{before:.2f} to {after:.3f}" for before, after in repaired),
    )
    return made
