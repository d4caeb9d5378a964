"""Papermill runs one notebook here; whatever stops it becomes a message that says where."""

import json
import os
import re
import sys

# jsonschema would compile the grammar of this package, most of a second at each start, to check
# addresses that no notebook has.
sys.modules["rfc3987_syntax"] = None

import papermill
from papermill.engines import NBClientEngine, papermill_engines

from kernels import ForkedKernelManager
from store import ROOT
from terminal import Stop

CELL_SECONDS = float(os.environ.get("LDPBO_CELL_SECONDS", 3600))  # a cell that takes longer hangs


class Watched(NBClientEngine):
    """This engine of papermill tells `watch` when a cell begins: its number, and of how many."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, watch, **options):
        cell_start = nb_man.cell_start
        path = nb_man.output_path

        def watched_start(cell, index, **more):
            watch(index + 1, len(nb_man.nb.cells))
            return cell_start(cell, index, **more)

        nb_man.cell_start = watched_start
        nb_man.output_path = None  # saved first and last, not at each cell
        try:
            return super().execute_managed_notebook(nb_man, kernel_name, **options)
        finally:
            nb_man.output_path = path


papermill_engines.register("watched", Watched)


def execute(page, out, watch):
    """Run `page` in a kernel of its own -> the executed notebook as papermill leaves it."""
    part = out / f"running/{page.name}.ipynb"
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        notebook = papermill.execute_notebook(
            str(page.source),
            str(part),
            page.parameters,
            cwd=str(ROOT),
            kernel_name="python3",
            progress_bar=False,
            coalesce_streams=True,
            autosave_cell_every=0,
            engine_name="watched",
            watch=watch,
            execution_timeout=CELL_SECONDS,
            kernel_manager_class=ForkedKernelManager,
        )
    except TimeoutError:
        limit = f"No end after {CELL_SECONDS:g} s; LDPBO_CELL_SECONDS=... sets another limit."
        raise Stop(explain(page, part, limit, out)) from None
    except OSError:
        raise  # the disk's fault, not the notebook's
    except Exception as error:
        text = "\n".join(getattr(error, "traceback", [])[-2:]) or str(error)
        raise Stop(explain(page, part, text, out)) from error
    if any(o["output_type"] == "error" for c in notebook.cells for o in c.get("outputs", ())):
        ended = "SystemExit: the cell ended the run, and the cells after it are missing."
        raise Stop(explain(page, part, ended, out))
    executed = json.loads(part.read_text("utf-8"))
    part.unlink()
    return executed


def explain(page, part, text, out):
    """Say in one screen which cell failed and why, and keep the half-run notebook in failed/."""
    kept = out / f"failed/{page.name}.ipynb"
    where = "before the first cell"
    if part.exists():
        where = failing_cell(json.loads(part.read_text("utf-8"))["cells"]) or where
        kept.parent.mkdir(parents=True, exist_ok=True)
        os.replace(part, kept)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text).strip().splitlines()[-14:]
    shown = kept.relative_to(ROOT) if kept.is_relative_to(ROOT) else kept
    head = f"notebooks/{page.stem}.ipynb (page {page.name}) failed in {where}"
    end = f"The half-run notebook is {shown}; the last good pages stay in place."
    return "\n".join([head, "", *plain, "", end])


def failing_cell(cells):
    """Name the last cell that began, with its first lines; it failed, or its kernel was killed."""
    begun = [c for c in cells if c["metadata"].get("papermill", {}).get("start_time")]
    if not begun:
        return ""
    lines = "".join(begun[-1]["source"]).splitlines()
    shown = lines[:12] + ["..."] * (len(lines) > 12)
    return f"cell `{begun[-1]['id']}`:\n" + "\n".join(f"    {line}" for line in shown)
