# Two commands set everything up on a fresh machine: `make demo` and `make test`.
# `make check` is the one definition of green.

PYTHON := $(shell for p in python3 python3.11 python3.12 python3.13 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: demo test check format lint types architecture pages tests conformance docs fuzz leaks real clean

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

tests:
	$(BIN)/pytest -n $(JOBS) --dist worksteal --cov --cov-report=json:coverage.json --cov-report=
	$(BIN)/python tests/making/bars.py coverage.json

conformance:
	$(BIN)/python plugins/ci/conformance.py --plugin plugins/verify-py

# What this machine has no tools for is left out aloud, but never in continuous integration.
.PHONY: verify-rs verify-rs-checked verify-rs-conformance
check: verify-rs-checked
tests: verify-rs
conformance: verify-rs-conformance

RS := plugins/verify-rs
RS_BUILD := $(CURDIR)/build/verify-rs
CARGO := CARGO_TARGET_DIR=$(RS_BUILD) CARGO_BUILD_JOBS=$(JOBS) cargo

verify-rs:
	@if command -v cargo >/dev/null; then $(MAKE) --no-print-directory $(RS)/bin/verify; \
	elif [ "$$CI" = true ]; then echo "verify-rs cannot be built: cargo is missing"; exit 1; \
	else echo "=== SKIPPED: verify-rs is NOT BUILT and NOT TESTED: cargo is missing ==="; fi

# Made beside its place and moved there: a test that runs meanwhile finds the old one or the new.
$(RS)/bin/verify: $(RS)/Cargo.toml $(wildcard $(RS)/src/*.rs)
	$(CARGO) build --release --quiet --manifest-path $<
	@mkdir -p $(RS)/bin && cp $(RS_BUILD)/release/verify $@.new && mv $@.new $@

verify-rs-checked: verify-rs
	@! command -v cargo >/dev/null || { cd $(RS) && $(CARGO) fmt --check && \
		$(CARGO) clippy --quiet --all-targets -- -D warnings && $(CARGO) test --quiet; }

verify-rs-conformance: verify-rs
	@test ! -f $(RS)/bin/verify || $(BIN)/python plugins/ci/conformance.py --plugin $(RS)

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
	rm -rf $(RS)/bin
	rm -rf $(VENV) build dist coverage.json .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
