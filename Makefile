# `make demo` runs the main job, `make test` the tests, and `make docs` builds the site; all set up what they need in .venv.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: browser demo test test-all check format docs bench clean

$(BIN)/.installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev,examples]"
	touch $@

demo: $(BIN)/.installed
	$(BIN)/python examples/lecture.py
	$(BIN)/python examples/digits.py

# The tests of pages need a browser; Debian's is installed where there is none and apt-get can.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || ! command -v apt-get >/dev/null || { \
	  if [ "$$(id -u)" = 0 ]; then AS=; else AS=sudo; fi; \
	  $$AS apt-get update -qq && $$AS env DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends chromium >/dev/null; }

test: check browser
	$(BIN)/python -m pytest -n 2 -m "not gpu and not nightly"

test-all: check browser
	$(BIN)/python -m pytest -n 2 -m "not gpu"

check: $(BIN)/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(BIN)/.installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(BIN)/.installed
	$(BIN)/python docs/make_reference.py
	$(BIN)/python docs/make_gallery.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(BIN)/.installed
	$(BIN)/python benchmarks/targets.py
	$(BIN)/python benchmarks/compile_time.py
	$(BIN)/python benchmarks/dispatch.py
	$(BIN)/python benchmarks/elementary.py
	$(BIN)/python benchmarks/sparse.py
	$(BIN)/python benchmarks/jacobians.py
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.models
	$(BIN)/python benchmarks/optimisers.py
	$(BIN)/python benchmarks/parallel.py
	$(BIN)/python -m benchmarks.peers --out docs

clean:
	rm -rf .venv build site *.egg-info .pytest_cache .mypy_cache .ruff_cache
