# The two commands to know: `make demo` and `make test`. Each sets up an environment of its own on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO := .venv-demo
BENCH := .venv-bench
LOWEST := .venv-lowest
DOCS := .venv-docs

.PHONY: demo test test-quick test-lowest test-extras test-docs lint coverage fuzz golden docs dist bench bench-quick papers study significance scale cells noise field holes spatial pages clean

demo: $(DEMO)/.ready  ## rank the features of a real data set without labels, with few labels, with pairs
	@echo "Step 2 of 2: rankings, a comparison and a report of 569 samples (half a minute)."
	$(DEMO)/bin/python examples/demo.py

test: $(READY)  ## the whole suite: papers' numbers, laws, scikit-learn's checks, doctests
	$(BIN)/python -m pytest -n 2

test-quick: $(READY)  ## the same without the slow tests
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: $(READY)  ## style, and types of the package
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

coverage: $(READY)  ## which lines and branches the tests reach
	$(BIN)/python -m pytest -q -n 2 -m "not slow" --cov --cov-report=term:skip-covered

test-lowest: $(READY)  ## the quick suite with the oldest versions we say we work with
	$(BIN)/uv venv -q --clear --python $(PYTHON) $(LOWEST)
	echo '*' > $(LOWEST)/.gitignore
	$(BIN)/uv pip install -q --python $(LOWEST)/bin/python --resolution lowest-direct -e ".[test]"
	$(LOWEST)/bin/python -m pytest -q -n 2 -m "not slow"

test-extras: $(READY)  ## every extra by itself, with its oldest versions, does what it is for
	$(BIN)/python tools/check_extras.py $(PYTHON)

fuzz: $(READY)  ## random tables, methods and damaged files, for two minutes
	$(BIN)/python tests/fuzz.py 120

golden: $(READY)  ## the same results, to the last bit, as the commit in tests/golden/BASE (5 minutes, needs FIEDLER_DATA)
	rm -rf out/base && git worktree prune && git worktree add -f --detach out/base $$(cat tests/golden/BASE)
	PYTHONPATH=out/base $(BIN)/python -W ignore tests/golden/record.py write out/old.npz
	PYTHONPATH=. $(BIN)/python -W ignore tests/golden/record.py write out/new.npz
	$(BIN)/python tests/golden/record.py compare out/old.npz out/new.npz

test-docs: $(READY)  ## the pages are true: examples in docstrings and pages run, links lead somewhere, the gallery runs
	$(BIN)/python -m pytest -q -n 2 fiedler tests/test_docs.py tests/test_examples.py

docs: $(DOCS)/.ready  ## the site, in out/site; every page is opened in a browser where there is one (4 minutes)
	$(DOCS)/bin/python -m sphinx -q -W --keep-going -d out/doctrees docs out/site
	$(DOCS)/bin/python docs/check_site.py out/site

dist: $(READY)  ## wheel and sdist, checked: metadata, contents, and the README's lines in new environments
	rm -rf dist
	$(BIN)/python -m build -q --installer uv
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/check_dist.py $(PYTHON)

bench: $(BENCH)/.ready  ## measure against every contender, write benchmarks/RESULTS.md (40 minutes)
	$(BENCH)/bin/python -W ignore -m benchmarks

bench-quick: $(BENCH)/.ready  ## the ratios that must not fall (2 minutes)
	$(BENCH)/bin/python -W ignore -m benchmarks --quick

# Each measures on the data in FIEDLER_DATA, goes on where it stopped, and fills its page; `ARGS="--only NAME"` for a part.
papers study significance noise field holes spatial scale cells: $(BENCH)/.ready  ## rerun a study and fill its page
	$(BENCH)/bin/python -W ignore -m benchmarks.$@ $(ARGS)

pages: $(READY)  ## fill the pages of the benchmarks again from their committed tables
	$(BIN)/python -m benchmarks.pages

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $(READY)

# What the demo needs, and no more: about a quarter of the environment for development. pip shows what it does.
$(DEMO)/.ready: pyproject.toml
	@echo "Step 1 of 2: fiedler and what its report and its page need are installed in $(DEMO) (a minute or two)."
	$(PYTHON) -m venv $(DEMO)
	echo '*' > $(DEMO)/.gitignore
	$(DEMO)/bin/python -m pip install --disable-pip-version-check -e ".[report,explore]"
	touch $(DEMO)/.ready

# The contenders pin other versions, so they get an environment of their own; those that do not install are left out.
$(BENCH)/.ready: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	echo '*' > $(BENCH)/.gitignore
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[bench]" || \
		$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[fast]"
	touch $(BENCH)/.ready

# The site's tools stay out of the environment that runs the tests.
$(DOCS)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	echo '*' > $(DOCS)/.gitignore
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $(DOCS)/.ready

clean:
	rm -rf $(VENV) $(DEMO) $(BENCH) $(LOWEST) $(DOCS) docs/gallery docs/api/generated docs/_made build dist out .pytest_cache .ruff_cache .hypothesis
