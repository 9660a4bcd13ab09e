"""Pages that the package knows itself, made when the site is built, and small repairs of those written for GitHub.

`_made/` gets the pictures, the drawing of the house and the papers; pages include them.
"""

import re
from pathlib import Path

import architecture
import pictures

from fiedler.papers import PAPERS

ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)
OPTIONAL = re.compile(r"^<!-- if (\S+): (.*) -->$", re.MULTILINE)


def bibtex(paper):
    """One entry, from the same data that the docstrings cite."""
    kind, where = ("article", "journal") if "Letters" in paper.venue else ("inproceedings", "booktitle")
    names = " and ".join(paper.authors.split(", "))
    key = f"{paper.authors.split('. ')[1].split(',')[0].lower()}{paper.year}{paper.title.split()[0].lower()}"
    fields = {"author": names, "title": f"{{{paper.title}}}", where: paper.venue, "year": str(paper.year)}
    inside = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@{kind}{{{key.replace('-', '')},\n{inside}\n}}"


def papers():
    """A section per paper: what it is, and its entry for a bibliography."""
    parts = []
    for paper in PAPERS.values():
        parts.append(f"## [{paper.key}] {paper.title}\n\n{paper.authors}. {paper.venue}, {paper.year}.\n")
        parts.append(f"```bibtex\n{bibtex(paper)}\n```\n")
    return "\n".join(parts)


def make(app):
    """Write `_made/`; what has not changed is left alone, so that pages are not built again for nothing."""
    folder = Path(app.srcdir) / "_made"
    folder.mkdir(exist_ok=True)
    pictures.draw(folder)
    texts = {"papers.md": papers(), "rooms.md": architecture.table()}
    for name, drawing in {"house.md": architecture.svg(), "flow.md": architecture.flow()}.items():
        texts[name] = f"```{{raw}} html\n{drawing}\n```\n"
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def read(app, docname, source):
    """Anchors as GitHub wants them become targets; a line about a page is shown where there is that page."""
    text = ANCHOR.sub(r"(\1)=", source[0])
    source[0] = OPTIONAL.sub(lambda m: m[2] if (Path(app.srcdir) / m[1]).exists() else "", text)


def setup(app):
    app.connect("builder-inited", make, priority=300)
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
