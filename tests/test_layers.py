"""The rooms of the package and the one way between them: imports point down, those inside functions too."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import fiedler

ROOT = Path(fiedler.__file__).resolve().parent

# From the bottom to the top; rooms in one line do not know each other.
LAYERS = [
    "version errors registry words",
    "validation",
    "data",
    "engine supervision",
    "problem",
    "graphs",
    "sets",
    "criteria",
    "methods",
    "syntax",
    "significance",
    "selection",
    "selector datasets io sources",
    "evaluate anndata first_look",
    "plots",
    "report",
    "explore",
    "cli",
    "__main__",
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms.split()}


def modules():
    """Every module of the package as (dotted name inside it, path)."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


NAMES = {name for name, _ in modules()}


def imported(name, path):
    """Modules of the package that a module imports, at the top, inside functions, or for type checkers."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    package = [part for part in package if part]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names if alias.name.split(".")[0] == "fiedler"]
            yield from (target.partition(".")[2] for target in found)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = package[: len(package) - node.level + 1] + (node.module.split(".") if node.module else [])
            elif (node.module or "").split(".")[0] == "fiedler":
                base = node.module.split(".")[1:]
            else:
                continue
            for alias in node.names:  # a module by name, or a name inside one
                whole = ".".join([*base, alias.name])
                yield whole if whole in NAMES else ".".join(base)


@cache
def graph():
    return {name: set(imported(name, path)) - {name} for name, path in modules()}


def room(name):
    return name.split(".")[0]


def test_every_module_has_its_room():
    assert {room(name) for name in NAMES if name} == set(LEVEL)


@pytest.mark.parametrize("name", sorted(NAMES - {""}))
def test_imports_point_down(name):
    """No import of a higher room, nor of another one on the same level; the front door imports nobody by itself."""
    upward = {
        target
        for target in graph()[name]
        if room(target) != room(name) and (target == "" or LEVEL[room(target)] >= LEVEL[room(name)])
    }
    assert not upward, f"{name} imports {sorted(upward)}"


def test_no_module_imports_itself_by_a_detour():
    done, path = set(), []

    def visit(name):
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name in done:
            return
        path.append(name)
        for target in sorted(graph()[name]):
            if target != "":
                visit(target)
        done.add(path.pop())

    for name in sorted(NAMES - {""}):
        visit(name)


def test_a_room_opens_without_those_above():
    """What the test above reads off the text, seen at work: from the bottom up, nothing of a higher room is loaded."""
    code = [
        "import sys, fiedler",
        "loaded = lambda: {m.split('.')[1] for m in sys.modules if m.startswith('fiedler.')}",
    ]
    for at, rooms in enumerate(LAYERS[:-1]):
        above = {r for higher in LAYERS[at + 1 :] for r in higher.split()}
        code += [f"import fiedler.{r}" for r in rooms.split()]
        code += [f"wrong = loaded() & {above!r}", f"assert not wrong, ({rooms!r}, wrong)"]
    subprocess.run([sys.executable, "-c", "\n".join(code)], check=True)


# Code lines of each room: not blank, not a comment, not in a docstring. They may only fall; a feature that needs more
# says so in the commit that adds it.
BUDGET = {
    "cli": 1_115,
    "criteria": 2_066,
    "data": 3_325,
    "engine": 2_464,
    "evaluate": 1_442,
    "explore": 1_350,
    "graphs": 1_753,
    "plots": 1_034,
    "report": 1_429,
    "selection": 779,
    "sets": 942,
    "significance": 545,
    "top": 2_106,
}


def code_lines(path):
    text = path.read_text(encoding="utf-8")
    docstrings = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
            and ast.get_docstring(node) is not None
        ):
            docstrings |= set(range(body[0].lineno, body[0].end_lineno + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(bool(line) and not line.startswith("#") and number not in docstrings for number, line in lines)


@pytest.mark.parametrize("name", sorted({room(name) for name, path in modules() if path.parent != ROOT} | {"top"}))
def test_a_room_keeps_to_its_budget(name):
    inside = [path for module, path in modules() if (room(module) if path.parent != ROOT else "top") == name]
    assert sum(map(code_lines, inside)) <= BUDGET[name]


def test_tests_reach_inside_the_package_in_one_place():
    """No test imports a private name, or changes one by its name; tests/inside.py does it for all."""
    private = re.compile(r"from fiedler[\w.]* import [^\n]*\b_[a-zA-Z]|[\"']fiedler\.[\w.]*\._[a-zA-Z]")
    tests = [path for path in Path(__file__).parent.glob("*.py") if path.name not in ("inside.py", Path(__file__).name)]
    assert not [path.name for path in tests if private.search(path.read_text(encoding="utf-8"))]


def test_only_one_place_imports_the_compiler():
    users = [name for name, path in modules() if re.search(r"^\s*(import|from) numba", path.read_text(), re.MULTILINE)]
    assert users == ["engine.compiled"]
