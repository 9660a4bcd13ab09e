"""Made data: ten columns that carry a structure, and any number of columns that carry none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..significance.noise import generator

ROWS, REAL = 200, 10

Draw = Callable[[np.random.Generator], np.ndarray]  # the columns that carry a structure


def _clusters(rng: np.random.Generator, apart: float = 2.0) -> np.ndarray:
    """Three groups, whose centres differ in every column."""
    group = rng.integers(3, size=ROWS)
    return apart * rng.standard_normal((3, REAL))[group] + rng.standard_normal((ROWS, REAL))


def _moons(rng: np.random.Generator) -> np.ndarray:
    """Two half circles in a plane, seen from ten directions."""
    angle, side = np.pi * rng.random(ROWS), rng.integers(2, size=ROWS)
    plane = np.column_stack([np.cos(angle) + side, np.where(side, -np.sin(angle) + 0.5, np.sin(angle))])
    seen = plane @ rng.standard_normal((2, REAL))
    return seen / seen.std(axis=0) + 0.4 * rng.standard_normal((ROWS, REAL))


def _path(rng: np.random.Generator) -> np.ndarray:
    """Waves along a line on which the rows lie."""
    place = rng.random(ROWS)[:, None]
    waves = np.sin(2 * np.pi * (place * rng.uniform(0.3, 1.2, REAL) + rng.random(REAL)))
    return waves / waves.std(axis=0) + 0.5 * rng.standard_normal((ROWS, REAL))


def _two(rng: np.random.Generator) -> np.ndarray:
    """Two ways to group the rows, five columns for each."""
    return np.hstack([_clusters(rng)[:, : REAL // 2], _clusters(rng)[:, : REAL // 2]])


STRUCTURES: dict[str, Draw] = {
    "clusters": _clusters,
    "moons": _moons,
    "path": _path,
    "two structures": _two,
    "weak clusters": lambda rng: _clusters(rng, 1.0),
}


def _square(rng: np.random.Generator) -> np.ndarray:
    """Two columns and their squares, which depend on them without correlating, beside six columns of clusters."""
    two = rng.standard_normal((ROWS, 2))
    return np.hstack([two, two**2 - 1.0, _clusters(rng)[:, : REAL - 4]])


def _alone(rng: np.random.Generator) -> np.ndarray:
    """One column that splits the rows in two, beside nine columns of clusters that know nothing of it."""
    lone = 6.0 * rng.integers(2, size=(ROWS, 1)) + rng.standard_normal((ROWS, 1))
    return np.hstack([lone, _clusters(rng)[:, : REAL - 1]])


def planted(structure: Draw, times: int, spread: float, *key: object) -> np.ndarray:
    """Ten columns with a structure and ``times`` as many normal ones, ``spread`` times as wide as the ten are."""
    rng = generator("planted", times, spread, *key)
    real = structure(rng)
    noise = spread * real.std(axis=0).mean() * rng.standard_normal((ROWS, times * REAL))
    return np.hstack([real, noise])


# Columns with a structure that agreement cannot see: how they are drawn, and how many come first.
FAILING: dict[str, tuple[Draw, int]] = {
    "columns and their squares, beside clusters": (_square, 4),
    "a lone column of two groups, beside clusters": (_alone, 1),
}
