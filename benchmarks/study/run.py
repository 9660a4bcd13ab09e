"""All results of the study: one task per data set, in parallel; each is kept as a file so that a run can go on."""

from __future__ import annotations

import hashlib
import json
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

import fiedler
from fiedler import KNN, LaplacianScore, Variance, pairs_from_labels
from fiedler.problem import Problem

from . import peers, sets
from .judge import Judge
from .methods import Choices, Orders, Rankings, variant

FEW_ROWS = 250
CACHE = Path(__file__).resolve().parents[2] / "out" / "study"
LIMITS = (0.7, 0.5, 0.9)  # of |r| in pruned rankings; the first is the one compared everywhere
_PRUNED = ("variance", "laplacian", "spec φ1", "spec φ2 γ=4", "spec φ3", "evsc", "fisher", "relieff", "sselect")
_PRUNED += ("c1", "c2", "c3", "c4", "correlation", "sls", "ssls", "laplacian[width=2.0]", "c4[graph=knn]")
_READ_NO_LABELS = ("variance", "laplacian", "laplacian tuned")  # judged on hidden rows too, beside the others
_READ_NO_LABELS += ("variance pruned", "laplacian pruned", "variance, tf-idf", "cur")
_CURVES = ("subset", "cur", "variance pruned", "variance", "laplacian pruned", "laplacian")
_DRAW, _RANDOM, _FREE, _PAIRS = range(100, 104)  # what a set's generator is seeded for


@dataclass(frozen=True)
class Settings:
    """What a result depends on besides the data set and the code."""

    draws: int = 5  # twice as many where they cost little
    random_draws: int = 30
    max_rows: int = sets.MAX_ROWS
    most_labels: int = 20  # labels per class, half the number of targets, a tenth of that of pairs; no budget above


QUICK = Settings(draws=2, random_draws=10, max_rows=300, most_labels=5)


class Cells:
    """Everything computed on one data set."""

    def __init__(self, name: str, settings: Settings):
        self.settings, self.data = settings, sets.load(name, settings.max_rows)
        self.draws = settings.draws * (2 if len(self.data.y) <= FEW_ROWS else 1)
        self.judge = Judge(self.data)
        self.block = sets.SOURCES[name]["block"]
        self.rankings = Rankings(self.data, self.judge, grids=self.block == "study")
        self.choices = Choices(self.rankings, [self.data.shown(*draw) for draw in self._draws() if draw[0] > 1])
        permutations = range(settings.random_draws)
        m = self.data.X.shape[1]
        self.random = [self.data.rng(_RANDOM, number).permutation(m) for number in permutations]
        self.random_pruned = [self.judge.pruned(order, LIMITS[0]) for order in self.random]

    def _draws(self) -> list[tuple[int, int]]:
        """Every (budget, number) of labels or targets."""
        most = self.settings.most_labels * (1 if self.data.has_classes else 2)
        return [(budget, number) for budget in self.data.budgets() if budget <= most for number in range(self.draws)]

    def results(self) -> dict[str, Any]:
        """Plain values: question -> budget -> method -> one list per draw of one value per size."""
        data, y = self.data, self.data.y
        found = {
            "name": data.name,
            "block": self.block,
            "kind": data.kind,
            "task": "classes" if data.has_classes else "target",
            "shape": list(data.X.shape),
            "classes": int(y.max()) + 1 if data.has_classes else None,
            "sizes": list(data.sizes),
        }
        orders = self.rankings.free(data.rng(_FREE)) | self._text_variants() | self.choices.free()
        self.without_labels = orders | self._pruned(orders, LIMITS)
        found["free"] = self._free()
        if data.has_classes:
            found["labels"] = self._budgets(data.budgets(), self._draw_labels, self.settings.most_labels)
            found["pairs"] = self._budgets(sets.N_PAIRS, self._draw_pairs, 10 * self.settings.most_labels)
        else:
            found["targets"] = self._budgets(data.budgets(), self._draw_targets, 2 * self.settings.most_labels)
        return found

    def _free(self) -> dict[str, dict[str, Any]]:
        orders = self.without_labels
        found = {"values": {name: [self.judge.values(order)] for name, order in orders.items()}}
        found["values"] |= self._baselines(None)
        found["redundancy"] = {name: self.judge.redundancy(order) for name, order in orders.items()}
        found["redundancy"]["random"] = float(np.mean([self.judge.redundancy(order) for order in self.random]))
        found["redundancy"]["random pruned"] = float(np.mean([self.judge.redundancy(o) for o in self.random_pruned]))
        if self.data.has_classes:
            plain = [name for name in orders if "[" not in name]
            found["nmi"] = {name: self.judge.clusters(orders[name]) for name in plain}
            found["nmi"]["random"] = float(np.mean([self.judge.clusters(order) for order in self.random[:5]]))
        found["curves"] = {name: self.judge.curve(orders[name]) for name in _CURVES if name in orders}
        found["curves"]["random"] = np.mean([self.judge.curve(order) for order in self.random], axis=0).tolist()
        found["curves"]["all"] = found["values"]["all"][0][:1] * len(self.data.curve)
        return found

    def _baselines(self, shown: np.ndarray | None) -> dict[str, list[list[float]]]:
        everything = self.judge.value(np.arange(self.data.X.shape[1]), shown)
        chance, pruned = (
            np.mean([self.judge.values(order, shown) for order in orders], axis=0).tolist()
            for orders in (self.random, self.random_pruned)
        )
        return {"random": [chance], "random pruned": [pruned], "all": [[everything] * len(self.data.sizes)]}

    def _pruned(self, orders: Orders, limits: Sequence[float] = LIMITS[:1]) -> Orders:
        """The orders of the methods with their defaults, without what is too like a better column."""
        return {
            variant(f"{name} pruned", **({"r": limit} if limit != LIMITS[0] else {})): self.judge.pruned(order, limit)
            for name, order in orders.items()
            if name in _PRUNED
            for limit in limits
        }

    def _budgets(self, budgets: Iterable[int], draw: Any, most: int) -> dict[str, dict[str, Any]]:
        found = {}
        for budget in budgets:
            if budget > most:
                continue
            values: dict[str, list[list[float]]] = {}
            redundancy: dict[str, list[float]] = {}
            for number in range(self.draws):
                shown, orders = draw(budget, number)
                orders |= self._pruned(orders)
                orders |= {name: self.without_labels[name] for name in _READ_NO_LABELS if name in self.without_labels}
                orders["subset, unlabelled"] = self.without_labels["subset"]
                for name, order in orders.items():
                    values.setdefault(name, []).append(self.judge.values(order, shown))
                    redundancy.setdefault(name, []).append(self.judge.redundancy(order))
                for name, (value,) in self._baselines(shown).items():
                    values.setdefault(name, []).append(value)
            means = {name: float(np.mean(found)) for name, found in redundancy.items()}
            found[str(budget)] = {"values": values, "redundancy": means}
        return found

    def _draw_labels(self, budget: int, number: int) -> tuple[np.ndarray, Orders]:
        shown = self.data.shown(budget, number)
        rng = self.data.rng(_DRAW, budget, number)
        return shown, self.rankings.with_labels(shown, rng) | self.choices.with_labels(shown, rng)

    def _draw_targets(self, budget: int, number: int) -> tuple[np.ndarray, Orders]:
        shown = self.data.shown(budget, number)
        rng = self.data.rng(_DRAW, budget, number)
        return shown, self.rankings.with_targets(shown, rng) | self.choices.with_targets(shown, rng)

    def _draw_pairs(self, budget: int, number: int) -> tuple[np.ndarray, Orders]:
        """Pairs among half of the rows of each class, as in [KA] 7.2; the rows they touch are not judged."""
        rng, y = self.data.rng(_PAIRS, budget, number), self.data.y
        rows = rng.permutation(len(y))
        place = np.concatenate([np.arange(size) for size in np.bincount(y)])
        half = rows[np.argsort(y[rows], kind="stable")][place % 2 == 0]
        known = np.full(len(y), -1)
        known[half] = y[half]
        must, cannot = pairs_from_labels(known, budget, int(rng.integers(2**31)))
        orders = self.rankings.with_pairs(must, cannot, rng) | self.choices.with_pairs(must, cannot)
        return np.unique(np.concatenate([must, cannot])), orders

    def _text_variants(self) -> Orders:
        """Rankings of the same counts by other distances; judged on the counts like all others."""
        if self.data.kind != "text":
            return {}
        counts, weighted = self.rankings.problem, Problem.of(sets.tf_idf(self.data.X))
        rng, order = self.data.rng(_FREE, 1), self.rankings.order
        return {
            "variance, tf-idf": order(Variance(), weighted, rng),
            "laplacian, tf-idf": order(LaplacianScore(), weighted, rng),
            "laplacian, cosine": order(LaplacianScore(KNN(metric="cosine")), counts, rng),
        }


