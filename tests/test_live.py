"""The live page in Chromium and in Firefox, from file://, with the numbers of `simulate`.

Nothing is requested from outside.
"""

import base64
import contextlib
import csv
import hashlib
import http.server
import io
import itertools
import json
import shlex
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from pytest import approx

import ldpbo_core as core

ROOT = Path(core.__file__).resolve().parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "live")]
import browsers

import bridge
import live_assets
import npm
import runtime

pytestmark = pytest.mark.xdist_group("live")
SCRIPTS = "".join(
    line.replace("../_static/", "")
    for line in (ROOT / "book/live.md").read_text("utf-8").splitlines()
    if line.startswith("<script")
)
PAGE = f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Live</title>
<link rel="stylesheet" href="custom.css"><link rel="stylesheet" href="live/live.css"></head>
<body><main><h1>Live</h1><div id="ldpbo-live"></div></main>{SCRIPTS}</body></html>"""
LIVE = "document.getElementById('ldpbo-live')"
COMPLAINT = "document.getElementById('live-complaint').textContent"
REGRET = "#live-regret svg"
DONE = f"{LIVE}.dataset.state === 'done'"
DRAWN = ["TGP", "ATA", "MoMA", "GP-UCB", "PE"]


def put_page(folder):
    """page.html with the book's own style beside it."""
    (folder / "page.html").write_text(PAGE, encoding="utf-8")
    (folder / "custom.css").write_bytes((ROOT / "book" / "_static" / "custom.css").read_bytes())


# ---- without a browser --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    """A folder with page.html and live/ beside it."""
    folder = tmp_path_factory.mktemp("page")
    put_page(folder)
    said = live_assets.build(folder / "live")
    return folder, said


def test_the_embedded_core_is_ldpbo_core_byte_for_byte_and_another_one_is_refused(assets, tmp_path):
    live_assets.check(assets[0] / "live")
    text = (assets[0] / "live" / "live-data.js").read_text(encoding="utf-8")
    changed = {"def posterior": "another core", "def report_sums": "another ldpbo/campaigns.py"}
    for there, what in changed.items():
        other = text.replace(there, f"{there}_", 1)
        (tmp_path / "live-data.js").write_text(other, encoding="utf-8")
        with pytest.raises(RuntimeError, match=what):
            live_assets.check(tmp_path)


def test_an_algorithm_has_one_colour_marker_and_name_in_the_whole_book(assets):
    """The page takes them from the figures; its own programs name no colour."""
    plots = pytest.importorskip("ldpbo.plots")
    colors = plots.COLORS
    embedded = live_assets.embedded(assets[0] / "live")
    assert embedded["colors"] == colors
    assert embedded["markers"] == plots.MARKERS
    assert embedded["labels"] == plots.LABELS
    for program in (ROOT / "book/live").glob("*.js"):
        text = program.read_text("utf-8").upper()
        assert not [name for name in DRAWN if colors[name] in text], program.name


def test_the_bridge_and_the_core_import_with_numpy_alone():
    code = f"""import sys
for absent in ("scipy", "opendp", "multiprocessing", "threadpoolctl"):
    sys.modules[absent] = None
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "book/live")!r}]
import bridge
bridge.everything(bridge.DEFAULTS | dict(T=20, trials=1))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


PAPER = dict(curator="laplace", T=1000, trials=4, constants="order", beta_scale=0.1)
PAPER["names"] = ["TGP", "ATA", "MoMA"]  # with this the presets about the paper begin
ROUNDS = [
    {},
    {"names": ["TGP", "GP-UCB"], "problem": "matern"},
    {"eps": None},
    PAPER | {"eps": None, "problem": "matern"},
    PAPER | {"problem": "light", "names": ["GP-UCB", "MoMA"], "k": 3},
    PAPER | {"constants": "printed", "names": ["TGP"]},
    PAPER | {"constants": "proved", "names": ["TGP", "GP-UCB"]},
    PAPER | {"curator": "onebit", "names": ["TGP", "GP-UCB", "PE"]},
    PAPER | {"names": ["PE"], "eps": None},
    PAPER | {"problem": "branin", "names": ["TGP", "MoMA"], "lengthscale": 0.3},
]


@pytest.mark.parametrize("change", ROUNDS, ids=str)
def test_the_bridge_gives_the_numbers_of_simulate(change):
    settings = bridge.DEFAULTS | change | {"T": 60, "trials": 2, "shown": 1}
    compare(settings, bridge.everything(settings)["pieces"])


@pytest.mark.parametrize("change", [{}, PAPER, {"eps": None}], ids=["both", "paper", "bare"])
def test_what_grows_while_it_runs_is_the_beginning_of_what_comes_out(change):
    settings = bridge.DEFAULTS | change | {"T": 60, "trials": 2, "shown": 1}
    whole = {p["line"]: p for p in bridge.everything(settings)["pieces"] if p["trial"] == 1}
    run = bridge.Run(settings, only=1)
    part = run.step(0)
    reached = []
    while not part["finished"]:
        for p in part["growing"]:
            rounds = p["t"][-1]
            assert p["regret"] == whole[p["line"]]["regret"][:rounds]
            assert p["arms"] == whole[p["line"]]["arms"][:rounds]
            assert p["reports"] == whole[p["line"]]["reports"][:rounds]
            assert [snapshot["t"] for snapshot in p["inside"]] == [0, rounds]
            reached.append(rounds)
        run.due = 0.0  # every time, where the page waits a little
        part = run.step(0)
    assert part["done"] == part["total"] == 60 * len(whole)
    assert reached == sorted(reached)  # the curves grow side by side
    assert set(reached) == set(range(1, 60))


def shares(**change):
    """Regret relative to uniform play's, the mean by curve; and the pieces."""
    settings = bridge.DEFAULTS | change
    pieces = bridge.everything(settings)["pieces"]
    out = {}
    for line, *_ in bridge.lines_of(settings):
        own = [p for p in pieces if p["line"] == line]
        out[line] = np.mean([p["regret"][-1] / (settings["T"] * p["uniform"]) for p in own])
    return out, pieces


def test_the_page_opens_where_one_bit_learns_sooner_and_the_truth_is_inside_the_band():
    found, pieces = shares()
    assert found["GP-UCB one bit"] < 0.7 < found["GP-UCB Laplace"] < 0.95
    widths = {}
    for p in pieces:
        for snapshot in p.get("inside", []):
            half = snapshot["beta"] * np.array(snapshot["sigma"])
            assert np.all(np.abs(np.array(p["f"]) - snapshot["mu"]) <= half + 1e-6)
            widths[p["line"]] = half.mean()
    assert widths["GP-UCB one bit"] < 0.7 * widths["GP-UCB Laplace"]


def test_the_lower_figures_open_with_the_trial_in_the_middle():
    """Of five, by the final regret with one bit: no trial was picked for its looks."""
    _, pieces = shares()
    own = [p for p in pieces if p["line"] == "GP-UCB one bit"]
    by_regret = sorted(own, key=lambda p: p["regret"][-1] / p["uniform"])
    assert len(own) == 5
    assert by_regret[2]["trial"] == bridge.DEFAULTS["shown"]
    assert "inside" in by_regret[2]


@pytest.mark.parametrize("problem", ["se", "matern"])
def test_at_proved_constants_the_learner_is_told_the_norm_and_the_curator_the_range(problem):
    made = {}
    for constants in ("order", "proved"):
        settings = bridge.DEFAULTS | {"problem": problem, "constants": constants}
        made[constants] = bridge.problem_of(settings)(7)
    plain, proved = made["order"], made["proved"]
    assert plain.B == np.abs(plain.f).max() < proved.B == core.rkhs_norm(plain)
    assert proved.bound == plain.bound
    assert_allclose(proved.f, plain.f, rtol=0)
    assert "‖f‖" in proved.provenance


def test_the_preset_low_epsilon_shows_that_privacy_costs():
    default, low, high = (shares(**PAPER, eps=eps)[0] for eps in (1.0, 0.1, 10.0))
    assert min(low.values()) > 1
    assert max(default.values()) < 0.8
    assert max(high.values()) < 0.3


def test_the_preset_why_constants_decide_is_so():
    printed, pieces = shares(**PAPER | dict(constants="printed", beta_scale=1.0))
    assert min(printed["TGP"], printed["ATA"]) > 0.95
    assert next(p for p in pieces if p["name"] == "MoMA")["k"] > 200


