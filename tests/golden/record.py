# ruff: noqa: E501, SIM905
"""The golden record: about a thousand results of one checkout, compared to the last bit with those of another.

    PYTHONPATH=checkout python tests/golden/record.py write new.npz [--part scores]
    python tests/golden/record.py compare old.npz new.npz

``make golden`` compares this checkout with the commit in ``tests/golden/BASE``.

It uses public names only, so it runs on any checkout. Both records must be made on the same machine, because BLAS adds
in another order on another processor. ``ALLOWED`` lists what may differ, by how much, and why; everything else is equal.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/stored.py; PYTHONPATH decides about fiedler

import numpy as np
import scipy.sparse as sp

# The pattern of an entry, what it may differ by relative to its largest value, and why.
ALLOWED: list[tuple[str, float, str]] = []
SEED, MEMORY = 2007, 0.02  # MiB of working memory at which small data take the paths of large ones
ATTRIBUTES = (
    "scores_ order_ ranking_ support_ n_features_ explained_ gains_ relevance_ stands_for_ included_ kept_ pvalues_ "
    "qvalues_ effects_ groups_ group_names_ feature_importances_"
).split()


# -------------------------------------------------------------------- data


def gaussian(n: int, m: int, seed: int = SEED) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X with structure in a third of its columns, copies and a constant column, three classes and a real target."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.standard_normal((n, m)) + np.outer(y, 2.0 * rng.standard_normal(m) * (rng.random(m) < 0.35))
    X[:, m // 2] = X[:, 0]
    X[:, m // 3] = X[:, 1] + 0.1 * rng.standard_normal(n)
    X[:, -1] = 3.0
    return X, y, X[:, 0] + 0.5 * rng.standard_normal(n)


def problems() -> dict[str, tuple[Any, np.ndarray, np.ndarray]]:
    """Below and above the sizes at which the code takes another path, in every storage."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris

    found: dict[str, tuple[Any, np.ndarray, np.ndarray]] = {}
    for name, n, m in (("tiny", 31, 8), ("small", 120, 40), ("middle", 400, 250)):
        found[name] = X, y, target = gaussian(n, m)
        if name != "tiny":
            found[f"{name} float32"] = X.astype(np.float32), y, target
            found[f"{name} sparse"] = sp.csr_array(np.where(X > 0.6, np.round(4 * X), 0.0)), y, target
    X, y, target = gaussian(120, 40)
    found["far"] = X + 1e7, y, target
    found["few columns"] = np.round(gaussian(900, 3)[0], 1), gaussian(900, 3)[1], gaussian(900, 3)[2]
    X, y = load_iris(return_X_y=True)
    found["iris"] = X, y, X[:, 0]
    X, y = load_breast_cancer(return_X_y=True)
    found["breast cancer"] = X, y, X[:, 0]
    X, y = load_digits(return_X_y=True)
    found["digits"] = X[:700], y[:700], X[:700, 20] + 0.1 * X[:700, 30]
    return found


def few(y: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(y)) % 4 == 0, y, -1)


def some(target: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(target)) % 3 > 0, target, np.nan)


def links(y: np.ndarray) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(SEED)
    i, j = rng.integers(len(y), size=(2, 80))
    i, j = i[i != j], j[i != j]
    pairs = np.unique(np.sort(np.c_[i, j], axis=1), axis=0)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return {"must_link": pairs[same][:12], "cannot_link": pairs[~same][:12]}


