"""Matplotlib figures as SVG for HTML pages: fonts and colours of the page, light and dark, and a text for each mark.

Colours are drawn as placeholders from ``#0f0f00`` on and replaced by CSS variables, so that a figure follows the theme
of the page. The text of a mark becomes its ``<title>``. All output is written by an XML library, so that names cannot
inject markup.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The colours of the page have the names used by ``drawings.paint``: text, lines, surface and eight series.
NAMES = ("ink", "muted", "rule", "surface", *(f"C{k}" for k in range(8)))
_STAND_INS = {name: f"#0f0f{at:02x}" for at, name in enumerate(NAMES)}
FONT = 11.5  # font size in units of the figure, whose width is WIDTH
WIDTH, HEIGHT = 460, 300

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
_STAND_IN = re.compile(r"#0f0f([0-9a-f]{2})")
_NUMBER = re.compile(r"-?\d+\.\d+")
_SPOT = re.compile(r"M (\S+ \S+) L \1(?= |$)")  # a line of length zero
_FONT = re.compile(r"(?<![\w-])font:[^;]*?([\d.]+px)[^;]*")
_FAMILY = re.compile(r"font-family:[^;]*;?\s*")
_RC: dict[Any, Any] = {  # matplotlib knows its keys by name
    "svg.fonttype": "none",
    "svg.hashsalt": "fiedler",
    "axes.unicode_minus": True,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.facecolor": _STAND_INS["surface"],
    "axes.labelsize": FONT - 0.5,
    "text.color": _STAND_INS["ink"],
    "font.size": FONT,
    "font.family": "DejaVu Sans",
    "grid.linewidth": 0.7,
    "lines.linewidth": 2.0,
}
_RC |= dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color", "grid.color"), _STAND_INS["rule"])
_RC |= dict.fromkeys(("axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), _STAND_INS["muted"])
_RC |= dict.fromkeys(("xtick.labelsize", "ytick.labelsize"), FONT - 1)
_RC |= dict.fromkeys(("axes.spines.top", "axes.spines.right", "axes.formatter.useoffset"), False)
_RC |= dict.fromkeys(("text.parse_math", "text.usetex", "path.simplify"), False)


class SvgFigure:
    """A figure of a page: ``with SvgFigure(...) as figure: figure.ax.plot(...)``, then ``figure.svg``.

    Inside ``with``, Matplotlib uses the style of the page; "C0" to "C7" are its colours.

    Parameters
    ----------
    key : str
        Prefix of every id inside the figure; it must be unique on a page.
    title, description : str
        What the figure shows, for screen readers.
    width, height : float
        Size of the figure; the font size is 11.5 in the same units.

    Attributes
    ----------
    ax : matplotlib Axes
        The axes to draw on.
    svg : str
        The drawn figure as an HTML element. A template can also use the figure object directly.
    """

    def __init__(self, key: str, title: str, description: str, width: float = WIDTH, height: float = HEIGHT):
        self.key, self.title, self.description, self.size = key, title, description, (width, height)
        self.texts: dict[str, list[str]] = {}
        self.svg = ""

    figure: Figure
    ax: Axes

    def __enter__(self) -> SvgFigure:
        import matplotlib
        from matplotlib.figure import Figure
        from matplotlib.rcsetup import cycler

        self._settings = matplotlib.rc_context()
        self._settings.__enter__()
        matplotlib.rcdefaults()  # the user's style may not fit the page
        matplotlib.rcParams.update(_RC)
        matplotlib.rcParams["axes.prop_cycle"] = cycler(color=[_STAND_INS[f"C{k}"] for k in range(8)])
        self.figure = Figure(figsize=(self.size[0] / 72, self.size[1] / 72), layout="constrained")
        self.figure.patch.set_visible(False)
        self.ax = self.figure.add_subplot()
        self.ax.patch.set_visible(False)
        return self

    def __exit__(self, *failure: Any) -> None:
        try:
            if failure[0] is None:
                self.svg = self._finished()
        finally:
            self._settings.__exit__(*failure)

    def __html__(self) -> str:
        """The figure for a template; it needs no escaping, because it was written by an XML library."""
        return self.svg

    def split(self, n: int, heights: Sequence[float]) -> list[Axes]:
        """Replace the axes by several, one below the other, with a common x axis.

        Parameters
        ----------
        n : int
            Number of axes.
        heights : sequence of float
            Their relative heights.

        Returns
        -------
        axes : list of matplotlib Axes
            From top to bottom; ``ax`` is the first.
        """
        self.ax.remove()
        axes = self.figure.subplots(n, 1, sharex=True, height_ratios=heights).tolist()
        for ax in axes:
            ax.patch.set_visible(False)
        self.ax = axes[0]
        return axes

    def tell(self, artist: Any, texts: Sequence[str]) -> None:
        """Give every mark of an artist a text, which the page shows under the pointer.

        Parameters
        ----------
        artist : matplotlib Artist
            A patch, or a collection of marks.
        texts : sequence of str
            One text per mark, in the order of the marks.
        """
        name = f"tell{len(self.texts)}"
        artist.set_gid(name)
        self.texts[name] = list(texts)

    def _finished(self) -> str:
        raw = io.BytesIO()
        with warnings.catch_warnings():  # ignore warnings about missing letters; browsers have fonts for them
            warnings.simplefilter("ignore")
            self.figure.savefig(raw, format="svg", metadata={"Date": None})
        root = ET.fromstring(raw.getvalue())
        for child in list(root):
            style = child.tag == f"{_SVG}defs" and child.find(f"{_SVG}style") is not None
            if style or child.tag == f"{_SVG}metadata":
                root.remove(child)  # a style sheet would apply to the whole page
        for group in root.iter(f"{_SVG}g"):
            if (texts := self.texts.get(group.get("id", ""))) is not None:
                marks = (e for e in group.iter() if e.tag in (f"{_SVG}use", f"{_SVG}path") and not e.get("id"))
                for mark, text in zip(marks, texts, strict=True):
                    ET.SubElement(mark, "title").text = text
                    mark.set("class", "mark")
        for element in root.iter():
            self._adapt(element)
        # Ids without references make up half of the size of a figure.
        values = " ".join(v for e in root.iter() for k, v in e.attrib.items() if k != "id")
        used = set(re.findall(r"#([\w.-]+)", values))
        for element in root.iter():
            if element.get("id", "") not in used:
                element.attrib.pop("id", None)
        frame = ET.Element("svg", viewBox=root.get("viewBox", ""), role="img", focusable="false")
        frame.set("aria-labelledby", f"{self.key}-title {self.key}-desc")
        ET.SubElement(frame, "title", id=f"{self.key}-title").text = self.title
        ET.SubElement(frame, "desc", id=f"{self.key}-desc").text = self.description
        frame.extend(list(root))
        return ET.tostring(frame, encoding="unicode", short_empty_elements=True)

    def _adapt(self, element: ET.Element) -> None:
        """Make ids unique, use CSS colours and the font of the page, round to two decimals, remove namespaces."""
        element.tag = element.tag.removeprefix(_SVG)
        attributes = dict(element.attrib)
        element.attrib.clear()
        for name, value in attributes.items():
            if name == "id":
                value = f"{self.key}-{value}"
            elif name == f"{_XLINK}href":
                name, value = "href", f"#{self.key}-{value[1:]}"
            elif name == "clip-path":
                value = value.replace("url(#", f"url(#{self.key}-")
            elif name == "style":
                value = _STAND_IN.sub(lambda found: f"var(--{NAMES[int(found[1], 16)]})", value)
                value = _FAMILY.sub("", _FONT.sub(r"font-size: \1", value))
                value = value.replace(": ", ":").replace("; ", ";")
            elif name in ("d", "x", "y", "transform", "width", "height"):
                value = " ".join(_NUMBER.sub(lambda n: f"{float(n[0]):.2f}".rstrip("0").rstrip("."), value).split())
                value = _SPOT.sub(r"M\1h0", value) if name == "d" else value
                if name == "transform" and value.startswith("rotate(-0 "):
                    continue
            element.set(name, value)
        element.text = element.text.strip() if element.text and element.tag not in ("text", "title") else element.text
        element.tail = None
