"""The page in a notebook: an anywidget around a session, for Jupyter, marimo and VS Code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ..selector import SpectralSelector
from .session import Session, SessionFile, reply_to

try:
    import anywidget
    import traitlets
except ImportError:
    message = "fiedler.explore(X, y) needs anywidget; install it with: pip install 'fiedler[explore]'"
    raise ImportError(message) from None

PAGE = Path(__file__).parent / "page"
MODULES = ("dom", "charts", "map", "ranking", "panels", "app", "widget")  # each after those that it imports


def bundle() -> str:
    """All modules of the page as one, because a notebook loads a single module.

    Modules import each other by name in one line, and no name is defined in two modules.
    """
    parts = []
    for name in MODULES:
        text = (PAGE / f"{name}.js").read_text(encoding="utf-8")
        text = re.sub(r'^import \{[^}]*\} from "\./\w+\.js";\n', "", text, flags=re.MULTILINE)
        parts.append(re.sub(r"^export (?!default)", "", text, flags=re.MULTILINE))
    return "\n".join(parts)


class Explorer(anywidget.AnyWidget):
    """A page about a table in a notebook: see its rows, give labels and pairs by hand, and watch the ranking follow.

    ``fiedler.explore(X, y)`` makes one. Show it as the last value of a cell. Labels, pairs and the selector can be read
    at any time.

    Parameters
    ----------
    X : array-like, frame, sparse matrix, source or AnnData of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,), optional
        Labels or targets that are already known.
    session : str or Path, optional
        File in which the answers are kept, and from which they are read if it exists.
    **options : object
        Further parameters of :class:`fiedler.explore.Session`, such as ``must_link``, ``method`` or ``row_ids``.

    Examples
    --------
    >>> import fiedler
    >>> from sklearn.datasets import load_iris
    >>> page = fiedler.explore(load_iris(as_frame=True).data, n_features=2)
    >>> page.state.handle({"type": "pair", "rows": [0, 60], "link": "cannot"})["type"]
    'state'
    >>> page.pairs["cannot_link"]
    array([[ 0, 60]])
    >>> page.selector.get_feature_names_out()
    array(['sepal length (cm)', 'petal length (cm)'], dtype=object)
    """

    _esm = bundle()
    _css = (PAGE / "style.css").read_text(encoding="utf-8")
    version = traitlets.Int(0).tag(sync=True)

    def __init__(self, X: Any, y: Any = None, *, session: str | Path | None = None, **options: Any):
        super().__init__()
        self.state = Session(X, y, **options)
        self._save = None
        if session is not None:
            file = SessionFile(session)
            file.load(self.state)
            self._save = file.save
        self.on_msg(self._receive)

    def _receive(self, _: Any, message: Any, buffers: Any) -> None:
        self.send(reply_to(message, self.state, self._save))
        self.version = self.state.version

    @property
    def pairs(self) -> dict[str, np.ndarray]:
        """All known pairs: ``must_link`` and ``cannot_link``, as ``SpectralSelector.fit`` takes them."""
        return self.state.pairs

    @property
    def labels(self) -> Any:
        """All known labels as y of ``SpectralSelector.fit``, None or NaN if unknown; None without any label."""
        return self.state.known.y()[0]

    @property
    def selector(self) -> SpectralSelector:
        """A selector fitted to all rows with the current answers and settings."""
        return self.state.selector