def test_the_preset_a_panel_of_the_paper_has_wide_bands():
    panel, pieces = shares(**PAPER | dict(beta_scale=1.0, T=2000, trials=3))
    assert min(panel.values()) > 0.75
    for p in pieces:
        if "inside" in p:
            last = p["inside"][-1]
            assert 2 * last["beta"] * np.median(last["sigma"]) > np.ptp(p["f"])


def test_in_the_preset_heavy_tails_all_learn_and_gp_ucb_is_first():
    tails, _ = shares(**PAPER | dict(eps=None, names=["TGP", "ATA", "MoMA", "GP-UCB"]))
    assert max(tails.values()) < 0.3
    assert min(tails, key=tails.get) == "GP-UCB"


USERS = [
    {},
    {"eps": None, "problem": "light"},
    {"curator": "laplace", "constants": "order", "problem": "branin", "trials": 1},
]


@pytest.mark.parametrize("change", USERS, ids=str)
def test_the_second_view_gives_the_numbers_of_simulate_batches(change):
    settings = bridge.CAMPAIGN | {"trials": 2, "seed": 3} | change
    for only in (4,) if settings["problem"] == "branin" else (0, 4):
        pieces = [piece for _, _, piece in bridge.campaign(settings, only=only)]
        compare_campaign(settings, pieces)


def compare_campaign(settings, pieces, samples=None, rtol=1e-9):
    """Every piece against native `simulate_batches`."""
    problem = bridge.problem_of(settings, samples)
    told = dict(trials=settings["trials"], seed=settings["seed"], **bridge.options_of(settings))
    assert pieces
    for p in pieces:
        want = core.simulate_batches(problem, p["T"], **told)
        assert_allclose(p["share"], want.regret[:, -1] / (p["T"] * want.uniform), rtol=rtol)
        assert p["batches"] == len(want.t)
        assert rtol > 1e-9 or p["active"] == want.active[:, -1].tolist()


def test_branin_on_the_page_is_branin():
    """Its three equal minima in the literature: (-pi, 12.275), (pi, 2.275), (9.42478, 2.475)."""
    x = (np.arange(bridge.SIDE) + 0.5) / bridge.SIDE
    f = bridge.branin_problem("uniform", 0.2).f.reshape(bridge.SIDE, bridge.SIDE)
    assert f.min() == -1
    assert f.max() == 1
    for a, b in ((-np.pi, 12.275), (np.pi, 2.275), (9.42478, 2.475)):
        i = np.abs(15 * x - b).argmin()
        j = np.abs(15 * x - 5 - a).argmin()
        near = f[max(0, i - 1) : i + 2, max(0, j - 1) : j + 2]
        assert near.max() > 0.96  # a top is within one cell, up to the grid
    row, column = divmod(int(f.argmin()), bridge.SIDE)
    assert 15 * x[row] < 1  # the worst corner, (-5, 0)
    assert 15 * x[column] - 5 < -4


def test_a_setting_that_one_algorithm_refuses_leaves_the_others_running():
    change = {"constants": "printed", "T": 50, "trials": 1}
    settings = bridge.DEFAULTS | PAPER | change
    pieces = bridge.everything(settings)["pieces"]
    assert "must be at most T" in next(p for p in pieces if p["name"] == "MoMA")["error"]
    assert all("regret" in p for p in pieces if p["name"] != "MoMA")


def build_without_npm(folder, cdn=runtime.CDN):
    """The page as it is built where npm is missing -> what the build says.

    The first result is taken from the cache, as `assets` left it.
    """
    with pytest.MonkeyPatch.context() as patch:
        first = live_assets.precomputed()
        patch.setattr(live_assets, "precomputed", lambda: first)
        patch.setattr(npm, "CACHE", folder / "cache")
        patch.setattr(runtime, "CDN", cdn)
        patch.setattr(npm.shutil, "which", lambda name: None)
        put_page(folder)
        return live_assets.build(folder / "live")


@pytest.mark.build
def test_without_npm_the_build_succeeds_and_the_page_is_told_to_use_the_cdn(tmp_path):
    assert "from a CDN, because npm is not installed" in build_without_npm(tmp_path)
    where = live_assets.embedded(tmp_path / "live")["runtime"]
    assert where["mode"] == "cdn"
    assert where["url"] == "https://cdn.jsdelivr.net/npm/"
    assert set(where["pins"]) == {"asm", "loader", "wasm", "stdlib", "numpy"}
    assert not list((tmp_path / "live").glob("runtime-*"))


def cdn_files():
    """What the CDN serves, by path: the files of the pinned packages."""
    out = {}
    for name, (version, _) in npm.PINS.items():
        archive = npm.package(name).read_bytes()
        for path, data in npm.members(archive).items():
            out[f"{name}@{version}/{path.removeprefix('package/')}"] = data
    return out


def test_what_comes_from_the_cdn_is_pinned_to_the_files_of_the_same_packages(assets):
    if "CDN" in assets[1]:
        pytest.skip(f"NO OFFLINE PYTHON: {assets[1]}")
    files = cdn_files()
    for path, integrity in runtime.CDN_PINS.values():
        digest = base64.b64encode(hashlib.sha384(files[path]).digest())
        assert integrity == "sha384-" + digest.decode()


def test_licences_of_everything_shipped_are_listed_in_the_book():
    page = (ROOT / "book" / "licences.md").read_text(encoding="utf-8")
    for name, version, licence, _, source in runtime.SHIPPED:
        assert f"| {name} | {version} | {licence} | [source]({source}) |" in page


def test_licences_of_everything_shipped_are_shipped(assets):
    if "CDN" in assets[1]:
        pytest.skip(assets[1])
    folder = assets[0] / "live" / "licences"
    listing = (folder / "README.txt").read_text(encoding="utf-8")
    for name, *_ in runtime.SHIPPED:
        assert name in listing
    assert "Mozilla Public License" in (folder / "MPL-2.0.txt").read_text(encoding="utf-8")
    assert "NumPy Developers" in (folder / "NumPy.txt").read_text(encoding="utf-8")


# ---- in the browsers ----------------------------------------------------------------------------


@pytest.fixture(scope="module", params=browsers.NAMES)
def browser(request, assets):
    if reason := browsers.missing(request.param):
        pytest.skip(reason)
    with browsers.start(request.param) as browser:
        browser.name = request.param
        yield browser


@pytest.fixture(scope="module")
def live(assets, browser):
    """One page for all tests below, with Python started in it and the default run finished."""
    if "CDN" in assets[1]:
        pytest.skip(f"NO OFFLINE PYTHON: {assets[1]}")
    page = browser.page()
    page.goto((assets[0] / "page.html").as_uri())
    page.until(f"['done', 'broken', 'failed'].includes({LIVE}.dataset.state)", 240)
    assert page.js(f"{LIVE}.dataset.state") == "done", page.text("#live-status")
    page.first = result(page)
    yield page
    page.close()


OLD = "curator=laplace&constants=order&beta=0.1&algs=TGP,ATA,MoMA&trial=1"
QUICK = "problem=se&eps=1&T=80&trials=2&beta=0.1"


@pytest.fixture
def quick(live):
    """The page at small settings, finished; another seed each time, so that there is a run."""
    seed = live.js(f"Number({LIVE}.dataset.runs)")
    go(live, f"{QUICK}&seed={seed}")
    live.faults.clear()
    return live


def after(page, action):
    """Do something and wait for the run it starts."""
    runs = page.js(f"Number({LIVE}.dataset.runs || 0)")
    action()
    page.until(f"Number({LIVE}.dataset.runs) > {runs} && {DONE}", 240)


def go(page, hash, before=f"{OLD}&"):
    """Settings from the address; before: those that it begins with, for the paper's three."""
    after(page, lambda: page.js(f"void (location.hash = '#{before}{hash}')"))


def result(page):
    """Settings, pieces and completeness of what the page shows."""
    part = "({settings, pieces, complete}) => ({settings, pieces, complete})"
    return page.js(f"({part})({LIVE}.ldpbo.result)")


def state_of(page):
    return page.js(f"{LIVE}.ldpbo.state")


def mean_regret(got, line):
    """The mean last regret of a curve."""
    return np.mean([p["regret"][-1] for p in got["pieces"] if p["line"] == line])


