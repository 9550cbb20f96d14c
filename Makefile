# Every target installs what it needs first. Needs python3 (3.11 or newer), git and make; uses uv where it is there.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
NUDGE_HOME ?= $(CURDIR)/.nudge
TEST_ARGS ?=
SOAK_SEEDS ?= 10000
SOAK_WORKERS ?= 2000
SOAK_START ?= 0
SOAK_KILLS ?= 200
SOAK_CALLS ?= 100000

.DEFAULT_GOAL := help
.PHONY: help run install dev quick test lint types unit coverage clients bench soak fleet-soak deploy-lint screens lock clean

help:  ## show what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

run: install  ## start the coach in this terminal: no key, no account (home: .nudge)
	@NUDGE_HOME="$(NUDGE_HOME)" $(BIN)/nudge run --terminal

install: $(VENV)/.installed  ## install nudge into .venv

dev: $(VENV)/.dev

$(VENV)/.installed: pyproject.toml requirements/run.txt scripts/bootstrap
	@scripts/bootstrap "$(PYTHON)" "$(VENV)" requirements/run.txt
	@touch $@

$(VENV)/.dev: pyproject.toml requirements/dev.txt scripts/bootstrap
	@scripts/bootstrap "$(PYTHON)" "$(VENV)" requirements/dev.txt
	@touch $(VENV)/.installed $@

$(VENV)/.bench: pyproject.toml requirements/bench.txt scripts/bootstrap
	@scripts/bootstrap "$(PYTHON)" "$(VENV)" requirements/bench.txt
	@touch $(VENV)/.installed $(VENV)/.dev $@

lint: dev  ## formatting, lint rules, floors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

types: dev  ## mypy, strict
	$(BIN)/mypy

quick: dev  ## pure rules and use cases in under a minute: no processes, no servers
	PYTEST_DEBUG_TEMPROOT="$$(scripts/fast-temp)" NUDGE_TEST_PROFILE=quick $(BIN)/pytest -q -n 2 --dist loadscope -m "not process and not postgres and not slow" $(TEST_ARGS)

test: dev lint types unit  ## linters, types and all tests, on SQLite and a real PostgreSQL

unit: dev
	@scripts/clients tests/clients
	@scripts/browser
	PYTEST_DEBUG_TEMPROOT="$$(scripts/fast-temp)" $(BIN)/pytest -n 3 --dist loadscope $(TEST_ARGS)

coverage: dev  ## which lines and branches the tests reach: as 'make test', half as long again
	$(MAKE) unit TEST_ARGS="--cov=nudge --cov-report=term $(TEST_ARGS)"

clients: dev  ## coding agents from npm through the gateway, also those that 'make test' leaves out
	@scripts/clients tests/clients
	@scripts/clients tests/clients/more
	$(BIN)/pytest -q tests/gateway/test_clients.py $(TEST_ARGS)

$(VENV)-litellm/.installed: requirements/litellm.txt
	@$(PYTHON) -m venv $(VENV)-litellm && $(VENV)-litellm/bin/pip install -q --require-hashes -r requirements/litellm.txt \
	  && touch $@ || echo "LiteLLM cannot be installed here: the benchmark leaves it out"

bench: $(VENV)/.bench $(VENV)-litellm/.installed  ## speed and size, as ratios in one table
	$(BIN)/python -m benchmarks

soak: dev  ## ten thousand lives under faults, 200 kills of the daemon and of a worker, gateway memory (SOAK_SEEDS, SOAK_START, SOAK_KILLS, SOAK_WORKERS, SOAK_CALLS)
	$(BIN)/python -m tests.faults --count $(SOAK_SEEDS) --start $(SOAK_START)
	$(BIN)/python -m tests.faults.kills --count $(SOAK_KILLS)
	$(BIN)/python -m tests.faults.workers --count $(SOAK_WORKERS) --start $(SOAK_START)
	NUDGE_CRASH_STRIDE=1 NUDGE_WORKER_KILLS=$(SOAK_KILLS) $(BIN)/pytest -q tests/worker/test_crash_points.py tests/worker/test_kills.py
	$(BIN)/python -m benchmarks.gateway --calls $(SOAK_CALLS)

fleet-soak: dev  ## 10,000 agents for 20 minutes on a fleet and on plain daemons, ten kills each, a backup (FLEET_ARGS, NUDGE_KILLS)
	$(BIN)/python -m tests.fleet.soak $(FLEET_ARGS)
	NUDGE_KILLS=$${NUDGE_KILLS:-10} NUDGE_FLEET_AGENTS=$${NUDGE_FLEET_AGENTS:-30} $(BIN)/pytest -q -s tests/fleet/test_kills.py tests/fleet/test_channel.py
	NUDGE_BACKUP_SECONDS=$${NUDGE_BACKUP_SECONDS:-300} $(BIN)/pytest -q tests/fleet/test_restore.py

$(VENV)-deploy/.installed: requirements/deploy.txt
	@$(PYTHON) -m venv $(VENV)-deploy && $(VENV)-deploy/bin/pip install -q --require-hashes -r requirements/deploy.txt && touch $@

deploy-lint: $(VENV)-deploy/.installed  ## check what deploys nudge: YAML, Kubernetes and Compose schemas, Dockerfiles
	$(VENV)-deploy/bin/yamllint -s -c deploy/yamllint.yaml compose.yaml deploy
	$(VENV)-deploy/bin/kubernetes-validate --strict deploy/fleet/workers.yaml
	$(VENV)-deploy/bin/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml deploy/fleet/compose.yaml
	$(VENV)-deploy/bin/hadolint --ignore DL3007 --ignore DL3008 Dockerfile deploy/fleet/Dockerfile

screens: dev  ## the pictures of README and docs, from a simulated week and a demo session
	@scripts/browser
	$(BIN)/python -m tests.web.screens

lock: dev  ## resolve the dependencies anew (needs uv)
	scripts/lock

clean:  ## remove what the targets made
	rm -rf $(VENV) $(VENV)-litellm $(VENV)-deploy .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage*
