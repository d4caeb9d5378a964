# Everything runs in .venv, made from requirements.lock on first use. `make help` lists the targets.
SHELL := /bin/bash
PY := .venv/bin/python
ROOT_OPTION := $(if $(filter 0,$(shell id -u)),--allow-root)
export PYTHONHASHSEED := 0
export PYTHON
# .venv is compiled at first use, not when it is installed.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: book quick pdf check test bench data originals sweeps stored lab picture lock clean help venv

book: venv  ## The whole book at paper scale -> _build/html/index.html
	$(PY) tools/build.py

quick: venv  ## The same pages at small sizes (a check, not results) -> _build/quick/html/index.html
	$(PY) tools/build.py --quick

pdf: venv  ## The whole book as one PDF (needs chromium) -> _build/html/ldpbo.pdf
	$(PY) tools/build.py --pdf

check: venv  ## The tests of a first try: no browser, no book, two minutes
	$(PY) -m pytest -q -n 2 --dist loadgroup -m "not browser and not build"

test: venv  ## All tests; the browser tests need chromium
	$(PY) -m pytest -q -n 2 --dist loadgroup

bench: venv  ## Time the core against its targets, scikit-learn and its own slow oracle -> data/bench.csv
	$(PY) tools/bench.py

data: venv  ## Download the paper's two real data sets (checksummed); the stand-ins are used until then
	$(PY) data/fetch.py

originals: venv  ## Run the six real-data panels on the paper's own data (after make data) -> data/originals.json
	$(PY) data/originals.py

sweeps: venv  ## Run the grids of notebooks/params/sweeps again -> data/sweeps/*.csv
	$(PY) tools/sweep.py

stored: venv  ## Compute the other stored tables again (after make data; hours, and PyPI) -> data/*.csv
	set -e; for name in arms campaigns constants coverage elimination onebit users packages; do $(PY) data/$$name.py; done

lab: venv  ## JupyterLab on the notebooks
	$(PY) -m jupyter lab $(ROOT_OPTION) notebooks

picture: venv  ## Redraw the README's two pictures from the last full build
	@test -f _build/html/index.html || { echo "The picture is drawn from the pages of a full build, and there is none: run make book first." >&2; exit 1; }
	$(PY) -m notebooks.experiments.picture book/images/panels.png
	$(PY) -m notebooks.users.picture book/images/users.png

lock:  ## Renew requirements.lock from pyproject.toml, with the uv in .venv
	.venv/bin/uv pip compile -q --universal --generate-hashes --python-version 3.11 --fork-strategy fewest --all-extras --custom-compile-command "make lock" pyproject.toml -o requirements.lock

clean:  ## Remove everything that was built, but not .venv
	rm -rf _build build *.egg-info

help:  ## This list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-9s %s\n", $$1, $$2}'

# PYTHON=/path/to/python3.x chooses an interpreter; otherwise the first one that is new enough.
venv:  ## Make .venv alone, half a minute: then `. .venv/bin/activate`, papermill and python
	@new() { "$$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }; \
	if [ -n "$$PYTHON" ]; then \
	  new "$$PYTHON" || { echo "PYTHON=$$PYTHON is not a Python 3.11 or newer with venv." >&2; exit 1; }; python=$$PYTHON; \
	else \
	  for p in python3 python3.14 python3.13 python3.12 python3.11 python; do if new $$p; then python=$$p; break; fi; done; \
	fi; \
	if [ -z "$$python" ]; then \
	  echo "No Python 3.11 or newer with venv was found (on Debian or Ubuntu: apt install python3 python3-venv)." >&2; \
	  echo "If it is somewhere else: make PYTHON=/path/to/python3.12 ..." >&2; exit 1; fi; \
	"$$python" tools/environment.py
