# The two commands to know: `make demo` and `make test`. Both set up .venv on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-quick lint bench clean

demo: $(READY)  ## rank the features of a real data set without labels, with few labels, with pairs
	$(BIN)/python examples/demo.py

test: $(READY)  ## the whole suite: papers' numbers, laws, scikit-learn's checks, doctests
	$(BIN)/python -m pytest -n 2

test-quick: $(READY)  ## the same without the slow tests
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(READY)  ## time the methods against scikit-learn + scipy written by hand
	$(BIN)/python benchmarks/laplacian.py

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $(READY)

clean:
	rm -rf $(VENV) build dist out .pytest_cache .ruff_cache .hypothesis
