# Two commands: `make demo` and `make test`. Both do all the set-up themselves, once.

SHELL := /bin/sh
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
MODELS := .venv-models
MODELS_READY := $(MODELS)/.ready
LOWEST := .venv-lowest
ENDED := $(VENV)/tests.status
TORCH ?= torch==2.13.0
TORCHVISION ?= torchvision==0.28.0
# Many tests wait for servers and browsers: one process more than there are cores.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(len(os.sched_getaffinity(0)) + 1)')
WEIGHTS := transitions face face_identity age gender face_emotion face_mesh coco coco_layout whisper_base turns voice voice_ecapa voice_gender vocals unsafe
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup demo test test-again test-models test-lowest check chromium postgresql lock benchmarks mutate clean
.DEFAULT_GOAL := help

help: ## say what there is
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

setup: $(READY) ## install everything into .venv (the other targets do it when needed)

# Make a folder for Python, and fill it with locked packages: fill(folder, requirements file).
define fill
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Reelbench needs Python 3.11 or later; this is $$($(PYTHON) --version). Name another with: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Setting up $(1) (once) ..." >&2
	@# Some systems ship Python without ensurepip: then this Python's own pip fills the folder.
	@$(PYTHON) -m venv $(1) >/dev/null 2>&1 || $(PYTHON) -m venv --clear --without-pip $(1)
	@pip="$(PYTHON) -m pip --python $(1)/bin/python"; \
	  $$pip install --quiet --no-deps --require-hashes --requirement $(2) && \
	  $$pip install --quiet --no-deps --no-build-isolation --no-index --editable .
endef

$(READY): pyproject.toml requirements/dev.txt
	$(call fill,$(VENV),requirements/dev.txt)
	@touch $(READY)

$(MODELS_READY): pyproject.toml requirements/models.txt
	$(call fill,$(MODELS),requirements/models.txt)
	@$(PYTHON) -m pip --python $(MODELS)/bin/python install --quiet $(TORCH)
	@# Apart, for tests that ask for it: only its Python part works with any build of PyTorch.
	@$(PYTHON) -m pip --python $(MODELS)/bin/python install --quiet --no-deps --target $(MODELS)/torchvision $(TORCHVISION) || \
	  echo "$(TORCHVISION) could not be installed: tests of processors that need it are skipped." >&2
	@touch $(MODELS_READY)

demo: $(READY) ## make a small benchmark, run three baselines on it, write demo/run/report.html
	@$(BIN)/reelbench demo --out demo

# What finds faults without running anything.
LINT = $(BIN)/ruff check && $(BIN)/ruff format --check --quiet

test: $(READY) chromium postgresql ## run every check and test
	@rm -f $(ENDED) .pytest_cache/v/cache/lastfailed
	@$(LINT)
	@# Bytecode is kept: hundreds of processes would compile the same files again. That of the tests
	@# is made by one process first: else each worker makes all of it. Types take one core for most
	@# of a minute: they are checked beside all that, and what is wrong with them is said at the end.
	@$(BIN)/mypy >$(VENV)/types.txt 2>&1 & types=$$!; \
	  export PYTHONDONTWRITEBYTECODE=; \
	  $(BIN)/python -m pytest --collect-only -p no:cacheprovider >/dev/null 2>&1; \
	  $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal; tests=$$?; \
	  echo $$tests >$(ENDED); \
	  wait $$types; types=$$?; cat $(VENV)/types.txt; \
	  [ $$tests = 0 ] && [ $$types = 0 ]

test-again: $(READY) ## run what failed the last time once more, one after the other, with all checks
	@# All of them where the tests did not come to their end: nobody knows what else would have failed.
	@case "$$(cat $(ENDED) 2>/dev/null)" in \
	  0) $(LINT) && $(BIN)/mypy ;; \
	  1) $(LINT) && $(BIN)/mypy && $(BIN)/python -m pytest --last-failed --last-failed-no-failures none ;; \
	  *) $(MAKE) test ;; \
	esac

test-models: $(MODELS_READY) ## test with real models: a tiny one that answers, those inside operators
	@# Networks on two cores that others use as well take their time: what hangs is ended late.
	@$(MODELS)/bin/reelbench weights pull $(WEIGHTS)
	@HF_HUB_OFFLINE=1 $(MODELS)/bin/python -m pytest tests-models --timeout 900 --ignore tests-models/engine --ignore tests-models/architectures --numprocesses auto --dist loadfile
	@# With torchvision, which no other process has.
	@$(MODELS)/bin/python -m pytest tests-models/architectures --timeout 900 --numprocesses auto
	@# A process can be of one Ray cluster only.
	@$(MODELS)/bin/python -m pytest tests-models/engine --timeout 900

test-lowest: chromium postgresql ## run the tests with the lowest versions that pyproject.toml allows
	@$(PYTHON) -m venv --clear $(LOWEST)
	@$(LOWEST)/bin/pip install --quiet uv
	@uv="$(LOWEST)/bin/uv pip compile --quiet --python $(LOWEST)/bin/python --only-binary :all: pyproject.toml"; \
	  $$uv --resolution lowest-direct --output-file $(LOWEST)/core.txt >/dev/null && \
	  $$uv --group dev --constraint $(LOWEST)/core.txt --output-file $(LOWEST)/dev.txt >/dev/null
	@$(LOWEST)/bin/pip install --quiet --requirement $(LOWEST)/dev.txt
	@$(LOWEST)/bin/pip install --quiet --no-deps --no-build-isolation --no-index --editable .
	@$(LOWEST)/bin/python -m pytest --numprocesses auto --dist worksteal --deselect tests/test_install.py

check: $(READY) ## lint, format and types
	@$(LINT) && $(BIN)/mypy

chromium: ## install Chromium, which the tests of pages need, where that is possible
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing Chromium for the tests of pages ..." >&2; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 || true; \
	  fi; \
	  command -v chromium >/dev/null || echo "Chromium is not here and could not be installed: the tests of pages are skipped. Install it with your system's packages (on Debian: apt-get install chromium)." >&2; }

postgresql: ## install PostgreSQL, which the tests of reviews need, where that is possible
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing PostgreSQL for the tests of reviews ..." >&2; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends postgresql; } >/dev/null 2>&1 || true; \
	  fi; \
	  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || echo "PostgreSQL is not here and could not be installed: the tests with it are skipped. Install it with your system's packages (on Debian: apt-get install postgresql)." >&2; }

lock: ## resolve all dependencies anew and write requirements/*.txt
	@sh requirements/lock.sh $(PYTHON)

benchmarks: $(READY) ## measure what benchmarks/ measures
	@for file in benchmarks/*.py; do echo; $(BIN)/python $$file; done

mutate: $(READY) ## plant small faults one by one, and say which the tests miss (FAULTS="score 20-29" for some)
	@$(BIN)/python tools/mutate.py $(FAULTS)

clean: ## remove what make made
	rm -rf $(VENV) $(MODELS) $(LOWEST) demo .mypy_cache .pytest_cache .ruff_cache .hypothesis
