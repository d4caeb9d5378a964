"""The small pictures in the pages: their formulas are the core's, and they answer to a slider.

The formulas run under node, the pictures in Chromium and in Firefox, from file://.
"""

import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import ldpbo_core as core

ROOT = Path(core.__file__).resolve().parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "live")]
import browsers

import live_assets
import samples

pytestmark = pytest.mark.xdist_group("live")
PAGES = ("curator", "tgp", "onebit")
SCRIPTS = ("widgets-data.js", "plot.js", "formulas.js", "widgets.js")
SETTINGS = [(0.1, 2.0), (0.5, 0.3), (1.0, 2.0), (3.0, 5.0), (10.0, 1.0)]  # eps, bound


# ---- the formulas are those of the core ---------------------------------------------------------

PROGRAM = """
require(process.argv[1]);
const calls = JSON.parse(require("fs").readFileSync(0, "utf8"));
const F = globalThis.LDPBO_FORMULAS;
const given = Object.keys(calls);
const run = new Function("F", ...given, process.argv[2]);
console.log(JSON.stringify(run(F, ...given.map((name) => calls[name]))));
"""


def node(code, **given):
    """The value that a piece of JavaScript returns; F are the formulas, the rest is given."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("NO NODE: the formulas of the widgets are NOT CHECKED; install nodejs (apt)")
    command = [program, "-e", PROGRAM, str(ROOT / "book/live/formulas.js"), code]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("eps, bound", SETTINGS)
def test_the_laplace_curator_is_the_cores(eps, bound):
    curator = core.CTL(eps, bound, 0.0)
    z = (np.linspace(-6, 6, 25) * bound).tolist()
    y = (np.linspace(-1.5, 1.5, 13) * bound).tolist()  # some beyond the bound, which are clipped
    code = """
        const c = F.laplace(eps, bound);
        const table = (g) => y.map((a) => z.map((r) => g(r, a)));
        return { scale: c.scale, reach: c.reach(17), density: table(c.density),
                 odds: table((r, a) => c.odds(r, a, y[3])) };"""
    got = node(code, eps=eps, bound=bound, z=z, y=y)
    assert got["scale"] == pytest.approx(curator.scale, rel=1e-12)
    assert got["reach"] == pytest.approx(curator.reach(17), rel=1e-12)
    logs = np.array([curator.log_density(z, reward) for reward in y])
    assert_allclose(got["density"], np.exp(logs), rtol=1e-12)
    assert_allclose(got["odds"], np.exp(logs - logs[3]), rtol=1e-12)
    assert np.max(got["odds"]) <= math.exp(eps) * (1 + 1e-12)  # what the picture promises
    assert np.min(got["odds"]) >= math.exp(-eps) * (1 - 1e-12)


@pytest.mark.parametrize("eps, bound", SETTINGS)
def test_one_bit_is_the_cores(eps, bound):
    curator = core.OneBit(eps, bound, 0.0)
    y = (np.linspace(-1.5, 1.5, 31) * bound).tolist()
    draws = np.random.default_rng(1).random(len(y)).tolist()
    code = """
        const c = F.onebit(eps, bound);
        return { scale: c.scale, chance: y.map(c.chance), reports: y.map((a, i) =>
                 c.report(a, draws[i])) };"""
    got = node(code, eps=eps, bound=bound, y=y, draws=draws)
    assert got["scale"] == pytest.approx(curator.scale, rel=1e-12)
    assert_allclose(got["chance"], np.exp(curator.log_density(curator.high, y)), rtol=1e-12)
    assert_allclose(got["reports"], curator.report(y, np.array(draws)), rtol=1e-12)


@pytest.mark.parametrize("eps, bound", SETTINGS[:4])
def test_the_threshold_cuts_what_tgp_cuts(eps, bound):
    """A learner told the reports of one arm, half of them too large, sums those that count."""
    told = dict(K=np.eye(2), f=[0.0, 0.0], B=bound / 2, R=bound / 2)
    learner = core.make("TGP", core.Problem(**told), 200, eps=eps)
    curator = core.CTL(eps, bound, 0.0)
    reports = curator.reach(100) * np.random.default_rng(2).uniform(-2, 2, 200)
    for report in reports:
        learner.tell(float(report), 0)
    code = """
        const { reach } = F.laplace(eps, bound);
        return reports.map((r, i) => F.truncate([r], reach(i + 1))[0]);"""
    counted = node(code, eps=eps, bound=bound, reports=reports.tolist())
    assert sum(counted) == pytest.approx(float(learner.posterior.sums[0]), rel=1e-9)
    assert 50 < counted.count(0) < 150


@pytest.mark.parametrize("eps, bound", SETTINGS[:4])
def test_the_mean_after_the_cut_is_the_integral_of_the_cores_density(eps, bound):
    curator = core.CTL(eps, bound, 0.0)
    for y in (0.0, 0.4 * bound, bound):
        thresholds = [0.0, 0.2 * bound, y, 1.7 * bound, 3 * curator.scale]
        code = "return b.map((at) => F.truncatedMean(y, at, F.laplace(eps, bound).scale));"
        got = node(code, eps=eps, bound=bound, y=y, b=thresholds)
        for b, mean in zip(thresholds, got):
            z = np.unique(np.concatenate([np.linspace(-b, b, 200_001), [min(y, b)]]))
            want = np.trapezoid(z * np.exp(curator.log_density(z, y)), z)
            assert mean == pytest.approx(want, abs=1e-7 * max(1, curator.scale))


@pytest.mark.parametrize("eps", [0.1, 0.5, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("users", [20, 300])
def test_the_band_out_of_bits_is_that_of_one_bit_gp_ucb(eps, users):
    """The core's learner is told the same users; its proved band is the picture's."""
    problem = samples.bits_problem()
    data = samples.bits_sample()
    curator = core.OneBit(eps, problem.F, problem.R)
    told = dict(eps=eps, curator=core.OneBit, constants="proved", delta=data["delta"])
    told["lam"] = (curator.scale / problem.B) ** 2
    learner = core.make("GP-UCB", problem, users, **told)
    for arm, reward, draw in list(zip(data["arms"], data["rewards"], data["draws"]))[:users]:
        learner.tell(float(curator.report(reward, draw)), arm)
    got = node("return F.onebitBand(data, eps, users);", data=data, eps=eps, users=users)
    assert got["scale"] == pytest.approx(curator.scale, rel=1e-12)
    assert got["beta"] == pytest.approx(learner.beta, rel=1e-6)
    assert_allclose(got["mu"], learner.mu, atol=1e-6 * curator.scale)
    assert_allclose(got["sigma"], learner.sigma, atol=1e-6)


def test_mean_and_error_are_numpys():
    values = np.random.default_rng(3).normal(size=50)
    mean, error = node("return F.meanOf(values);", values=values.tolist())
    assert mean == pytest.approx(values.mean(), rel=1e-12)
    assert error == pytest.approx(values.std(ddof=1) / math.sqrt(50), rel=1e-12)


# ---- the pages ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A page with the three pictures as the notebooks have them, and the files beside it."""
    folder = tmp_path_factory.mktemp("widgets")
    live_assets.build(folder / "_static/live")
    custom = (ROOT / "book/_static/custom.css").read_bytes()
    (folder / "_static/custom.css").write_bytes(custom)
    parts = [cell_of(page).replace("../../_static", "_static") for page in PAGES]
    (folder / "page.html").write_text(page_of(parts), encoding="utf-8")
    for page in PAGES:
        text = page_of([cell_of(page).replace("../../_static", "_static")])
        (folder / f"{page}.html").write_text(text, encoding="utf-8")
    return folder


