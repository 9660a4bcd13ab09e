"""Criteria as text: ``sselect[lam=0.1,graph=knn[n_neighbors=7]]``, for the command line, settings files and grids.

    expression = term (("+" | "-") term)*        term = factor ("*" factor)*
    factor     = number | name | name[value, param=value, ...] | (expression)

A name is a key of ``METHODS`` or the name of a class, in upper or lower case. Parentheses can replace brackets, so the
repr of a criterion is valid text too. The text is parsed by Python's parser, but never evaluated: only the classes in
the two tables below are called.
"""

from __future__ import annotations

import ast
import inspect
import keyword
import math
import operator
import re
from typing import Any

from . import criteria, graphs, registry
from .criteria import Criterion
from .errors import ParameterError
from .graphs import Recipe
from .methods import METHODS
from .words import did_you_mean

CRITERIA: dict[str, type[Criterion]] = {
    **{cls.__name__.lower(): cls for cls in METHODS.values()},
    **{entry.name: getattr(criteria, entry.cls) for entry in registry.PRIMITIVES},
    **METHODS,
}
RECIPES: dict[str, type[Recipe]] = {entry.name: getattr(graphs, entry.cls) for entry in registry.RECIPES}

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}
_WORDS = {"none": None, "true": True, "false": False}
_LONGEST = 2000  # characters: more than any formula needs, and few enough for the parser


def parse(text: str) -> Criterion:
    """The criterion that a text describes.

    Parameters
    ----------
    text : str
        A name in ``METHODS`` with parameters in brackets, or sums, products and multiples of these.

    Returns
    -------
    Criterion

    Raises
    ------
    ValueError
        If the text is not valid; the message names the unknown name and the most similar known one.

    Examples
    --------
    >>> from fiedler.syntax import parse
    >>> parse("sselect[lam=0.25,graph=knn[7,weight=binary]]")
    SSelect(graph=KNN(n_neighbors=7, weight='binary'), lam=0.25)
    >>> parse("0.5*laplacian + 2*constraint[variant=1]").reads
    {'pairs'}
    """
    try:
        made = _expression(_tree(text), text)
    except RecursionError:
        raise ValueError(f"criterion={text[:40]!r}... is nested too deeply.") from None
    if not isinstance(made, Criterion):
        raise ValueError(f"criterion={text!r} is a number, not a method. Known: {', '.join(METHODS)}.")
    return made


def unparse(criterion: Criterion | Recipe) -> str:
    """The shortest text for which :func:`parse` gives an equal criterion; parameters with default values are left out.

    Examples
    --------
    >>> from fiedler import KNN, ConstraintScore, LaplacianScore
    >>> from fiedler.syntax import unparse
    >>> unparse(LaplacianScore(KNN(7, weight="binary")) * ConstraintScore(1))
    'laplacian[graph=knn[n_neighbors=7,weight=binary]] * constraint[variant=1]'
    """
    return _call_text(criterion) if isinstance(criterion, Recipe) else criterion.text(_call_text, exact=True)


def short_text(criterion: Criterion) -> str:
    """A criterion in this syntax, or its repr if it cannot be written in this syntax."""
    try:
        return unparse(criterion)
    except ValueError:
        return repr(criterion)


def as_criterion(criterion: Any) -> Criterion:
    """A criterion unchanged, or the criterion of a text such as ``sselect[lam=0.1]``."""
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, str):
        return METHODS[criterion]() if criterion in METHODS else parse(criterion)
    raise TypeError(f"criterion must be a Criterion or one of {', '.join(METHODS)}, got {criterion!r}.")


# -------------------------------------------------------------------- from text


def _check_reserved(text: str) -> None:
    """Raise an error if a parameter has the name of a keyword of Python, such as lambda, which cannot be read."""
    for word in keyword.kwlist:
        found = re.search(rf"(\w+)[\[(](?:[^\[\]()]*,)?\s*{word}\s*=", text)
        if found:
            name = found[1]
            known = inspect.signature(CRITERIA[name.lower()]).parameters if name.lower() in CRITERIA else {}
            hint, listed = did_you_mean(word, known), ", ".join(known) or "none"
            raise ValueError(
                f"{name} has no parameter {word!r} in criterion={text!r}; {hint}Known: {listed}."
            ) from None


def _tree(text: str) -> ast.expr:
    problem = "it is too long"
    if len(text) <= _LONGEST:
        try:
            # Brackets with keywords are not valid Python; parentheses are, and character positions do not change.
            return ast.parse(text.strip().translate(str.maketrans("[]", "()")), mode="eval").body
        except (SyntaxError, ValueError, MemoryError) as error:
            if not set(text) & set("[]()+-*=,"):
                raise _unknown_method(text, text) from None
            _check_reserved(text)
            column = getattr(error, "offset", None)
            problem = f"near character {column}" if column else str(error)
    raise ValueError(f"criterion={text[:200]!r} cannot be read ({problem}); write name[param=value,...].")


