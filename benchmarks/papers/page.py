"""A section of a generated page: printed numbers beside computed ones, figures, findings that hold or do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).resolve().parents[2] / "docs"


@dataclass(frozen=True)
class Finding:
    """A claim of a paper or of ours, and whether the computed numbers bear it out."""

    key: str  # a name that tests refer to
    claim: str
    holds: bool
    evidence: str


class Section:
    """What one experiment writes: text, tables, figures and findings, in order.

    Parameters
    ----------
    key : str
        Short name, used in file names of figures and in anchors.
    title : str
    folder : Path, optional
        Where figures go; None keeps them out, for quick runs.
    """

    def __init__(self, key: str, title: str, folder: Path | None = None):
        self.key, self.title, self.folder = key, title, folder
        self.findings: list[Finding] = []
        self._parts: list[str] = []

    def heading(self, text: str) -> None:
        self._parts.append(f"### {text}")

    def text(self, text: str) -> None:
        """A paragraph, or a list whose lines begin with a dash."""
        self._parts.append(text.strip())

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """A plain table; the first column is left-aligned, the others right-aligned."""
        lines = [line(header), "|---|" + "--:|" * (len(header) - 1)]
        self._parts.append("\n".join(lines + [line(row) for row in rows]))

    def beside(
        self,
        corner: str,
        columns: Sequence[str],
        rows: Sequence[str],
        printed: Any,
        computed: Any,
        digits: int = 3,
    ) -> None:
        """Printed and computed numbers side by side, one cell ``printed → computed``; NaN is shown as a dash."""
        printed, computed = (np.asarray(values, dtype=float) for values in (printed, computed))
        shape = (len(rows), len(columns))
        if printed.shape != shape or computed.shape != shape:
            raise ValueError(f"{corner}: {shape} cells wanted, got {printed.shape} printed, {computed.shape} computed.")
        cells = [
            [f"{number(p, digits)} → **{number(c, digits)}**" for p, c in zip(*pair, strict=True)]
            for pair in zip(printed, computed, strict=True)
        ]
        self.table([corner, *columns], [[name, *line] for name, line in zip(rows, cells, strict=True)])

    def figure(self, figure: Any, name: str, caption: str) -> None:
        """A matplotlib figure, written as SVG without dates or random ids, so that a second run writes the same."""
        file = f"figures/{self.key}-{name}.svg"
        self._parts.append(f"![{caption}]({file})\n\n*{caption}*")
        if self.folder is None:
            return
        import matplotlib

        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context({"svg.hashsalt": "fiedler", "svg.fonttype": "none"}):
            figure.savefig(path, metadata={"Date": None})

    def finding(self, key: str, claim: str, holds: Any, evidence: str) -> None:
        self.findings.append(Finding(key, claim, bool(holds), evidence))

    def markdown(self) -> str:
        parts = [f'<a id="{self.key}"></a>\n\n## {self.title}', *self._parts]
        if self.findings:
            parts += ["### What comes out", findings_table(self.findings)]
        return "\n\n".join(parts) + "\n"


def findings_table(findings: Sequence[Finding]) -> str:
    lines = ["| claim | comes out | evidence |", "|---|---|---|"]
    return "\n".join(lines + [line((f.claim, "yes" if f.holds else "**no**", f.evidence)) for f in findings])


def number(value: float, digits: int = 3) -> str:
    return "–" if not np.isfinite(value) else f"{value:.{digits}f}"


def line(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
