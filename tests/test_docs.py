"""The pages for people: links lead somewhere, code in the README is code, and the map of the house is the house."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")]
pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the pages are not installed")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def test_python_in_the_readme_is_python():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        ast.parse(block)


def test_the_map_of_the_house_is_the_house():
    """Every file of the package stands in the map of CONTRIBUTING.md, and nothing else does."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = text.partition("    fiedler/\n")[2].partition("    tests/\n")[0]
    listed, folder = set(), ""
    for line in block.splitlines():
        room = re.match(r" {6}(\w+)/", line)
        folder = f"{room[1]}/" if room else folder if line.startswith(" " * 17) else ""  # a room may take several lines
        listed |= {f"{folder}{name}" for name in re.findall(r"\b(\w+\.py)\b", line)}
    package = ROOT / "fiedler"
    there = {path.relative_to(package).as_posix() for path in package.rglob("*.py")}
    assert listed == {name for name in there if not name.endswith("/__init__.py")}
