# Recipes name only relative paths, and everything longer than a line lives in scripts/: so a checkout in a path with spaces works.
PYTHON ?= python3
IN := .venv/bin/python

# Without bytecode pytest rewrites its plugins' assertions at every start, in every process, which takes longer than the start itself.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run test test-all check fix bench lock new-tool

help:
	@echo "make run       serve a sample project, and print lines to try: a model, a WebSocket, curl"
	@echo "make test      what must pass before every commit; make test-all adds what takes long"
	@echo "make check     style, types and the ladder; make fix repairs what can be repaired"
	@echo "make bench     our figures beside the floors and peers"
	@echo "make new-tool TOOLSET=fs NAME=copy     begin a tool"
	@echo "make lock      renew requirements.lock (needs uv)"
	@echo "make setup     only .venv; every target above does it first"

setup:
	@$(PYTHON) scripts/setup.py

run: setup
	@bash scripts/run

test: setup
	@bash scripts/test -m "not long"

test-all: setup
	@bash scripts/test

check: setup
	@bash scripts/check

fix: setup
	@$(IN) -m ruff check --fix --quiet .
	@$(IN) -m ruff format --quiet .

bench: setup
	@$(IN) -m bench

new-tool: setup
	@$(IN) scripts/new_tool.py "$(TOOLSET)" "$(NAME)"

lock:
	@bash scripts/lock
