"""The ranking on all rows of a table of which the page shows a sample: in the background, with progress and cancel."""

from __future__ import annotations

import threading

from ..data.work import Run
from ..errors import ParameterError
from .answers import Known
from .live import Live, Ranked, Settings
from .state import Message, State, significant


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

    def __init__(self, live: Live, settings: Settings, known: Known, supervision: Message):
        self.ranked: Ranked | None = None
        self.stage, self.done, self.total = "waiting", 0, 1
        self.error: str | None = None
        self.cancelled = False
        work = (live, settings, known, supervision)
        self._thread = threading.Thread(target=self._run, args=work, daemon=True, name="fiedler-final")
        self._thread.start()

    @property
    def running(self) -> bool:
        """Whether a result is still expected."""
        return self.ranked is None and self.error is None and not self.cancelled

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the thread has ended, at most for some seconds."""
        self._thread.join(seconds)

    def to_json(self) -> Message:
        """The progress as plain data."""
        return {name: getattr(self, name) for name in ("running", "cancelled", "stage", "done", "total", "error")}

    def _run(self, live: Live, settings: Settings, known: Known, supervision: Message) -> None:
        try:
            with Run(self._blocks):
                told = live.problem.with_supervision(**supervision)
                recipes = [recipe for recipe in settings.criterion().recipes() if not recipe.supervised]
                recipes = [] if known.banned else recipes  # without some columns the graphs are others
                self.total = len(recipes) + 1
                for self.done, recipe in enumerate(recipes):
                    self.stage = f"graph {recipe!r}"
                    self._check()
                    told.graph(recipe)
                self.stage, self.done = "scores", len(recipes)
                self._check()
                found = live.rank(settings, known, supervision)
                self._check()
        except _Cancelled:
            return
        except Exception as error:  # shown on the page: nobody looks at the thread
            self.error = str(error) or type(error).__name__
            return
        self.done, self.error = self.total, found.trouble
        self.ranked = found if found.trouble is None else None

    def _blocks(self, done: float, total: int, what: str) -> None:
        self.stage = f"{what}: {int(done)} of {total}"
        self._check()

    def _check(self) -> None:
        if self.cancelled:
            raise _Cancelled


def start(state: State) -> Message:
    """Start a ranking on all rows."""
    if state.final is not None and state.final[1].running:
        raise ParameterError("a ranking on all rows is running; cancel it first.")
    live = Live(state.problem.with_supervision(), state.scale)
    state.final = state.revision, Final(live, state.settings, state.known, state.supervision())
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
    state.final[1].cancelled = True  # it stops at the end of its step
    return status(state)
