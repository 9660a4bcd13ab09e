"""``python -m benchmarks.papers``: rerun the papers' experiments and write docs/reproductions.md."""

from __future__ import annotations

import argparse
import re
import time
from importlib import import_module

from .. import data
from .page import DOCS, Section, line

PAPERS = ("sselect", "spec", "ssls", "constraints", "evsc")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description=__doc__)
    parser.add_argument("papers", nargs="*", help=f"of {', '.join(PAPERS)}; all of them by default")
    parser.add_argument("--quick", action="store_true", help="few draws, printed on the terminal, no file written")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    options = parser.parse_args()
    unknown = set(options.papers) - set(PAPERS)
    if unknown:
        parser.error(f"no paper {', '.join(sorted(unknown))}; there are {', '.join(PAPERS)}")
    if data.folder() is None:
        parser.error("the papers' data sets are needed: set FIEDLER_DATA to their folder")
    for key in options.papers or PAPERS:
        start = time.perf_counter()
        section = import_module(f"{__package__}.{key}").run(quick=options.quick, n_jobs=options.jobs)
        print(f"{key}: {time.perf_counter() - start:.0f} s", flush=True)
        for finding in section.findings:
            print(f"  {'yes' if finding.holds else 'NO '}  {finding.claim}: {finding.evidence}", flush=True)
        if not options.quick:
            write(section)


def write(section: Section) -> None:
    """Put one section into docs/reproductions.md, in place of its last version, and count its findings at the top."""
    page = DOCS / "reproductions.md"
    found = dict(_SECTION.findall(page.read_text())) if page.exists() else {}
    found[section.key] = section.markdown()
    rows = [[f"[{_title(found[key])}](#{key})", *_count(found[key])] for key in PAPERS if key in found]
    sections = [f"<!-- begin {key} -->\n{found[key]}<!-- end {key} -->" for key in PAPERS if key in found]
    overview = "\n".join(["| paper | findings that come out | that do not |", "|---|--:|--:|", *map(line, rows)])
    whole = page.with_suffix(".part")
    whole.write_text("\n\n".join([_HEAD, overview, *sections]) + "\n")
    whole.replace(page)


_SECTION = re.compile(r"<!-- begin (\w+) -->\n(.*?)<!-- end \1 -->", re.DOTALL)

_HEAD = """# The five papers, rerun

Every table and figure of the five papers that their data allow, computed again with this library and set beside the
printed numbers. `make papers` wrote this page: printed numbers are typed from the papers, every other number is
computed, and a second run gives the same ones. A cell reads printed → **computed**. The last table of each section says
which findings come out and which do not, and the text says why where we know.

The text sets are the public ones with fewer terms than the papers', and several settings (widths, neighbours, draws)
are not printed, so single numbers differ; the question asked is whether the papers' conclusions hold."""


def _title(markdown: str) -> str:
    return re.search(r"^## (.*)$", markdown, re.MULTILINE).group(1)


def _count(markdown: str) -> tuple[int, int]:
    return markdown.count(" | yes | "), markdown.count(" | **no** | ")


if __name__ == "__main__":
    main()
