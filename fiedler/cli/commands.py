"""What ``fiedler methods``, ``demo`` and ``explore`` do: a list read off the classes, an example, the page."""

from __future__ import annotations

import inspect
import os
import re
import sys
import tempfile
import threading
import webbrowser
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from ..words import did_you_mean, direction
from .screen import Screen

_NEEDS = {"classes": "class labels", "target": "real target", "pairs": "pairs or class labels"}
_SENTENCE = re.compile(r"\.(?: (?=[A-Z])|$)|; see ")


# -------------------------------------------------------------------- methods and demo


def list_methods(screen: Screen) -> None:
    """A line per method: name, meaning, formula, needs, direction and paper."""
    from .. import registry
    from ..methods import METHODS, Method
    from ..papers import PAPERS

    terminal, rows = sys.stdout.isatty(), []
    for entry in registry.METHODS:
        method = METHODS[entry.name]()
        score = (inspect.getdoc(type(method)) or "").partition("\n")[0].replace(f" ({entry.equation})", "")
        formula = repr(method.formula()) if isinstance(method, Method) else ""
        needs = " and ".join(_NEEDS[kind] for kind in sorted(method.reads)) or "nothing"
        score = _SENTENCE.split(score)[0]
        about = [f"{score}\n{formula}".rstrip()] if terminal else [score, formula]
        rows.append((entry.name, *about, needs, direction(method.greater_is_better), entry.equation))
    names = ("method", "score", *["formula"] * (not terminal), "needs", "direction", "paper")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    screen.table(columns, "'fiedler methods NAME' explains one")
    if terminal:
        print("\nPapers: " + "; ".join(map(str, PAPERS.values())) + ".")


def explain(name: str) -> str:
    """Signature and documentation of one method."""
    from ..methods import METHODS

    if name not in METHODS:
        raise ValueError(f"{name!r} is not a method; {did_you_mean(name, METHODS)}Known: {', '.join(METHODS)}.")
    cls = METHODS[name]
    parameters = ",".join(f"{p}={info.default}" for p, info in inspect.signature(cls).parameters.items())
    return f"{name}[{parameters}]\n\n{inspect.getdoc(cls)}"


def demo_ranking() -> dict[str, Any]:
    """Breast cancer with the first five labels of each class."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    from ..selector import SpectralSelector

    data = load_breast_cancer()
    few = np.full(len(data.target), -1)
    for label in (0, 1):
        few[np.flatnonzero(data.target == label)[:5]] = label
    selector = SpectralSelector("sselect", scale="standard").fit(data.data, few)
    order = selector.order_
    return {"feature": data.feature_names[order], "score": selector.scores_[order], "rank": selector.ranking_[order]}


# -------------------------------------------------------------------- explore


def check_early(data: str, options: dict[str, Any]) -> None:
    """What can be known to fail before any file is read."""
    if options["target"] is not None and options["labels"] is not None:
        raise click.UsageError("--target and --labels both give the labels; choose one.")
    for module in ("starlette", "uvicorn"):
        if sys.modules.get(module, ()) is None or find_spec(module) is None:
            raise ImportError(f"fiedler explore needs {module}; install it with: pip install 'fiedler[explore]'")
    if options["session"] is not None and os.path.realpath(options["session"]) == os.path.realpath(data):
        raise click.UsageError(f"--session {options['session']} is {data}; answers never replace their own data.")


def explore(data: str, job: Any, criterion: Any, screen: Screen) -> None:
    """Serve the page until it is closed."""
    from ..explore import Origin, Session
    from ..explore.saving import SessionFile, default_file
    from ..explore.server import serve

    options = job.options
    with screen.watching("ranking"):
        session = Session(
            job.problem,
            job.y,
            **job.pairs,
            feature_names=job.table.feature_names,
            row_ids=job.table.row_ids,
            method=criterion,
            n_features=None if options["top"] is None else min(options["top"], job.table.shape[1]),
            unlabeled=job.unlabeled,
            scale="keep",  # the table is scaled as asked, and a note has told of columns that differ
            image=options["image"],
            most_rows=options["rows"],
            origin=Origin(data, options),
        )
        kept = SessionFile(options["session"] or default_file(data))
        found = kept.load(session)
        _ = session.places  # so that the page opens at once
    if found:
        screen.note(f"{len(session.answers)} answers of {kept.path} are used again")
    if session.sampled:
        screen.note(f"{len(session.rows)} of {job.table.shape[0]} rows are shown and ranked live")
    with ExitStack() as stack:

        def opened(address: str) -> None:
            click.echo(f"The page is open at {address}")
            screen.done(f"Answers are kept in {kept.path}. Close the page or press Ctrl-C to end.")
            if not options["no_browser"]:
                path = redirect_file(address)
                stack.callback(path.unlink, missing_ok=True)
                threading.Thread(target=webbrowser.open, args=(path.as_uri(),), daemon=True).start()

        with suppress(KeyboardInterrupt):  # the usual end; every answer is on disk
            serve(session, port=options["port"], save=kept.save, opened=opened)
    screen.done(f"{len(session.answers)} answers are in {kept.path}")


def redirect_file(address: str) -> Path:
    """A file for this user only that leads to the address: the command line of a browser is visible to all users."""
    handle, name = tempfile.mkstemp(prefix="fiedler-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">')
    return Path(name)
