"""The live page: in a real Chromium, from file://, with nothing requested from outside, and with the numbers of `simulate`."""
import contextlib
import hashlib
import io
import json
import os
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import numpy as np
import pytest

import ldpbo_core as core

ROOT = Path(core.__file__).resolve().parent
sys.path[:0] = [str(ROOT / "book"), str(ROOT / "book" / "live")]
import bridge
import live_assets

pytestmark = pytest.mark.xdist_group("live")
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync".split()
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Live</title>
<link rel="stylesheet" href="live/live.css"></head><body><main><h1>Live</h1><div id="ldpbo-live"></div></main>
<script src="live/live-data.js"></script><script src="live/live.js"></script></body></html>"""
LIVE = "document.getElementById('ldpbo-live')"


# ------------------------------------------------------------------------------------------------ without a browser

@pytest.fixture(scope="module")
def assets(tmp_path_factory):
    """A folder with page.html and live/ beside it."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "page.html").write_text(PAGE, encoding="utf-8")
    said = live_assets.build(folder / "live")
    return folder, said


def test_the_embedded_core_is_ldpbo_core_byte_for_byte_and_another_one_is_refused(assets, tmp_path):
    live_assets.check(assets[0] / "live")
    text = (assets[0] / "live" / "live-data.js").read_text(encoding="utf-8")
    (tmp_path / "live-data.js").write_text(text.replace("def simulate", "def simulate_", 1), encoding="utf-8")
    with pytest.raises(RuntimeError, match="another core"):
        live_assets.check(tmp_path)