def page_of(parts):
    divisions = "".join(part.split("<link")[0] for part in parts)
    scripts = parts[0][parts[0].index("<link") :]
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>Widgets</title>
<link rel="stylesheet" href="_static/custom.css"></head>
<body><main><h1>Widgets</h1>{divisions}</main>{scripts}</body></html>"""


def cell_of(page):
    """The HTML that a notebook inserts."""
    notebook = json.loads((ROOT / f"notebooks/{page}.ipynb").read_text("utf-8"))
    (cell,) = [c for c in notebook["cells"] if f'data-widget="{page}"' in "".join(c["source"])]
    first, *lines, last = "".join(cell["source"]).splitlines()
    assert (first, last) == ("```{raw} html", "```")
    return "\n".join(lines)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_brings_what_its_picture_needs_and_a_sentence_for_paper(page, folder):
    text = cell_of(page)
    for name in (*SCRIPTS, "widgets.css"):
        assert f'"../../_static/live/{name}"' in text
        assert (folder / "_static/live" / name).exists()
    assert "<p>On screen this is a picture that answers to" in text


def test_the_users_of_the_pictures_are_drawn_by_the_core(folder):
    text = (folder / "_static/live/widgets-data.js").read_text("utf-8")
    data = json.loads(text[text.index("{") : text.rindex("}") + 1])
    drawn = json.loads(json.dumps(samples.samples()))
    assert {page: data[page] for page in PAGES} == drawn
    assert data["colors"] == pytest.importorskip("ldpbo.plots").COLORS


@pytest.fixture(scope="module", params=browsers.NAMES)
def browser(request):
    if reason := browsers.missing(request.param):
        pytest.skip(reason)
    with browsers.start(request.param) as browser:
        browser.name = request.param
        yield browser


@pytest.fixture
def page(browser, folder):
    page = browser.page()
    page.goto((folder / "page.html").as_uri())
    page.until("document.querySelectorAll('[data-state=drawn]').length === 3")
    yield page
    assert page.outside == []
    assert page.faults == []
    page.close()


def picture(kind):
    return f".ldpbo-widget[data-widget={kind}]"


SLIDERS = [
    ("curator", "y"),
    ("curator", "eps"),
    ("tgp", "b"),
    ("onebit", "eps"),
    ("onebit", "users"),
]


@pytest.mark.parametrize("kind, key", SLIDERS)
def test_a_slider_moves_by_keyboard_and_pointer_and_the_picture_follows(page, kind, key):
    slider = f"{picture(kind)} [data-key={key}]"
    figure = f"document.querySelector('{picture(kind)} .widget-figure').innerHTML"
    seen = [(page.text(f"{picture(kind)} [role=status]"), page.js(figure))]
    page.focus(slider)
    page.press("ArrowLeft", 2)
    seen.append((page.text(f"{picture(kind)} [role=status]"), page.js(figure)))
    page.drag(slider, 0.9)
    seen.append((page.text(f"{picture(kind)} [role=status]"), page.js(figure)))
    words, drawings = zip(*seen)
    assert len(set(words)) == len(set(drawings)) == 3
    assert not [text for text in words if "NaN" in text or "undefined" in text]
    spoken = page.js(f"document.querySelector('{slider}').getAttribute('aria-valuetext')")
    assert spoken not in (None, "", "undefined")


def test_what_the_pictures_say_is_so(page):
    """Their words at the start, computed by the core."""
    curator = core.CTL(1.0, 1.0, 1.0)
    said = page.text(f"{picture('curator')} [role=status]")
    odds = math.exp(float(curator.log_density(1.0, 1.0) - curator.log_density(1.0, -1.0)))
    assert f"at most {odds:.3g} times as likely" in said
    assert f"promise allows a factor of {math.e:.3g}" in said
    reports = np.array(samples.threshold_sample()["reports"])
    kept = np.where(np.abs(reports) <= 8, reports, 0)
    said = page.text(f"{picture('tgp')} [role=status]")
    assert f"{np.sum(np.abs(reports) > 8)} of {len(reports)} reports are cut" in said
    assert f"from {reports.mean():.3g} to {kept.mean():.3g}" in said
    said = page.text(f"{picture('onebit')} [role=status]")
    problem = samples.bits_problem()
    assert f"s = {core.OneBit(1.0, problem.F, problem.R).scale:.3g}." in said
    assert said.endswith("is inside.")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_phone_shows_the_pictures_whole_and_axe_is_content(page, theme):
    page.js(f"void (document.documentElement.dataset.theme = '{theme}')")
    page.size(390, 800)
    right = "[...document.querySelectorAll('svg')].map((e) => e.getBoundingClientRect().right)"
    page.until(f"Math.max(...{right}) <= 390")
    assert page.js("document.documentElement.scrollWidth") <= 390
    pytest.importorskip("axe_playwright_python")
    assert page.axe("main") == []
    page.faults.clear()  # axe itself asks for the style sheet


@pytest.mark.parametrize("kind", PAGES)
def test_without_the_data_or_on_paper_the_sentence_stands(browser, folder, kind):
    page = browser.page("Object.defineProperty(window, 'LDPBO_WIDGETS', { set() {} });")
    page.goto((folder / f"{kind}.html").as_uri())
    assert page.visible(f"{picture(kind)} p")
    assert "On screen this is a picture" in page.text(picture(kind))
    assert page.js("document.querySelector('.ldpbo-widget svg')") is None
    page.close()
    if browser.name == "chromium":  # the other one cannot be told to print
        page = browser.page()
        page.goto((folder / f"{kind}.html").as_uri())
        page.page.emulate_media(media="print")
        assert page.visible(f"{picture(kind)} .widget-fixed")
        assert not page.visible(f"{picture(kind)} .widget-live")
        page.close()