def compare(settings, pieces, samples=None):
    """Every piece against native `simulate`, to 1e-9."""
    names, trials = settings["names"], settings["trials"]
    lines = bridge.lines_of(settings)
    expected = sorted(itertools.product([line for line, *_ in lines], range(trials)))
    assert sorted((p["line"], p["trial"]) for p in pieces) == expected
    problem = bridge.problem_of(settings, samples)
    want = {}
    for curator in {curator for *_, curator in lines}:
        told = dict(trials=trials, seed=settings["seed"])
        told |= bridge.options_of(settings, curator)
        want[curator] = core.simulate(problem, names, settings["T"], trace=True, **told)
    for p in pieces:
        compare_piece(p, want[p["curator"]], (names.index(p["name"]), p["trial"]), settings)


def compare_piece(p, want, run, settings):
    """One piece against its run in the result of `simulate`."""
    regret = want.regret[run]
    size = max(1, regret[-1])
    assert_allclose(p["regret"], regret[np.array(p["t"]) - 1], rtol=0, atol=1e-9 * size)
    assert p["t"][-1] == settings["T"]
    assert p["pulls"] == want.records["pulls"][run].tolist()
    assert p["clipped"] == want.records["clipped"][run]
    assert p["uniform"] == approx(want.records["uniform"][p["trial"]], abs=1e-9)
    if p["trial"] == settings["shown"]:
        assert p["arms"] == want.records["arms"][run].tolist()
        assert_allclose(p["reports"], want.records["reports"][run], rtol=1e-9, atol=1e-6)


def test_the_first_result_comes_offline_and_equals_simulate(live, assets):
    embedded = live_assets.embedded(assets[0] / "live")
    assert live.js(f"{LIVE}.ldpbo.about")["sha256"] == embedded["sha256"]
    assert live.first["settings"] == bridge.DEFAULTS
    assert live.first["complete"]
    compare(live.first["settings"], live.first["pieces"])
    assert live.outside == []
    assert live.faults == []


def test_what_is_drawn_before_python_is_ready_is_the_same_result(assets):
    before = live_assets.embedded(assets[0] / "live")["precomputed"]["pieces"]
    compare(bridge.DEFAULTS, before)
    assert len(before) == len(bridge.lines_of(bridge.DEFAULTS)) * bridge.DEFAULTS["trials"]


ADDRESSES = [
    "problem=matern&eps=0.5&T=150&trials=3&seed=7&algs=TGP,ATA,MoMA,GP-UCB&ls=0.1",
    "problem=se&eps=none&T=200&trials=2&lam=0.1&beta=0.1",
    "problem=light&eps=5&T=120&trials=2&k=3",
    "problem=stock&eps=none&T=120&trials=2",
    "problem=se&eps=2&constants=theorem&beta=1&T=400&trials=1",
    "problem=se&eps=2&curator=onebit&T=150&trials=2&algs=TGP,GP-UCB,PE",
    "problem=branin&eps=10&ls=0.3&T=60&trials=1&algs=TGP,MoMA",
    "problem=matern&eps=3&curator=both&T=90&trials=2&algs=TGP,GP-UCB&look=TGP%20Laplace",
]


@pytest.mark.parametrize("hash", ADDRESSES)
def test_numbers_equal_native_at_other_settings(live, hash):
    live.faults.clear()
    go(live, hash)
    got = result(live)
    compare(got["settings"], got["pieces"])
    assert live.faults == []


def test_first_screen_holds_the_controls_beside_the_curve_and_they_stay_while_scrolling(quick):
    left, top, right, bottom = quick.box(".live-side")
    figure = quick.box(REGRET)
    assert right <= figure[0]
    assert bottom <= 720
    assert figure[3] <= 720
    assert abs(top - quick.box("#live-results")[1]) < 2
    quick.scroll(900)
    quick.until("scrollY > 300")
    assert quick.box(REGRET)[1] < 0  # scrolled out of view
    assert 0 <= quick.box("#live-eps-slider")[1] < quick.box("#live-stop")[3] <= 720
    quick.js("void scrollTo(0, 0)")


def test_status_and_buttons_stay_in_view_with_the_constants_open(quick):
    heading = "document.querySelector('h1').style.paddingTop"
    more = "document.getElementById('live-more').open"
    bottom = "document.querySelector('#live-stop').getBoundingClientRect().bottom"
    quick.js(f"void ({heading} = '7rem')")  # the page begins as low as it does in the book
    quick.click("#live-more summary")
    try:
        quick.until(more)
        for place in ("scrollY === 0", "scrollY > 300"):
            quick.until(place)
            quick.until(f"{bottom} <= 720")
            assert 0 <= quick.box("#live-status")[1] < quick.box("#live-status")[3] <= 720
            assert quick.box(".live-side")[3] <= 720
            quick.scroll(900)
        quick.focus("#live-k-none")  # the last of the controls scrolls into the box
        assert quick.box("#live-k-none")[3] <= quick.box("#live-status")[1]
    finally:
        quick.js("void scrollTo(0, 0)")
        quick.js(f"void ({more} = false, {heading} = '')")


def test_the_dot_beside_a_name_has_the_colour_of_the_figures(quick):
    colors = pytest.importorskip("ldpbo.plots").COLORS
    for name in DRAWN:
        dot = f"document.querySelector('[name=alg][value={name}] + .live-dot')"
        red, green, blue = bytes.fromhex(colors[name][1:])
        shown = quick.js(f"getComputedStyle({dot}).backgroundColor")
        assert shown == f"rgb({red}, {green}, {blue})"


def test_touching_controls_with_the_pointer_leaves_them_all_in_place(quick):
    """In Firefox a multi-column box lost its content at the first touch of a slider.

    Chromium lays out in 64ths of a pixel, and a text above may round otherwise.
    """
    keys = ["problem", "curator", "eps", "T", "trials", "seed", "lengthscale"]
    places = lambda: [edge for key in keys for edge in quick.box(f"#live-{key}")]
    before = approx(places(), abs=0.1)
    after(quick, lambda: quick.drag("#live-eps-slider", 0.8))
    assert places() == before
    assert float(quick.value("#live-eps")) > 5
    assert result(quick)["settings"]["eps"] == float(quick.value("#live-eps"))
    after(quick, lambda: quick.click("[name=alg][value=ATA]"))
    assert places() == before
    assert "ATA" not in result(quick)["settings"]["names"]
    for key in keys:
        left, top, right, bottom = quick.box(f"#live-{key}")
        middle = f"{(left + right) / 2}, {(top + bottom) / 2}"
        assert quick.js(f"document.elementFromPoint({middle}).id") == f"live-{key}"
    after(quick, lambda: quick.click("#live-reset"))
    state = state_of(quick)
    assert places() == before
    assert {key: state[key] for key in bridge.DEFAULTS} == bridge.DEFAULTS


def test_arrow_keys_move_epsilon_by_useful_steps_and_the_address_follows(quick):
    before = result(quick)
    quick.focus("#live-eps-slider")
    after(quick, lambda: quick.press("ArrowRight", 3))
    got = result(quick)
    assert got["settings"]["eps"] == 2
    assert "eps=2&" in quick.url()
    assert got["pieces"][0]["regret"] != before["pieces"][0]["regret"]
    seen = quick.js(f"{LIVE}.ldpbo.stops.eps")
    assert seen[0] == 0.05
    assert seen[-1] == 50
    assert all(1.1 < b / a <= 1.4 for a, b in zip(seen, seen[1:]))
    assert {0.1, 0.5, 1, 10} <= set(seen)
    after(quick, lambda: quick.select("#live-curator", "none"))
    assert result(quick)["settings"]["eps"] is None
    assert "eps=none" in quick.url()
    assert quick.disabled("#live-eps")
    assert "not private" in quick.text("#live-regret-note")
    after(quick, lambda: quick.select("#live-curator", "onebit"))
    assert result(quick)["settings"]["curator"] == "onebit"
    assert "curator=onebit" in quick.url()
    assert not quick.disabled("#live-eps")