def test_the_bridge_and_the_core_import_with_numpy_alone():
    code = ("import sys; sys.modules.update(dict.fromkeys(['scipy', 'opendp', 'multiprocessing', 'concurrent.futures', 'threadpoolctl']));"
            f"sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'book' / 'live')!r}]; import bridge; bridge.everything(bridge.DEFAULTS | dict(T=20, trials=1))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("change", [{}, {"eps": None, "problem": "matern"}, {"problem": "light", "names": ["GP-UCB", "MoMA"], "k": 3}, {"constants": "theorem", "names": ["TGP"]}])
def test_the_bridge_gives_the_numbers_of_simulate(change):
    settings = bridge.DEFAULTS | {"T": 60, "trials": 2} | change
    compare(settings, bridge.everything(settings)["pieces"])


def test_what_the_page_tells_the_reader_to_try_is_so():
    def share(**change):
        settings = bridge.DEFAULTS | change
        pieces = bridge.everything(settings)["pieces"]
        return {n: np.mean([p["regret"][-1] / (settings["T"] * p["uniform"]) for p in pieces if p["name"] == n]) for n in settings["names"]}, pieces
    default, _ = share()
    assert max(share(eps=None)[0].values()) < 0.95 and max(share(beta_scale=0.1)[0].values()) < min(default.values())
    theorem, pieces = share(constants="theorem")
    assert min(theorem["TGP"], theorem["ATA"]) > 0.95 and next(p for p in pieces if p["name"] == "MoMA")["k"] > 200


def test_a_setting_that_one_algorithm_refuses_leaves_the_others_running():
    pieces = bridge.everything(bridge.DEFAULTS | {"constants": "theorem", "T": 50, "trials": 1})["pieces"]
    assert "must be at most T" in next(p for p in pieces if p["name"] == "MoMA")["error"]
    assert all("regret" in p for p in pieces if p["name"] != "MoMA")


def test_a_package_with_another_checksum_stops_the_build(monkeypatch, tmp_path, assets):
    monkeypatch.setattr(live_assets, "CACHE", tmp_path)
    (tmp_path / "pyodide-0.27.8.tgz").write_bytes(b"not Pyodide")
    with pytest.raises(RuntimeError, match="SHA-512 is .* pinned is"):
        live_assets.build(tmp_path / "out")


@pytest.fixture(scope="module")
def without_npm(tmp_path_factory):
    """The page as it is built where there is neither npm nor a cache."""
    folder, patch = tmp_path_factory.mktemp("cdn"), pytest.MonkeyPatch()
    (folder / "page.html").write_text(PAGE, encoding="utf-8")
    with patch.context() as p:
        p.setattr(live_assets, "CACHE", folder / "cache")
        p.setattr(live_assets.shutil, "which", lambda name: None)
        said = live_assets.build(folder / "live")
    return folder, said


def test_without_npm_the_build_succeeds_and_the_page_is_told_to_use_the_cdn(without_npm):
    folder, said = without_npm
    assert "from its CDN, because npm is not installed" in said
    assert live_assets.embedded(folder / "live")["runtime"] == {"mode": "cdn", "url": live_assets.CDN}
    assert not list((folder / "live").glob("runtime-*"))


def test_licences_of_everything_shipped_are_listed_in_the_book():
    page = (ROOT / "book" / "licences.md").read_text(encoding="utf-8")
    for name, version, licence, _, source in live_assets.SHIPPED:
        assert f"- {name} ({version}): {licence}, [source]({source})" in page


def test_licences_of_everything_shipped_are_shipped(assets):
    if "CDN" in assets[1]:
        pytest.skip(assets[1])
    folder = assets[0] / "live" / "licences"
    listing = (folder / "README.txt").read_text(encoding="utf-8")
    for name, *_ in live_assets.SHIPPED:
        assert name in listing
    assert "Mozilla Public License" in (folder / "MPL-2.0.txt").read_text(encoding="utf-8")
    assert "NumPy Developers" in (folder / "NumPy.txt").read_text(encoding="utf-8")


# ------------------------------------------------------------------------------------------------ in Chromium

def chromium():
    return os.environ.get("CHROMIUM") or next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser(assets):
    if not chromium():
        pytest.skip("NO BROWSER: the tests of the live page are SKIPPED; install chromium or set CHROMIUM=/path")
    from playwright.sync_api import sync_playwright
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def live(assets, browser):
    """One page for all tests below, with Python started in it; `outside` and `faults` collect what must not happen."""
    if "CDN" in assets[1]:
        pytest.skip(f"NO OFFLINE PYTHON: {assets[1]}")
    page = browser.new_context(accept_downloads=True).new_page()
    page.outside, page.faults = [], []
    page.on("request", lambda r: page.outside.append(r.url) if not r.url.startswith(("file:", "blob:", "data:")) else None)
    page.on("console", lambda m: page.faults.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: page.faults.append(str(e)))
    page.goto((assets[0] / "page.html").as_uri())
    page.wait_for_function(f"['done', 'broken', 'failed'].includes({LIVE}.dataset.state)", timeout=120_000)
    assert page.evaluate(f"{LIVE}.dataset.state") == "done", page.text_content("#live-status")
    yield page
    page.context.close()


@pytest.fixture
def reset(live):
    """The page at its default settings, finished."""
    after(live, lambda: live.click("#live-reset"))
    return live


def after(page, action, state="done"):
    """Do something and wait for the run it starts."""
    runs = page.evaluate(f"Number({LIVE}.dataset.runs || 0)")
    action()
    test = f"Number({LIVE}.dataset.runs) > {runs} && {LIVE}.dataset.state === 'done'" if state == "done" else f"{LIVE}.dataset.state === '{state}'"
    page.wait_for_function(test, timeout=120_000)


def result(page):
    return page.evaluate(f"(({{settings, pieces, complete}}) => ({{settings, pieces, complete}}))({LIVE}.ldpbo.result)")


def compare(settings, pieces, samples=None):
    """Every piece against native `simulate`, to 1e-9."""
    want = core.simulate(bridge.problem_of(settings, samples), settings["names"], settings["T"], trials=settings["trials"], seed=settings["seed"],
                         trace=True, **bridge.options_of(settings))
    assert sorted((p["name"], p["trial"]) for p in pieces) == sorted((n, i) for n in settings["names"] for i in range(settings["trials"]))
    for p in pieces:
        a, i = settings["names"].index(p["name"]), p["trial"]
        np.testing.assert_allclose(p["regret"], want.regret[a, i, np.array(p["t"]) - 1], rtol=0, atol=1e-9 * max(1, want.regret[a, i, -1]))
        assert p["t"][-1] == settings["T"] and p["pulls"] == want.records["pulls"][a, i].tolist() and p["clipped"] == want.records["clipped"][a, i]
        assert p["uniform"] == pytest.approx(want.records["uniform"][i], abs=1e-9)
        if i == settings["shown"]:
            assert p["arms"] == want.records["arms"][a, i].tolist()
            np.testing.assert_allclose(p["reports"], want.records["reports"][a, i], rtol=1e-9, atol=1e-6)


def test_the_first_result_comes_offline_and_equals_simulate(live, assets):
    assert live.evaluate(f"{LIVE}.ldpbo.about")["sha256"] == live_assets.embedded(assets[0] / "live")["sha256"]
    got = result(live)
    assert got["settings"] == bridge.DEFAULTS and got["complete"]
    compare(got["settings"], got["pieces"])
    assert live.outside == [] and live.faults == []


def test_what_is_drawn_before_python_is_ready_is_the_same_result(live, assets):
    before = {(p["name"], p["trial"]): p["regret"] for p in live_assets.embedded(assets[0] / "live")["precomputed"]["pieces"]}
    compare(bridge.DEFAULTS, live_assets.embedded(assets[0] / "live")["precomputed"]["pieces"])
    assert len(before) == len(bridge.DEFAULTS["names"]) * bridge.DEFAULTS["trials"]


@pytest.mark.parametrize("hash", ["problem=matern&eps=0.5&T=150&trials=3&seed=7&algs=TGP,ATA,MoMA,GP-UCB&ls=0.1", "problem=se&eps=none&T=200&trials=2&lam=0.1&beta=0.1",
                                  "problem=light&eps=5&T=120&trials=2&k=3", "problem=stock&eps=none&T=120&trials=2", "problem=se&eps=2&constants=theorem&T=400&trials=1"])
def test_numbers_equal_native_at_other_settings(live, hash):
    after(live, lambda: live.evaluate(f"location.hash = '#{hash}'"))
    got = result(live)
    compare(got["settings"], got["pieces"])
    assert live.faults == []


def test_changing_epsilon_with_the_keyboard_runs_again_and_is_in_the_address(reset):
    before = result(reset)
    reset.focus("#live-eps-slider")
    after(reset, lambda: reset.keyboard.press("PageUp"))
    got = result(reset)
    assert got["settings"]["eps"] > before["settings"]["eps"] and f"eps={got['settings']['eps']}" in reset.url
    assert got["pieces"][0]["regret"] != before["pieces"][0]["regret"]
    after(reset, lambda: reset.check("#live-eps-none"))
    assert result(reset)["settings"]["eps"] is None and "eps=none" in reset.url and reset.is_disabled("#live-eps")
    assert "not private" in reset.text_content("#live-regret-note")


def test_a_change_cancels_the_run_and_a_stopped_run_stays_stopped(reset):
    reset.fill("#live-T", "20000")
    reset.wait_for_function(f"{LIVE}.dataset.state === 'running' && document.getElementById('live-progress').value > 0", timeout=60_000)
    after(reset, lambda: reset.fill("#live-T", "100"))
    got = result(reset)
    assert got["settings"]["T"] == 100 and got["complete"]
    compare(got["settings"], got["pieces"])
    reset.fill("#live-T", "20000")
    reset.wait_for_function(f"{LIVE}.dataset.state === 'running'")
    reset.click("#live-stop")
    assert "Stopped" in reset.text_content("#live-status") and not reset.is_visible("#live-progress")
    reset.wait_for_timeout(300)
    assert reset.evaluate(f"{LIVE}.dataset.state") == "stopped"


def test_the_page_answers_while_python_computes(reset):
    reset.fill("#live-T", "20000")
    reset.wait_for_function(f"{LIVE}.dataset.state === 'running'")
    longest = reset.evaluate("""() => new Promise((resolve) => { let last = performance.now(), worst = 0, n = 0;
        const tick = () => { const now = performance.now(); worst = Math.max(worst, now - last); last = now; ++n < 60 ? setTimeout(tick, 10) : resolve(worst); }; tick(); })""")
    reset.click("#live-stop")
    assert longest < 2000


GOOD = "day,a,b,c\n" + "".join(f"2020-01-{i + 1:02d},{1 + (i * 7) % 5},{2 + (i * 3) % 4},{0.5 * ((i * 5) % 7)}\n" for i in range(20))


@pytest.mark.parametrize("text, said", [
    (GOOD.replace("2020-01-03,5", "2020-01-03,five"), "Row 4, column 2 (“a”): “five” is not a number"),
    (GOOD.replace("2020-01-05,4,", "2020-01-05,,"), "Row 6, column 2 (“a”): the value is missing"),
    (GOOD.replace("2020-01-07,3,", "2020-01-07,"), "Row 8 has 3 values, the header has 4"),
    ("a,b\n" + "1,2\n" * 6, "Column 1 (“a”) is 1 in every row"), ("a\n1\n2\n3\n", "at least 2 arms"), ("a,b\n1,2\n", "at least 3"), ("", "empty"),
    ("a,b\n1,2\n2,inf\n3,4\n", "Row 3, column 2 (“b”): “inf” is not a number"),
], ids=["text", "missing", "ragged", "constant", "one column", "short", "empty", "infinite"])
def test_a_bad_table_is_refused_with_row_and_column(live, text, said):
    if live.input_value("#live-problem") != "table":
        live.select_option("#live-problem", "table")
    live.set_input_files("#live-file", {"name": "mine.csv", "mimeType": "text/csv", "buffer": text.encode()})
    live.wait_for_function("document.getElementById('live-file-error').textContent !== ''")
    assert said in live.text_content("#live-file-error") and live.text_content("#live-file-error").startswith("mine.csv")
    live.set_input_files("#live-file", {"name": "ok.csv", "mimeType": "text/csv", "buffer": GOOD.encode()})
    live.wait_for_function("document.getElementById('live-file-error').textContent === ''")


def test_my_own_table_runs_here_and_nothing_leaves(reset, tmp_path):
    rows = [line.split(",")[1:] for line in GOOD.split()[1:]]
    samples = np.array(rows, dtype=float)
    reset.select_option("#live-problem", "table")
    after(reset, lambda: reset.set_input_files("#live-file", {"name": "mine.csv", "mimeType": "text/csv", "buffer": GOOD.encode()}))
    got = result(reset)
    compare(got["settings"], got["pieces"], samples)
    assert "3 arms, 20 rows, first column left out" in reset.text_content("#live-file-note") and "stays on this machine" in reset.text_content("#live-file-note")
    assert reset.outside == [] and reset.faults == []
    (tmp_path / "mine.csv").write_text(GOOD, encoding="utf-8")
    said = native(reset.evaluate(f"{LIVE}.ldpbo.snippet()"), tmp_path)
    for p in got["pieces"]:
        assert p["name"] in said


def test_a_table_of_two_hundred_arms_runs_here(reset):
    """K has over 256 KB: before NumPy reuses a temporary array of that size it looks at the C stack, which a browser does not have."""
    samples = np.random.default_rng(0).integers(0, 1000, (40, 200))
    text = "\n".join(",".join(map(str, row)) for row in [[f"arm{i}" for i in range(200)], *samples.tolist()])
    reset.select_option("#live-problem", "table")
    after(reset, lambda: reset.set_input_files("#live-file", {"name": "mine.csv", "mimeType": "text/csv", "buffer": text.encode()}))
    compare(result(reset)["settings"], result(reset)["pieces"], samples.astype(float))
    assert reset.faults == []


def native(code, folder):
    """What the page's Python lines print, run here."""
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, {})
    return eval(out.getvalue(), {"np": np})


