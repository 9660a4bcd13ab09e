# The two commands to know: `make demo` and `make test`. Both set up .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH := .venv-bench

.PHONY: demo test test-quick lint bench bench-quick papers scale clean

demo: $(READY)  ## rank the features of a real data set without labels, with few labels, with pairs
	$(BIN)/python examples/demo.py

test: $(READY)  ## the whole suite: papers' numbers, laws, scikit-learn's checks, doctests
	$(BIN)/python -m pytest -n 2

test-quick: $(READY)  ## the same without the slow tests
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(BENCH)/.ready  ## measure against every contender, write benchmarks/RESULTS.md (20 minutes)
	$(BENCH)/bin/python -W ignore -m benchmarks

bench-quick: $(BENCH)/.ready  ## the ratios that must not fall (2 minutes)
	$(BENCH)/bin/python -W ignore -m benchmarks --quick

papers: $(READY)  ## rerun the papers and the study on the data in FIEDLER_DATA, rewrite docs/ (under an hour)
	$(BIN)/python -W ignore -m benchmarks.papers
	$(BIN)/python -W ignore -m benchmarks.study

scale: $(READY)  ## measure memory limits and growth, rewrite docs/scaling.md (half an hour, 9 GB of disk)
	$(BIN)/python -W ignore -m benchmarks.scale

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $(READY)

# The contenders pin other versions, so they get an environment of their own; those that do not install are left out.
$(BENCH)/.ready: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	echo '*' > $(BENCH)/.gitignore
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[bench]" || \
		$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[fast]"
	touch $(BENCH)/.ready

clean:
	rm -rf $(VENV) $(BENCH) build dist out .pytest_cache .ruff_cache .hypothesis
