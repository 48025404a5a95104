# Two commands do all the set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
USERS  := $(VENV)/.installed
TOOLS  := $(VENV)/.installed-tools

.PHONY: help demo test lint bench fuzz clean

help:  ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(USERS): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	# torch first: the pinned build, before anything can ask for another one
	$(PIP) torch
	$(PIP) -e '.[train,serve,pictures]'
	touch $@

$(TOOLS): $(USERS)
	$(PIP) -e '.[dev,train,serve,pictures]'
	touch $@

demo: $(USERS)  ## train a Korean-English translator on the built-in corpus, and show it
	$(BIN)/tongsa demo

test: $(TOOLS)  ## the tests
	.ci/programs
	# what fails is run once more: a machine may be too busy for one test; the summary names it ("RERUN");
	# worksteal: each process takes half of the tests, in their order, so that neighbours share what was trained for them
	$(BIN)/python -m pytest -n 2 --dist worksteal --reruns 1

lint: $(TOOLS)  ## ruff and mypy --strict
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy

bench: $(TOOLS)  ## side by side with peers; prints ratios
	$(BIN)/python benchmarks/training.py

MINUTES ?= 10
fuzz: $(TOOLS)  ## look for inputs that break a reader, a document format, a run directory or a request
	$(PIP) -e '.[fuzz]' || echo "atheris cannot be installed here: random changes instead"
	$(BIN)/python tests/fuzz/fuzz.py --minutes $(MINUTES)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache build dist
