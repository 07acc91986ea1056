# Two commands for a fresh machine: `make demo` and `make test`.
# Paths are relative, so that a checkout may live in any folder, spaces included.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then echo $$p; exit; fi; done; echo python3)
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check -q
JOBS ?= 2

.PHONY: demo test lint types unit docs bench clean help

help:
	@echo "make demo    install and run the demonstration: a table and an HTML report"
	@echo "make test    install and run lint, types and the whole test suite"
	@echo "make docs    build the documentation (warnings are errors)"
	@echo "make bench   print speed ratios of the hot paths"
	@echo "make clean   remove the virtual environment and build products"

$(PY):
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "partlearn needs Python 3.11 or newer, and '$(PYTHON)' is not." >&2; \
	  echo "Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3.11" >&2; \
	  exit 1; }
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "Could not create a virtual environment with '$(PYTHON)' (is its venv module installed?)." >&2; \
	  exit 1; }

# A stamp per set of extras: installing again only when the project file changed.
$(VENV)/.installed-%: pyproject.toml | $(PY)
	@echo "Installing partlearn[$*] into $(VENV) ..."
	@$(PIP) install -e ".[$*]"
	@touch $@

demo: $(VENV)/.installed-demo
	@$(PY) -m partlearn demo

lint: $(VENV)/.installed-test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(VENV)/.installed-test
	$(PY) -m mypy

unit: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n $(JOBS) \
	  --cov --cov-report=term:skip-covered

test: lint types unit

docs: $(VENV)/.installed-docs
	rm -rf docs/generated
	$(PY) -m sphinx -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.installed-test
	$(PY) -m benchmarks

clean:
	rm -rf $(VENV) build dist docs/_build docs/auto_examples docs/generated