def frame() -> tuple[Any, np.ndarray]:
    """A messy frame: categories, missing values, dates, flags, a copy."""
    import pandas as pd

    rng = np.random.default_rng(SEED)
    X, y, _ = gaussian(150, 10)
    table = pd.DataFrame(X[:, :9], columns=[f"f{j}" for j in range(9)])
    table["kind"] = pd.Categorical(
        np.array(["a", "b", "c"])[np.where(rng.random(150) < 0.7, y, rng.integers(3, size=150))]
    )
    table["town"] = np.array(["Ulm", "Bonn", "Kiel", "Jena"], dtype=object)[rng.integers(4, size=150)]
    table["flag"] = rng.random(150) < 0.3
    table["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(900, size=150), unit="D")
    for column, share in (("f2", 0.1), ("f5", 0.5), ("kind", 0.2), ("f8", 0.02)):
        table.loc[rng.random(150) < share, column] = None
    return table, y


def holed(n: int = 140, m: int = 24) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y, target = gaussian(n, m)
    rng = np.random.default_rng(SEED + 1)
    X[rng.random(X.shape) < np.linspace(0.0, 0.4, m)] = np.nan
    X[:, -1] = 3.0
    return X, y, target


def criteria(fd: Any) -> dict[str, Any]:
    """Every method with its defaults, and every other path."""
    made = {name: method() for name, method in fd.METHODS.items()}
    made |= {f"C{variant}": fd.ConstraintScore(variant) for variant in (1, 2, 3)}
    made |= {"phi1": fd.SPEC(phi=1), "phi2 of r^4": fd.SPEC(gamma=4), "phi3": fd.SPEC(phi=3, n_clusters=4)}
    made |= {"phi1 of exp": fd.SPEC(phi=1, gamma=np.expm1), "phi2 on RBF": fd.SPEC(fd.RBF(), gamma=0.5)}
    made |= {"diffusion": fd.LaplacianScore(fd.Diffusion()), "binary": fd.LaplacianScore(fd.KNN(7, "binary"))}
    made |= {"anchors": fd.LaplacianScore(fd.Anchors(12)), "phi2 on anchors": fd.SPEC(fd.Anchors(12), gamma=4)}
    made |= {"cosine": fd.LaplacianScore(fd.KNN(5, metric="cosine")), "phi3 of classes": fd.SPEC(fd.ClassGraph(), 3)}
    made |= {"components": fd.LaplacianScore(fd.KNN(6, n_components=3)), "agreeing": fd.LaplacianScore(fd.Agreeing())}
    made |= {
        "evsc of few": fd.EVSC(n_eigenvalues=5),
        "evsc trace": fd.EVSC(mode="trace"),
        "evsc knn": fd.EVSC(fd.KNN(6)),
    }
    made |= {"auto": fd.SSelect(lam="auto"), "rayleigh of classes": fd.LaplacianScore(fd.ClassGraph())}
    made |= {"walk": fd.Explained(fd.KNN(5), "walk"), "of graph": fd.Explained(fd.KNN(5), "walk", "graph", 1.0)}
    made |= {"identity": fd.Explained(None, "identity", power=1.0), "steps": fd.SmoothSubset(filter="steps")}
    made |= {"sum of sets": fd.Explained(fd.KNN(5)) + 0.5 * fd.Explained(fd.RBF()), "relevance": fd.Relevance()}
    made |= {"energy": fd.Energy(fd.KNN(4)), "scaled": -3.0 * fd.Variance(), "formula": _formula(fd)}
    return made


def _formula(fd: Any) -> Any:
    return 0.5 * fd.LaplacianScore() + 2.0 * fd.SSelect() * fd.ConstraintScore(1)


SLOW = {"evsc", "evsc of few", "phi2 on RBF", "diffusion", "auto", "evsc knn", "sum of sets", "constraint", "mrsf"}


# -------------------------------------------------------------------- recording


class Record:
    """Named results; warnings are results too."""

    def __init__(self) -> None:
        self.found: dict[str, np.ndarray] = {}
        self.part = ""

    def add(self, name: str, value: Any) -> None:
        name = f"{self.part}: {name}"
        assert name not in self.found, name
        array = np.asarray(value)
        if array.dtype == object:
            array = np.asarray(json.dumps([_plain(v) for v in array.ravel().tolist()], sort_keys=True))
        self.found[name] = array

    def text(self, name: str, value: Any) -> None:
        """Plain data as JSON, without what changes from run to run."""
        self.add(name, value if isinstance(value, str) else json.dumps(_plain(value), sort_keys=True))

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Errors and warnings inside are recorded under a name."""
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            try:
                yield
            except (ValueError, TypeError) as error:
                self.add(f"{name} | error", f"{type(error).__name__}: {error}")
        told = sorted({f"{type(w.message).__name__}: {w.message}" for w in seen})
        told = [
            line
            for line in told
            if not line.startswith(("DeprecationWarning", "FutureWarning", "ZarrUser", "UnstableSpec"))
        ]
        if told:
            self.add(f"{name} | warnings", "\n".join(told))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            str(k): _plain(v)
            for k, v in value.items()
            if k not in ("seconds", "versions", "version", "created", "duration")
        }
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def supervision(criterion: Any, y: np.ndarray, target: np.ndarray) -> dict[str, Any]:
    return {"y": some(target)} if "target" in criterion.reads and "classes" not in criterion.reads else {"y": few(y)}


def attributes(record: Record, name: str, selector: Any) -> None:
    for attribute in ATTRIBUTES:
        if hasattr(selector, attribute):
            record.add(f"{name} | {attribute}", getattr(selector, attribute))
    record.text(f"{name} | names", [str(n) for n in selector.get_feature_names_out()])


def scores(record: Record) -> None:
    import fiedler as fd

    for where, (X, y, target) in problems().items():
        for name, criterion in criteria(fd).items():
            if X.shape[0] > 300 and name in SLOW and where != "middle":
                continue
            with record.of(f"scores | {name} | {where}"):
                record.add(f"scores | {name} | {where}", criterion.evaluate(X, **supervision(criterion, y, target)))
    for where in ("small", "small sparse"):
        X, y, target = problems()[where]
        for name in ("C1", "C2", "C3", "constraint", "subset", "relevance"):
            with record.of(f"pairs | {name} | {where}"):
                record.add(f"pairs | {name} | {where}", criteria(fd)[name].evaluate(X, **links(y)))
        with record.of(f"target | subset | {where}"):
            record.add(f"target | relevance | {where}", fd.Relevance().evaluate(X, some(target)))
    X, y, target = holed()
    for name, criterion in criteria(fd).items():
        with record.of(f"missing | {name}"):
            record.add(f"missing | {name}", criterion.evaluate(X, **supervision(criterion, y, target)))
    table, y = frame()
    for name in ("laplacian", "fisher", "variance", "subset", "relieff", "C1", "sselect", "phi2 of r^4", "evsc"):
        with record.of(f"frame | {name}"):
            record.add(f"frame | {name}", criteria(fd)[name].evaluate(table, few(y)))


def small_memory(record: Record) -> None:
    from sklearn import config_context

    import fiedler as fd

    for where in ("middle", "middle sparse", "middle float32"):
        X, y, target = problems()[where]
        for name in ("laplacian", "subset", "sselect", "phi3", "fisher", "anchors", "C1", "cosine", "steps"):
            criterion = criteria(fd)[name]
            with config_context(working_memory=MEMORY), record.of(f"memory | {name} | {where}"):
                fitted = fd.SpectralSelector(criterion, n_features_to_select=9, screen=None).fit(
                    X, **supervision(criterion, y, target)
                )
                record.add(f"memory | {name} | {where} | scores", fitted.scores_)
                record.add(f"memory | {name} | {where} | order", fitted.order_)


def stored(record: Record) -> None:
    from sklearn import config_context
    from stored import KINDS, opened, problem, twin

    import fiedler as fd

    for kind, way in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            data = problem("fisher", kind)
            path = way.save(Path(folder), data.X)
            for memory in (MEMORY, 64):
                with config_context(working_memory=memory):
                    for name in ("laplacian", "fisher", "subset", "anchors", "variance", "phi3"):
                        entry = f"stored | {kind} | {memory} | {name}"
                        with record.of(entry), opened(kind, path) as X:
                            fitted = fd.SpectralSelector(criteria(fd)[name], n_features_to_select=6, screen=None).fit(
                                X, data.y
                            )
                            record.add(f"{entry} | scores", fitted.scores_)
                            record.add(f"{entry} | order", fitted.order_)
            with record.of(f"stored | {kind} | twin"):
                record.add(f"stored | {kind} | twin", fd.LaplacianScore().evaluate(twin(kind, data.X)))
    import dask.array as da

    X, y, _ = gaussian(90, 30)
    for chunks in ((45, 30), (90, 7), (20, 11)):
        for name in ("laplacian", "fisher", "subset", "anchors"):
            entry = f"dask | {chunks} | {name}"
            with record.of(entry):
                fitted = fd.SpectralSelector(criteria(fd)[name], n_features_to_select=6, screen=None).fit(
                    da.from_array(X, chunks), few(y)
                )
                record.add(f"{entry} | scores", fitted.scores_)
                record.add(f"{entry} | order", fitted.order_)


def selectors(record: Record) -> None:
    import fiedler as fd

    X, y, target = gaussian(120, 40)
    sparse = sp.csr_array(np.where(X > 0.6, np.round(4 * X), 0.0))
    groups = np.arange(40) // 3
    table, kinds = frame()
    hole, hole_y, _ = holed()
    wide = gaussian(60, 1300)[0]
    inputs: dict[str, tuple[Any, dict[str, Any]]] = {
        "plain": (X, {}),
        "labels": (X, {"y": few(y)}),
        "target": (X, {"y": some(target)}),
        "pairs": (X, links(y)),
        "sparse": (sparse, {"y": few(y)}),
        "groups": (X, {"y": few(y), "groups": groups}),
        "frame": (table, {"y": few(kinds)}),
        "missing": (hole, {"y": few(hole_y)}),
        "wide": (wide, {}),
    }
    options: dict[str, dict[str, Any]] = {
        "subset": {"criterion": "subset", "n_features_to_select": 7},
        "subset auto": {"criterion": "subset", "n_features_to_select": "auto"},
        "subset half": {"criterion": "subset"},
        "subset fdr": {"criterion": "subset", "n_features_to_select": "fdr"},
        "subset agreement": {"criterion": "subset", "n_features_to_select": 5, "screen": "agreement"},
        "subset screen fdr": {"criterion": "subset", "n_features_to_select": "auto", "screen": "fdr", "alpha": 0.2},
        "subset apart": {"criterion": "subset", "n_features_to_select": 6, "redundancy": 0.4},
        "subset included": {"criterion": "subset", "n_features_to_select": 6, "include": [3, 1]},
        "subset standard": {"criterion": "subset", "n_features_to_select": 6, "scale": "standard"},
        "walk": {"criterion": fd.SmoothSubset(filter="walk", power=1.0), "n_features_to_select": 5},
        "of graph": {"criterion": fd.Explained(fd.KNN(5), "walk", "graph", 1.0), "n_features_to_select": 5},
        "laplacian": {"criterion": "laplacian"},
        "laplacian fdr": {"criterion": "laplacian", "n_features_to_select": "fdr"},
        "laplacian apart": {"criterion": "laplacian", "n_features_to_select": 8, "redundancy": True},
        "laplacian below": {"criterion": "laplacian", "threshold": "median"},
        "laplacian agreement": {"criterion": "laplacian", "n_features_to_select": 0.3, "screen": "agreement"},
        "laplacian included": {
            "criterion": "laplacian",
            "n_features_to_select": 6,
            "include": [3, 1],
            "redundancy": True,
        },
        "laplacian minmax": {"criterion": "laplacian", "n_features_to_select": 6, "scale": "minmax"},
        "sselect": {"criterion": "sselect[lam=0.3,graph=knn[n_neighbors=4]]", "n_features_to_select": 6},
        "mcfs": {"criterion": "mcfs", "n_features_to_select": 6},
        "trace": {"criterion": "trace_ratio", "n_features_to_select": 6},
        "text": {
            "criterion": "laplacian * constraint[variant=1] + 0.5 * laplacian[graph=rbf]",
            "n_features_to_select": 6,
        },
    }
    for where, (data, told) in inputs.items():
        for name, option in options.items():
            if where == "wide" and name not in (
                "subset",
                "subset auto",
                "laplacian",
                "subset apart",
                "subset included",
            ):
                continue
            entry = f"selector | {name} | {where}"
            with record.of(entry):
                fitted = fd.SpectralSelector(**({"screen": None} | option)).fit(data, **told)
                attributes(record, entry, fitted)
                record.text(f"{entry} | repr", repr(fitted))
                if name in ("subset", "laplacian fdr", "laplacian apart") and where != "wide":
                    record.text(f"{entry} | explain", str(fitted.explain(data)))


def significance(record: Record) -> None:
    import fiedler as fd
    from fiedler.evaluate import significance as tested

    names = (
        "laplacian fisher spec sselect sls ssls constraint C1 C2 C3 relieff correlation evsc subset mcfs variance phi3 "
        "anchors binary formula scaled"
    ).split()
    for where in ("small", "small sparse", "iris", "tiny"):
        X, y, target = problems()[where]
        for name in names:
            criterion, entry = criteria(fd)[name], f"significance | {name} | {where}"
            with record.of(entry):
                found = tested(criterion, X, **supervision(criterion, y, target))
                record.add(entry, np.array([found.pvalues, found.qvalues, found.z, found.effect]))
    X, y, target = problems()["small"]
    for name, options in {
        "permutations": {"n_permutations": 49},
        "by": {"correction": "by"},
        "folds": {"n_folds": 4, "n_repeats": 2},
        "groups": {"groups": np.arange(40) // 3},
        "seed": {"random_state": 5},
    }.items():
        for criterion in ("laplacian", "fisher", "subset"):
            with record.of(f"significance | {criterion} | {name}"):
                found = tested(criterion, X, few(y), **options)
                record.add(
                    f"significance | {criterion} | {name}", np.array([found.pvalues, found.qvalues, found.effect])
                )
    for name, (data, labels) in {"frame": frame(), "missing": holed()[:2]}.items():
        for criterion in ("laplacian", "fisher", "subset"):
            with record.of(f"significance | {criterion} | {name}"):
                found = tested(criterion, data, few(labels))
                record.add(
                    f"significance | {criterion} | {name}", np.array([found.pvalues, found.qvalues, found.effect])
                )
    with record.of("significance | given graph"):
        graph = fd.KNN(4).build(X[:, :4])
        found = tested(fd.LaplacianScore(fd.Precomputed(graph)), X)
        record.add("significance | given graph", np.array([found.pvalues, found.qvalues, found.effect]))


def edges(record: Record) -> None:
    import fiedler as fd

    recipes = {
        "knn": fd.KNN(), "knn 3 binary": fd.KNN(3, "binary"), "knn cosine": fd.KNN(6, metric="cosine"),
        "knn components": fd.KNN(5, n_components=3), "knn approximate": fd.KNN(5, algorithm="approximate"),
        "knn wide": fd.KNN(5, bandwidth=2.0), "rbf": fd.RBF(), "rbf scaled": fd.RBF(scale=0.25),
        "diffusion": fd.Diffusion(), "anchors": fd.Anchors(12), "agreeing": fd.Agreeing(), "classes": fd.ClassGraph(),
        "relief": fd.ReliefGraph(4), "target": fd.TargetKNN(), "semi target": fd.SemiTarget(5), "must": fd.MustLink(),
        "cannot": fd.CannotLink(), "within": fd.Within(),
    }  # fmt: skip
    for where in (
        "tiny",
        "small",
        "small sparse",
        "middle",
        "middle sparse",
        "middle float32",
        "few columns",
        "digits",
    ):
        X, y, target = problems()[where]
        for name, recipe in recipes.items():
            entry = f"edges | {name} | {where}"
            with record.of(entry):
                told = (
                    {"y": some(target)}
                    if recipe.reads == "target"
                    else links(y)
                    if "pairs" in recipe.reads
                    else {"y": few(y)}
                )
                graph = recipe.build(X, **told)
                W = graph.toarray()
                i, j = (
                    np.nonzero(np.triu(W))
                    if name not in ("rbf", "rbf scaled", "diffusion", "anchors")
                    else (np.zeros(0),) * 2
                )
                rng = np.random.default_rng(SEED)
                probe = rng.standard_normal((len(W), 3))
                record.add(f"{entry} | edges", _digest(i, j))
                record.add(
                    f"{entry} | weights", np.concatenate([(W @ probe).sum(axis=0), W.diagonal()[:3], W.sum(axis=1)[:5]])
                )
                record.add(f"{entry} | energy", graph.energy(np.ascontiguousarray(probe)))
                record.text(f"{entry} | repr", repr(graph))
                if W.shape[0] < 200:
                    record.add(f"{entry} | spectrum", graph.spectrum(4)[0])
    X, y, _ = holed()
    for name in ("knn", "rbf", "agreeing"):
        with record.of(f"edges | {name} | missing"):
            record.add(f"edges | {name} | missing", recipes[name].build(X).toarray().sum(axis=0))


def _digest(*arrays: np.ndarray) -> str:
    import hashlib

    return hashlib.sha256(b"".join(np.ascontiguousarray(a, dtype=np.int64).tobytes() for a in arrays)).hexdigest()[:24]


def evaluated(record: Record) -> None:
    import fiedler.evaluate as ev

    X, y, target = problems()["small"]
    order = np.argsort(-X.var(axis=0))
    with record.of("evaluate"):
        record.add("evaluate | accuracy", ev.accuracy_curve(X, y, order, n_features=[2, 5], n_repeats=2).values)
        record.add("evaluate | clusters", ev.clustering_curve(X, y, order, n_features=[2, 5]).values)
        record.add("evaluate | jaccard", ev.jaccard_curve(X, order, n_features=[2, 5]).values)
        record.add("evaluate | cut", ev.cut_value(X))
        record.text("evaluate | lambda", ev.tune_lambda(X, few(y)).table)
        record.text(
            "evaluate | tune",
            ev.tune("laplacian", {"graph__n_neighbors": [4, 8]}, X, few(y), by="cv", n_repeats=2).table,
        )
        record.text("evaluate | sizes", str(ev.suggest_n_features("laplacian", X, few(y))))
        record.text("evaluate | sizes of sets", str(ev.suggest_n_features("subset", X)))
        stable = ev.stability("subset", X, few(y), k=5, n_draws=4)
        record.add("evaluate | stability", np.r_[stable.frequency, stable.rank_median, stable.jaccard, stable.kendall])
        record.text(
            "evaluate | compare",
            ev.compare(
                ["laplacian", "fisher", "subset"], X, y, n_features=[3, 6], n_draws=2, n_labels=9, n_jobs=1
            ).table,
        )
        record.text(
            "evaluate | compare pairs",
            ev.compare(["constraint", "subset"], X, y, n_features=[3, 6], n_draws=2, n_pairs=9, n_jobs=1).table,
        )
        record.text(
            "evaluate | compare target",
            ev.compare(["ssls", "correlation"], X, target, n_features=[3, 6], n_draws=2, n_labels=19, n_jobs=1).table,
        )
        record.text(
            "evaluate | unsupervised",
            ev.compare(["laplacian", "subset"], X, n_features=[3, 6], n_draws=2, n_jobs=1).table,
        )
        record.add("evaluate | jaccard of all", ev.neighborhood_jaccard(X, order[:6]))
        record.add("evaluate | kendall", ev.kendall_coefficient(np.argsort(np.argsort(X[:5], axis=1), axis=1) + 1))
    for name in ("small", "middle", "middle sparse", "breast cancer"):
        with record.of(f"agreement | {name}"):
            found = ev.agreement(problems()[name][0])
            record.add(f"agreement | {name}", np.array([found.posterior, found.pvalues, found.kept]))
    with record.of("evaluate | missing"):
        found = ev.missing_values(holed()[0])
        record.add("evaluate | missing", np.array([found.n_missing, found.pvalues, found.qvalues]))
    with record.of("genes"):
        import anndata

        from fiedler.anndata import select_genes

        cells = anndata.AnnData(sp.csr_matrix(np.abs(np.where(X > 0.6, np.round(4 * X), 0.0)).astype(np.float32)))
        cells.obs["kind"] = y.astype(str)
        cells.obs["batch"] = np.where(np.arange(120) % 3, "a", "b")
        for name, told in {
            "plain": {},
            "batch": {"batch_key": "batch"},
            "target": {"target": "kind"},
            "tested": {"significance": True},
        }.items():
            for method in ("laplacian", "subset"):
                with record.of(f"genes | {name} | {method}"):
                    chosen = select_genes(cells, method, n_top_genes=8, inplace=False, **told)
                    for column in chosen:
                        record.add(f"genes | {name} | {method} | {column}", chosen[column].to_numpy())


def reports(record: Record) -> None:
    import fiedler as fd

    X, y, target = gaussian(90, 20)
    table, kinds = frame()
    for name, (data, told) in {
        "plain": (X, {}), "labels": (X, {"y": few(y)}), "target": (X, {"y": some(target)}), "frame": (table, {"y": few(kinds)}),
        "missing": (holed()[0], {}),
    }.items():  # fmt: skip
        for method in ("subset", "laplacian"):
            with record.of(f"report | {method} | {name}"):
                fitted = fd.SpectralSelector(method, n_features_to_select=5, screen=None).fit(data, **told)
                record.text(f"report | {method} | {name}", fd.summarize(fitted, data, **told))


def session(record: Record) -> None:
    from fiedler.explore import Session

    X = gaussian(48, 9)[0]
    steps = [
        ("open", {}), ("pair", {"rows": [3, 0], "link": "must"}), ("pair", {"rows": [1, 5], "link": "cannot"}),
        ("set", {"method": "constraint"}), ("label", {"rows": [0, 1, 2, 9], "label": "a"}),
        ("label", {"rows": [4, 7, 8, 11], "label": "b"}), ("set", {"method": "sselect"}), ("set", {"lam": 0.4}),
        ("set", {"n_neighbors": 4}), ("set", {"method": "subset"}), ("pin", {"feature": 4}), ("ban", {"feature": 2}),
        ("undo", {}), ("redo", {}), ("feature", {"feature": 1}), ("row", {"row": 3}), ("methods", {}), ("curves", {}),
        ("snapshot", {"slot": "A"}), ("free", {"feature": 4}), ("set", {"method": "fisher"}), ("close", {}),
        ("export", {"what": "labels"}), ("export", {"what": "script"}), ("export", {"what": "command"}), ("remove", {"answer": 0}), ("state", {}), ("clear", {}),
        ("nonsense", {}),
    ]  # fmt: skip
    with record.of("session"):
        page = Session(X, method="subset", n_features=3)
        for number, (kind, fields) in enumerate(steps):
            record.text(f"session | {number:02} {kind}", page.handle({"type": kind, **fields}))
        saved = page.saved()
        record.text("session | saved", saved)


def commands(record: Record) -> None:
    from click.testing import CliRunner

    from fiedler.cli import main

    folder = Path(os.environ["FIEDLER_DATA"]) / "tables"
    targets = {
        "Soybean": "Class",
        "Ozone": "V4",
        "pbc": "status",
        "Cars93": "Price",
        "survey": None,
        "plantTraits": None,
        "Chile": "vote",
        "diamonds": "price",
    }
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            for name, target in targets.items():
                text = (folder / f"{name}.csv").read_text().splitlines(keepends=True)
                Path(f"{name}.csv").write_text("".join(text[:501]))
                known = ["--target", target] if target else []
                for label, words in {
                    "look": ["look"], "rank auto": ["rank", "--auto"], "rank laplacian": ["rank", "-m", "laplacian", *known],
                    "rank subset": ["rank", *known, "--top", "5"], "rank numeric": ["rank", "--numeric-only", "--scale", "standard"],
                    "select auto": ["select", "--auto", "--out", f"{name}_small.csv"],
                    "significance": ["rank", "-m", "laplacian", "--significance", "--numeric-only"],
                    "screen": ["rank", "--screen", "agreement", "--auto"],
                }.items():  # fmt: skip
                    command, *rest = words
                    done = CliRunner().invoke(main, [command, f"{name}.csv", *rest], prog_name="fiedler")
                    err = "\n".join(
                        line for line in done.stderr.splitlines() if not re.search(r"%(, .* left.*)?$", line)
                    )
                    record.text(f"command | {label} | {name}", f"{done.exit_code}\n{done.stdout}\n{err}")
                written = Path(f"{name}_small.csv")
                if written.exists():
                    record.text(f"command | written | {name}", written.read_text())
            for words in (["methods"], ["methods", "subset"], ["demo"], ["rank", "--help"]):
                done = CliRunner().invoke(main, words, prog_name="fiedler")
                record.text(f"command | {' '.join(words)}", f"{done.exit_code}\n{done.stdout}\n{done.stderr}")
        finally:
            os.chdir(here)


PARTS: dict[str, Callable[[Record], None]] = {
    part.__name__: part
    for part in (scores, small_memory, stored, selectors, significance, edges, evaluated, reports, session, commands)
}


def compare(old: str, new: str) -> int:
    """Print what differs beyond ``ALLOWED``; the number of such entries."""
    a, b = (dict(np.load(path, allow_pickle=False)) for path in (old, new))
    parts = {name.partition(":")[0] for name in a} & {name.partition(":")[0] for name in b}
    wrong = 0
    for name in sorted(name for name in a.keys() | b.keys() if name.partition(":")[0] in parts):
        if name not in a or name not in b:
            if any(tolerance == np.inf and fnmatch(name, pattern) for pattern, tolerance, _ in ALLOWED):
                continue
            wrong += 1
            print(f"{'new' if name in b else 'lost'}: {name}: {str((b if name in b else a)[name])[:300]}")
            continue
        x, y = a[name], b[name]
        if x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes():
            continue
        tolerance, reason = next(((t, why) for pattern, t, why in ALLOWED if fnmatch(name, pattern)), (0.0, ""))
        if x.dtype.kind in "fiub" and y.dtype.kind in "fiub" and x.shape == y.shape:
            x, y = x.astype(float), y.astype(float)
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            size = np.abs(x[np.isfinite(x)]).max(initial=0.0) or 1.0
            with np.errstate(invalid="ignore"):
                off = float(np.where(same, 0.0, np.abs(x - y) / size).max(initial=0.0))
            if off <= tolerance:
                continue
            print(f"off by {off:.1e} at {int((~same).sum())} of {same.size} (allowed {tolerance:g} {reason}): {name}")
        else:
            if tolerance == np.inf:
                continue
            at = next(
                (k for k, (p, q) in enumerate(zip(str(x), str(y), strict=False)) if p != q),
                min(len(str(x)), len(str(y))),
            )
            print(
                f"text: {name}\n   - {str(x)[max(0, at - 60) : at + 120]!r}\n   + {str(y)[max(0, at - 60) : at + 120]!r}"
            )
        wrong += 1
    print(f"{len(a.keys() & b.keys())} entries in both records, {wrong} differ beyond what is allowed")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["write", "compare"])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--part", action="append", choices=list(PARTS))
    options = parser.parse_args()
    if options.what == "compare":
        sys.exit(bool(compare(*options.paths)))
    import fiedler

    print(f"results of {fiedler.__file__}", file=sys.stderr)
    record = Record()
    for name in options.part or PARTS:
        before, record.part = len(record.found), name
        PARTS[name](record)
        print(f"{name}: {len(record.found) - before}", file=sys.stderr, flush=True)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **record.found)
    Path(options.paths[0]).write_bytes(buffer.getvalue())
    print(f"{len(record.found)} entries, {len(buffer.getvalue()) / 1e6:.1f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
