# digram: `make demo` shows it, `make test` proves it. Both set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENGINES := .venv-engines
WEB := .venv-web
DOCS := .venv-docs
EXPORTS := .venv-exports
CORPUS ?=

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: help setup develop demo wheel test test-elsewhere test-rest test-formats test-formats-a-m test-formats-n-z test-faults test-engines test-exports test-web lint format docs verify-families valgrind bench bench-guard clean

help:
	@echo "make demo    train, save, load, encode, decode and show, on real text (CORPUS=path for your own)"
	@echo "make test    the tests, but for those below"
	@echo "make test-formats  files of other programs, read and written, beside the programs"
	@echo "make test-faults  hostile values, kills, signals, lack of memory, and how time grows"
	@echo "make test-engines  those of Spark, Ray, Dask, data frames and transformers, in an environment of their own"
	@echo "make test-exports  saved files in the programs that read them, each in an environment of its own"
	@echo "make test-web  those of the page, in an environment of their own, in Chromium where there is one"
	@echo "make docs    the documentation as a site in site/, in an environment of its own"
	@echo "make lint    formatting, lint and types"
	@echo "make format  format the sources"
	@echo "make verify-families  every family of tokenizers beside its own library on a million texts: hours"
	@echo "make valgrind  the core's tests, each access to memory checked"
	@echo "make bench   ratios to the peers (DIGRAM_DATA=folder for the corpora)"
	@echo "make bench-guard  has encoding become slower? minutes, on a quiet machine"
	@echo "make develop build the core into $(VENV)"
	@echo "make wheel   a wheel in dist/, to install elsewhere"

# One stamp a step: what was done is not done again.
$(VENV)/.created:
	@command -v cargo >/dev/null || { \
	  echo "digram is built with Rust, and cargo is not on the PATH. Install it with:"; \
	  echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "digram needs Python 3.11 or newer; $(PYTHON) is older. Name another with PYTHON=..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@touch $@

# As pip does for what is not editable: where Python may write no .pyc files, each start compiles all.
compiled = $(BIN)/python -m compileall -q python/digram

$(VENV)/.built: $(VENV)/.created pyproject.toml $(RUST_SOURCES)
	@echo "compiling the Rust core: some minutes the first time"
	$(BIN)/python -m pip install --quiet --editable .
	@$(compiled)
	@touch $@

$(VENV)/.tools: $(VENV)/.built requirements-dev.lock
	$(BIN)/python -m pip install --quiet -r requirements-dev.lock
	@touch $@

setup: $(VENV)/.tools

# The quick way back to a running tree after a change in Rust.
develop: $(VENV)/.tools
	$(BIN)/maturin develop --quiet --profile quick

# A wheel for others: what it panics with names no folder of this machine.
wheel: $(VENV)/.tools
	rm -rf dist
	RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}/registry/src=crates \
	  --remap-path-prefix=$(CURDIR)=digram" $(BIN)/maturin build --quiet --release --out dist
	@$(BIN)/python -c 'import glob, sys, zipfile; \
	  [wheel] = map(zipfile.ZipFile, glob.glob("dist/*.whl")); \
	  named = [name for name in wheel.namelist() \
	    if any(folder.encode() in wheel.read(name) for folder in sys.argv[1:])]; \
	  sys.exit(f"they name folders of this machine: {named}" if named else 0)' \
	  "$$HOME/" "$(CURDIR)/"
	@ls -l dist

demo: $(VENV)/.built
	@$(BIN)/python examples/demo.py $(if $(CORPUS),'$(subst ','\'',$(CORPUS))')

PYTEST := $(BIN)/python -m pytest --quiet $(PYTEST_ARGS)
# Python keeps one core busy, so two processes share the tests, and what each prints comes in one
# piece when it ends.
two-at-once = echo "pytest in two processes; each prints when it is done, after some minutes"; \
  $(MAKE) --no-print-directory --keep-going --jobs=2 \
  $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
LONG := $(addprefix tests/,faults formats)
ELSEWHERE := $(addprefix tests/,adapt analysis oracles properties tokenizer)

test: $(VENV)/.tools
	cargo test --quiet --workspace
	@$(call two-at-once) test-rest test-elsewhere

test-elsewhere:
	$(PYTEST) -m "not alone" $(ELSEWHERE)

test-rest:
	$(PYTEST) -m "not alone" $(ELSEWHERE:%=--ignore=%) $(LONG:%=--ignore=%)

test-formats: $(VENV)/.tools
	@$(call two-at-once) test-formats-a-m test-formats-n-z

test-formats-a-m:
	$(PYTEST) $(wildcard tests/formats/test_[a-m]*.py)

test-formats-n-z:
	$(PYTEST) $(wildcard tests/formats/test_[n-z]*.py)

# Tests that measure time are marked, in whatever folder, and run when nothing else does.
test-faults: $(VENV)/.tools
	$(PYTEST) -m "not alone" tests/faults
	$(PYTEST) -m alone