def test_arrow_keys_in_a_field_go_where_its_slider_stops(quick):
    """Not up and down by 1: too much for a length-scale, and from epsilon = 1 out of the range."""
    for key, start, down, up in (("eps", 1, 0.8, 1.2), ("lengthscale", 0.2, 0.15, 0.25)):
        assert float(quick.value(f"#live-{key}")) == start
        quick.focus(f"#live-{key}")
        for arrow, times, value in (("ArrowDown", 1, down), ("ArrowUp", 2, up)):
            quick.press(arrow, times)
            assert state_of(quick)[key] == float(quick.value(f"#live-{key}")) == value
        style = f"getComputedStyle(document.getElementById('live-{key}'))"
        assert quick.js(f"{style}.appearance") == "textfield"
    quick.until(f"{DONE} && {LIVE}.ldpbo.result.settings.lengthscale === 0.25")
    assert result(quick)["settings"]["eps"] == 1.2


def test_an_empty_field_says_what_is_needed_and_nothing_runs_with_it(quick):
    quick.focus("#live-T")
    quick.press("Control+a")
    quick.press("Delete")
    quick.until(f"{COMPLAINT} === 'Rounds T: a number from 20 to 20000 is needed.'")
    assert state_of(quick)["T"] == 80
    after(quick, lambda: quick.fill("#live-T", "90"))
    assert quick.text("#live-complaint") == ""
    assert result(quick)["settings"]["T"] == 90


def test_a_number_is_not_judged_before_it_is_typed(quick):
    """Firefox types 1, 5, 0; 1 and 15 are too few rounds."""
    quick.js(f"""(() => {{
        window.said = [];
        const listen = new MutationObserver(() => said.push({COMPLAINT}));
        listen.observe(document.getElementById('live-complaint'), {{childList: true}});
    }})()""")
    after(quick, lambda: quick.fill("#live-T", "150"))
    assert result(quick)["settings"]["T"] == 150
    assert not any(quick.js("window.said"))
    quick.fill("#live-T", "15")
    quick.until(f"{COMPLAINT} === 'Rounds T: 15 must be from 20 to 20000.'")


def test_few_trials_have_their_range_and_many_an_interval(quick):
    """An interval from two trials reached from -4 to 6 times uniform play."""
    results = pytest.importorskip("ldpbo.results")
    for trials in (1, 2, 6):
        go(quick, f"problem=se&eps=1&T=40&algs=TGP&trials={trials}")
        pieces = result(quick)["pieces"]
        share = np.array([p["regret"][-1] / (40 * p["uniform"]) for p in pieces])
        said = f"{share.mean():.2f}"
        if trials == 2:
            said += f" ({share.min():.2f}–{share.max():.2f})"
        if trials == 6:
            _, low, high = results.interval(share[:, None])
            said += f" [{low[0]:.2f}, {high[0]:.2f}]"
        cell = quick.text("#live-table tbody tr td:nth-of-type(2)")
        assert cell == said.replace("-", "−")


PRESETS = {
    "onebit": {"eps": 1, "constants": "proved", "beta_scale": 1, "curator": "both", "T": 400},
    "low": PAPER | {"eps": 0.1},
    "constants": {"eps": 1, "constants": "printed", "beta_scale": 1},
    "panel": {"T": 2000, "trials": 3, "beta_scale": 1},
    "tails": {"eps": None},
}


def test_presets_set_the_controls_and_say_what_to_look_at(quick):
    notes = set()
    for preset, settings in PRESETS.items():
        quick.click(f"[data-preset={preset}]")
        quick.until(f"document.querySelector('[data-preset={preset}]').ariaPressed === 'true'")
        state = state_of(quick)
        assert {key: state[key] for key in settings} == settings
        notes.add(quick.text("#live-preset-note"))
    quick.click("[data-preset=table]")
    quick.until(f"{LIVE}.dataset.state === 'waiting'")
    status = "document.getElementById('live-status').textContent"
    quick.until(f"{status}.includes('Choose a CSV file')")
    assert quick.visible("#live-choose")
    assert not quick.visible(REGRET)
    assert len(notes | {quick.text("#live-preset-note")}) == 6
    quick.js(f"void ({LIVE}.style.maxWidth = '950px')")  # as in the book
    for preset in (*PRESETS, "day", "table"):
        click = f"document.querySelector('[data-preset={preset}]').click()"
        height = f"({click}, document.getElementById('live-preset-note').clientHeight)"
        assert quick.js(height) < 20  # one line each: the controls stay where they are
    quick.js(f"void ({LIVE}.style.maxWidth = '')")
    assert "No table yet" in quick.js("document.getElementById('live-results').innerText")


def test_a_note_goes_with_what_it_was_about(quick):
    quick.click("[data-preset=low]")
    advice = quick.text("#live-preset-note")
    quick.focus("#live-eps-slider")
    quick.press("ArrowRight", 3)
    assert "Move ε" in advice == quick.text("#live-preset-note")  # it is being followed
    quick.select("#live-problem", "light")
    assert quick.text("#live-preset-note") == ""
    quick.click("[data-view=users]")
    assert "10⁹ users" in quick.text("#live-preset-note")
    quick.click("[data-view=rounds]")
    assert quick.text("#live-preset-note") == ""


def test_the_plane_opens_with_settings_that_show_learning_soon(quick):
    after(quick, lambda: quick.click("[data-preset=onebit]"))
    after(quick, lambda: quick.select("#live-problem", "branin"))
    want = PAPER | {"eps": 10, "T": 300, "trials": 2, "names": ["TGP", "MoMA"]}
    got = result(quick)
    assert {key: got["settings"][key] for key in want} == want
    assert "Maps" in quick.text("#live-preset-note")
    assert quick.visible("#live-maps svg")
    assert all(p["regret"][-1] < 0.8 * 300 * p["uniform"] for p in got["pieces"])
    quick.fill("#live-T", "200")
    quick.select("#live-problem", "se")
    state = state_of(quick)  # what the reader changed stays
    assert state["T"] == 200
    for key in ("eps", "trials", "names", "curator", "constants", "beta_scale"):
        assert state[key] == bridge.DEFAULTS[key]


def test_the_estimate_of_time_is_what_was_measured_here(quick):
    got = result(quick)
    batches = np.ceil(2 / quick.js(f"{LIVE}.ldpbo.workers"))
    least = most = 0.0
    for name in got["settings"]["names"]:
        seconds = [p["seconds"] for p in got["pieces"] if p["name"] == name]
        least += min(seconds)
        most += max(seconds)

    def estimate(**change):
        state = f"{{...{LIVE}.ldpbo.state, ...{json.dumps(change)}}}"
        return quick.js(f"{LIVE}.ldpbo.estimate({state})")

    said = estimate()
    assert batches * least <= said * 1.000001
    assert said <= batches * most * 1.000001
    assert estimate(T=800) == approx(10 * said)
    assert estimate(names=["PE"], T=20000) == estimate(names=["PE"], T=20)  # plans, not rounds
    assert estimate(problem="branin") > 5 * said  # 400 arms, not measured yet or slower
    users = "view=users&problem=branin&eps=1&curator=onebit&constants=theorem&beta=1&trials=20"
    quick.js(f"void (location.hash = '#{users}')")
    quick.until(f"{LIVE}.dataset.state === 'asking'")
    assert "This run takes about" in quick.text("#live-status")


def test_a_long_run_says_how_long_and_waits_for_its_button(quick):
    quick.fill("#live-trials", "20")
    quick.fill("#live-T", "20000")
    quick.until(f"{LIVE}.dataset.state === 'asking'")
    assert "This run takes about" in quick.text("#live-status")
    assert quick.visible("#live-run")
    quick.click("#live-run")
    quick.until(f"{LIVE}.dataset.state === 'running'")
    assert "about" in quick.text("#live-status")
    assert not quick.visible("#live-run")
    quick.until("/^about .* left$/.test(document.getElementById('live-left').textContent)", 30)
    quick.click("#live-stop")


LONGEST_WAIT = """new Promise((resolve) => {
    let last = performance.now(), worst = 0, n = 0;
    const tick = () => {
        const now = performance.now();
        worst = Math.max(worst, now - last);
        last = now;
        if (++n < 60) setTimeout(tick, 10);
        else resolve(worst);
    };
    tick();
})"""


