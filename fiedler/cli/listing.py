"""``fiedler methods``: a line per method, read off the classes themselves, so that it cannot disagree with them."""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

import numpy as np

from .. import registry
from ..methods import METHODS, Method
from ..papers import PAPERS
from ..selector import SpectralSelector
from ..words import did_you_mean, direction

_NEEDS = {"classes": "class labels", "target": "real target", "pairs": "pairs or class labels"}
_SENTENCE = re.compile(r"\.(?: (?=[A-Z])|$)|; see ")


def columns(stacked: bool = False) -> dict[str, list[str]]:
    """Name, meaning, formula, needs, direction and paper of every method; meaning over formula when stacked."""
    rows = [_row(entry) for entry in registry.METHODS]
    names = ("method", "score", "formula", "needs", "direction", "paper")
    found = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    if stacked:
        found["score"] = [f"{s}\n{f}".rstrip() for s, f in zip(found["score"], found.pop("formula"), strict=True)]
    return found


def _row(entry: registry.Entry) -> tuple[str, ...]:
    method = METHODS[entry.name]()
    score = (inspect.getdoc(type(method)) or "").partition("\n")[0].replace(f" ({entry.equation})", "")
    formula = repr(method.formula()) if isinstance(method, Method) else ""
    needs = " and ".join(_NEEDS[kind] for kind in sorted(method.reads)) or "nothing"
    good = direction(method.greater_is_better)
    return entry.name, _SENTENCE.split(score)[0], formula, needs, good, entry.equation


def legend() -> None:
    """What the papers' short names stand for, below the table in a terminal."""
    if sys.stdout.isatty():
        print("\nPapers: " + "; ".join(map(str, PAPERS.values())) + ".")


def explain(name: str) -> str:
    """Signature and documentation of one method."""
    if name not in METHODS:
        raise ValueError(f"{name!r} is not a method; {did_you_mean(name, METHODS)}Known: {', '.join(METHODS)}.")
    cls = METHODS[name]
    parameters = ",".join(f"{p}={info.default}" for p, info in inspect.signature(cls).parameters.items())
    return f"{name}[{parameters}]\n\n{inspect.getdoc(cls)}"


def demo_ranking() -> dict[str, Any]:
    """Breast cancer with the first five labels of each class."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    few = np.full(len(data.target), -1)
    for label in (0, 1):
        few[np.flatnonzero(data.target == label)[:5]] = label
    selector = SpectralSelector("sselect", scale="standard").fit(data.data, few)
    order = selector.order_
    return {"feature": data.feature_names[order], "score": selector.scores_[order], "rank": selector.ranking_[order]}