# An environment takes the package from here, with the core that was built for the other one.
takes-digram = echo "$(CURDIR)/python" > $$($(1)/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/digram.pth

# The engines are large, so they have an environment of their own. Pages are run apart, since they
# start engines themselves.
$(ENGINES)/.tools: $(VENV)/.built requirements-engines.lock requirements-readers.lock
	$(PYTHON) -m venv --clear $(ENGINES)
	$(ENGINES)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(ENGINES)/bin/python -m pip install --quiet -r requirements-engines.lock
	$(ENGINES)/bin/python -m pip install --quiet --no-deps -r requirements-readers.lock
	@$(call takes-digram,$(ENGINES))
	@touch $@

# What engines and their libraries warn of is none of our warnings.
ENGINE_TESTS := PYSPARK_PYTHON=$(CURDIR)/$(ENGINES)/bin/python $(ENGINES)/bin/python -m pytest --quiet -W default

test-engines: $(ENGINES)/.tools
	$(ENGINE_TESTS) tests/distributed/engines python/digram/distributed
	$(ENGINE_TESTS) tests/oracles/test_chats.py tests/tokenizer/chat/test_functions.py tests/oracles/test_transformers_interface.py
	$(ENGINE_TESTS) tests/oracles/test_transformers.py tests/oracles/test_transformers_folders.py tests/oracles/test_transformers_classes.py tests/analysis/verification/test_transformers.py
	$(ENGINE_TESTS) tests/test_docs.py -k "every_block and frames"

# Each program alone, without digram, which only writes the files and the ids that are expected.
PROGRAMS := $(basename $(notdir $(wildcard tests/exports/environments/*.txt)))

$(EXPORTS)/%/.tools: tests/exports/environments/%.txt
	$(PYTHON) -m venv --clear $(EXPORTS)/$*
	$(EXPORTS)/$*/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(EXPORTS)/$*/bin/python -m pip install --quiet -r $<
	@touch $@

test-exports: $(VENV)/.tools $(PROGRAMS:%=$(EXPORTS)/%/.tools)
	rm -rf $(EXPORTS)/files
	PYTHONPATH=tests $(BIN)/python tests/exports/writing.py $(EXPORTS)/files
	for name in $(PROGRAMS); do \
	  $(EXPORTS)/$$name/bin/python tests/exports/reading.py $${name%-4} $(EXPORTS)/files || exit 1; done

$(WEB)/.tools: $(VENV)/.built requirements-web.lock
	$(PYTHON) -m venv --clear $(WEB)
	$(WEB)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(WEB)/bin/python -m pip install --quiet -r requirements-web.lock
	@$(call takes-digram,$(WEB))
	@touch $@

# The browser is the system's: one of PATH, or CHROMIUM=path. Without it, the tests that look at the page
# are skipped, and say so; those of the server run.
test-web: $(WEB)/.tools
	$(WEB)/bin/python -m pytest --quiet -rs tests/web python/digram/web $(PYTEST_ARGS)
	$(WEB)/bin/python -m pytest --quiet tests/test_docs.py -k "every_block and page.md"

$(DOCS)/.tools: $(VENV)/.built requirements-docs.lock
	$(PYTHON) -m venv --clear $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	$(DOCS)/bin/python -m pip install --quiet -r requirements-docs.lock
	@$(call takes-digram,$(DOCS))
	@touch $@

# Signatures come from the sources, docstrings of the core from its library. A link that leads nowhere is
# an error, as is a page that the navigation does not name (but not with --quiet, so it is not).
docs: $(DOCS)/.tools
	$(DOCS)/bin/python -m doctest website/docstrings.py
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build
	@echo "built: open site/index.html"

lint: $(VENV)/.tools
	cargo fmt --check
	cargo clippy --quiet --workspace --all-targets -- --deny warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest digram._core --concise

format: $(VENV)/.tools
	cargo fmt
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

verify-families: $(VENV)/.tools
	PYTHONPATH=tests $(BIN)/python tests/formats/verify_families.py

# Every read and write is checked: of the core's own tests, and of those that encode whole texts, with
# few cases of each property. The corpora, which other tests know too, and one that makes long texts for
# its threads would take longer than all others together. The instructions are those of AVX2.
VALGRIND := PROPTEST_CASES=100 \
  CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --error-exitcode=1" \
  cargo test --quiet --package digram
valgrind:
	$(VALGRIND) --lib -- --skip corpora
	$(VALGRIND) --test public -- encode:: long:: --skip a_long_text_is_the_same --skip corpora

# Figures are those of wheels, so the core is built as for them.
bench bench-guard: $(VENV)/.tools
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/maturin develop --quiet --release
	@$(compiled)
	$(BIN)/python -m benches$(if $(filter bench-guard,$@),.guard) $(BENCH)

clean:
	rm -rf $(VENV) $(ENGINES) $(EXPORTS) $(WEB) $(DOCS) site target demo-output