def test_a_change_cancels_the_run_and_a_stopped_run_stays_stopped(quick):
    def long():
        quick.fill("#live-T", "20000")
        quick.until(f"['asking', 'running'].includes({LIVE}.dataset.state)")
        if quick.visible("#live-run"):
            quick.click("#live-run")
        quick.until(f"{LIVE}.dataset.state === 'running'")

    long()
    quick.until("document.getElementById('live-progress').value > 0")
    after(quick, lambda: quick.fill("#live-T", "100"))
    got = result(quick)
    assert got["settings"]["T"] == 100
    assert got["complete"]
    compare(got["settings"], got["pieces"])
    long()
    assert quick.js(LONGEST_WAIT) < 2000  # the page answers while Python computes
    quick.click("#live-stop")
    assert "Stopped" in quick.text("#live-status")
    assert not quick.visible("#live-progress")
    assert quick.visible("#live-run")
    time.sleep(0.3)
    assert quick.js(f"{LIVE}.dataset.state") == "stopped"


ROWS = [[1 + (i * 7) % 5, 2 + (i * 3) % 4, 0.5 * ((i * 5) % 7)] for i in range(20)]
DAYS = [f"2020-01-{i + 1:02d},{x},{y},{z}\n" for i, (x, y, z) in enumerate(ROWS)]
GOOD = "day,a,b,c\n" + "".join(DAYS)


def has_table(name):
    """The page shows the whole result of this table."""
    table = f"{LIVE}.ldpbo.result?.table?.name === '{name}'"
    return f"{DONE} && {table} && {LIVE}.ldpbo.result.complete"


def upload(page, folder, text, name="mine.csv"):
    path = folder / name
    path.write_bytes(text.encode())
    page.upload("#live-file", path)


def load(page, folder, text, hash):
    """Settings from the address, then a table; wait for the run with exactly that table."""
    page.js(f"void (location.hash = '#{OLD}&problem=table&{hash}')")
    name = f"{folder.name}.csv"
    upload(page, folder, text, name)
    page.until(has_table(name), 120)


