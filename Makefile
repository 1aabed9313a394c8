# make demo | test | lint | docs | bench | parity | fuzz: each installs what it needs in .venv the first time.
#   make test PYTHON=python3.12     another Python for the environment
#   make test ARGS="-k tape -x"     arguments for pytest
#   make fuzz MINUTES=60            how long random programs run
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

.PHONY: help demo test lint format docs bench parity parity-tf fuzz fuzz-tf
.NOTPARALLEL:

help:
	@echo 'make demo     train on real digits and print the test accuracy'
	@echo 'make test     run the tests             (ARGS="-k tape" is passed to pytest)'
	@echo 'make lint     check formatting, style, types and the layer order of packages'
	@echo 'make format   format the code'
	@echo 'make docs     build the documentation in docs/_build/html, with the notebooks of the gallery'
	@echo 'make bench    run all benchmarks, with a report      (ARGS="--quick": some minutes)'
	@echo 'make fuzz     compare random programs in all modes   (MINUTES=60, ARGS="--seed 7")'
	@echo 'make fuzz-tf  compare random programs with TensorFlow      (TF_PYTHON=... has one)'
	@echo 'make parity-tf  compare every function with TensorFlow     (TF_PYTHON=... has one)'
	@echo 'make parity   compare training and calls with Keras on JAX (ARGS="losses" chooses)'

demo: $(VENV)/.core
	$(python) examples/mnist_fit.py
	@$(python) -c "from framework.kernels import tier; tier.numba_missing() and print('Numba is not installed. Networks with convolutions or recurrent layers are faster with it:', tier.ADVICE)"

test: $(VENV)/.dev
	$(python) -m pytest -n auto $(ARGS)

lint: $(VENV)/.dev
	$(python) -m ruff check .
	$(python) -m ruff format --check .
	$(python) -m pyright --pythonpath $(python)
	$(python) -m pytest -q -n 0 tests/typing
	$(bin)/lint-imports --no-logo

format: $(VENV)/.dev
	$(python) -m ruff check --fix .
	$(python) -m ruff format .

# Warnings are errors. Kernels are compiled first, so that pages have the speed of later runs.
# Notebooks that have not changed since the last build do not run again.
docs: $(VENV)/.docs
	@$(python) -m framework warmup > $(VENV)/.warmup
	$(python) -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo 'Open docs/_build/html/index.html'

# All benchmarks, with a report in benchmarks/results. BENCH_PEERS_PYTHON=... names a Python with all
# peers; BENCH_TORCH_PYTHON, BENCH_TF_PYTHON and BENCH_JAX_PYTHON name one for each.
bench: $(VENV)/.fast
	$(python) benchmarks/report.py $(ARGS)

# Random programs with a fresh seed; failing programs are shrunk and kept in tests/fuzz/found.txt.
fuzz: $(VENV)/.dev
	$(python) -m tests.fuzz --minutes $(MINUTES) $(ARGS)

# TF_PYTHON=... names a Python in which TensorFlow, pytest, SciPy and Pillow are installed.
TF_VENV ?= .venv-tensorflow
ifndef TF_PYTHON
TF_PYTHON := $(TF_VENV)/bin/python
fuzz-tf parity-tf: $(TF_VENV)/.ready
endif

fuzz-tf:
	PYTHONPATH=. $(TF_PYTHON) -m tests.fuzz --tensorflow --minutes $(MINUTES) $(ARGS)

parity-tf:
	PYTHONPATH=. $(TF_PYTHON) -m parity.functions_tensorflow $(ARGS)

$(TF_VENV)/.ready: pyproject.toml
	@echo 'installing TensorFlow and framework into $(TF_VENV) (the first time takes minutes) ...'
	@$(PYTHON) -m venv $(TF_VENV)
	@$(TF_PYTHON) -m pip install --quiet --disable-pip-version-check tensorflow pytest scipy pillow --editable .
	@touch $@

# Real Keras has an environment of its own: in .venv the tests show that the package works without it.
# PARITY_PYTHON=... names a Python in which keras and jax are installed.
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

$(VENV)/.docs: $(VENV)/.fast
	@$(install) --editable '.[docs]'
	@touch $@

# Benchmarks also need Numba, where there is one for this Python.
$(VENV)/.fast: $(VENV)/.core
	@$(install) --editable '.[plot,fast]' || echo 'No Numba for this Python: measured without it.'
	@touch $@

# The package with plots, then with all development tools and, where there is one, Numba.
$(VENV)/.core: pyproject.toml | $(python)
	@echo 'installing framework into $(VENV) ...'
	@$(install) --editable '.[plot]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(python)
	@echo 'installing framework and the development tools into $(VENV) (the first time takes a minute) ...'
	@$(install) --editable '.[dev,fast]' || { echo 'No Numba for this Python: tested without it.'; \
	  $(install) --editable '.[dev]'; }
	@touch $(VENV)/.core $@

$(python):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo 'framework needs Python 3.10 or newer; "$(PYTHON)" is:' "$$($(PYTHON) --version 2>&1)"; \
	  echo 'Name another with, for example: make $(MAKECMDGOALS) PYTHON=python3.12'; exit 1; }
	@echo 'creating the environment $(VENV) with' "$$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) || { rm -f $@; \
	  echo 'Could not create $(VENV). On Debian and Ubuntu: apt install python3-venv'; exit 1; }
	@rm -f $(VENV)/.core $(VENV)/.fast $(VENV)/.dev $(VENV)/.docs