def test_a_shared_link_brings_back_settings_and_numbers(reset, assets, browser):
    after(reset, lambda: reset.evaluate("location.hash = '#problem=matern&eps=3&T=90&trials=2&ls=0.3&lam=0.5&beta=0.2&k=4&seed=5&algs=TGP,MoMA&look=MoMA&trial=2&t=40'"))
    state, got, link = reset.evaluate(f"{LIVE}.ldpbo.state"), result(reset), reset.url
    after(reset, lambda: reset.click("#live-reset"))
    assert reset.url != link
    after(reset, lambda: reset.goto(link))
    assert reset.evaluate(f"{LIVE}.ldpbo.state") == state and result(reset) == got
    other = browser.new_page()
    other.goto(link)
    assert other.evaluate(f"{LIVE}.ldpbo.state") == state and other.input_value("#live-k") == "4" and other.is_checked("[name=alg][value=MoMA]")
    other.close()


def test_an_address_with_nonsense_says_what_it_ignores(reset):
    after(reset, lambda: reset.evaluate("location.hash = '#problem=se&eps=minus&T=60&trials=900'"))
    said = reset.text_content("#live-complaint")
    assert "Privacy ε: “minus” is not a number" in said and "Trials: 900 must be from 1 to 20" in said
    assert result(reset)["settings"]["T"] == 60 and result(reset)["settings"]["eps"] == bridge.DEFAULTS["eps"]