def run(names: Sequence[str], settings: Settings, n_jobs: int = 2, cache: Path | None = CACHE) -> list[dict[str, Any]]:
    """Results of the data sets in the order given; finished ones are read, the others computed."""
    paths = {name: _path(cache, name, settings) for name in names}
    kept = {name: path for name, path in paths.items() if path is not None and path.exists()}
    found = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in kept.items()}
    missing = [name for name in names if name not in found]
    if len(missing) < len(names):
        print(f"{len(names) - len(missing)} of {len(names)} sets are kept in {cache}", file=sys.stderr, flush=True)
    with joblib.parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1):
        parallel = joblib.Parallel(batch_size=1, return_as="generator_unordered")
        arriving = parallel(joblib.delayed(_work)(name, settings, paths[name]) for name in missing)
        for done, (result, seconds) in enumerate(arriving, 1):
            found[result["name"]] = result
            print(f"{done:3}/{len(missing)}  {result['name']:18} {seconds:6.1f} s", file=sys.stderr, flush=True)
    return [found[name] for name in names]


def _work(name: str, settings: Settings, path: Path | None) -> tuple[dict[str, Any], float]:
    start = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # degenerate cells (one label, narrow widths) are part of the study
        result = Cells(name, settings).results()
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(result), encoding="utf-8")
        part.replace(path)
    return result, time.perf_counter() - start


def _path(cache: Path | None, name: str, settings: Settings) -> Path | None:
    return None if cache is None else cache / f"{name}-{_fingerprint(settings)}.json"


def _fingerprint(settings: Settings) -> str:
    """A hash of the settings and of all code that the values come from, so that changed code is never read back."""
    here, library = Path(__file__).resolve().parent, Path(fiedler.__file__).resolve().parent
    code = [here / name for name in ("sets.csv", "sets.py", "judge.py", "methods.py", "peers.py", "run.py")]
    code += sorted(path for path in library.rglob("*.py") if path.parent.name not in ("report", "plots", "cli"))
    digest = hashlib.sha256(json.dumps([asdict(settings), peers.versions()]).encode())
    for path in code:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
