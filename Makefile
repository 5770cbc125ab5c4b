# `make` lists the targets. A target that needs the virtual environment makes it first.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV ?= .venv
# Test processes: one for each processor; 0 runs the tests in pytest's own process. Each has neighbours, which share
# what their file makes, until one has none left.
WORKERS ?= auto
# Test processes with RocketMQ in them: they mostly wait for it.
LAB_WORKERS ?= 2
# Further arguments for the command behind verify, test and bench.
ARGS ?=

BIN := $(VENV)/bin
READY := $(VENV)/.stamp
FOLDERS := $(wildcard machine_code model properties checkers traces spark lab explorer)
TYPING := build/typing/rocketproof
SOURCES := $(FOLDERS) $(wildcard rocketproof tests benchmarks examples)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))
	@echo "  variables: PYTHON=$(PYTHON) VENV=$(VENV) WORKERS=$(WORKERS) LAB_WORKERS=$(LAB_WORKERS) ARGS=\"$(ARGS)\""

.PHONY: setup
setup: $(READY) ## make the virtual environment with the locked libraries and the kit

$(READY): requirements.lock pyproject.toml
	@command -v "$(PYTHON)" >/dev/null || { echo "setup: no $(PYTHON) here; install Python 3.11 or newer, or run make PYTHON=/path/to/python" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "setup: $$("$(PYTHON)" -V 2>&1) is too old: Python 3.11 or newer is needed, for example make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "setup: $(PYTHON) has no venv module; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "setup: virtual environment in $(VENV)"
	@"$(PYTHON)" -m venv "$(VENV)"
	@echo "setup: $$(grep -c '==' requirements.lock) locked libraries (a minute or two the first time)"
	@quiet() { "$$@" >"$(VENV)/setup.log" 2>&1 || { cat "$(VENV)/setup.log" >&2; echo "setup: failed: $$*" >&2; exit 1; }; }; \
	export PIP_DISABLE_PIP_VERSION_CHECK=1; \
	quiet "$(BIN)/python" -m pip install --require-hashes -r requirements.lock; \
	echo "setup: rocketproof itself, editable"; \
	quiet "$(BIN)/python" -m pip install --no-build-isolation --no-deps -e .
	@$(MAKE) typing-links
	@touch "$@"
	@echo "setup: done"

# The folders as one package, the way they are installed: mypy does not follow an editable install.
.PHONY: typing-links
typing-links:
	@rm -rf $(TYPING) && mkdir -p $(TYPING)
	@for path in $(FOLDERS) $(filter-out %/__pycache__,$(wildcard rocketproof/*)); do ln -s "../../../$$path" $(TYPING)/; done

.PHONY: verify
verify: setup ## check every property of the machine with every engine, and the traces of real runs
	@$(BIN)/rocketproof verify $(ARGS)
	@$(BIN)/rocketproof samples

.PHONY: test
test: setup ## run the tests, but for those of the longer tier
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

.PHONY: test-quick
test-quick: setup ## run the tests of the model, of what has changed, and one of everything
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS) $$($(BIN)/python tests/mirrored.py)

.PHONY: test-all
test-all: setup ## run all tests but those of the lab
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not lab" $(ARGS)

.PHONY: coverage
coverage: setup ## print which lines the tests run (ARGS as for test)
	@rm -rf build/coverage && mkdir -p build/coverage
	@$(BIN)/python -m coverage run -m pytest $(ARGS)
	@$(BIN)/python -m coverage combine --quiet && $(BIN)/python -m coverage report

.PHONY: lab-test
lab-test: setup ## run the tests that start RocketMQ itself (JDK 17 or newer, Maven)
	@# What a busy machine delays may fail a test of real processes; what fails twice is broken.
	@$(BIN)/python -m pytest -m lab -n $(LAB_WORKERS) --dist loadfile $(ARGS) tests/lab \
		|| $(BIN)/python -m pytest -m lab --last-failed --last-failed-no-failures none tests/lab

.PHONY: lint
lint: setup typing-links ## check style, formatting and types
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/mypy -p rocketproof | sed -E 's#^$(TYPING)/(($(subst $() ,|,$(FOLDERS)))/)#\1#; s#^build/typing/##'

.PHONY: format
format: setup ## rewrite the sources in the agreed format
	@$(BIN)/ruff check --fix-only $(SOURCES)
	@$(BIN)/ruff format $(SOURCES)

.PHONY: bench
bench: setup ## print the figures against peers, one JSON line each
	@$(BIN)/python -m benchmarks $(ARGS)

.PHONY: dist
dist: setup ## build the wheel and the archive of the sources into dist/
	@rm -rf dist && $(BIN)/python -c "from setuptools import build_meta as b; b.build_sdist('dist'); b.build_wheel('dist')" >/dev/null
	@ls dist

SITE_VENV ?= build/site-venv

.PHONY: site
site: setup typing-links $(SITE_VENV)/.stamp ## build documents, lessons, explorer pages and API reference into build/site
	@$(BIN)/python docs/site/pages.py >/dev/null
	@NO_MKDOCS_2_WARNING=1 $(SITE_VENV)/bin/mkdocs build --quiet --strict -f build/site.yml
	@echo "site: build/site/index.html"

$(SITE_VENV)/.stamp: docs/site/requirements.lock
	@"$(PYTHON)" -m venv "$(SITE_VENV)"
	@"$(SITE_VENV)/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r docs/site/requirements.lock
	@touch "$@"

.PHONY: site-lock
site-lock: setup ## resolve the newest allowed libraries of the site into docs/site/requirements.lock
	@cd docs/site && CUSTOM_COMPILE_COMMAND="make site-lock" ../../$(BIN)/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe \
		--strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options \
		--output-file requirements.lock requirements.in

.PHONY: lock
lock: setup ## resolve the newest allowed libraries into requirements.lock
	@CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --upgrade --extra spark --extra dev --generate-hashes --allow-unsafe \
		--strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options \
		--output-file requirements.lock pyproject.toml
	@echo "lock: $$(grep -c '==' requirements.lock) libraries pinned; the next make installs them"

.PHONY: clean
clean: ## remove the virtual environment, caches and build products
	@rm -rf "$(VENV)" build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +
