# make serve: a working translator on http://127.0.0.1:8000.  make test: everything the tests need, and all tests.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
INDEX := var/index

.DEFAULT_GOAL := help
.PHONY: help serve test tests test-fast install install-dev index lint types imports check format reference pins coverage hooks clean

help:  ## Show what there is to make
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

serve: index  ## Install, index the shipped sentences, serve page and API on PORT
	$(BIN)/passepartout serve --index $(INDEX) --port $(PORT)

index: install  ## Build the index of the shipped sentences, if missing or outdated
	PATH="$(CURDIR)/$(BIN):$$PATH" docker/index-job models/open corpora $(INDEX)

install: $(VENV)/base  ## Install what serving and indexing need (no torch)

# Markers say which dependencies the environment has; a newer pyproject.toml or constraints.txt installs again.
$(VENV)/base: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[cpu]'
	@touch $@

install-dev: $(VENV)/dev  ## Install what training and tests need (torch for the CPU included)

$(VENV)/dev: $(VENV)/base
	CUDA=$(CUDA) scripts/install-torch $(BIN)/python $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX))
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[cpu,train,dev]'
	@touch $@

test: install-dev  ## Lint, types, import directions and all tests
	scripts/install-test-tools
	$(MAKE) --no-print-directory --jobs 2 check tests

tests: install-dev  ## All tests
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

test-fast: install-dev  ## The tests that need no browser, no process and no training
	$(BIN)/python -m pytest -m 'not slow' --numprocesses 2 --dist loadfile --no-loadscope-reorder

check: lint types imports  ## Lint, types and import directions

lint: install-dev  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: install-dev  ## mypy, strict
	$(BIN)/mypy

imports: install-dev  ## import-linter: data flows one way
	$(BIN)/lint-imports

format: install-dev  ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

reference: install-dev  ## Write docs/reference/ from the code
	$(BIN)/python -m scripts.reference

pins: install-dev  ## Write constraints.txt: the versions that this environment has
	$(BIN)/python -m scripts.pins

coverage: install-dev  ## Branches of index/ and service/ that their tests take, into var/coverage
	rm -rf var/coverage && mkdir -p var/coverage
	$(BIN)/python -m coverage run -m pytest -q tests/index tests/service
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage html --quiet
	$(BIN)/python -m coverage report --skip-covered --sort=miss

hooks: install-dev  ## Check what is committed and pushed, by pre-commit
	$(BIN)/pre-commit install

# In an environment of their own, so that they audit what we install and not themselves. --strict: where the
# database of weaknesses cannot be reached, pip-audit would only say that it looked at nothing, and pass.
AUDIT := $(VENV)/audit/bin
# What docker/Dockerfile installs and nothing else, or the bill would leave out what the image has.
IMAGE := $(VENV)/image/bin

audit: $(IMAGE)/passepartout $(AUDIT)/pip-audit  ## Known weaknesses of every package (pip-audit), and var/sbom.json (CycloneDX)
	@mkdir -p var
	$(AUDIT)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible -o var/sbom.json $(IMAGE)/python
	$(IMAGE)/python -m pip list --format=freeze --exclude-editable | grep -v '^passepartout==' | sed 's/+.*//' >var/installed.txt
	$(AUDIT)/pip-audit --requirement var/installed.txt --no-deps --disable-pip --strict

$(IMAGE)/passepartout: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)/image
	$(IMAGE)/python -m pip install --quiet --constraint constraints.txt --editable '.[cpu,formats]'
	@touch $@

$(AUDIT)/pip-audit:
	$(PYTHON) -m venv $(VENV)/audit
	$(AUDIT)/python -m pip install --quiet 'pip-audit>=2.10,<3' 'cyclonedx-bom>=7.5,<8'

clean:  ## Remove everything that make made
	rm -rf $(VENV) var
