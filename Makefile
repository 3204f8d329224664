# Two commands set everything up on a fresh machine: `make demo` and `make test`.
# `make check` is the one definition of green.

PYTHON := $(shell for p in python3 python3.11 python3.12 python3.13 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
TS := plugins/verify-ts
TSC := build/verify-ts/node_modules/typescript/lib/tsc.js
RS := plugins/verify-rs
CARGO := CARGO_TARGET_DIR=$(CURDIR)/build/verify-rs CARGO_BUILD_JOBS=$(JOBS) cargo

.PHONY: demo test check format lint types architecture pages manifests tests conformance verify-ts verify-rs verify-rs-checked docs fuzz leaks real clean

demo: $(VENV)/core
	$(BIN)/stella demo

test: check

check: $(VENV)/dev format lint types architecture pages manifests verify-rs-checked tests conformance

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

# The plugins in three languages differ in the line that starts them, and in no other.
manifests:
	$(BIN)/python plugins/ci/generate_manifests.py --check
	$(BIN)/python plugins/ci/check_manifests_identical.py

tests: verify-ts verify-rs
	$(BIN)/pytest -n $(JOBS) --dist worksteal --cov --cov-report=json:coverage.json --cov-report=
	$(BIN)/python tests/making/bars.py coverage.json

# Every vector, for every plugin that could be built here.
conformance: verify-ts verify-rs
	$(BIN)/python plugins/ci/conformance.py --plugin plugins/verify-py
	@test ! -f $(TS)/dist/main.js || $(BIN)/python plugins/ci/conformance.py --plugin $(TS)
	@test ! -f $(RS)/bin/verify || $(BIN)/python plugins/ci/conformance.py --plugin $(RS)

# What this machine has no tools for is left out aloud, but never in continuous integration.
verify-ts:
	@if command -v node >/dev/null && command -v npm >/dev/null; then $(MAKE) --no-print-directory $(TS)/dist/main.js; \
	elif [ "$$CI" = true ]; then echo "verify-ts cannot be built: node or npm is missing"; exit 1; \
	else echo "=== SKIPPED: verify-ts is NOT BUILT and NOT TESTED: node or npm is missing ==="; fi

verify-rs:
	@if command -v cargo >/dev/null; then $(MAKE) --no-print-directory $(RS)/bin/verify; \
	elif [ "$$CI" = true ]; then echo "verify-rs cannot be built: cargo is missing"; exit 1; \
	else echo "=== SKIPPED: verify-rs is NOT BUILT and NOT TESTED: cargo is missing ==="; fi

verify-rs-checked: verify-rs
	@! command -v cargo >/dev/null || { cd $(RS) && $(CARGO) fmt --check && \
		$(CARGO) clippy --quiet --all-targets -- -D warnings && $(CARGO) test --quiet; }

# The compiler stays out of the plugin's directory: what lies there is the package.
$(TSC): $(TS)/package.json
	mkdir -p build/verify-ts && cp $(TS)/package.json build/verify-ts
	npm install --prefix build/verify-ts --no-package-lock --no-bin-links --ignore-scripts --no-audit --no-fund
	@touch $@

$(TS)/dist/main.js: $(TSC) $(TS)/tsconfig.json $(wildcard $(TS)/src/*.ts)
	rm -rf $(TS)/dist
	node $(TSC) -p $(TS)

# Made beside its place and moved there: a test that runs meanwhile finds the old one or the new.
$(RS)/bin/verify: $(RS)/Cargo.toml $(wildcard $(RS)/src/*.rs)
	$(CARGO) build --release --quiet --manifest-path $<
	@mkdir -p $(RS)/bin && cp build/verify-rs/release/verify $@.new && mv $@.new $@

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
	rm -rf $(VENV) build dist $(TS)/dist $(RS)/bin coverage.json .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
