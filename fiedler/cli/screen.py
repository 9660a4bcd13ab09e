"""What the command line shows: results on stdout, everything else as single lines on stderr.

A result is a rich table in a terminal and CSV in a pipe. Warnings of the library become notes; every failure is one
line and an exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted. ``FIEDLER_TRACEBACK=1`` shows where it failed.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from click.exceptions import NoArgsIsHelpError

from ..errors import Mentions

_SECONDS_BETWEEN_LINES, _LONGEST = 10.0, 80  # of progress in a pipe; characters of a cell in a terminal
_SECONDS_UNSHOWN = 0.5  # a step shows no percentage before, because most steps are shorter
# The flags of the command line by the parameters they set.
_FLAGS = {"y": "--target or --labels", "n_features_to_select": "--top", "n_features": "--features"}
_FLAGS |= {"criterion": "--method", "blocks": "--block", "depth": "--depth"}
_FLAGS |= {"n_labels": "--shown", "n_draws": "--draws", "metrics": "--metric", "most_rows": "--rows"}
_ALIKE = ["redundancy", "include", "alpha", "scale", "judge", "estimator", "must_link", "cannot_link", "unlabeled"]
_ALIKE += ["impute", "force", "header", "numeric_only", "drop", "skip_rows", "transpose", "sheet", "layer", "memory"]
_FLAGS |= {name: f"--{name.replace('_', '-')}" for name in (*_ALIKE, "session", "port", "image")}


# What the library says to users of Python, and what one types instead.
_TYPED = {
    "set screen=None": "use --screen none",
    "raise alpha": "raise --alpha",
    "raise redundancy": "raise --redundancy",
    "use n_permutations=999 to test it by permutations": "use --stability 50 without --significance",
    "omit these columns, or check them with n_permutations=999": "leave these columns out with --drop",
    "KNN(metric='cosine') for counts, or n_permutations=999": "or -m 'laplacian[graph=knn[metric=cosine]]' for counts",
    "test LaplacianScore() instead": "test -m laplacian instead",
    "graph=Anchors()": "graph=anchors",
    "Use Anchors() to choose its parameters, or use algorithm='exact' or 'approximate'": "Use -m "
    "'laplacian[graph=anchors]' to choose its parameters, or -m 'laplacian[graph=knn[algorithm=exact]]'",
    "Use Anchors() or algorithm='exact'": "Use -m 'laplacian[graph=anchors]' or -m "
    "'laplacian[graph=knn[algorithm=exact]]'",
    "but y holds": "but --target or --labels holds",
    "encode y as": "encode them as",
    "bin y into": "bin them into",
}


def in_flags(message: Any) -> str:
    """A message of the library with the flags of the command line in place of the parameters it names."""
    text = str(message)
    if isinstance(message, Mentions):
        for words, (name, value) in message.way_out.items():
            verb = "use " * words.startswith(("drop ", "pass "))
            text = text.replace(words, verb + _flag(name, value))
        for name in (message.parameter,) if isinstance(message.parameter, str) else message.parameter:
            if name in _FLAGS:
                # Names that are words as well, such as scale, are names where a value or a demand follows.
                follows = r"\b" if "_" in name else "(?==| must )"
                text = re.sub(rf"(?<![\w-]){name}{follows}", _FLAGS[name], text)
    for said, typed in _TYPED.items():
        text = text.replace(said, typed)
    context = click.get_current_context(silent=True)
    if context is not None and not any("--alpha" in option.opts for option in context.command.params):
        text = text.replace("raise --alpha, or ", "").replace("at --alpha=", "at a false discovery rate of ")
    return text


def _flag(name: str, value: Any) -> str:
    """A setting as one types it."""
    flag = _FLAGS[name]
    if value is True or value is ...:
        return flag
    if value is False:
        return f"--no-{flag[2:]}"
    values = value if isinstance(value, (list, tuple)) else ["none" if value is None else value]
    return " ".join(f"{flag} {shlex.quote(str(each))}" for each in values)


class Commands(click.Group):
    """A group of commands whose failures are one line on stderr."""

    def main(self, *args: Any, **extra: Any) -> Any:
        extra["standalone_mode"], failure, code = False, "", 0
        try:
            if sys.stdout is None or sys.stdout.closed:
                raise OSError("standard output is closed; use --out to name a file.")
            code = super().main(*args, **extra)
        except (click.Abort, KeyboardInterrupt):
            failure, code = "interrupted", 130
        except NoArgsIsHelpError as error:
            error.show()  # the whole help, not a line of it
            code = error.exit_code
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "fiedler"
            failure, code = f"{error.format_message()} (see {command} --help)", 2
        except click.ClickException as error:
            failure, code = error.format_message(), error.exit_code
        except Exception as error:
            if os.environ.get("FIEDLER_TRACEBACK"):
                raise
            failure, code = in_flags(error), 1
            if isinstance(error, OSError) and error.strerror:
                failure = f"{error.filename}: {error.strerror.lower()}" if error.filename else error.strerror.lower()
            elif isinstance(error, MemoryError):
                failure = f"not enough memory{': ' + failure if failure else ''}"
            elif not isinstance(error, (ValueError, TypeError, OSError, ImportError)):  # it is not meant for users
                name = type(error).__name__
                failure = f"internal error, {name}: {failure}; FIEDLER_TRACEBACK=1 shows where"
        if failure:
            click.echo(f"fiedler: {one_line(failure)}", err=True)
        sys.exit(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order they are written


def one_line(text: Any) -> str:
    """Text on one line without control characters, so that a hostile name cannot drive the terminal."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(str(text).split()))


