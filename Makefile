# make demo | test | lint | bench | parity | fuzz: each sets up what it needs in .venv the first time.
#   make test PYTHON=python3.12     another Python for the environment
#   make test ARGS="-k tape -x"     arguments for pytest
#   make fuzz MINUTES=60            how long random programs are run
PYTHON ?= python3
MINUTES ?= 30
VENV ?= .venv
ARGS ?=

ifeq ($(OS),Windows_NT)
bin := $(VENV)/Scripts
python := $(bin)/python.exe
else
bin := $(VENV)/bin
python := $(bin)/python
endif
install := $(python) -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test lint format bench parity fuzz fuzz-tf
.NOTPARALLEL:

help:
	@echo 'make demo     train on real digits and print the test accuracy'
	@echo 'make test     run the tests             (ARGS="-k tape" is passed to pytest)'
	@echo 'make lint     formatting, style, types, and who may import whom'
	@echo 'make format   put code into the house format'
	@echo 'make bench    all benchmarks and a report beside the peers  (ARGS="--quick": some minutes)'
	@echo 'make fuzz     random programs in every mode, compared        (MINUTES=60, ARGS="--seed 7")'
	@echo 'make fuzz-tf  random programs here and by real TensorFlow    (TF_PYTHON=... has one)'
	@echo 'make parity   the same training runs by real Keras on JAX, compared (ARGS="losses" chooses)'

demo: $(VENV)/.core
	$(python) examples/mnist_fit.py

test: $(VENV)/.dev
	$(python) -m pytest -n auto $(ARGS)

lint: $(VENV)/.dev
	$(python) -m ruff check .
	$(python) -m ruff format --check .
	$(python) -m pyright --pythonpath $(python)
	$(bin)/lint-imports --no-logo

format: $(VENV)/.dev
	$(python) -m ruff check --fix .
	$(python) -m ruff format .

# All benchmarks and one report of them in benchmarks/results. The peers' Pythons are named by
# BENCH_PEERS_PYTHON=..., or each by BENCH_TORCH_PYTHON, BENCH_TF_PYTHON, BENCH_JAX_PYTHON.
bench: $(VENV)/.fast
	$(python) benchmarks/report.py $(ARGS)

# Random programs with a fresh seed; what goes wrong is shrunk, and kept in tests/fuzz/found.txt.
fuzz: $(VENV)/.dev $(VENV)/.fast
	$(python) -m tests.fuzz --minutes $(MINUTES) $(ARGS)

# TF_PYTHON=... names a Python that has TensorFlow and pytest already.
TF_VENV ?= .venv-tensorflow
ifdef TF_PYTHON
fuzz-tf:
else
TF_PYTHON := $(TF_VENV)/bin/python
fuzz-tf: $(TF_VENV)/.ready
endif
	PYTHONPATH=. $(TF_PYTHON) -m tests.fuzz --tensorflow --minutes $(MINUTES) $(ARGS)

$(TF_VENV)/.ready: pyproject.toml
	@echo 'installing TensorFlow and framework into $(TF_VENV) (the first time takes minutes) ...'
	@$(PYTHON) -m venv $(TF_VENV)
	@$(TF_PYTHON) -m pip install --quiet --disable-pip-version-check tensorflow pytest --editable .
	@touch $@

# Real Keras is kept out of the environment in which the tests show what the package needs.
# PARITY_PYTHON=... names a Python that has keras and jax already.
PARITY_VENV ?= .venv-parity
ifdef PARITY_PYTHON
parity:
else
PARITY_PYTHON := $(PARITY_VENV)/bin/python
parity: $(PARITY_VENV)/.ready
endif
	$(PARITY_PYTHON) -m parity $(ARGS)

$(PARITY_VENV)/.ready: pyproject.toml
	@echo 'installing Keras, JAX and framework into $(PARITY_VENV) (the first time takes minutes) ...'
	@$(PYTHON) -m venv $(PARITY_VENV)
	@$(PARITY_PYTHON) -m pip install --quiet --disable-pip-version-check keras jax --editable .
	@touch $@

# What benchmarks need beside it: Numba, where there is one for this Python.
$(VENV)/.fast: $(VENV)/.core
	@$(install) --editable '.[plot,fast]' || echo 'No Numba for this Python: measured without it.'
	@touch $@

# The package itself with what plots need, then everything that work on it needs.
$(VENV)/.core: pyproject.toml | $(python)
	@echo 'installing framework into $(VENV) ...'
	@$(install) --editable '.[plot]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(python)
	@echo 'installing framework and the development tools into $(VENV) (the first time takes a minute) ...'
	@$(install) --editable '.[dev]'
	@touch $(VENV)/.core $@

$(python):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo 'framework needs Python 3.10 or newer; "$(PYTHON)" is:' "$$($(PYTHON) --version 2>&1)"; \
	  echo 'Name another with, for example: make $(MAKECMDGOALS) PYTHON=python3.12'; exit 1; }
	@echo 'making the environment $(VENV) with' "$$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -f $@; \
	  echo 'Could not make $(VENV). On Debian and Ubuntu: apt install python3-venv'; exit 1; }
	@rm -f $(VENV)/.core $(VENV)/.fast $(VENV)/.dev