def test_the_python_lines_and_the_papermill_command_are_the_settings(reset, tmp_path):
    after(reset, lambda: reset.evaluate("location.hash = '#problem=matern&eps=none&T=50&trials=2&ls=0.3&lam=0.5&beta=0.2&k=4&seed=5&algs=ATA,MoMA'"))
    got = result(reset)
    said = native(reset.evaluate(f"{LIVE}.ldpbo.snippet()"), tmp_path)
    for name in ("ATA", "MoMA"):
        assert said[name] == pytest.approx(np.mean([p["regret"][-1] for p in got["pieces"] if p["name"] == name]), abs=1e-9)
    words = shlex.split(reset.evaluate(f"{LIVE}.ldpbo.command()"))
    assert words[:3] == ["papermill", "notebooks/panel.ipynb", "out.ipynb"]
    import papermill
    known = papermill.inspect_notebook(str(ROOT / "notebooks" / "panel.ipynb"))
    given = parameters(words[3:])
    assert set(given) <= set(known)
    assert given | {"beta_scale": given["beta_scale"][0]} == {"problem": "synthetic", "kernel": "matern", "eps": None, "T": 50, "trials": 2, "seed": 5,
        "lengthscale": 0.3, "lam": 0.5, "k": 4, "constants": "order", "names": ["ATA", "MoMA"], "beta_scale": 0.2}


