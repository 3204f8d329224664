# Two commands set everything up on a fresh machine: `make demo` and `make test`.
# `make check` is the one definition of green.

PYTHON := $(shell for p in python3 python3.11 python3.12 python3.13 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
TS := plugins/verify-ts
TSC := build/verify-ts/node_modules/typescript/lib/tsc.js

.PHONY: demo test check format lint types architecture pages tests conformance verify-ts docs fuzz leaks real clean

demo: $(VENV)/core
	$(BIN)/stella demo

test: check

check: $(VENV)/dev format lint types architecture pages tests conformance

format:
	$(BIN)/ruff format --check .

lint:
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

architecture:
	$(BIN)/lint-imports --no-logo

pages:
	$(BIN)/python docs/generate.py --check

docs: $(VENV)/dev
	$(BIN)/python docs/generate.py

tests: verify-ts
	$(BIN)/pytest -n $(JOBS) --dist worksteal --cov --cov-report=json:coverage.json --cov-report=
	$(BIN)/python tests/making/bars.py coverage.json

conformance: verify-ts
	$(BIN)/python plugins/ci/conformance.py --plugin plugins/verify-py
	@test ! -f $(TS)/dist/main.js || $(BIN)/python plugins/ci/conformance.py --plugin $(TS)

# What this machine has no tools for is left out aloud, but never in continuous integration.
verify-ts:
	@if command -v node >/dev/null && command -v npm >/dev/null; then $(MAKE) --no-print-directory $(TS)/dist/main.js; \
	elif [ "$$CI" = true ]; then echo "verify-ts cannot be built: node or npm is missing"; exit 1; \
	else echo "=== SKIPPED: verify-ts is NOT BUILT and NOT TESTED: node or npm is missing ==="; fi

# The compiler stays out of the plugin's directory: what lies there is the package.
$(TSC): $(TS)/package.json
	mkdir -p build/verify-ts && cp $(TS)/package.json build/verify-ts
	npm install --prefix build/verify-ts --no-package-lock --no-bin-links --ignore-scripts --no-audit --no-fund
	@touch $@

$(TS)/dist/main.js: $(TSC) $(TS)/tsconfig.json $(wildcard $(TS)/src/*.ts)
	rm -rf $(TS)/dist
	node $(TSC) -p $(TS)

leaks: $(VENV)/dev
	$(BIN)/python -m tests.zoo.leaks 10000

fuzz: $(VENV)/dev
	$(BIN)/python -m tests.fuzz

real:
	$(BIN)/pytest -m real tests/real

$(VENV)/core: pyproject.toml src/stella/__init__.py
	@test -n "$(PYTHON)" || { echo "Stella needs Python 3.11 or later on PATH"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/dev: $(VENV)/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) build dist $(TS)/dist coverage.json .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
