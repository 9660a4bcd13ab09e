"""A page for experts: see the rows, give labels and pairs by hand, and watch the ranking follow.

    fiedler explore DATA.csv          a page on this machine (:mod:`fiedler.explore.server`)
    fiedler.explore(X, y)             the same page in a notebook (:mod:`fiedler.explore.widget`)

One state, two hosts: :class:`Session` holds the answers and the ranking, and answers messages without any network or
file. The hosts carry messages between a session and the front end in ``page/``, which is plain ES modules and CSS.

- ``state.py`` what is known;  ``session.py`` messages;  ``answers.py`` what the expert said
- ``live.py`` the ranking that follows;  ``final.py`` the ranking on all rows;  ``quality.py`` accuracy and stability
- ``layout.py`` where rows are drawn;  ``asking.py`` which row or pair next;  ``looking.py``, ``views.py`` details
- ``exports.py`` files, command line and script;  ``saving.py`` the session file;  ``plain.py`` numbers for messages
- ``server.py`` the page on 127.0.0.1;  ``widget.py`` the notebook

This room may import every other room except the command line.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .origin import Origin
from .session import Session

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
