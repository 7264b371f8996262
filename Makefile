# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# One thread per test process: two that wait for each other are slower than one.
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-kernels test-slow fuzz soak test-pythons lint format benchmark docs docs-refresh \
	release-check clean

demo: $(VENV)/.installed
	$(BIN)/quantshift demo

test: lint
	PYTHONHASHSEED=0 $(BIN)/pytest -n auto

# The end-to-end part with kernels of BLAS that are not this machine's own choice.
KERNELS ?= $(if $(filter Haswell,$(OPENBLAS_CORETYPE)),Sandybridge,Haswell)
test-kernels: $(VENV)/.installed-test
	OPENBLAS_CORETYPE=$(KERNELS) PYTHONHASHSEED=0 $(BIN)/pytest -n auto tests/end_to_end

# Property tests draw new examples; repeat a run with SEED=the seed that it printed.
SEED ?= fresh
test-slow: $(VENV)/.installed-test
	$(BIN)/pytest -n auto -m slow --seed $(SEED)

# A changed file gives the same answer or is refused; see tests/fuzz/test_mutations.py.
MUTATIONS ?= 10000
fuzz: $(VENV)/.installed-test
	FUZZ_MUTATIONS=$(MUTATIONS) FUZZ_KIND="$(KIND)" FUZZ_FIRST=$(FIRST) \
		$(BIN)/pytest -q -n 0 -m slow --seed $(SEED) tests/fuzz

# Random commands and faults against one history and one store; see tests/soak.py.
MINUTES ?= 60
soak: $(VENV)/.installed-test
	$(BIN)/python tests/soak.py --minutes $(MINUTES) --seed $$($(BIN)/python -c 'import secrets; print(secrets.randbelow(2**32))')

test-pythons: $(BIN)/python
	$(BIN)/python tests/pythons.py --except \
		$$($(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# SIZE=--small is a trial that takes a few minutes.
SIZE ?=
benchmark: $(VENV)/.installed-test
	$(BIN)/python benchmarks/rivals.py methods $(SIZE)
	for name in logistic tokenise scaling review_import; do \
		echo "== $$name"; $(BIN)/python benchmarks/$$name.py $(SIZE) || exit 1; done

docs: $(VENV)/.installed-docs
	$(BIN)/python -m website.build

docs-refresh: $(VENV)/.installed-test
	$(BIN)/python -m website.json_schemas
	$(BIN)/python -m website.blocks
	$(BIN)/python -m website.measured
	$(BIN)/python -m website.overview
	$(BIN)/python -m website.pictures
	$(BIN)/python -m website.examples
	$(BIN)/python -m website.notebooks
	$(BIN)/python -m website.screenshot

# Everything up to publishing; PYTHONS are those in whose empty environments the wheel is tried.
PYTHONS ?= $(PYTHON)
release-check: $(BIN)/python
	$(BIN)/python packaging/release_check.py $(foreach python,$(PYTHONS),--python $(python))

clean:
	rm -rf $(VENV) site .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "quantshift needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) -e '.[report]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(INSTALL) -e '.[docs]'
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(INSTALL) -e '.[test]'
	@touch $@
