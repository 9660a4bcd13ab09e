"""How far long work has come: loops that may take long count their items, and the active run is told.

    with counting("draws", 20) as count:      # a loop of the library
        for number in range(20):
            ...
            count()

    with Run(progress=print):                 # its caller, see fiedler.data.keep
        ...

A loop inside an item of another loop moves the count of the outer loop by a part of an item. How many inner loops an
item has is not known: the first one counts half of the item, the next one half of the rest, and so on. So the
reported count never falls, and it reaches the total when the outer loop ends. Without a listener nothing is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from threading import Lock, get_ident
from typing import Any

Listener = Callable[[float, int, str], Any]


class Counting:
    """The count of one loop; it may be moved by any thread, and it is reported by the thread that created it."""

    def __init__(self, what: str, total: int, listener: Listener | None, outer: Counting | None):
        self._what, self._total, self._listener, self._outer = what, total, listener, outer
        self._done, self._within, self._told = 0, 0.0, -1.0
        self._lock, self._thread = Lock(), get_ident()

    def __enter__(self) -> Counting:
        self._token: Token = _innermost.set(self)
        self._tell()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        _innermost.reset(self._token)
        if kind is None:
            self.reach(self._total)  # a loop may end early
            if self._outer is not None:
                self._outer._within += (1.0 - self._outer._within) / 2.0

    def __call__(self) -> None:
        """Count one item."""
        with self._lock:
            self._done, self._within = self._done + 1, 0.0
        self._tell()

    def reach(self, done: int) -> None:
        """Set the count, for loops whose items are not finished one by one."""
        with self._lock:
            self._done, self._within = max(done, self._done), 0.0
        self._tell()

    def _tell(self, inner: float = 0.0) -> None:
        """Report the count; ``inner`` is the finished share of the innermost loop of the current item."""
        if get_ident() != self._thread:
            return
        within = self._within + inner * (1.0 - self._within) / 2.0
        position = min(self._done + within, self._total)
        if position <= self._told:
            return
        self._told = position
        if self._outer is not None:
            self._outer._tell(position / self._total if self._total else 1.0)
        elif self._listener is not None:
            whole = int(position)
            self._listener(whole if whole == position else position, self._total, self._what)


class _Silent(Counting):
    """The count of a loop to which nobody listens."""

    def __init__(self) -> None:
        pass

    def __enter__(self) -> Counting:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def __call__(self) -> None:
        pass

    def reach(self, done: int) -> None:
        pass


_SILENT = _Silent()
_innermost: ContextVar[Counting | None] = ContextVar("fiedler_counting", default=None)
_listener: ContextVar[Listener | None] = ContextVar("fiedler_listener", default=None)


def counting(what: str, total: int) -> Counting:
    """A context that counts the items of a loop; calling it counts one item.

    Parameters
    ----------
    what : str
        Name of the items.
    total : int
        Number of items.

    Returns
    -------
    count : Counting
        Reports to the active listener, or to the loop around this one; does nothing if there is neither.
    """
    outer = _innermost.get()
    # A thread of a pool starts without a context, so loops inside it report nothing.
    if outer is None and _listener.get() is None:
        return _SILENT
    return Counting(what, total, _listener.get(), outer)


def listen(listener: Listener | None) -> tuple[Token, Token]:
    """Report all loops from here on to a function; returns what :func:`listen_no_more` needs."""
    return _listener.set(listener), _innermost.set(None)


def listen_no_more(tokens: tuple[Token, Token]) -> None:
    """Restore the listener that was active before."""
    _listener.reset(tokens[0])
    _innermost.reset(tokens[1])
