"""benchmarks.cells: the page says who wins, whoever it is, and prints the code it runs."""

import ast

import numpy as np
import pytest

from benchmarks.cells import agreement, page, tutorial
from benchmarks.cells.sets import Cells

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


def test_the_winner_is_named_and_losses_are_told():
    text = agreement.section(cells(), rows(variance=0.9, laplacian=0.4), 2).markdown()
    assert "`variance` is best with 0.90" in text
    assert "`laplacian`, has 0.40" in text
    lines = {line.split("`")[3]: line for line in text.splitlines() if line.startswith("| `laplacian` agrees")}
    assert lines["variance"].endswith("| **no** | 0.400 and 0.900, ahead in 0 of 2 draws |")
    assert lines["random"].endswith("| yes | 0.400 and 0.300, ahead in 2 of 2 draws |")


def test_a_lead_on_average_is_none_if_most_draws_lack_it():
    uneven = rows(laplacian=0.3, variance=0.3)
    for row in uneven:
        if row["way"] == "laplacian":
            row["ari"] = 0.9 if row["seed"] else 0.2
    text = agreement.section(cells(), uneven, 2).markdown()
    assert "| **no** | 0.550 and 0.300, ahead in 1 of 2 draws |" in text


def test_genes_that_tell_kinds_apart_agree_with_them(monkeypatch):
    ours = {name: way for name, way in agreement.WAYS.items() if "scanpy" not in name}
    monkeypatch.setattr(agreement, "WAYS", ours)
    found = agreement.measure(cells(), quick=True)
    assert {r["way"] for r in found} == {"all genes", *ours}
    assert agreement.mean(found, "laplacian", "ari", 5) > 0.9
    assert agreement.mean(found, "random", "ari", 5) < 0.7
    assert np.isnan(agreement.mean(found, "nobody", "ari"))


def test_the_page_prints_the_code_it_runs():
    text = tutorial.code()
    ast.parse(text)
    assert text.splitlines()[3].startswith("select_genes(adata, n_top_genes=1000)")
    assert text.count("sc.") == 3
    whole = page.markdown([agreement.section(cells(), rows(), 2)])
    assert "(#made)" in whole
    assert "2. Made cells: made" in whole
