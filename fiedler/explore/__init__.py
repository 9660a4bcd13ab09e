"""A page for experts: see the rows, give labels and pairs by hand, and watch the ranking follow.

    fiedler explore DATA.csv          a page on this machine (:mod:`fiedler.explore.server`)
    fiedler.explore(X, y)             the same page in a notebook (:mod:`fiedler.explore.widget`)

One state, two hosts: :class:`Session` holds the answers and the ranking, and answers messages without any network or
file. The hosts carry messages between a session and the front end in ``page/``, which is plain ES modules and CSS.

- ``state``      what is known, and the rows that are shown;  ``answers`` is what the expert said
- ``session``    messages, by which a state changes, and the session file
- ``live``       the ranking that follows, and the ranking on all rows
- ``looking``    rows, features, layouts, quality, and what to label next;  ``exports`` are files, command and script
- ``server``     the page on 127.0.0.1;  ``widget`` is the notebook

This room may import every other room except the command line.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .session import Session
from .state import Origin

if TYPE_CHECKING:
    from .widget import Explorer

__all__ = ["Origin", "Session"]


class _Room(ModuleType):
    """This module can be called: ``fiedler.explore(X, y)`` opens the page in a notebook."""

    def __call__(self, X: Any, y: Any = None, **options: Any) -> Explorer:
        """The page about X in a notebook; see :class:`fiedler.explore.widget.Explorer`."""
        from .widget import Explorer

        return Explorer(X, y, **options)


sys.modules[__name__].__class__ = _Room
