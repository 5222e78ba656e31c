# What a contributor runs. Each target does what its line says; the work is in scripts/.
.SILENT:
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help setup run test check bench survive generate recordings lock fresh

PYTHON ?= python3
export PYTHON
PIP := $(PYTHON) -m pip --python .venv/bin/python --quiet --disable-pip-version-check

help: ## list these targets
	awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/installed ## install everything into .venv, from hashed locks; needs python3 with pip

run: setup ## play the example session
	examples/first-session/run

test: setup ## the whole gate: format, lint, types, imports, generated code, tests
	scripts/gate

check: setup ## the gate without the tests
	scripts/gate --no-tests

bench: .venv/bench-installed ## measure speed and memory against peers; at most ten minutes
	.venv/bin/python -m bench

survive: setup ## the survival runs at full size
	.venv/bin/python -m bench.survive

generate: setup ## generate the wire modules, what is known of the built-in providers, references
	.venv/bin/python proto/generate.py
	.venv/bin/python scripts/known_providers.py
	.venv/bin/python -m scripts.references

recordings: setup ## show the terminal once more, and write down what it shows
	RECORD=1 .venv/bin/python -m pytest tests/process/test_recordings.py tests/process/test_plan_of_five.py \
		tests/process/test_tutorial.py

lock: ## renew requirements/*.txt from pyproject.toml; needs uv
	requirements/lock.sh

fresh: ## clone what is committed into an empty place, then run and test it there
	scripts/fresh

.venv/installed: requirements/dev.txt pyproject.toml
	scripts/setup
	touch $@

# The peers have to run in the environment that ours run in, else the ratios compare machines.
.venv/bench-installed: .venv/installed requirements/bench.txt
	echo "installing the peers to measure against"
	$(PIP) install --root-user-action=ignore --require-hashes -r requirements/bench.txt
	touch $@
