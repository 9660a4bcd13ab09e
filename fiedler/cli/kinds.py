"""The kinds of values that options take, beside those of click: each reads what a user typed, or says what is wrong."""

from __future__ import annotations

import re
from typing import Any

import click

PROCESS = 400 * 2**20  # bytes the process takes before it reads anything: interpreter, NumPy, scikit-learn, kernels
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def number_or_share(value: Any) -> int | float | str:
    """``20`` features, the share ``0.1`` of them, ``auto`` or ``fdr``."""
    if value in ("auto", "fdr"):
        return value
    try:
        number = float(value) if "." in str(value) else int(value)
    except ValueError:
        number = 0
    if number <= 0 or (isinstance(number, float) and number > 1):
        message = f"{value!r} is neither a number of features, nor a share in (0, 1], nor auto or fdr."
        raise click.BadParameter(message)
    return number


class Number(click.IntRange):
    """A number of features to show; ``auto`` and ``fdr`` are for commands that select."""

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        if value in ("auto", "fdr"):
            self.fail(f"{value!r} selects features: use 'fiedler select --top {value}'. rank shows the K best.")
        return super().convert(value, param, ctx)


class Scale(click.Choice):
    """``standard``, ``minmax`` or ``keep``; ``none`` is an older word for ``keep``."""

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        return super().convert("keep" if value == "none" else value, param, ctx)


def numbers(value: Any) -> list[int]:
    """``5,10,20``."""
    try:
        return [int(part) for part in str(value).split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of whole numbers such as 5,10,20.") from None


def sides(value: Any) -> tuple[int, int]:
    """``28x28``."""
    height, _, width = str(value).lower().partition("x")
    if not (height.isdigit() and width.isdigit()):
        raise click.BadParameter(f"{value!r} is not the height and width of an image, such as 28x28.")
    return int(height), int(width)


def size(value: Any) -> float:
    """``500MB`` or ``2GB``, in bytes."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?\s*", str(value), re.IGNORECASE)
    if match is None:
        raise click.BadParameter(f"{value!r} is not an amount of memory such as 500MB or 2GB.")
    found = float(match[1]) * _UNITS[match[2].upper()]
    if found < 1.2 * PROCESS:
        raise click.BadParameter(f"{value} is too little: the program itself takes {PROCESS / 2**20:.0f} MB.")
    return found