def parameters(words):
    """-p name value and -y yaml, as papermill reads them."""
    import yaml
    from papermill.cli import _resolve_type
    out, words = {}, iter(words)
    for flag in words:
        if flag == "-y":
            out |= yaml.safe_load(next(words))
        else:
            assert flag == "-p"
            name = next(words)
            out[name] = _resolve_type(next(words))
    return out


def test_figures_and_data_can_be_saved(reset):
    with reset.expect_download() as svg:
        reset.click("[data-save=svg][data-id=regret]")
    drawing = Path(svg.value.path()).read_text(encoding="utf-8")
    assert ET.fromstring(drawing.split("?>", 1)[1]).tag.endswith("svg") and "var(" not in drawing and "#0072B2" in drawing
    with reset.expect_download() as data:
        reset.click("[data-save=csv][data-id=regret]")
    head, *rows = Path(data.value.path()).read_text(encoding="utf-8").strip().split("\n")
    columns = dict(zip(head.split(","), np.array([row.split(",") for row in rows], dtype=float).T))
    got = result(reset)
    curves = np.array([p["regret"] for p in sorted(got["pieces"], key=lambda p: p["trial"]) if p["name"] == "TGP"])
    fig = pytest.importorskip("ldpbo_figures")
    for column, values in zip(("TGP", "TGP low", "TGP high"), fig.interval(curves)):
        np.testing.assert_allclose(columns[column], values, rtol=1e-8, atol=1e-8)
    for id in ("posterior", "reports", "pulls"):
        text = reset.evaluate(f"{LIVE}.ldpbo.svgFile('{id}') + {LIVE}.ldpbo.csvFile('{id}')")
        assert "<svg" in text and "NaN" not in text and "undefined" not in text


