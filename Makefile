# Two commands matter: `make demo` and `make test`. Each sets up what it needs, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test test-slow torture check bench setup setup-test format clean

demo: $(VENV)/.ready ## Replay two example sessions and show what is remembered
	@$(BIN)/aforesaid demo

test: $(VENV)/.ready-test ## The tests for every change, at most ten minutes on two cores
	@$(BIN)/python -m tests.support.run -n auto --dist worksteal $(ARGS)

test-slow: $(VENV)/.ready-test ## The tests marked `slow`: crashes, disks, recovery, the real client in full
	@$(BIN)/python -m tests.support.run -n auto --dist worksteal -m 'slow and not quick and not long' $(ARGS)

torture: $(VENV)/.ready-test ## Thousands of kills and every other fault at its full size
	@$(BIN)/python -m tests.torture $(ARGS)

check: $(VENV)/.ready-test ## Format, lint, types, import layers, docs: before every commit
	@$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --config pyproject.toml > $(VENV)/lint-imports.log || (cat $(VENV)/lint-imports.log; exit 1)
	@$(BIN)/python -m pytest -q tests/architecture -p no:cacheprovider

bench: $(VENV)/.ready ## Print the tables of docs/benchmarks.md
	@$(BIN)/python -m benchmarks $(ARGS)

setup: $(VENV)/.ready ## Only what `aforesaid` needs, in .venv

setup-test: $(VENV)/.ready-test

format: $(VENV)/.ready-test
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) build dist

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'aforesaid needs Python 3.11 or newer: make PYTHON=/path/to/python3.11' >&2; exit 1; }
	@echo "Setting up $(VENV) (once)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: pyproject.toml constraints.txt | $(VENV)/bin/python
	@$(PIP) install --quiet --constraint constraints.txt --editable .
	@touch $@

# tmux and chromium are system packages; without them their tests are skipped, and say so.
$(VENV)/.ready-test: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing the test tools and the real Claude Code client (about 350 MB, once)"
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[test,check]'
	@for needed in tmux chromium; do \
	  command -v $$needed >/dev/null || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
	    { apt-get install -y -qq $$needed >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq $$needed; } >/dev/null 2>&1; }; } || \
	    echo "$$needed is missing: its tests will be skipped. Install it with your package manager."; \
	done
	@touch $@ $(VENV)/.ready
