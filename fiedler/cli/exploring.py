"""The command ``fiedler explore``: a session on a table in a file, its session file, and the page in a browser."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from .screen import Screen


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
    redirect: list[Path] = []

    def opened(address: str) -> None:
        click.echo(f"The page is open at {address}")
        screen.done(f"Answers are kept in {kept.path}. Close the page or press Ctrl-C to end.")
        if not options["no_browser"]:
            redirect.append(_redirect(address))
            threading.Thread(target=webbrowser.open, args=(redirect[0].as_uri(),), daemon=True).start()

    try:
        serve(session, port=options["port"], save=kept.save, opened=opened)
    except KeyboardInterrupt:
        pass  # the usual end; every answer is on disk
    finally:
        for path in redirect:
            path.unlink(missing_ok=True)
    screen.done(f"{len(session.answers)} answers are in {kept.path}")


def _redirect(address: str) -> Path:
    """A file for this user only that leads to the address: the command line of a browser is visible to all users."""
    handle, name = tempfile.mkstemp(prefix="fiedler-", suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">')
    return Path(name)
