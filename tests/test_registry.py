"""One table of methods, recipes and primitives: the package, the syntax, the command line and the docs read it."""

import importlib
import re
from pathlib import Path

import pytest

import fiedler
from fiedler import METHODS, registry
from fiedler.cli import METHOD_NAMES
from fiedler.registry import PAPERS, cited
from fiedler.syntax import CRITERIA, RECIPES

ENTRIES = [*registry.METHODS, *registry.RECIPES, *registry.PRIMITIVES]


def test_everyone_reads_the_same_table():
    assert list(METHODS) == list(METHOD_NAMES) == [entry.name for entry in registry.METHODS]
    assert list(RECIPES) == [entry.name for entry in registry.RECIPES]
    assert {entry.name for entry in (*registry.METHODS, *registry.PRIMITIVES)} <= set(CRITERIA)
    assert {entry.cls for entry in ENTRIES} <= set(fiedler.__all__)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.cls)
def test_an_entry_is_its_class(entry):
    cls = getattr(fiedler, entry.cls)
    assert cls.__name__ == entry.cls
    assert cls is {**CRITERIA, **RECIPES}[entry.name]
    for key in re.findall(r"\[(\w+)\]", entry.equation):  # the equation it comes from stands in its own docstring
        assert f"[{key}]" in cls.__doc__
    assert [paper.key for paper in cited(entry.equation)] == [key for key in PAPERS if f"[{key}]" in entry.equation]


def test_every_public_recipe_and_criterion_is_in_the_table():
    public = [getattr(fiedler, name) for name in fiedler.__all__]
    classes = {c.__name__ for c in public if isinstance(c, type) and issubclass(c, (fiedler.Recipe, fiedler.Criterion))}
    assert classes - {"Recipe", "Criterion", "Precomputed"} == {entry.cls for entry in ENTRIES}


def test_names_for_type_checkers_are_those_at_run_time():
    source = Path(fiedler.__file__).read_text(encoding="utf-8")
    block = source.partition("if TYPE_CHECKING:")[2].partition("# Where each")[0]
    seen = set()
    for room, names in re.findall(r"from \.(\w+) import (.*)", block):
        module = importlib.import_module(f"fiedler.{room}")
        found = vars(module) if names == "*" else names.split(", ")
        seen |= {name for name in found if not name.startswith("_") and hasattr(module, name)}
    assert set(fiedler.__all__) <= seen


def test_the_page_of_methods_lists_every_method_and_recipe():
    page = Path(fiedler.__file__).resolve().parent.parent / "docs" / "methods.md"
    if not page.exists():
        pytest.skip("the pages are not installed")
    text = page.read_text(encoding="utf-8")
    for entry in registry.METHODS:
        assert f"| `{entry.name}` | `{entry.cls}` |" in text
    for entry in registry.RECIPES:
        assert re.search(rf"\b{entry.cls}\b", text)


def test_the_papers_are_named_alike_everywhere():
    listed = "; ".join(map(str, PAPERS.values())) + "."
    assert listed in " ".join(fiedler.__doc__.split())
    readme = Path(fiedler.__file__).resolve().parent.parent / "README.md"
    if readme.exists():
        text = " ".join(readme.read_text(encoding="utf-8").split())
        for paper in PAPERS.values():
            assert f"[{paper.key}] {paper.authors}. *{paper.title}.*" in text