BAD = {
    "text": (
        GOOD.replace("2020-01-03,5", "2020-01-03,five"),
        "Row 4, column 2 (“a”): “five” is not a number",
    ),
    "missing": (
        GOOD.replace("2020-01-05,4,", "2020-01-05,,"),
        "Row 6, column 2 (“a”): the value is missing",
    ),
    "ragged": (
        GOOD.replace("2020-01-07,3,", "2020-01-07,"),
        "Row 8 has 3 values, the header has 4",
    ),
    "constant": ("a,b\n" + "1,2\n" * 6, "Column 1 (“a”) is 1 in every row"),
    "one column": ("a\n1\n2\n3\n", "at least 2 arms"),
    "short": ("a,b\n1,2\n", "at least 3"),
    "empty": ("", "empty"),
    "index": ("id,b\n1,2\n2,5\n3,4\n", "1 columns of numbers besides one that counts"),
    "infinite": (
        "a,b\n1,2\n5,inf\n3,4\n",
        "Row 3, column 2 (“b”): “inf” is not a number",
    ),
    "hexadecimal": ("a,b\n5,2\n2,0x1\n3,4\n", "“0x1” is not a number"),
    "spaces": ("1 2\n5 6\n3 4\n", "split at commas, semicolons or tabs"),
    "binary": ("PK\3\4\0\0a,b\n1,2\n", "not a text file. Save the table as CSV"),
    "large": (" " * 20_000_001, "has 20 MB; at most 20 MB"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_table_is_refused_with_row_and_column_and_the_old_curves_go(live, tmp_path, case):
    text, said = BAD[case]
    live.js(f"void (location.hash = '#{OLD}&problem=table&eps=1&T=40&trials=1&k=3')")
    live.until(f"{LIVE}.ldpbo.state.T === 40")
    shown = live.js(f"{LIVE}.ldpbo.result?.settings.problem") if live.visible(REGRET) else None
    if shown != "table":
        after(live, lambda: upload(live, tmp_path, GOOD, "ok.csv"))
    assert live.visible(REGRET)
    upload(live, tmp_path, text)
    live.until("document.getElementById('live-file-error').textContent !== ''")
    assert said in live.text("#live-file-error")
    assert live.text("#live-file-error").startswith("mine.csv")
    assert not live.visible(REGRET)
    assert not live.visible("#live-table")
    assert live.js(f"{LIVE}.ldpbo.result") is None
    upload(live, tmp_path, GOOD, "ok.csv")
    live.until("document.getElementById('live-file-error').textContent === ''")


def rows(mark, decimal=".", head=None, first=None):
    """The table ROWS as a file of some kind; first: where a column of row numbers begins."""
    lines = [] if head is None else [mark.join(head)]
    for i, row in enumerate(ROWS):
        cells = [str(x).replace(".", decimal) for x in row]
        if first is not None:
            cells.insert(0, str(i + first))
        lines.append(mark.join(cells))
    return "\n".join(lines) + "\n"


KINDS = {
    "comma": rows(",", head="abc"),
    "no header": rows(","),
    "semicolon, decimal comma": rows(";", ",", head="abc"),
    "semicolon, decimal comma, no header": rows(";", ","),
    "semicolon, point": rows(";", head="abc"),
    "tab": rows("\t", head="abc"),
    "tab, decimal comma": rows("\t", ",", head="abc"),
    "dates": GOOD,
    "index": rows(",", head=["", *"abc"], first=0),
    "index from 1, no header": rows(",", first=1),
    "byte order mark": "\ufeff" + rows(";", ",", head="äöü"),
    "windows lines": rows(",", head="abc").replace("\n", "\r\n"),
    "hash in the header": rows(",", head=["a#1", "b", "c"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_runs_here_and_by_the_copied_lines_and_nothing_leaves(
    live, tmp_path, kind
):
    live.faults.clear()
    load(live, tmp_path, KINDS[kind], "eps=1&T=60&trials=2&k=3")
    got = result(live)
    compare(got["settings"], got["pieces"], np.array(ROWS))
    note = live.text("#live-file-note")
    assert "3 arms, 20 rows" in note
    assert "stays on this machine" in note
    assert live.text("#live-choose") == "Another CSV file"
    left_out = "counts up by one and is left out" in note
    assert left_out == kind.startswith("index") == live.visible("#live-index")
    assert live.outside == []
    assert live.faults == []
    compare_snippet(live, tmp_path)
    if kind == "index":
        after(live, lambda: live.click("#live-index"))  # wanted after all
        got = result(live)
        numbered = [[i, *row] for i, row in enumerate(ROWS)]
        compare(got["settings"], got["pieces"], np.array(numbered))
        compare_snippet(live, tmp_path)


def test_a_table_of_two_hundred_arms_runs_here_and_a_name_with_a_line_break_survives_the_export(
    live, tmp_path
):
    """K has over 256 KB.

    Before NumPy reuses a temporary array of that size it looks at the C stack, which a browser
    does not have.
    """
    live.faults.clear()
    samples = default_rng(0).integers(0, 1000, (40, 200))
    header = [f'"arm\n{i}, ""x"""' for i in range(200)]
    text = "\n".join(",".join(map(str, row)) for row in [header, *samples.tolist()])
    load(live, tmp_path, text, "eps=1&T=40&trials=1&k=3&algs=TGP")
    compare(result(live)["settings"], result(live)["pieces"], samples.astype(float))
    head, *body = csv.reader(io.StringIO(live.js(f"{LIVE}.ldpbo.csvFile('posterior')")))
    assert len(body) == 200
    assert [row[head.index("name")] for row in body] == [f'arm\n{i}, "x"' for i in range(200)]
    assert live.faults == []


def test_without_a_file_the_books_own_table_shows_what_happens(live, tmp_path):
    there = has_table("data/stocks.csv")
    hash = f"{OLD}&problem=table&eps=none&T=60&trials=1&k=3&algs=TGP"
    live.js(f"void (location.hash = '#{hash}')")
    live.until(f"{LIVE}.ldpbo.state.T === 60")
    live.click("#live-example")
    live.until(there)
    got = result(live)
    compare(got["settings"], got["pieces"], core.read_table(ROOT / "data" / "stocks.csv").values)
    assert "20 arms" in live.text("#live-file-note")
    compare_snippet(live, ROOT)
    assert "file=data%2Fstocks.csv" in live.url()  # the one table that a link can bring back
    link = live.url()
    upload(live, tmp_path, "no table")
    live.until(f"{LIVE}.ldpbo.result === null")
    live.js(f"void (location.href = {json.dumps(link)} + '&')")
    live.until(there)
    assert result(live)["pieces"][0]["regret"] == got["pieces"][0]["regret"]


def native(code, folder):
    """What the page's Python lines print, run here."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, {})
    return out.getvalue()


def compare_snippet(page, folder):
    """The page's Python lines print the regret that the page shows."""
    said = eval(native(page.js(f"{LIVE}.ldpbo.snippet()"), folder), {"np": np})
    got = result(page)
    for line, *_ in bridge.lines_of(got["settings"]):
        assert said[line] == approx(mean_regret(got, line), abs=1e-9)


def without_times(got):
    pieces = [{key: p[key] for key in p if key != "seconds"} for p in got["pieces"]]
    return got | {"pieces": pieces}


def test_a_shared_link_brings_back_settings_and_numbers(quick, browser):
    numbers = "T=90&trials=2&ls=0.3&lam=0.5&beta=0.2&k=4&seed=5"
    look = "algs=TGP,MoMA&look=MoMA&trial=2&t=40&zoom=1"
    go(quick, f"problem=matern&eps=3&curator=onebit&{numbers}&{look}")
    state = state_of(quick)
    got = result(quick)
    link = quick.js(f"location.href.split('#')[0] + {LIVE}.ldpbo.toAddress()")
    assert state["zoom"]
    assert "zoom=1" in link
    assert quick.checked("#live-zoom")
    after(quick, lambda: quick.click("#live-reset"))
    assert quick.url() != link
    after(quick, lambda: quick.js(f"void (location.href = {json.dumps(link)})"))
    assert state_of(quick) == state
    assert without_times(result(quick)) == without_times(got)
    other = browser.page()
    other.goto(link)
    assert state_of(other) == state
    assert other.value("#live-k") == "4"
    assert other.checked("[name=alg][value=MoMA]")
    assert other.value("#live-curator") == "onebit"
    other.close()


KNOWN_TO_OBJECTS = [
    "problem=toString",
    "constants=constructor",
    "curator=valueOf",
    "problem=__proto__",
    "toString=1",
    "__proto__=1",
]


@pytest.mark.parametrize("nonsense", KNOWN_TO_OBJECTS)
def test_words_that_every_object_knows_are_not_settings(quick, nonsense):
    go(quick, f"T=40&trials=1&eps=1&{nonsense}", before="")
    state = state_of(quick)
    words = ("problem", "constants", "curator")
    for key in words:
        assert state[key] == bridge.DEFAULTS[key]
    complains = "is unknown" in quick.text("#live-complaint")
    assert complains == nonsense.startswith(words)


def test_an_address_with_nonsense_says_what_it_ignores(quick):
    go(quick, "problem=se&eps=minus&T=60&trials=900")
    said = quick.text("#live-complaint")
    assert "Privacy ε: “minus” is not a number" in said
    assert "Trials: 900 must be from 1 to 20" in said
    assert result(quick)["settings"]["T"] == 60
    assert result(quick)["settings"]["eps"] == bridge.DEFAULTS["eps"]


def test_the_python_lines_and_the_papermill_command_are_the_settings(quick, tmp_path):
    numbers = "T=50&trials=2&ls=0.3&lam=0.5&beta=0.2&k=4&seed=5"
    go(quick, f"problem=matern&eps=none&{numbers}&algs=ATA,MoMA")
    compare_snippet(quick, tmp_path)
    words = shlex.split(quick.js(f"{LIVE}.ldpbo.command()"))
    assert words[:3] == ["papermill", "notebooks/panel.ipynb", "out.ipynb"]
    given = parameters(words, tmp_path)
    assert given.pop("beta_scale")[0] == 0.2
    assert given == {
        "problem": "synthetic",
        "kernel": "matern",
        "eps": None,
        "T": 50,
        "trials": 2,
        "seed": 5,
        "lengthscale": 0.3,
        "lam": 0.5,
        "k": 4,
        "constants": "order",
        "names": ["ATA", "MoMA"],
    }


def parameters(words, folder):
    """What a papermill command sets, as papermill writes it down; a notebook knows all of it."""
    import papermill

    program, notebook, out, *options = words
    command = [sys.executable, "-m", program, notebook, str(folder / out), *options]
    subprocess.run([*command, "--prepare-only"], check=True, cwd=ROOT, capture_output=True)
    written = json.loads((folder / out).read_text("utf-8"))["metadata"]["papermill"]
    assert set(written["parameters"]) <= set(papermill.inspect_notebook(str(ROOT / notebook)))
    return written["parameters"]


OTHER_LINES = [
    "problem=se&eps=2&curator=both&T=50&trials=2&seed=3&algs=GP-UCB,TGP",
    "problem=se&eps=2&curator=onebit&T=50&trials=2&seed=3&algs=GP-UCB,TGP",
    "problem=branin&eps=none&ls=0.4&T=30&trials=1&algs=TGP",
]


@pytest.mark.parametrize("hash", OTHER_LINES)
def test_the_python_lines_know_one_bit_and_the_plane(quick, hash, tmp_path):
    go(quick, hash)
    compare_snippet(quick, tmp_path)
    assert quick.js(f"{LIVE}.ldpbo.command()").startswith("# The panel notebook")
    assert quick.js("document.getElementById('live-copy-command').hidden")


def compare_files(page, figures):
    """Every figure can be saved as a drawing and as a table without a hole."""
    for figure in figures:
        text = page.js(f"{LIVE}.ldpbo.svgFile('{figure}') + {LIVE}.ldpbo.csvFile('{figure}')")
        assert "<svg" in text
        assert "NaN" not in text
        assert "undefined" not in text


def test_figures_and_data_can_be_saved(quick):
    drawing = quick.download("[data-save=svg][data-id=regret]").decode()
    assert ET.fromstring(drawing.split("?>", 1)[1]).tag.endswith("svg")
    assert "var(" not in drawing
    assert "#0072B2" in drawing
    table = quick.download("[data-save=csv][data-id=regret]").decode()
    head, *body = csv.reader(io.StringIO(table))
    columns = dict(zip(head, np.array(body, dtype=float).T))
    pieces = sorted(result(quick)["pieces"], key=lambda p: p["trial"])
    curves = np.array([p["regret"] for p in pieces if p["name"] == "TGP"])
    results = pytest.importorskip("ldpbo.results")
    for column, values in zip(("TGP", "TGP low", "TGP high"), results.interval(curves)):
        assert_allclose(columns[column], values, rtol=1e-8, atol=1e-8)
    compare_files(quick, ("posterior", "reports", "pulls"))


def test_the_plane_has_maps_of_what_the_learner_believes(quick):
    go(quick, "problem=branin&eps=10&ls=0.3&T=60&trials=1&algs=TGP")
    assert quick.visible("#live-maps svg")
    assert not quick.visible("#live-posterior svg")
    assert not quick.visible("#live-pulls svg")
    rectangles = "[...document.querySelectorAll('#live-maps svg rect')]"
    cells = quick.js(f"{rectangles}.map((cell) => cell.getAttribute('fill'))")
    assert len(cells) == 4 * (bridge.SIDE**2 + 40)
    edges = quick.js(f"getComputedStyle({rectangles}[0]).shapeRendering")
    assert edges.lower() == "crispedges"
    f = bridge.branin_problem("uniform", 0.3).f
    best = quick.js(f"{LIVE}.ldpbo.result.pieces[0].best")
    assert best == f.argmax()
    assert cells[int(f.argmin())] != cells[best]
    svg = quick.js(f"{LIVE}.ldpbo.svgFile('maps')")
    assert "NaN" not in svg
    assert "undefined" not in svg
    quick.size(390, 800)
    try:
        quick.until("document.querySelector('#live-maps svg').getBoundingClientRect().right <= 390")
    finally:
        quick.size(1280, 720)


def users_needed(pieces, level):
    """Users at which the mean share falls to this level, between two horizons on log scales."""
    T = np.array([p["T"] for p in pieces], dtype=float)
    share = np.array([np.mean(p["share"]) for p in pieces])
    last = np.flatnonzero(share > level)[-1]
    two = slice(last, last + 2)
    return np.exp(np.interp(-np.log(level), -np.log(share[two]), np.log(T[two])))


def show_all_settings(page):
    """Open the folded settings, whatever an earlier test of the same page left."""
    if not page.visible("#live-constants"):
        page.click("#live-more summary")


def test_the_second_view_has_settings_of_its_own_and_gives_the_old_ones_back(quick):
    go(quick, "problem=se&eps=1&T=80&trials=1", before="")
    after(quick, lambda: quick.click("[data-view=users]"))
    state = state_of(quick)
    expected = dict(view="users", constants="proved", beta_scale=1, curator="onebit", trials=1)
    assert {key: state[key] for key in expected} == expected
    assert "view=users" in quick.url()
    assert quick.visible("#live-users svg")
    assert quick.visible("#live-needed svg")
    assert not quick.visible(REGRET)
    assert not quick.visible("#live-T")
    after(quick, lambda: quick.click("[data-view=rounds]"))
    assert quick.visible(REGRET)
    assert state_of(quick)["curator"] == "both"
    show_all_settings(quick)
    after(quick, lambda: quick.select("#live-constants", "order"))
    quick.click("[data-view=users]")
    assert state_of(quick)["constants"] == "order"  # what the reader chose stays
    quick.click("[data-view=rounds]")
    assert state_of(quick)["constants"] == "order"


def test_users_a_day_turn_users_into_days_without_another_run(quick):
    after(quick, lambda: quick.click("[data-preset=day]"))
    runs = quick.js(f"{LIVE}.dataset.runs")
    needed = quick.js(f"{LIVE}.ldpbo.needed({LIVE}.ldpbo.campaigns.at(-1), 0.1)")
    assert "at 50,000 a day" in quick.text("#live-users-table caption")
    for day in (50_000, 100_000):
        quick.fill("#live-day", str(day))
        days = f"{float(f'{needed / day:.2g}'):g} days"
        quick.until(f"document.querySelector('#live-users-table').innerHTML.includes('{days}')")
    assert "at 100,000 a day" in quick.text("#live-users-table caption")
    assert "day=100000" in quick.url()
    assert quick.js(f"{LIVE}.dataset.runs") == runs
    after(quick, lambda: quick.click("[data-view=rounds]"))
    assert not quick.visible("#live-day")


def test_the_second_view_runs_to_a_billion_users_and_each_epsilon_adds_a_line(quick, tmp_path):
    """MoMA's k is no setting of elimination: curves are compared whatever it is.

    problem.Z keeps eigenvectors of K whose eigenvalue is zero up to rounding (25 features here, 17
    above 1e-12 of the largest). They differ between LAPACK libraries, reach the design of a large
    batch, and other reports are drawn: at a million users 0.17908 in Firefox against 0.17191 here,
    and here too once K is moved by 1e-16. Until the features are cut, a browser is held to 25 %
    above a thousand users, to 1e-9 at a thousand.
    """
    go(quick, "problem=se&eps=1&T=80&trials=1&k=7", before="")
    after(quick, lambda: quick.click("[data-view=users]"))
    assert "k = " not in quick.text("#live-more-text")
    go(quick, quick.js("location.hash.replace('k=7', 'k=8').slice(1)"))
    quick.focus("#live-eps-slider")
    quick.press("ArrowRight")
    newest = f"{LIVE}.ldpbo.campaigns.at(-1)"
    quick.until(f"{newest}.settings.eps === 1.2")  # its first horizon; the run is then given up,
    after(quick, lambda: quick.press("ArrowRight", 5))  # and its part of a curve goes
    quick.until(f"{DONE} && {newest}.settings.eps === 4", 120)
    assert "…" not in quick.text("#live-users-table")
    campaigns = quick.js(f"{LIVE}.ldpbo.campaigns")
    assert all(len(c["pieces"]) == len(bridge.USERS) for c in campaigns)
    two = [c for c in campaigns if c["settings"]["eps"] != 1.2][-2:]  # unless it was quicker
    assert [c["settings"]["eps"] for c in two] == [1, 4]
    settings, pieces = two[1]["settings"], two[1]["pieces"]
    assert [p["T"] for p in pieces] == bridge.USERS
    compare_campaign(settings, pieces, rtol=0.25)
    compare_campaign(settings, pieces[:1])  # a thousand users: exactly
    needed = quick.js(f"{LIVE}.ldpbo.needed({newest}, 0.1)")
    assert needed == approx(users_needed(pieces, 0.1), rel=1e-9)
    titles = "[...document.querySelectorAll('#live-users-table tbody th')]"
    rows = quick.js(f"{titles}.map((title) => title.textContent)")
    assert [row for row in rows if row != "ε = 1.2"] == ["ε = 1", "ε = 4"]
    assert quick.text("#live-users svg .at-curve") == "ε = 1"  # a curve is named where it ends
    compare_files(quick, ("users", "needed"))
    lines = native(quick.js(f"{LIVE}.ldpbo.snippet()"), tmp_path).splitlines()
    said = [float(line.split()[1]) for line in lines]
    assert_allclose(said, [np.mean(p["share"]) for p in pieces], rtol=0.25)
    assert quick.faults == []
    assert quick.outside == []
    assert quick.axe("#ldpbo-live") == []  # axe itself asks for the style sheet
    after(quick, lambda: quick.click("[data-view=rounds]"))


def test_what_the_second_view_opens_with_is_computed_with_the_book(assets):
    campaigns = live_assets.embedded(assets[0] / "live")["precomputed"]["campaigns"]
    assert [c["settings"]["eps"] for c in campaigns] == bridge.CAMPAIGN_EPS
    compare_campaign(campaigns[2]["settings"], campaigns[2]["pieces"])


def test_the_posterior_can_be_scrubbed_by_keyboard(quick):
    quick.focus("#live-time")
    late = quick.text("#live-posterior-note")
    piece = quick.js(f"{LIVE}.ldpbo.result.pieces.find((p) => p.inside)")
    end = piece["inside"][-1]
    error = np.abs(np.array(piece["f"]) - end["mu"])
    outside = np.count_nonzero(error > end["beta"] * np.array(end["sigma"]) + 1e-6)
    if outside:
        assert f"outside μ ± β σ at {outside} of the 100 arms" in late
    else:
        assert "inside μ ± β σ at every arm" in late
    quick.press("Home")
    assert "after 0 of" in quick.text("#live-posterior-note") != late
    assert "&t=0" in quick.url()
    quick.press("ArrowRight")
    assert "after 0 of" not in quick.text("#live-posterior-note")
    spoken = "document.getElementById('live-time').getAttribute('aria-valuetext')"
    assert quick.js(spoken).startswith("after ")


UNNAMED = f"""[...{LIVE}.querySelectorAll('input, select, button')]
    .filter((e) => !(e.labels && e.labels.length) && !e.ariaLabel && !e.textContent.trim())
    .map((e) => e.id)"""
SPOKEN = """[...document.querySelectorAll('#live-results figure:not([hidden]) svg')]
    .map((drawing) => drawing.ariaLabel)"""


@pytest.mark.parametrize("theme, least", [("light", 0.4), ("dark", 0.8)])
def test_every_control_has_a_name_results_are_announced_and_axe_is_content(quick, theme, least):
    quick.js(f"void (document.documentElement.dataset.theme = '{theme}')")
    thin = "getComputedStyle(document.querySelector('#live-regret .trial')).strokeOpacity"
    assert float(quick.js(thin)) >= least  # thin lines are seen
    assert quick.js(UNNAMED) == []
    assert quick.js("document.getElementById('live-status').ariaLive") == "polite"
    assert "mean regret after" in quick.text("#live-status")
    for words in quick.js(SPOKEN):
        assert words
        assert "undefined" not in words
        assert "NaN" not in words
    pytest.importorskip("axe_playwright_python")
    assert quick.axe("#ldpbo-live") == []


def test_a_phone_shows_everything_without_sideways_scrolling(quick):
    quick.size(390, 800)
    try:
        right = "getBoundingClientRect().right"
        quick.until(f"document.querySelector('#live-regret svg').{right} <= 390")
        assert quick.js("document.documentElement.scrollWidth") <= 390
        drawings = "[...document.querySelectorAll('#live-results svg')]"
        assert max(quick.js(f"{drawings}.map((drawing) => drawing.{right})")) <= 390
        assert quick.box("#live-results")[1] >= quick.box(".live-side")[3]  # one below the other
        around = "document.getElementById('live-table').parentElement"
        assert quick.js(f"{around}.scrollWidth <= {around}.clientWidth")
    finally:
        quick.size(1280, 720)


def test_results_are_quick_enough(live):
    """Loose enough for a busy machine: an idle one needs a fraction of this."""
    ready, drawn, first = (
        float(live.js(f"{LIVE}.dataset.{at}")) for at in ("ready", "drawn", "first")
    )
    assert first < 120
    assert 0 < drawn - ready < 5  # idle: 0.2 to 0.4 s from Python's readiness to own curves
    assert drawn <= first


def test_curves_grow_while_the_run_goes_on(quick):
    """The page shows the beginning of the shown trial, then all of it."""
    runs = quick.js(f"Number({LIVE}.dataset.runs)")
    hash = f"{OLD}&problem=se&eps=1&T=6000&trials=1&algs=TGP,GP-UCB&curator=both"
    quick.js(f"void (location.hash = '#{hash}')")
    rounds = f"({LIVE}.ldpbo.result?.settings.T === 6000 && {LIVE}.ldpbo.result.pieces[0].t.at(-1))"
    seen = []
    for _ in range(3):
        quick.until(f"{rounds} > {seen[-1] if seen else 0}")
        seen.append(quick.js(rounds))
        assert "Running" in quick.text("#live-regret-note")
        assert "after" in quick.text("#live-posterior-note")
    assert 0 < seen[0] < seen[1] < seen[2] < 6000
    quick.until(f"Number({LIVE}.dataset.runs) > {runs} && {DONE}", 240)
    got = result(quick)
    compare(got["settings"], got["pieces"])
    assert "Running" not in quick.text("#live-regret-note")
    assert quick.faults == []


SIGNS = {
    "o": ("circle", 0),
    "s": ("rect", 0),
    "^": ("path", 3),
    "D": ("path", 4),
    "*": ("path", 10),
}


def test_the_markers_of_the_page_are_those_of_the_figures(quick):
    markers = pytest.importorskip("ldpbo.plots").MARKERS
    for name in DRAWN:
        drawing = quick.js(f"LDPBO_PLOT.marker('{name}', 0, 0)")
        element, corners = SIGNS[markers[name]]
        path = ET.fromstring(drawing)
        assert path.tag == element
        assert path.get("d", "Z").count("L") + 1 == max(corners, 1)


def test_the_legend_says_what_is_private_and_words_stand_for_pe(quick):
    go(quick, "problem=se&eps=2&T=40&trials=1&curator=both&algs=GP-UCB,PE")
    texts = "[...document.querySelectorAll('#live-regret svg text')].map((e) => e.textContent)"
    words = quick.js(texts)
    for said in ("private, ε = 2:", "GP-UCB one bit", "GP-UCB Laplace", "elimination one bit"):
        assert said in words
    go(quick, "problem=se&eps=none&T=40&trials=1&algs=TGP")
    assert "not private:" in quick.js(texts)
    assert "PE" not in quick.js(f"{LIVE}.innerText").replace('PE"', "").split()


@pytest.mark.parametrize(
    "link, constants",
    [
        ("constants=theorem&algs=TGP", "printed"),
        ("constants=theorem&curator=onebit&algs=GP-UCB", "proved"),
        ("constants=theorem&view=users", "proved"),
        ("constants=repaired&algs=MoMA", "proved"),
    ],
)
def test_older_links_still_say_what_they_said(quick, link, constants):
    read = f"LDPBO_SETTINGS.fromAddress('#problem=se&{link}')"
    assert quick.js(f"{read}[0].constants") == constants
    assert quick.js(f"{read}[1]") == []


def test_a_browser_that_cannot_run_python_is_told_so_and_still_shows_a_result(assets, browser):
    page = browser.page("delete window.WebAssembly; window.WebAssembly = undefined;")
    page.goto((assets[0] / "page.html").as_uri())
    page.until(f"{LIVE}.dataset.state === 'broken'")
    assert "cannot run Python" in page.text("#live-status")
    assert "WebAssembly" in page.text("#live-status")
    assert page.visible(REGRET)
    assert page.visible("#live-python")
    assert page.disabled("#live-eps")
    page.close()


@contextlib.contextmanager
def serving(files):
    """A CDN on this machine -> its address and the list of what was asked."""
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path[1:])
            self.send_response(200 if self.path[1:] in files else 404)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()
            self.wfile.write(files.get(self.path[1:], b""))

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # a browser that hangs up in the middle is no news
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        server.server_close()


ONE_WORKER = "Object.defineProperty(navigator, 'hardwareConcurrency', { value: 1 })"


def test_without_npm_the_page_runs_on_the_same_files_from_a_cdn(assets, browser, tmp_path):
    if "CDN" in assets[1]:
        pytest.skip(f"NO OFFLINE PYTHON: {assets[1]}")
    with serving(cdn_files()) as (address, asked):
        build_without_npm(tmp_path, address)
        page = browser.page(ONE_WORKER)
        page.goto((tmp_path / "page.html").as_uri() + f"#{OLD}&problem=se&eps=2&T=60&trials=1")
        page.select("#live-problem", "matern")  # settings may be chosen meanwhile
        page.select("#live-problem", "se")
        page.fill("#live-T", "50")
        time.sleep(1.5)  # longer than a change waits for the hand to rest
        assert asked == []
        assert page.outside == []
        assert "Start loads 12 MB from 127.0.0.1" in page.text("#live-status")
        assert page.visible(REGRET)
        page.click("#live-start")
        page.until(f"['done', 'broken', 'failed'].includes({LIVE}.dataset.state)", 240)
        got = result(page)
        assert got["settings"]["T"] == 50, page.text("#live-status")
        compare(got["settings"], got["pieces"])
        assert "that server sees that you came" in page.text("#ldpbo-live")
        assert sorted(asked) == sorted(path for path, _ in runtime.CDN_PINS.values())
        page.close()


@pytest.mark.parametrize("fault", ["changed", "gone"])
def test_a_cdn_that_serves_something_else_or_nothing_is_refused_and_the_native_way_offered(
    assets, browser, tmp_path, fault
):
    if "CDN" in assets[1]:
        pytest.skip(f"NO OFFLINE PYTHON: {assets[1]}")
    files = cdn_files()
    files["pyodide@0.27.8/pyodide.js"] += b"\n;self.stolen = true;\n"
    with serving(files if fault == "changed" else {}) as (address, _):
        build_without_npm(tmp_path, address)
        page = browser.page(ONE_WORKER)
        page.goto((tmp_path / "page.html").as_uri())
        page.click("#live-start")
        page.until(f"{LIVE}.dataset.state === 'broken'", 120)
        assert "could not be loaded from 127.0.0.1" in page.text("#live-status")
        assert "loads Pyodide" in page.text("#ldpbo-live")
        assert page.visible("#live-python")
        assert page.visible(REGRET)
        page.close()


# ---- in Jupyter ---------------------------------------------------------------------------------

CONTROLS = """from notebooks.panel import controls
box = controls.make(problem="synthetic", kernel="se", lengthscale=0.2, eps=1.0, T=40, trials=2,
                    seed=1, names=["TGP", "MoMA"], lam=1.0, constants="order", beta_scale=1.0,
                    k=None, delta=0.1, acc=0.1)
box"""


def test_the_panel_notebook_has_widgets_for_a_person_and_none_for_papermill():
    client = pytest.importorskip("jupyter_client")
    manager, kernel = client.manager.start_new_kernel(kernel_name="python3", cwd=str(ROOT))

    def outputs(code, metadata):
        content = dict(code=code, silent=False, store_history=True)
        content |= dict(user_expressions={}, allow_stdin=False, stop_on_error=True)
        message = kernel.session.msg("execute_request", content, metadata=metadata)
        found = []
        kernel.shell_channel.send(message)
        while True:
            reply = kernel.get_iopub_msg(timeout=120)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                if reply["msg_type"] == "status" and reply["content"]["execution_state"] == "idle":
                    return found
                if reply["msg_type"] in ("execute_result", "display_data", "error"):
                    found.append(str(reply["content"]))

    try:
        assert outputs(CONTROLS, {}) == []  # as papermill asks
        shown = outputs(CONTROLS, {"cellId": "a"})  # as JupyterLab, Notebook 7 and VS Code ask
        assert "widget-view" in shown[0]
        drawn = outputs("box.children[1].click()", {"cellId": "b"})
        assert len(drawn) == 1
        assert "ldpbo-figure" in drawn[0]
    finally:
        manager.shutdown_kernel(now=True)
