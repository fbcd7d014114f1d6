# Everything happens inside .venv; a stamp in it remembers which set of packages is installed, so a
# second call starts at once and a changed pyproject.toml installs again.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CLI := $(VENV)/.installed-cli
DEV := $(VENV)/.installed-dev

# One BLAS thread per test process: the processes are the parallelism.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test format clean

help:
	@echo "make demo    install compactlearn into $(VENV) and run its demo"
	@echo "make test    format, lint, types, import contract, doctests, tests (what CI runs)"
	@echo "make format  let ruff rewrite the source"
	@echo "make clean   remove $(VENV) and every cache"

demo: $(CLI)
	@$(BIN)/compactlearn demo

test: $(DEV)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyrefly check
	$(BIN)/lint-imports
	$(ONE_THREAD) $(BIN)/pytest -q --doctest-modules src/compactlearn
	$(ONE_THREAD) $(BIN)/pytest -q -n $(WORKERS) --dist worksteal

format: $(DEV)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and "compactlearn needs Python 3.11 or newer, and $(PYTHON) is %d.%d; call make with PYTHON=python3.11 or a newer one." % v[:2])'
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# Both installs are editable: what runs is always the source in this folder.
$(CLI): pyproject.toml | $(BIN)/python
	@echo "installing compactlearn[cli]"
	@$(PIP) --editable '.[cli]'
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	@echo "installing compactlearn[dev]"
	@$(PIP) --editable '.[dev]'
	@touch $@ $(CLI)
