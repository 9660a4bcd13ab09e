"""Parts of pages that are generated from the package when the site is built, and repairs of pages written for GitHub.

The folder `_made/` holds the pictures, the drawing of the layers, the papers and the reference of the command line.
"""

import re
from inspect import cleandoc
from pathlib import Path
from unicodedata import normalize

import architecture
import click
import pictures

from fiedler.cli import main
from fiedler.registry import PAPERS

ANCHOR = re.compile(r'^<a id="([\w-]+)"></a>$', re.MULTILINE)
OPTIONAL = re.compile(r"^<!-- if (\S+): (.*) -->$", re.MULTILINE)


def bibtex(paper):
    """One entry, from the same data that the docstrings cite."""
    kind, where = ("article", "journal") if paper.venue[-1].isdigit() else ("inproceedings", "booktitle")
    names = " and ".join(paper.authors.split(", "))
    first = normalize("NFKD", names.partition(" and ")[0].split()[-1]).encode("ascii", "ignore").decode().lower()
    key = f"{first}{paper.year}{paper.title.split()[0].lower()}"
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


def commands():
    """A section per command of the command line, from the texts that ``--help`` prints."""
    parts = []
    for name, command in main.commands.items():
        context = click.Context(command, info_name=f"fiedler {name}")
        parts += [f"## fiedler {name}", f"```text\n{command.get_usage(context).partition(': ')[2]}\n```"]
        parts.append(cleandoc(command.help or ""))
        for parameter in command.params:
            record = parameter.get_help_record(context)
            parts += [f"`{record[0]}`\n: {record[1]}"] if record and record[1] else []
        if command.epilog:
            parts.append(f"Examples:\n\n```sh\n{cleandoc(command.epilog)}\n```")
    return "\n\n".join(parts) + "\n"


def make(app):
    """Write `_made/`; what has not changed is left alone, so that pages are not built again for nothing."""
    folder = Path(app.srcdir) / "_made"
    folder.mkdir(exist_ok=True)
    pictures.draw(folder)
    texts = {"papers.md": papers(), "rooms.md": architecture.table(), "cli.md": commands()}
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
