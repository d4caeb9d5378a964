# Everything runs in .venv, made from requirements.lock on first use. `make help` lists the targets.
SHELL := /bin/bash
PY := .venv/bin/python
STAMP := .venv/.ready
export PYTHONHASHSEED := 0

.DEFAULT_GOAL := help
.PHONY: book quick test bench data lab picture lock clean help

book: $(STAMP)  ## The whole book at paper scale -> _build/html/index.html
	$(PY) build.py

quick: $(STAMP)  ## The same pages at small sizes (a check, not results) -> _build/quick/html/index.html
	$(PY) build.py --quick

test: $(STAMP)  ## All tests; the browser tests need chromium
	$(PY) -m pytest -q -n 2 --dist loadgroup

bench: $(STAMP)  ## Time the core against scikit-learn and against its own slow oracle
	$(PY) tests/bench.py

data: $(STAMP)  ## Download the paper's two real data sets (checksummed); the stand-ins are used until then
	$(PY) data/fetch.py

lab: $(STAMP)  ## JupyterLab on the notebooks
	$(PY) -m jupyter lab notebooks

picture: $(STAMP)  ## Redraw the README's picture from the last full build
	$(PY) -c "import ldpbo_figures as fig; fig.readme_picture('book/images/panels.png')"

lock:  ## Renew requirements.lock from pyproject.toml (needs uv)
	uv pip compile -q --universal --python-version 3.11 --fork-strategy fewest --all-extras --custom-compile-command "make lock" pyproject.toml -o requirements.lock

clean:  ## Remove everything that was built, but not .venv
	rm -rf _build book/pages book/_failed book/_static/mathjax book/_static/live *.egg-info

help:  ## This list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-7s %s\n", $$1, $$2}'

# PYTHON=/path/to/python3.x chooses an interpreter; otherwise the first one that is new enough.
$(STAMP): requirements.lock pyproject.toml
	@python= ; for p in $(PYTHON) python3 python3.13 python3.12 python3.11 python; do \
	  if $$p -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2])' 2>/dev/null; then python=$$p; break; fi; done; \
	if [ -z "$$python" ]; then \
	  echo "No Python 3.11 or newer with venv was found (on Debian or Ubuntu: apt install python3 python3-venv)." >&2; \
	  echo "If it is somewhere else: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; fi; \
	echo "Installing the locked packages into .venv with $$($$python --version) (once, about a minute)"; \
	$$python -m venv --clear .venv
	@$(PY) -m pip install -q --disable-pip-version-check -r requirements.lock
	@$(PY) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@
