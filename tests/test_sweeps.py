"""sweep.py with a real scheduler and real workers on loopback: whatever is killed, no cell is lost.

None counts twice either, and the table has the same bytes. And the tables in data/sweeps: they hold
what their grids declare, and cells chosen at random are recomputed exactly.
"""

import csv
import hashlib
import importlib.util
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
import yaml

import grids
import ldpbo_core as core
import sweep
from ldpbo import cluster, provenance
from sweep_cells import RESULTS
from terminal import Stop

pytest.importorskip("distributed")
pytestmark = pytest.mark.xdist_group("dask")
ROOT = Path(__file__).resolve().parent.parent
CODE = provenance.code_hash()
PARTS = ("sweep", "sweep_cells", "grids", "store", "terminal")
GRID = {
    "base": {"T": 1500, "seed": [1, 2, 3]},
    "blocks": [
        {
            "panel": "2a",
            "beta_scale": [0.1, 1.0],
            "plays": [{"name": ["TGP", "MoMA"], "curator": ["laplace", "one bit"]}],
        },
        {"panel": "2f", "plays": [{"name": "TS"}, {"name": "MoMA", "k": [3, 9]}]},
    ],
}
CELLS, ROWS = 9, 33
TABLES = sorted((ROOT / "data/sweeps").glob("*.csv"))


