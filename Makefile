# `make setup demo` installs and runs the main job; `make test` passes the tests.
PYTHON ?= python3.11
VENV ?= .venv
BIN := $(VENV)/bin
DEVICE ?= cpu

.PHONY: setup demo test test-fast lint

setup: $(BIN)/ernie-pp

$(BIN)/ernie-pp: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -q -e ".[$(DEVICE),dev]"
	@touch $@

demo: setup
	$(BIN)/python -m ernie_pp.tasks.cls --config tasks/sentiment/config.yaml overwrite=true
	$(BIN)/ernie-pp predict --bundle runs/sentiment/bundle --text 房间很干净，服务员也很热情，下次还来。 等了一个小时，菜是凉的。

test: setup lint
	$(BIN)/python -m pytest

test-fast: setup
	$(BIN)/python -m pytest tests/unit tests/rules

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python