def test_the_posterior_can_be_scrubbed_by_keyboard(reset):
    reset.focus("#live-time")
    late = reset.text_content("#live-posterior-note")
    reset.keyboard.press("Home")
    assert "after 0 of" in reset.text_content("#live-posterior-note") != late and "&t=0" in reset.url
    reset.keyboard.press("ArrowRight")
    assert "after 0 of" not in reset.text_content("#live-posterior-note")
    assert reset.get_attribute("#live-time", "aria-valuetext").startswith("after ")


def test_every_control_has_a_name_and_results_are_announced(reset):
    unnamed = reset.evaluate(f"""[...{LIVE}.querySelectorAll('input, select, button')].filter((e) => !(e.labels && e.labels.length) && !e.ariaLabel && !e.textContent.trim()).map((e) => e.id)""")
    assert unnamed == []
    assert reset.get_attribute("#live-status", "aria-live") == "polite" and "mean regret after" in reset.text_content("#live-status")
    assert all(words and "undefined" not in words and "NaN" not in words for words in reset.eval_on_selector_all("#live-results svg", "all => all.map((s) => s.ariaLabel)"))
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    found = axe.Axe().run(reset, context="#ldpbo-live").response["violations"]
    assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []


def test_a_phone_shows_everything_without_sideways_scrolling(reset):
    reset.set_viewport_size({"width": 390, "height": 800})
    reset.wait_for_timeout(200)
    try:
        assert reset.evaluate("document.documentElement.scrollWidth") <= 390
        assert reset.evaluate("Math.max(...[...document.querySelectorAll('#live-results svg')].map((s) => s.getBoundingClientRect().right))") <= 390
    finally:
        reset.set_viewport_size({"width": 1280, "height": 720})


def test_results_are_quick_enough(reset):
    """Loose enough for a busy machine: an idle one needs a fraction of this."""
    assert float(reset.evaluate(f"{LIVE}.dataset.first")) < 60
    assert float(reset.evaluate(f"{LIVE}.dataset.seconds")) < 10


def test_a_browser_that_cannot_run_python_is_told_so_and_still_shows_a_result(assets, browser):
    page = browser.new_page()
    page.add_init_script("delete window.WebAssembly; window.WebAssembly = undefined;")
    page.goto((assets[0] / "page.html").as_uri())
    page.wait_for_function(f"{LIVE}.dataset.state === 'broken'")
    assert "cannot run Python" in page.text_content("#live-status") and "WebAssembly" in page.text_content("#live-status")
    assert page.is_visible("#live-regret svg") and page.is_visible("#live-python") and page.is_disabled("#live-eps")
    page.close()


