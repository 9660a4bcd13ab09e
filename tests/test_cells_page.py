"""benchmarks.cells: the tables say who is ahead, and the page shows the code that is run."""

import inspect

import numpy as np
import pytest

from benchmarks.cells import agreement, maps
from benchmarks.cells.sets import Cells
from benchmarks.pages import DOCS

pytest.importorskip("anndata")


def cells(sizes=(5, 10)):
    import anndata

    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    X = rng.normal(size=(60, 40))
    X[:, :6] += 6.0 * (kinds[:, None] == np.arange(6) % 3)
    return Cells("made", "made cells", anndata.AnnData(X), kinds, ["a", "b", "c"], sizes)


def rows(**ari):
    made = [{"way": "all genes", "n": None, "seed": 0, "ari": 0.5, "nmi": 0.5}]
    for way in agreement.WAYS:
        value = ari.get(way.replace(", ", "_"), 0.3)
        made += [{"way": way, "n": n, "seed": seed, "ari": value, "nmi": value} for n in (5, 10) for seed in (0, 1)]
    return made


def answers(made):
    """The rival of each finding, and whether the default is ahead of it."""
    _, findings = agreement.tables(cells(), made)["made-findings"]
    return {claim.split("`")[3]: (answer, evidence) for claim, answer, evidence in findings}


def test_losses_are_told():
    found = answers(rows(variance=0.9, laplacian=0.4))
    assert found["variance"] == ("no", "0.400 and 0.900, ahead in 0 of 2 draws")
    assert found["random"] == ("yes", "0.400 and 0.300, ahead in 2 of 2 draws")


def test_a_lead_on_average_is_none_if_most_draws_lack_it():
    uneven = rows(laplacian=0.3, variance=0.3)
    for row in uneven:
        if row["way"] == "laplacian":
            row["ari"] = 0.9 if row["seed"] else 0.2
    assert answers(uneven)["variance"] == ("no", "0.550 and 0.300, ahead in 1 of 2 draws")


def test_genes_that_tell_kinds_apart_agree_with_them(monkeypatch):
    ours = {name: way for name, way in agreement.WAYS.items() if "scanpy" not in name}
    monkeypatch.setattr(agreement, "WAYS", ours)
    found = agreement.measure(cells(), quick=True)
    assert {r["way"] for r in found} == {"all genes", *ours}
    assert agreement.mean(found, "laplacian", "ari", 5) > 0.9
    assert agreement.mean(found, "random", "ari", 5) < 0.7
    assert np.isnan(agreement.mean(found, "nobody", "ari"))


@pytest.mark.skipif(not DOCS.is_dir(), reason="the pages are not installed")
def test_the_page_shows_the_code_that_is_run():
    page = (DOCS / "single-cells.md").read_text(encoding="utf-8")
    body = inspect.getsource(maps.walk).partition("import scanpy as sc\n\n")[2]
    lines = [line.strip().replace("=n_top_genes", f"={maps.GENES['yan']}") for line in body.splitlines()]
    assert all(line in page for line in lines)
    assert len(lines) == 4
