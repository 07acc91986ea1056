# Two commands for a fresh machine: `make demo` and `make test`.
# Paths are relative, so that a checkout may live in any folder, spaces included.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	then echo $$p; exit; fi; done; echo python3)
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check -q
# One more than the cores of a small machine: some tests wait for processes they started.
JOBS ?= 3

.PHONY: demo test test-oldest test-oldest-quick test-next test-kernels lint types unit docs look \
  bench fuzz gpu-test dist changelog release-notes clean help

help:
	@echo "make demo    install and run the demonstration: a table and an HTML report"
	@echo "make test    install and run lint, types and the whole test suite"
	@echo "make docs    build the documentation (warnings are errors)"
	@echo "make look    the same, then open every page in Chromium and measure it"
	@echo "make bench   print speed ratios of the hot paths"
	@echo "make fuzz    hostile input for SECONDS=60 a target; see tools/fuzz"
	@echo "make gpu-test      run the tests on arrays of a GPU, by python3 and its PyTorch"
	@echo "make lock          renew the versions that make test installs (constraints/)"
	@echo "make licenses      renew the page of licenses of what we depend on"
	@echo "make test-oldest   run the test suite with the lowest versions allowed"
	@echo "make test-next     run the test suite with pre-releases of what we depend on"
	@echo "make test-kernels  run the numerical tests as other processors compute them"
	@echo "make dist          build wheel and sdist, and run the demonstration from the wheel"
	@echo "make changelog     show the changelog of the next release"
	@echo "make release-notes move the fragments of changes/ to CHANGELOG.md"
	@echo "make clean   remove the virtual environments and build products"

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

# Tests run with the versions that were last tested, where there is a list of them for
# this Python and the index still has them; `make lock` renews it.
LOCK = constraints/py$(shell $(PY) -c 'import sys; print("%d.%d" % sys.version_info[:2])').txt
$(VENV)/.installed-test: pyproject.toml $(wildcard constraints/*.txt) | $(PY)
	@echo "Installing partlearn[test] into $(VENV) ..."
	@if [ ! -f $(LOCK) ] || ! $(PIP) install -c $(LOCK) -e ".[test]"; then \
	  echo "Not the versions of $(LOCK): those that pyproject.toml allows."; \
	  $(PIP) install -e ".[test]"; fi
	@touch $@

# Newest versions in an environment of their own; run the tests with them before keeping.
lock:
	@rm -rf .venv-lock && "$(PYTHON)" -m venv .venv-lock
	@.venv-lock/bin/python -m pip --disable-pip-version-check -q install -e ".[test]"
	@mkdir -p constraints
	@.venv-lock/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])' > .venv-lock/version
	@.venv-lock/bin/python tools/dependencies.py lock \
	  > "constraints/py$$(cat .venv-lock/version).txt"

licenses: $(VENV)/.installed-docs
	@$(PIP) install -e ".[all,crowd,test,docs]"
	@$(PY) tools/dependencies.py licenses > docs/developers/licenses.rst

demo: $(VENV)/.installed-demo
	@$(PY) -m partlearn demo

lint: $(VENV)/.installed-test
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: $(VENV)/.installed-test
	$(PY) -m mypy

unit: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest -n $(JOBS) --dist worksteal \
	  --cov --cov-report=term:skip-covered

test: lint types unit

# The lowest versions that pyproject.toml allows, in an environment of their own. The
# quick form needs no extras: it imports everything that imports without them and runs
# the tests of the maths and of a method of each kind. Old versions warn of what newer
# ones around them deprecate: those warnings are for `make test` and `make test-next`.
TESTS ?= tests
QUICK := tests/test_layers.py tests/_math/linalg tests/model_selection tests/utils \
  tests/decomposition/test_cenda.py tests/classification/test_pl_knn.py \
  $(addprefix src/partlearn/,candidates decomposition classification metrics)

.venv-oldest-%/.installed: pyproject.toml
	@echo "Installing the lowest versions allowed into $(@D) ..."
	@rm -rf $(@D) && "$(PYTHON)" -m venv $(@D)
	@$(@D)/bin/python tools/lowest_versions.py all > $(@D)/lowest.txt
	@$(@D)/bin/python -m pip --disable-pip-version-check -q install -c $(@D)/lowest.txt \
	  $(if $(filter core,$*),-e . pytest hypothesis,-e ".[$*]")
	@touch $@

test-oldest: .venv-oldest-test/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(<D)/bin/python -m pytest \
	  -W ignore::DeprecationWarning -n $(JOBS) --dist worksteal $(TESTS)

test-oldest-quick: .venv-oldest-core/.installed
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(<D)/bin/python -m pytest -q \
	  -W ignore::DeprecationWarning $(QUICK)

test-next:
	@rm -rf .venv-next && "$(PYTHON)" -m venv .venv-next
	@.venv-next/bin/python -m pip --disable-pip-version-check -q install --pre -e ".[test]"
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv-next/bin/python -m pytest \
	  -n $(JOBS) --dist worksteal $(TESTS)

# KERNELS=--quick takes one kernel and the shortest tests.
test-kernels: $(VENV)/.installed-test
	$(PY) tools/kernels.py $(KERNELS)

# The wheel is built from the sdist, and tried where nothing of the checkout is seen.
dist:
	@rm -rf dist .venv-dist && "$(PYTHON)" -m venv .venv-dist
	@.venv-dist/bin/python -m pip --disable-pip-version-check -q install build
	.venv-dist/bin/python -m build
	@rm -rf .venv-dist && "$(PYTHON)" -m venv .venv-dist
	@.venv-dist/bin/python -m pip --disable-pip-version-check -q install \
	  "$$(ls dist/*.whl)[demo]"
	cd .venv-dist && env -u PYTHONPATH ./bin/partlearn demo

changelog: $(PY)
	@$(PIP) install "towncrier>=24.8"
	@$(PY) -m towncrier build --draft --version "$$($(PY) -c \
	  'import re; print(re.search(r"\"(.+)\"", open("src/partlearn/_version.py").read().split("=")[1])[1])')"

# Moves the fragments of changes/ to CHANGELOG.md, under the version of _version.py.
release-notes: $(PY)
	@$(PIP) install "towncrier>=24.8"
	@$(PY) -m towncrier build --yes --version "$$($(PY) -c \
	  'import re; print(re.search(r"\"(.+)\"", open("src/partlearn/_version.py").read().split("=")[1])[1])')"

docs: $(VENV)/.installed-docs
	rm -rf docs/generated
	$(PY) -m sphinx -W --keep-going -b html docs docs/_build/html

# Every page in Chromium, as wide as a phone and a desk, light and dark: errors, width,
# contrast, cut words; pictures to look at.
look: docs
	$(PY) -m tools.browser docs/_build/html docs/_build/pictures

bench: $(VENV)/.installed-test
	$(PY) -m benchmarks

SECONDS ?= 60
fuzz: $(VENV)/.installed-test
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m tools.fuzz --seconds $(SECONDS)

# On the machine's own Python, which has PyTorch or CuPy for its GPU; fails without.
gpu-test:
	PARTLEARN_GPU=1 PYTHONPATH=src "$(PYTHON)" -m pytest -q -m gpu \
	  -p no:cacheprovider tests/array_api

clean:
	rm -rf $(VENV) .venv-* build dist docs/_build docs/auto_examples docs/generated