def test_without_npm_the_page_runs_on_pyodide_from_the_cdn(without_npm, assets, browser):
    """The CDN is played by the pinned packages: Pyodide's own loader, lock file and package loading do the rest."""
    if "CDN" in assets[1]:
        pytest.skip(f"NO OFFLINE PYTHON: {assets[1]}")
    pyodide = {n.removeprefix("package/"): d for n, d in live_assets._members(live_assets._package("pyodide")).items()}
    lock, wheel, prefix = json.loads(pyodide["pyodide-lock.json"]), io.BytesIO(), "lib/python3.12/site-packages/"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in live_assets._numpy(live_assets._package("@emscripten-forge/numpy")).items():
            if name.startswith(prefix) and not live_assets.UNUSED.search("/" + name):
                archive.writestr(name.removeprefix(prefix), data)
    lock["packages"]["numpy"]["sha256"] = hashlib.sha256(wheel.getvalue()).hexdigest()
    files = pyodide | {"pyodide-lock.json": json.dumps(lock).encode(), lock["packages"]["numpy"]["file_name"]: wheel.getvalue()}
    kinds = {"js": "text/javascript", "wasm": "application/wasm", "json": "application/json"}

    def serve(route):
        name = route.request.url.removeprefix(live_assets.CDN)
        route.fulfill(body=files[name], headers={"access-control-allow-origin": "*"}, content_type=kinds.get(name.split(".")[-1], "application/zip"))

    context = browser.new_context()
    context.add_init_script("Object.defineProperty(navigator, 'hardwareConcurrency', { value: 1 })")      # one worker is enough here
    context.route("https://cdn.jsdelivr.net/**", serve)
    page = context.new_page()
    page.goto((without_npm[0] / "page.html").as_uri() + "#problem=se&eps=2&T=50&trials=1")
    page.wait_for_function(f"['done', 'broken', 'failed'].includes({LIVE}.dataset.state)", timeout=120_000)
    got = result(page)
    assert got["settings"]["T"] == 50, page.text_content("#live-status")
    compare(got["settings"], got["pieces"])
    assert "that server sees that you came" in page.text_content("#ldpbo-live")
    context.close()


def test_without_npm_and_network_the_page_says_so_and_offers_the_native_way(without_npm, browser):
    page = browser.new_page()
    page.route("https://cdn.jsdelivr.net/**", lambda route: route.abort())
    page.goto((without_npm[0] / "page.html").as_uri())
    page.wait_for_function(f"{LIVE}.dataset.state === 'broken'", timeout=60_000)
    assert "cdn.jsdelivr.net" in page.text_content("#live-status") and "loads Pyodide" in page.text_content("#ldpbo-live")
    assert page.is_visible("#live-python") and page.is_visible("#live-regret svg")
    page.close()


# ------------------------------------------------------------------------------------------------ in Jupyter

CONTROLS = """import ldpbo_figures as fig
box = fig.controls(problem="synthetic", kernel="se", lengthscale=0.2, eps=1.0, T=40, trials=2, seed=1, names=["TGP", "MoMA"], lam=1.0,
                   constants="order", beta_scale=1.0, k=None, delta=0.1, acc=0.1)
box"""


def test_the_panel_notebook_has_widgets_for_a_person_and_none_for_papermill():
    client = pytest.importorskip("jupyter_client")
    manager, kernel = client.manager.start_new_kernel(kernel_name="python3", cwd=str(ROOT))

    def outputs(code, metadata):
        content = dict(code=code, silent=False, store_history=True, user_expressions={}, allow_stdin=False, stop_on_error=True)
        message, found = kernel.session.msg("execute_request", content, metadata=metadata), []
        kernel.shell_channel.send(message)
        while True:
            reply = kernel.get_iopub_msg(timeout=120)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                if reply["msg_type"] == "status" and reply["content"]["execution_state"] == "idle":
                    return found
                if reply["msg_type"] in ("execute_result", "display_data", "error"):
                    found.append(str(reply["content"]))
    try:
        assert outputs(CONTROLS, {}) == []                                     # as papermill asks
        assert "widget-view" in outputs(CONTROLS, {"cellId": "a"})[0]          # as JupyterLab, Notebook 7 and VS Code ask
        drawn = outputs("box.children[1].click()", {"cellId": "b"})
        assert len(drawn) == 1 and "ldpbo-figure" in drawn[0]
    finally:
        manager.shutdown_kernel(now=True)
