"""CITATION.cff says what the package says: its version and licence, and the papers."""

from pathlib import Path

import pytest

import fiedler
from fiedler.registry import PAPERS

yaml = pytest.importorskip("yaml", reason="PyYAML reads CITATION.cff; Dask brings it")
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def citation():
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def test_citation_is_of_this_version(citation):
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors", "abstract"} <= set(citation)
    assert (citation["type"], citation["version"]) == ("software", fiedler.__version__)
    assert f'license = "{citation["license"]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_cited_papers_are_the_papers(citation):
    assert [paper["abbreviation"] for paper in citation["references"]] == list(PAPERS)
    for cited, paper in zip(citation["references"], PAPERS.values(), strict=True):
        authors = ", ".join(f"{author['given-names']} {author['family-names']}" for author in cited["authors"])
        article = cited["type"] == "article"
        venue = f"{cited['journal']} {cited['volume']}" if article else cited["conference"]["name"]
        assert (authors, cited["title"], venue, cited["year"]) == (paper.authors, paper.title, paper.venue, paper.year)