def _expression(node: ast.expr, text: str) -> Criterion | float:
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = _expression(node.left, text), _expression(node.right, text)
        try:
            return _OPERATORS[type(node.op)](left, right)
        except TypeError:
            raise ValueError(f"criterion={text!r} adds a number to a criterion; numbers can only multiply.") from None
    if isinstance(node, (ast.Name, ast.Call)):
        name = _called(node, text)
        if name.lower().replace("_", "") not in CRITERIA:
            raise _unknown_method(name, text)
        return _make(CRITERIA, name, node, text)
    number = _constant(node)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise ValueError(f"criterion={text!r} cannot be read: {ast.unparse(node)!r} is neither a method nor a number.")
    return number


def _make(table: dict[str, type], name: str, node: ast.expr, text: str) -> Any:
    """Call the class with the given name, with the arguments of a node."""
    cls = table[name.lower().replace("_", "")]
    parameters = inspect.signature(cls).parameters
    given = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    if len(given.args) > len(parameters):
        raise ValueError(f"{name} in criterion={text!r} takes at most {len(parameters)} parameters.")
    pairs = [*zip(parameters, given.args, strict=False), *((k.arg or "**", k.value) for k in given.keywords)]
    values: dict[str, Any] = {}
    for parameter, value in pairs:
        if parameter not in parameters:
            hint, known = did_you_mean(parameter, parameters), ", ".join(parameters) or "none"
            raise ValueError(f"{name} has no parameter {parameter!r} in criterion={text!r}; {hint}Known: {known}.")
        if parameter in values:
            raise ValueError(f"{parameter!r} of {name} is given twice in criterion={text!r}.")
        values[parameter] = _value(value, "Recipe" in str(parameters[parameter].annotation), text)
    missing = [p for p, info in parameters.items() if info.default is info.empty and p not in values]
    if missing:
        raise ValueError(f"{name} in criterion={text!r} needs {', '.join(missing)}; write {name}[{missing[0]}=...].")
    return cls(**values)


def _value(node: ast.expr, is_graph: bool, text: str) -> Any:
    if isinstance(node, ast.Name) and node.id.lower() in _WORDS:
        return _WORDS[node.id.lower()]
    if is_graph and isinstance(node, (ast.Name, ast.Call)):
        name = _called(node, text)
        if name.lower().replace("_", "") not in RECIPES:
            hint, known = did_you_mean(name, RECIPES), ", ".join(RECIPES)
            raise ValueError(f"{name!r} in criterion={text!r} is not a graph; {hint}Known: {known}.")
        return _make(RECIPES, name, node, text)
    if isinstance(node, ast.Name):
        return node.id  # weight=binary needs no quotes
    value = _constant(node)
    if value is _NOT_CONSTANT or (is_graph and value is not None):
        raise ValueError(f"criterion={text!r} cannot be read: {ast.unparse(node)!r} is not a valid value.")
    return value


_NOT_CONSTANT = object()


def _constant(node: ast.expr) -> Any:
    """A number, string or None, possibly with a minus sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _constant(node.operand)
        return -value if isinstance(value, (int, float)) else _NOT_CONSTANT
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str, type(None))):
        if isinstance(node.value, float) and math.isinf(node.value):
            raise ValueError("criterion holds a number that is too large for a float; use one below 1.8e308.")
        return node.value
    return _NOT_CONSTANT


def _called(node: ast.Name | ast.Call, text: str) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    if not isinstance(function, ast.Name):
        raise ValueError(f"criterion={text!r} cannot be read: {ast.unparse(function)!r} is not a name.")
    return function.id


def _unknown_method(name: str, text: str) -> ParameterError:
    where = f"criterion={text!r}" if name == text.strip() else f"{name!r} in criterion={text!r}"
    message = f"{where} is not a method; {did_you_mean(name, METHODS)}Known: {', '.join(METHODS)}."
    return ParameterError(message, parameter="criterion", value=text)


# -------------------------------------------------------------------- to text


def _call_text(made: Criterion | Recipe) -> str:
    cls = type(made)
    name = next((n for n, method in METHODS.items() if method is cls), cls.__name__.lower())
    if CRITERIA.get(name, RECIPES.get(name)) is not cls:
        raise ValueError(f"{made!r} cannot be written as text: {cls.__name__} has no name in this syntax.")
    defaults = inspect.signature(cls).parameters
    given = [(p, v) for p in defaults if repr(v := getattr(made, p)) != repr(defaults[p].default)]
    arguments = ",".join(f"{p}={_value_text(p, v, made)}" for p, v in given)
    return f"{name}[{arguments}]" if arguments else name


def _value_text(parameter: str, value: Any, owner: Any) -> str:
    if isinstance(value, Recipe):
        return _call_text(value)
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value  # NumPy scalars
    if isinstance(value, str) and value.isidentifier():
        return value
    if value is None or isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value)):
        return str(value).lower() if value is None or isinstance(value, bool) else repr(value)
    raise ValueError(f"{owner!r} cannot be written as text: {parameter} is neither a number, a word nor a graph.")
