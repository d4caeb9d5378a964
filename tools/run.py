"""The pages run side by side, each when those it needs are done.

A page that did not change is taken from the cache of pages, _build/cache.
"""

import concurrent.futures as cf
import functools
import json
import os
import re
import time

from tqdm import tqdm

import dependencies
import store
import tidy
from store import ROOT
from terminal import progress, say


def cores():
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


class Watch:
    """The watch knows where each page is: in which cell, of how many, since when."""

    def __init__(self):
        self.cells = {}
        self.started = time.time()

    def elapsed(self):
        return tqdm.format_interval(time.time() - self.started)

    def begin_cell(self, page, number, total):
        """Note that a page begins a cell; called from the thread that runs the page."""
        self.cells[page] = number, total, time.time()

    def describe(self, page):
        if page not in self.cells:
            return page
        number, total, since = self.cells[page]
        return f"{page} (cell {number} of {total}, {time.time() - since:.0f} s)"


def run_page(page, digest, out, watch):
    """Run `page` unless the cache has it, and write it into place -> seconds, 0 if cached."""
    start = time.time()
    kept = f"cache/{page.name}-{digest[:20]}.page"
    cached = store.shared(out) / kept
    data = store.unseal(cached) or store.unseal(ROOT / "_build" / kept)
    fresh = data is None
    if fresh:
        from execute import execute  # slow to import, and not needed where nothing changed

        begin_cell = functools.partial(watch.begin_cell, page.name)
        data = tidy.tidy(page, execute(page, out, begin_cell), digest)
        store.seal(cached, data)
    notebook = json.loads(data)
    if page.title:  # so that nine panels are told apart
        first = notebook["cells"][0]
        first["source"] = re.sub(r"\A# .*", f"# {page.title}", "".join(first["source"]))
    store.write(out / f"src/book/pages/{page.name}.ipynb", tidy.dump(notebook))
    return time.time() - start if fresh else 0.0


def run(pages, wanted, out):
    """Run the wanted pages; stop at the first failure -> {page: seconds, 0 if cached}."""
    digests = {name: dependencies.digest(pages[name], pages) for name in wanted}
    waiting = sorted(wanted, key=lambda name: not pages[name].starts_early)
    total = len(waiting)
    slots = cores() + 1  # there is always one that waits
    many = "1 page" if total == 1 else f"{total} pages, {slots} at a time"
    say(f"{many}; a page that did not change is not run again")
    watch = Watch()
    seconds = {}
    active = {}
    pool = cf.ThreadPoolExecutor(slots)
    form = "{n_fmt}/{total_fmt} |{bar:12}| elapsed {elapsed}  {desc}"
    try:
        with progress(total, form) as bar:
            while waiting or active:
                for name in ready(pages, waiting, active.values())[: slots - len(active)]:
                    waiting.remove(name)
                    job = pool.submit(run_page, pages[name], digests[name], out, watch)
                    active[job] = name
                for job in cf.wait(active, timeout=0.5, return_when=cf.FIRST_COMPLETED).done:
                    name = active.pop(job)
                    seconds[name] = job.result()
                    bar.update()
                    if seconds[name]:
                        count = f"[{len(seconds):2d}/{total}]"
                        line = (
                            f"{count} {name:12} {pages[name].heading:46.46} {seconds[name]:6.1f} s"
                        )
                        say(f"{line}   elapsed {watch.elapsed()}")
                bar.set_description_str(", ".join(map(watch.describe, active.values())))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    unchanged = sum(not spent for spent in seconds.values())
    if unchanged:
        say(f"{unchanged} of {total} pages unchanged")
    return seconds


def ready(pages, waiting, active):
    """Find the waiting pages that need no page which is not yet done."""
    unfinished = {*waiting, *active}
    return [name for name in waiting if not unfinished.intersection(pages[name].needed(pages))]
