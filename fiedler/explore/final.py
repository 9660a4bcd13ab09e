"""The ranking on all rows of a table of which the page shows a sample: in the background, with progress and cancel."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..data.work import Run
from ..errors import ParameterError
from .answers import Known
from .live import Live, Ranked, Settings
from .plain import significant
from .state import Message, State


class _Cancelled(Exception):  # noqa: N818 - it reports no error
    """The ranking was cancelled."""


class Final:
    """A ranking on all rows in a thread of its own.

    Progress counts the graphs of the method and the fit. Data that are read in blocks also report their blocks. After a
    cancel the thread stops at the end of its step, and its result is dropped.

    Parameters
    ----------
    live : Live
        Rankings of all rows.
    settings : Settings
        Method, λ, number of neighbours and of features.
    known : Known
        The answers.
    supervision : dict
        Labels and pairs of all rows, as arguments of a fit.
    """

    def __init__(self, live: Live, settings: Settings, known: Known, supervision: dict[str, Any]):
        self.ranked: Ranked | None = None
        self.stage, self.done, self.total = "waiting", 0, 1
        self.error: str | None = None
        self._cancelled = threading.Event()
        work = (live, settings, known, supervision)
        self._thread = threading.Thread(target=self._run, args=work, daemon=True, name="fiedler-final")

    def start(self) -> Final:
        """Start the thread.

        Returns
        -------
        self : Final
            This object.
        """
        self._thread.start()
        return self

    @property
    def running(self) -> bool:
        """Whether a result is still expected."""
        return self.ranked is None and self.error is None and not self._cancelled.is_set()

    @property
    def cancelled(self) -> bool:
        """Whether the ranking was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Stop at the end of the current step, and drop the result."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the thread has ended.

        Parameters
        ----------
        seconds : float, optional
            Longest time to wait.
        """
        self._thread.join(seconds)

    def to_json(self) -> dict[str, Any]:
        """The progress as plain data.

        Returns
        -------
        status : dict
            ``running``, ``cancelled``, ``stage``, ``done``, ``total`` and ``error``.
        """
        names = ("running", "cancelled", "stage", "done", "total", "error")
        return {name: getattr(self, name) for name in names}

    def _run(self, live: Live, settings: Settings, known: Known, supervision: dict[str, Any]) -> None:
        try:
            with Run(self._blocks):
                steps: list[tuple[str, Callable[[], Any]]] = []
                told = live.problem.with_supervision(**supervision)
                if not known.banned:  # without some columns the graphs are others
                    for recipe in settings.criterion().recipes():
                        if not recipe.supervised:
                            steps.append((f"graph {recipe!r}", lambda recipe=recipe: told.graph(recipe)))  # type: ignore[misc]
                found: list[Ranked] = []
                steps.append(("scores", lambda: found.append(live.rank(settings, known, supervision))))
                self.total = len(steps)
                for at, (name, work) in enumerate(steps):
                    self.stage, self.done = name, at
                    self._check()
                    work()
                self._check()
        except _Cancelled:
            return
        except Exception as error:  # shown on the page: nobody looks at the thread
            self.error = str(error) or type(error).__name__
            return
        self.done = self.total
        if found[0].trouble is not None:
            self.error = found[0].trouble
        else:
            self.ranked = found[0]

    def _blocks(self, done: float, total: int, what: str) -> None:
        self.stage = f"{what}: {int(done)} of {total}"
        self._check()

    def _check(self) -> None:
        if self._cancelled.is_set():
            raise _Cancelled


def start(state: State) -> Message:
    """Start a ranking on all rows."""
    if state.final is not None and state.final[1].running:
        raise ParameterError("a ranking on all rows is running; cancel it first.")
    live = Live(state.problem.with_supervision(), state.scale)
    work = Final(live, state.settings, state.known, state.supervision())
    state.final = state.revision, work.start()
    return status(state)


def status(state: State) -> Message:
    """How far it is, and the ranking at the end."""
    if state.final is None:
        raise ParameterError("no ranking on all rows was started.")
    revision, work = state.final
    reply = {"type": "final", "current": revision == state.revision, "ranking": None, **work.to_json()}
    if work.ranked is not None:
        order = work.ranked.order
        agreeing = len(set(work.ranked.selected.tolist()) & set(state.ranked.selected.tolist()))
        found = {"order": order.tolist(), "n_selected": work.ranked.n_selected, "n_shared": agreeing}
        reply["ranking"] = found | {"scores": significant(work.ranked.scores[order])}
    return reply


def cancel(state: State) -> Message:
    """Drop the ranking on all rows."""
    if state.final is None:
        raise ParameterError("no ranking on all rows was started.")
    state.final[1].cancel()
    return status(state)