def checkout(folder, grid=GRID):
    """The files that a sweep needs, with a grid of its own."""
    for name in (
        *(f"tools/{part}.py" for part in PARTS),
        "ldpbo_core.py",
        *(f"ldpbo/{p.name}" for p in ROOT.glob("ldpbo/*.py")),
        "data/light.csv",
        "data/stocks.csv",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(
        ROOT / "notebooks/params",
        folder / "notebooks/params",
        ignore=shutil.ignore_patterns("sweeps"),
    )
    (folder / "notebooks/params/sweeps").mkdir()
    (folder / "notebooks/params/sweeps/small.yml").write_text(yaml.safe_dump(grid, sort_keys=False))
    return folder


def start(folder, *options, **more):
    env = {k: v for k, v in os.environ.items() if k != "LDPBO_DATA"} | {"PYTHONPATH": str(folder)}
    # Under a limit on file sizes Python 3.11 keeps half-written bytecode and trips over it.
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.Popen(
        [sys.executable, "-u", "tools/sweep.py", "small", *options],
        cwd=folder,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        **more,
    )


def finish(folder, *options, code=0, **more):
    process = start(folder, *options, **more)
    out = process.communicate(timeout=300)[0]
    assert process.returncode == code, out
    return out


def until(process, pattern):
    """Lines of the program up to the first that matches."""
    lines = []
    for line in process.stdout:
        lines.append(line)
        if re.search(pattern, line):
            return "".join(lines)
    raise AssertionError("".join(lines))


def table(folder):
    return (folder / "data/sweeps/small.csv").read_bytes()


def kept(folder):
    return {p.name: p.stat().st_mtime_ns for p in (folder / "_build/sweeps/small").glob("*.cell")}


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The table of an undisturbed run on one worker."""
    folder = checkout(tmp_path_factory.mktemp("reference"))
    out = finish(folder, "--workers", "1")
    assert f"{CELLS} cells: 0 kept in _build, {CELLS} to compute, 0 of them stale" in out
    assert re.search(r"dashboard http://127\.0\.0\.1:\d+", out) and "\r" not in out
    assert len(re.findall(rf"^\[\d/{CELLS}\] panel = .* s$", out, re.M)) == CELLS
    return folder, table(folder)


def test_the_table_is_tidy_and_says_parameters_seeds_data_and_code(reference):
    rows = list(csv.DictReader(reference[1].decode().splitlines()))
    assert (
        len(rows) == ROWS
        and {r["code"] for r in rows} == {CODE}
        and {r["data"] for r in rows} == {"synthetic", "stand-in stocks.csv"}
    )
    assert [r["seed"] for r in rows[:12]] == ["1"] * 8 + ["2"] * 4 and {r["eps"] for r in rows} == {
        "1",
        "",
    }
    assert len({tuple(r[k] for k in r if k not in RESULTS) for r in rows}) == ROWS, "a row twice"
    for row in rows:
        assert 0 < float(row["half"]) <= float(row["regret"]) and float(row["uniform"]) > 0


def test_a_cell_is_what_simulate_gives_and_its_plays_share_their_users(reference):
    rows = [
        r
        for r in csv.DictReader(reference[1].decode().splitlines())
        if r["panel"] == "2a" and r["seed"] == "2" and r["beta_scale"] == "0.1"
    ]
    for curator, kind in (("laplace", core.CTL), ("one bit", core.OneBit)):
        out = core.simulate(
            lambda seed: core.synthetic_problem("matern", "uniform", seed),
            ["TGP", "MoMA"],
            1500,
            trials=1,
            seed=2,
            eps=1.0,
            curator=kind,
            beta_scale=0.1,
        )
        assert [r["regret"] for r in rows if r["curator"] == curator] == [
            f"{x:.10g}" for x in out.regret[:, 0, -1]
        ]


def test_nothing_is_computed_twice_and_a_lost_table_is_written_again(reference):
    folder, expected = reference
    (folder / "data/sweeps/small.csv").unlink()
    before = kept(folder)
    out = finish(folder)
    assert (
        f"{CELLS} kept in _build, 0 to compute" in out
        and "Workers" not in out
        and kept(folder) == before
        and table(folder) == expected
    )


def test_a_worker_killed_with_9_costs_time_only(reference, tmp_path):
    """Two workers; both are killed while they compute. The cells are rerun, each is kept once."""
    process = start(checkout(tmp_path), "--workers", "2")
    until(process, r"\[1/")
    workers = [
        c
        for c in psutil.Process(process.pid).children(recursive=True)
        if "spawn_main" in " ".join(c.cmdline()) or "nanny" in " ".join(c.cmdline()).lower()
    ]
    assert len(workers) >= 2
    for worker in workers:
        worker.kill()
    out = process.communicate(timeout=300)[0]
    assert process.returncode == 0, out
    assert table(tmp_path) == reference[1] and len(kept(tmp_path)) == CELLS and "Failed" not in out


@pytest.mark.parametrize(
    "number, status",
    [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, 130)],
    ids=["kill -9", "Ctrl-C", "terminate"],
)
def test_a_driver_that_is_ended_goes_on_where_it_was(reference, tmp_path, number, status):
    """Four workers: none is left behind, nothing is computed twice, the bytes are the same."""
    process = start(checkout(tmp_path), "--workers", "4")
    until(process, r"\[1/")
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == status and children
    assert not psutil.wait_procs(children, timeout=30)[1], "workers outlived their driver"
    before = kept(tmp_path)
    assert 1 <= len(before) < CELLS and not (tmp_path / "data/sweeps/small.csv").exists()
    out = finish(tmp_path, "--workers", "2")
    assert f"{len(before)} kept in _build, {CELLS - len(before)} to compute" in out
    assert (
        table(tmp_path) == reference[1]
        and before.items() <= kept(tmp_path).items()
        and len(kept(tmp_path)) == CELLS
    )


def test_a_full_disk_stops_with_a_sentence_and_the_next_run_goes_on(reference, tmp_path):
    """A limit on file sizes stands for the full disk: the same error, half-way."""
    checkout(tmp_path)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
    out = finish(tmp_path, "--workers", "1", code=1, preexec_fn=limit)
    assert re.search(r"Stopped\. .*: File too large.*free some space", out)
    assert "Traceback" not in out
    assert not list((tmp_path / "_build/sweeps/small").glob("*.cell*"))
    finish(tmp_path)
    assert table(tmp_path) == reference[1]


def test_an_existing_cluster_gives_the_same_bytes_and_a_second_driver_is_refused(
    reference, tmp_path
):
    folder, python = checkout(tmp_path), sys.executable
    env = {k: v for k, v in os.environ.items() if k != "LDPBO_DATA"} | {"PYTHONPATH": str(folder)}
    run = lambda *words: subprocess.Popen(
        [python, "-m", "distributed.cli." + words[0], *words[1:]],
        env=env,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    note = tmp_path / "scheduler.json"
    processes = [
        run(
            "dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(note),
        )
    ]
    try:
        for _ in range(300):
            if note.exists() and note.stat().st_size:
                break
            time.sleep(0.1)
        address = json.loads(note.read_text())["address"]
        processes += [
            run("dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
            for _ in range(2)
        ]
        first = start(folder, "--scheduler", address)
        until(first, r"\[1/")
        assert "Another run of small is under way" in finish(folder, "--scheduler", address, code=1)
        out = first.communicate(timeout=300)[0]
        assert first.returncode == 0 and table(folder) == reference[1], out
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_no_scheduler_at_the_address_is_one_sentence(reference):
    folder, _ = reference
    grid = folder / "other.yml"
    grid.write_text(yaml.safe_dump(GRID | {"base": {"T": 10, "seed": 9}}))
    done = subprocess.run(
        [sys.executable, "tools/sweep.py", "other.yml", "--scheduler", "tcp://127.0.0.1:1"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert (
        done.returncode == 1
        and "No Dask scheduler answers at tcp://127.0.0.1:1" in done.stderr
        and "Traceback" not in done.stderr
    )


@pytest.mark.build
def test_a_failing_cell_is_reported_with_its_parameters_and_the_rest_goes_on(tmp_path):
    grid = {
        "base": {"T": 40, "seed": [1, 2]},
        "blocks": [{"panel": "2d", "k": [4, 500], "plays": [{"name": "MoMA"}]}],
    }
    out = finish(checkout(tmp_path, grid), "--workers", "1", code=1)
    assert (
        out.count("Failed: panel = 2d") == 2
        and "seed = 2, k = 500" in out
        and "k = 500: must be at most T = 40" in out
    )
    assert (
        len(kept(tmp_path)) == 2
        and not (tmp_path / "data/sweeps/small.csv").exists()
        and "2 of 4 cells failed" in out
    )


def test_a_changed_core_says_which_cells_are_stale_and_damage_is_noticed(reference, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(reference[0], folder)
    victims = sorted((folder / "_build/sweeps/small").glob("*.cell"))[:2]
    victims[0].write_bytes(victims[0].read_bytes()[:-40])
    victims[1].write_text(victims[1].read_text().replace('"regret": "', '"regret": "9', 1))
    out = finish(folder, "--status")
    assert out.count("is not what was written") == 2
    assert f"{CELLS - 2} kept in _build, 2 to compute, 0 of them stale" in out
    with open(folder / "ldpbo_core.py", "a") as file:
        file.write("# a comment, which computes nothing\n")
    assert f"{CELLS - 2} kept in _build, 2 to compute, 0 of them stale" in finish(
        folder, "--status"
    )
    with open(folder / "ldpbo_core.py", "a") as file:
        file.write("another_core = True\n")
    out = finish(folder, "--status")
    assert f"0 kept in _build, {CELLS} to compute, {CELLS - 2} of them stale" in out
    assert out.count("  stale: panel = ") == CELLS - 2 and f"(core {CODE})" in out
    assert f"small.csv holds {ROWS} rows by code {CODE} (this is " in out


def test_results_on_the_originals_are_replaced_by_stand_ins_only_if_told_so(reference, tmp_path):
    """Who has not fetched the originals cannot lose the tables that were made on them."""
    folder = tmp_path / "copy"
    shutil.copytree(reference[0], folder)
    originals = reference[1].replace(b"stand-in stocks.csv", b"original fin.csv")
    (folder / "data/sweeps/small.csv").write_bytes(originals)
    out = finish(folder, "--status")
    assert f"small.csv holds {ROWS} rows by this code, on original fin.csv, synthetic" in out
    out = finish(folder, code=1)
    assert "small.csv has results on original fin.csv; here is stand-in stocks.csv, synth" in out
    assert all(way in out for way in ("make data", "LDPBO_DATA", "--out", "--stand-ins"))
    assert table(folder) == originals
    finish(folder, "--out", "other.csv")
    assert table(folder) == originals and (folder / "other.csv").read_bytes() == reference[1]
    finish(folder, "--stand-ins")
    assert table(folder) == reference[1]


def test_the_status_of_a_fresh_clone_says_what_is_stored_and_by_which_code():
    """Also of tables by another code, and of a grid that is tuned on one."""
    done = subprocess.run(
        [sys.executable, "tools/sweep.py", "--status"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for path in TABLES:
        rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
        assert f"{path.stem}: {path.name} holds {len(rows)} rows by " in done.stdout
        assert rows[0]["code"] in done.stdout or rows[0]["code"] == CODE
    holds = "it holds for this code while tests/test_sweeps.py, which computes rows again, passes"
    assert done.stdout.count(holds) == len(TABLES)
    assert done.stdout.count("  to make it again, ") == len(TABLES)


def test_the_chunks_of_a_batch_are_its_plan_cut_and_shuffled_each_arm_with_its_own_curator():
    problem = core.synthetic_problem(seed=1, n=30)
    options = dict(eps=2.0, curator=core.OneBit, constants="proved", schedule="double")
    learner = core.make("PE", problem, None, **options, rng=0)
    for batch in range(4):
        plan = learner.plan()
        jobs = list(cluster.chunks(learner, 300, [5, batch]))
        counts = [job[2] for job in jobs]
        assert np.array_equal(sum(counts), plan)
        assert {int(c.sum()) for c in counts[:-1]} == {300} and counts[-1].sum() <= 300
        assert [job[3] for job in jobs] == [[5, batch, i] for i in range(len(jobs))]
        own = {arm: vars(learner.curator(arm)) for arm in range(30) if plan[arm]}
        assert {arm: vars(curator) for arm, curator in jobs[0][1].items()} == own
        learner.tell_sums(plan, sum(cluster.users(*job) for job in jobs))
    assert len({curator.centre for curator in jobs[0][1].values()}) > 1  # windows of their own
    in_order = np.repeat(np.arange(30), plan)[:300]
    assert not np.array_equal(counts[0], np.bincount(in_order, minlength=30))
    other = next(cluster.chunks(learner, 300, [6, 0]))
    assert not np.array_equal(next(cluster.chunks(learner, 300, [5, 0]))[2], other[2])


def test_the_users_of_a_chunk_report_by_the_curator_of_their_arm():
    problem = core.synthetic_problem(seed=1, n=3)
    curators = {0: core.OneBit(1.0, 1.0, 1.0), 2: core.OneBit(1.0, 0.5, 0.0, 7.0)}
    sums = cluster.users(problem, curators, np.array([1, 0, 1]), [3])
    low, high = (curators[2].centre + sign * curators[2].scale for sign in (-1, 1))
    assert abs(sums[0]) == curators[0].scale and sums[1] == 0 and sums[2] in (low, high)


def test_workers_do_not_import_matplotlib():
    program = "import sys; from ldpbo import cluster; print('matplotlib' in sys.modules)"
    assert (
        subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        == "False\n"
    )


# ---- Tuning --------------------------------------------------------------------------------------


def test_tuned_takes_the_scale_with_the_smallest_mean_of_the_same_play(tmp_path):
    grid = {
        "tuned": "before",
        "base": {"T": 50, "seed": 7},
        "blocks": [{"panel": "2d", "plays": [{"name": ["TGP", "MoMA"], "beta_scale": "tuned"}]}],
    }
    head = "panel,problem,kernel,eps,T,seed,name,beta_scale,data,regret,uniform,code\n"
    line = lambda name, scale, regret, T=50, code=CODE: (
        f"2d,synthetic,se,,{T},1,{name},{scale},synthetic,{regret},10,{code}\n"
    )
    (tmp_path / "before.csv").write_text(
        head
        + line("TGP", 1, 9)
        + line("TGP", 1, 1)
        + line("TGP", 0.1, 4)
        + line("TGP", 0.1, 5)
        + line("TGP", 0.5, 0, T=60)
        + line("MoMA", 0.1, 3)
        + line("MoMA", 0.01, 3)
    )
    plays = grids.expand(grid, tmp_path)[0]["plays"]
    assert plays == [{"name": "TGP", "beta_scale": 0.1}, {"name": "MoMA", "beta_scale": 0.01}]
    grids.read.cache_clear()
    (tmp_path / "before.csv").write_text(head + line("TGP", 1, 9, code="0"))
    with pytest.raises(Stop, match="was made by core 0"):
        grids.expand(grid, tmp_path)
    only = grid | {"blocks": [{"panel": "2d", "plays": [{"name": "TGP", "beta_scale": "tuned"}]}]}
    plays = grids.expand(only, tmp_path, any_code=True)[0]["plays"]
    assert plays == [{"name": "TGP", "beta_scale": 1.0}]
    grids.read.cache_clear()
    (tmp_path / "before.csv").write_text(head)
    with pytest.raises(Stop, match="no rows to tune"):
        grids.expand(grid, tmp_path)
    grids.read.cache_clear()


def test_the_grid_and_the_commands_that_the_page_on_campaigns_prints_are_taken(monkeypatch):
    page = json.loads((ROOT / "notebooks/campaign.ipynb").read_text("utf-8"))
    prose = "\n".join("".join(c["source"]) for c in page["cells"] if c["cell_type"] == "markdown")
    (printed,) = re.findall(r"```yaml\n(.*?)```", prose, flags=re.S)
    cells = grids.expand(yaml.safe_load(printed))
    assert len(cells) == 3 * 2 * 3 and {len(cell["plays"]) for cell in cells} == {3 * 2 * 2}
    for cell in (cells[0], cells[-1]):
        found = cluster.run_cell(cell | {"T": 60})
        assert len(found["rows"]) == 12, found
    commands = re.findall(r"^python tools/(sweep.py mine.yml .*?) +#", prose, flags=re.M)
    assert len(commands) == 3
    for command in commands:
        monkeypatch.setattr(sys, "argv", command.split())
        assert sweep.arguments().out == Path("mine.csv")


def test_a_cell_named_twice_is_refused():
    with pytest.raises(Stop, match="names this cell twice"):
        grids.expand(
            {"blocks": [{"panel": "2d", "T": 10, "seed": [1, 1], "plays": [{"name": "TGP"}]}]}
        )


def test_contaminated_noise_keeps_f_and_has_the_stated_moments():
    problem = cluster.contaminated_problem("se", 5)
    noise = problem.samples - problem.f
    np.testing.assert_allclose(noise.mean(axis=0), 0, atol=1e-12)
    assert (
        problem.c == pytest.approx((noise**2).mean(), rel=0.01)
        and 2 < problem.c < 10
        and problem.R == np.abs(noise).max()
    )


# ---- The stored tables ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_a_stored_table_is_small_and_holds_what_its_grid_declares(path):
    assert path.stat().st_size < 1_000_000
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    grid = yaml.safe_load((grids.GRIDS / f"{path.stem}.yml").read_text("utf-8"))
    declared = sum(
        len(grids.product(play))
        * len(
            grids.product(grid.get("base", {}) | {k: v for k, v in block.items() if k != "plays"})
        )
        for block in grid["blocks"]
        for play in block["plays"]
    )
    assert len(rows) == declared and len({r["code"] for r in rows}) == 1
    assert len({tuple(r[k] for k in r if k not in RESULTS) for r in rows}) == len(rows)


def draw(table):
    """A number that is another one after every change of a table or of the code."""
    return int(hashlib.sha256(table + CODE.encode()).hexdigest()[:8], 16)


def number(text):
    """A field of a table as the value it was written from."""
    if text == "":
        return None
    if not re.fullmatch(r"[-+.\deE]+|inf", text):
        return text
    return float(text) if re.search(r"[.einf]", text) else int(text)


def rows_at_hand(path):
    """The rows of a table that take seconds; those on data that are not here are passed over."""
    rows = list(csv.DictReader(path.read_text("utf-8").splitlines()))
    short = [row for row in rows if float(row["T"]) <= 20_000]
    return [row for row in short if cluster.source(row["problem"]) == row["data"]]


def some(rows, count, path):
    """Rows chosen by the hash of table and code: other ones after every change."""
    rng = np.random.default_rng(draw(path.read_bytes()))
    return [rows[i] for i in rng.choice(len(rows), min(count, len(rows)), replace=False)]


def computed_again(row):
    """The cell of a stored row, run once more."""
    cell = {
        key: text if key == "panel" else number(text)
        for key, text in row.items()
        if key not in RESULTS and text != ""
    }
    cell["eps"] = float(row["eps"]) if row["eps"] else None
    cell["data"] = row["data"]
    cell["plays"] = [{key: cell.pop(key) for key in ("name", "curator") if key in cell}]
    again = cluster.run_cell(cell)
    assert "error" not in again, again
    return again["rows"][0]


@pytest.mark.build
@pytest.mark.parametrize("path", TABLES, ids=lambda p: p.stem)
def test_stored_cells_chosen_at_random_are_recomputed_exactly(path):
    for row in some(rows_at_hand(path), 4, path):
        again = computed_again(row)
        for key in ("regret", "half", "uniform", "clipped"):
            assert again[key] == row[key], (key, row)


@pytest.mark.build
@pytest.mark.parametrize("name", ["judge", "map", "ridge"])
def test_stored_cells_of_elimination_are_recomputed_exactly_and_tell_its_width(name, monkeypatch):
    """At 1.03 times the width fewer arms are dropped: most of these cells would differ."""
    path = ROOT / f"data/sweeps/{name}.csv"
    rows = [row for row in rows_at_hand(path) if row["name"] == "PE"]
    chosen = some([row for row in rows if row["data"] == "synthetic"], 8, path)
    assert [computed_again(row)["regret"] for row in chosen] == [row["regret"] for row in chosen]
    width = core.PE.width
    monkeypatch.setattr(core.PE, "width", lambda self, widest: 1.03 * width(self, widest))
    assert any(computed_again(row)["regret"] != row["regret"] for row in chosen)


@pytest.mark.parametrize("name, shared", [("map", 135), ("judge", 75)])
def test_the_further_seeds_of_ata_stand_beside_the_same_rows_as_before(name, shared):
    """What ATA did on the seeds that it had is in both tables, to the last digit, although another
    code computed it; the page of the map takes the longer table."""
    keys = ["panel", "curator", "beta_scale", "seed", "setting"][: 4 + (name == "judge")]
    kinds = {"panel": str, "regret": str, "half": str, "uniform": str}
    old, new = (
        pd.read_csv(ROOT / f"data/sweeps/{file}.csv", dtype=kinds) for file in (name, f"{name}_ata")
    )
    both = old[old["name"] == "ATA"].merge(new, on=keys)
    assert len(both) == shared and set(new["name"]) == {"ATA"}
    for column in ("regret", "half", "uniform"):
        assert (both[f"{column}_x"] == both[f"{column}_y"]).all()
    others = old[(old["name"] == "MoMA") & (old["T"] == 20_000)]
    if name == "judge":
        others = others[others["setting"].isin(["tuned", "order"])]
    assert set(new["seed"]) == set(others["seed"])


@pytest.mark.build
def test_stored_campaigns_are_those_declared_and_one_chosen_at_random_is_recomputed_exactly():
    """data/campaigns.csv; the choice is among the learners that take seconds."""
    spec = importlib.util.spec_from_file_location("campaigns", ROOT / "data/campaigns.py")
    spec.loader.exec_module(campaigns := importlib.util.module_from_spec(spec))
    path = ROOT / "data/campaigns.csv"
    stored = pd.read_csv(path, dtype=str)
    keys = "kernel eps T trials name constants curator".split()
    declared = [
        (kernel, f"{eps:g}", str(T), str(trials), *learner)
        for kernel, eps, T, trials, learners in campaigns.JOBS
        for learner in learners
    ]
    groups = dict(list(stored.groupby(keys, sort=False)))
    assert list(groups) == declared and stored.code.nunique() == 1
    cheap = [key for key in declared if int(key[2]) <= 50_000 and key[4] != "ATA"]
    key = cheap[draw(path.read_bytes()) % len(cheap)]
    again = campaigns.run(key[0], float(key[1]), int(key[2]), int(key[3]), *key[4:])
    for column in ("mean", "low", "high"):
        again[column] = again[column].map("{:.4f}".format)
    columns = [*keys, "t", "mean", "low", "high"]
    assert again[columns].astype(str).values.tolist() == groups[key][columns].values.tolist()


@pytest.mark.build
def test_stored_numbers_of_users_are_those_declared_and_some_are_recomputed_exactly(monkeypatch):
    """data/users.csv: two cells chosen by its own bytes. The paper's tables are not shipped."""
    monkeypatch.delenv("LDPBO_DATA", raising=False)
    spec = importlib.util.spec_from_file_location("users", ROOT / "data/users.py")
    spec.loader.exec_module(users := importlib.util.module_from_spec(spec))
    path = ROOT / "data/users.csv"
    stored = pd.read_csv(path, dtype=str, keep_default_na=False)
    keys = "problem data learner trust eps".split()
    places = [("se", "synthetic"), ("matern", "synthetic")]
    places += [(name, data) for data in ("stand-in", "original") for name in ("light", "stocks")]
    kinds = [
        (learner, trust, "" if eps is None else f"{eps:g}") for learner, trust, eps in users.KINDS
    ]
    groups = dict(list(stored.groupby(keys, sort=False)))
    assert list(groups) == [(*place, *kind) for place in places for kind in kinds]
    assert stored.code.nunique() == 1
    problems = users.problems()
    for i, place in enumerate(
        (places[draw(path.read_bytes()) % 2], places[2 + draw(path.read_bytes()) % 2])
    ):
        if place not in problems:
            continue
        kind = users.KINDS[draw(path.read_bytes() + bytes([i])) % len(users.KINDS)]
        again = users.rows(place, problems[place], *kind)
        kept = groups[(*place, kind[0], kind[1], "" if kind[2] is None else f"{kind[2]:g}")]
        for column in ("users", "low", "high"):
            assert again[column].map("{:.3g}".format).tolist() == kept[column].tolist(), place
        assert again.share.astype(str).tolist() == kept.share.tolist()
        assert again.runs.astype(str).tolist() == kept.runs.tolist() and again.runs.min() >= 8
