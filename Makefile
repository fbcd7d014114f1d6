# Everything happens inside .venv; a stamp in it remembers which set of packages is installed, so a
# second call starts at once and a changed pyproject.toml installs again.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CLI := $(VENV)/.installed-cli
DEV := $(VENV)/.installed-dev
SITE := build/site

# An environment of its own, with the oldest version of everything that pyproject.toml allows.
OLD := .venv-oldest
OLD_EXTRAS := cli data plot dask test
OLD_TESTS := contract datasets decoding embeddings compact crossfit shortlist linalg metrics model_selection theorems

# One BLAS thread per test process: the processes are the parallelism.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Where images forbid compiled files, each process that a test starts would compile the package again.
export PYTHONDONTWRITEBYTECODE :=
WORKERS ?= 2
QUICK_TESTS := tests/test_architecture.py tests/contract/test_supported.py tests/theorems tests/reference

.DEFAULT_GOAL := help
.PHONY: help demo check quick test test-oldest docs release-check format clean

help:
	@echo "make demo           install compactlearn into $(VENV) and run its demo"
	@echo "make quick          format, lint, types, import contracts, theorems, one row an estimator; two minutes"
	@echo "make test           format, lint, types, import contract, doctests, tests (what CI runs)"
	@echo "make test-oldest    quick tests with the oldest supported version of every package"
	@echo "make docs           the documentation site, in $(SITE); a warning is an error"
	@echo "make release-check  sdist and wheel, installed and used in empty environments"
	@echo "make format         let ruff rewrite the source"
	@echo "make clean          remove environments, what was built, and every cache"

demo: $(CLI)
	@$(BIN)/compactlearn demo

# What a contributor runs after every change. Theorems on small data and the promises of each
# supported estimator; the rest of a folder's tests by its name: .venv/bin/pytest tests/FOLDER
quick: check
	$(ONE_THREAD) $(BIN)/pytest -q -n $(WORKERS) -m "not slow" $(QUICK_TESTS)

check: $(DEV)
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/pyrefly check
	$(BIN)/lint-imports

test: check
	$(ONE_THREAD) $(BIN)/pytest -q -n $(WORKERS) --doctest-modules src/compactlearn bench/src/compactlearn_bench
	$(ONE_THREAD) $(BIN)/pytest -q -n $(WORKERS) --dist worksteal

test-oldest: $(OLD)/.installed
	$(ONE_THREAD) $(OLD)/bin/pytest -q -n $(WORKERS) -m "not slow" $(wildcard $(OLD_TESTS:%=tests/%))

docs: $(DEV)
	rm -rf $(SITE)
	$(ONE_THREAD) $(BIN)/python -m sphinx -q -W --keep-going -b html -d build/doctrees docs $(SITE)
	@echo "the site begins at $(SITE)/index.html"

release-check: $(DEV)
	$(BIN)/python tools/release_check.py

format: $(DEV)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

clean:
	rm -rf $(VENV) $(OLD) build dist docs/api/generated
	rm -rf .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and "compactlearn needs Python 3.11 or newer, and $(PYTHON) is %d.%d; call make with PYTHON=python3.11 or a newer one." % v[:2])'
	@echo "creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# Both installs are editable: what runs is always the source in this folder.
$(CLI): pyproject.toml bench/pyproject.toml | $(BIN)/python
	@echo "installing compactlearn[cli]"
	@$(PIP) --editable '.[cli]' --editable ./bench
	@touch $@

$(DEV): pyproject.toml bench/pyproject.toml | $(BIN)/python
	@echo "installing compactlearn[dev]"
	@$(PIP) --editable '.[dev]' --editable './bench[report]'
	@touch $@ $(CLI)

$(OLD)/.installed: pyproject.toml tools/oldest.py
	@echo "installing the oldest supported versions into $(OLD)"
	@rm -rf $(OLD)
	@$(PYTHON) -m venv $(OLD)
	@$(PYTHON) tools/oldest.py $(OLD_EXTRAS) > $(OLD)/requirements.txt
	@$(OLD)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $(OLD)/requirements.txt
	@$(OLD)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@
