# Everything sets up what it needs: the first call makes .venv, later calls find it made.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SOURCES := deltamem_tui tests benchmarks
PYTEST_FLAGS ?=

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# The tests start the program some hundred times; it need not be compiled each time.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test thorough check lint types walls bench results fuzz memory formats shipped format clean

help: ## Say what can be made
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(READY) ## Build a bank from real episodes and look at it
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo.sh

test: $(READY) ## Run the tests
	$(BIN)/pytest -n 2 --dist worksteal $(PYTEST_FLAGS)

thorough: $(READY) ## Run the tests with ten times the examples, killed at every point there is
	$(MAKE) test PYTEST_FLAGS="--hypothesis-profile=thorough $(PYTEST_FLAGS)"

check: lint types walls ## Format, lint, types, walls, and the tests with their coverage
	$(MAKE) test PYTEST_FLAGS="--cov --cov-report=term:skip-covered $(PYTEST_FLAGS)"

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

walls: $(READY)
	$(BIN)/lint-imports

bench: $(READY) ## Measure speed and quality, one JSON line each
	$(BIN)/python -m benchmarks

results: $(READY) ## Play ALFWorld and ScienceWorld with all memories for docs/results.md: hours, needs a Java
	$(BIN)/pip install --quiet -c constraints.txt --editable '.[alfworld,scienceworld]'
	nice $(BIN)/python docs/build_results.py --parallel 2

fuzz: $(READY) ## Break logs for ten minutes, and see that every reader takes or refuses them
	$(BIN)/python -m benchmarks.fuzzing

memory: $(READY) ## Import logs of 200 MB and of 2 GB, and compare the memory it takes
	$(BIN)/python -m benchmarks.import_memory

formats: $(READY) ## Read every log in ../shared/data, and say what became of each
	@$(BIN)/python -m benchmarks.formats_table

shipped: $(READY) ## Learn the shipped banks anew, and see that they are those that ship
	@$(BIN)/python docs/build_shipped_bank.py --check

format: $(READY) ## Format, and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove what was made, .venv included
	rm -rf $(VENV) build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find $(SOURCES) docs -name __pycache__ -type d -prune -exec rm -rf {} +

# Three steps with a stamp each, so that a broken download is taken up where it broke.
# torch comes first and alone: nothing else may choose its version.
$(READY): $(VENV)/.torch pyproject.toml constraints.txt
	$(BIN)/pip install --quiet -c constraints.txt --editable '.[dev]'
	@touch $@

$(VENV)/.torch: $(VENV)/.made
	$(BIN)/pip install --quiet -c constraints.txt torch==2.13.0
	@touch $@

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "DeltaMem needs Python 3.11 or newer: make PYTHON=python3.11 …" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@