class Screen:
    """Notes and progress on stderr, results on stdout."""

    def __init__(self, quiet: bool = False):
        self.quiet = quiet
        self._console: Any = None
        self._said: set[str] = set()

    def note(self, text: Any) -> None:
        """One line on stderr, once."""
        line = f"note: {one_line(text)}"
        if self.quiet or line in self._said:
            return
        self._said.add(line)
        if self._console is not None:  # above the line that is being redrawn
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            click.echo(line, err=True)

    def done(self, text: str) -> None:
        if not self.quiet:
            click.echo(one_line(text), err=True)

    @contextmanager
    def progress(self, text: str) -> Iterator[Any]:
        """What shows ``move(done, total, what)``: a bar in a terminal, a line now and then elsewhere.

        Work counts to its end in several steps; their number is not known in advance.
        """
        if self.quiet:
            yield None
            return
        text, bar, said = one_line(text), None, time.monotonic()
        step, begun, last = 0, (said, 0.0), (1.0, 0, "")  # its number, when and where it began, what was told last

        def move(done: float, total: int, what: str = "") -> None:
            nonlocal said, step, begun, last
            now = time.monotonic()
            if done < last[0] or (total, what) != last[1:]:  # what an earlier run has done of a step took no time
                step, begun = step + 1, (now, done)
            last = done, total, what
            seconds, new = now - begun[0], done - begun[1]
            left = seconds / new * (total - done) if new else None
            if bar is not None:
                task, unshown = bar.tasks[0], done >= total or seconds < _SECONDS_UNSHOWN
                task.total, task.completed = None if unshown else total, done
                task.description = text if unshown or not what else f"{text}, {what}"
                task.fields["ends"] = None if unshown or left is None else now + left
            elif now - said >= _SECONDS_BETWEEN_LINES:
                said = now
                where = f"step {step}" + f" ({what})" * bool(what)
                ends = "" if left is None else f", {time_left(left)} in this step"
                click.echo(f"{text}, {where}: {int(100 * done / max(total, 1))} %{ends}", err=True)

        if not sys.stderr.isatty():
            yield move
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn
        from rich.text import Text

        class Left(ProgressColumn):
            """The time left at the moment it is drawn; the column of rich stands still between two moves."""

            def render(self, task: Any) -> Any:
                ends = task.fields["ends"]
                return Text("" if ends is None else time_left(max(0.0, ends - time.monotonic())))

        columns = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), Left()
        self._console = Console(stderr=True)
        try:
            with Progress(*columns, console=self._console, transient=True) as bar:
                bar.add_task(text, total=None, ends=None)
                yield move
        finally:
            self._console = None

    @contextmanager
    def watching(self, text: str, folder: Any = None, fingerprint: str = "") -> Iterator[Any]:
        """Show the progress of everything that the library counts inside the block; a folder keeps finished blocks."""
        from ..data.work import Run

        with self.progress(text) as move, Run(move, folder, fingerprint) as run:
            yield run

    def warned(self, message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        """A warning meant for users as a note; one for developers is not shown."""
        if issubclass(category, (UserWarning, RuntimeWarning)):
            self.note(in_flags(message))

    def table(self, columns: dict[str, Any], title: str = "", top: int | None = None) -> None:
        """Columns as a table in a terminal, as CSV in a pipe."""
        if not sys.stdout.isatty():
            from ..data.labels import ranking_text

            click.echo(ranking_text(columns), nl=False)
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        shown = Table(box=None, header_style="bold", pad_edge=False)
        for name, values in columns.items():
            numeric = getattr(values, "dtype", None) is not None and values.dtype.kind in "iuf"
            shown.add_column(name, justify="right" if numeric else "left", overflow="fold")
        rows = list(zip(*columns.values(), strict=True))
        for row in rows[:top]:
            cells = [
                "" if value != value else f"{value:.6g}" if isinstance(value, float) else str(value) for value in row
            ]
            lines = [map(one_line, cell.split("\n")) for cell in cells]
            short = [[line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in cell] for cell in lines]
            shown.add_row(*(Text("\n".join(cell)) for cell in short))
        console = Console()
        if title:
            console.print(Text(one_line(title), style="italic"))
        console.print(shown)
        if top is not None and len(rows) > top:
            console.print(f"... {len(rows) - top} more; --top or --out shows them", style="dim", highlight=False)


def time_left(seconds: float) -> str:
    """A duration in words, as roughly as it is known."""
    if seconds < 90:
        tens = 10 * round(seconds / 10)
        return f"about {tens} s left" if tens > 10 else "a few seconds left"
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes < 90 else f"about {round(minutes / 60)} h left"
