"""Every public name is documented as numpydoc wants it: what it is, its parameters, what it returns."""

import importlib
import inspect

import pytest

validate = pytest.importorskip("numpydoc.validate", reason="numpydoc reads the docstrings, extra 'test'")

ROOMS = ["", "criteria", "datasets", "evaluate", "explore", "graphs", "io", "plots", "report", "sources"]

# What numpydoc may ask of a docstring and is not asked here, and why.
LEFT_OUT = {
    "GL01": "the summary stands on the line of the quotes, as everywhere in the house",
    "SS05": "takes a noun in the plural for a verb",
    "ES01": "a short summary can be enough",
    "PR08": "a description may open with a symbol, such as δ",
    "RT02": "a return value may be named",
    "RT04": "as PR08",
    "SA01": "the map in the package's docstring leads on",
    "EX01": "examples stand where they tell something",
}


def ours(thing):
    return (getattr(thing, "__module__", None) or "").startswith("fiedler")


def shown(room):
    """Classes and functions a room shows: its ``__all__``, or what stands in it without an underscore."""
    module = importlib.import_module(f"fiedler.{room}".rstrip("."))
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    things = [getattr(module, name) for name in names]
    return [thing for thing in things if (inspect.isclass(thing) or inspect.isfunction(thing)) and ours(thing)]


def members(owner):
    """Methods and properties that a class documents itself; what it only overrides is documented above it."""
    for name, member in vars(owner).items():
        inner = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
        above = any(getattr(base, name, None).__doc__ for base in owner.__mro__[1:] if hasattr(base, name))
        if inspect.isfunction(inner) and not name.startswith("_") and (inner.__doc__ or not above):
            yield f"{owner.__module__}.{owner.__qualname__}.{name}"


def public_names():
    """Where every public class, function, method and property is defined; those of scikit-learn are not ours."""
    for thing in {thing for room in ROOMS for thing in shown(room)}:
        yield f"{thing.__module__}.{thing.__qualname__}"
        for owner in filter(ours, thing.__mro__ if inspect.isclass(thing) else []):
            yield from members(owner)


@pytest.mark.parametrize("name", sorted(set(public_names())))
def test_numpydoc_finds_nothing_missing(name):
    found = validate.validate(name)["errors"]
    assert not [f"{code} {message}" for code, message in found if code not in LEFT_OUT]


def test_a_missing_word_is_found(monkeypatch):
    """The test above can fail: the checks that stay find what a docstring leaves out."""
    from fiedler.evaluate import measures

    monkeypatch.setattr(measures.rank_sums, "__doc__", "no capital, no parameters, no return value.")
    found = {code for code, _ in validate.validate("fiedler.evaluate.measures.rank_sums")["errors"]}
    assert {"SS02", "PR01", "RT01"} <= found - set(LEFT_OUT)
