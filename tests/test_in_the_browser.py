"""What the pages run in a reader's browser: the calculator, and numbers in JupyterLab."""

import json
import sys
from pathlib import Path

import browsers
import pytest

import ldpbo_core as core
from ldpbo import formats, lab, results, show

ROOT = Path(core.__file__).resolve().parent
from notebooks.users import picture
from notebooks.which import calculator

RUNS = calculator.stored_runs(results.stored("users"), results.stored("arms"))


@pytest.fixture(scope="module", params=browsers.NAMES)
def browser(request):
    if reason := browsers.missing(request.param):
        pytest.skip(reason)
    with browsers.start(request.param) as browser:
        yield browser


def opened(browser, path, body):
    """A page with this body, opened from disk."""
    path.write_text(f"<!doctype html><meta charset='utf-8'>{body}", encoding="utf-8")
    page = browser.page()
    page.goto(path.as_uri())
    return page


def run(page, script):
    """Run statements on the page."""
    page.js(f"(() => {{ {script} }})()")


def choose(page, **values):
    """Set fields of the calculator as a reader does -> what it answers."""
    for name, value in values.items():
        run(
            page,
            f"const field = document.getElementById('calc-{name}'); field.value = {value!r};"
            " field.dispatchEvent(new Event('input'));",
        )
    return page.js("document.getElementById('calc-answer').innerText")


# ---- The calculator ------------------------------------------------------------------------------


@pytest.mark.browser
def test_the_calculator_answers_from_stored_runs_without_a_network(browser, tmp_path):
    page = opened(browser, tmp_path / "calculator.html", calculator.form(RUNS).data)
    points = {level: users for level, users, _ in RUNS["se"]["100"]["local"]["tenth"]}
    assert f"about {show.count(points[1.0])} users, 100 arms" in choose(page)
    points = {level: users for level, users, _ in RUNS["matern"]["10"]["aggregator"]["half"]}
    said = choose(page, problem="matern", arms="10", trust="aggregator")
    assert f"about {show.count(points[1.0])} users, 10 arms" in said
    assert page.js("!document.getElementById('calc-arms').disabled")
    assert "29 arms" in choose(page, problem="stocks")
    arms = "document.getElementById('calc-arms')"
    shown = lambda: page.js(f"[{arms}.disabled, {arms}.selectedOptions[0].textContent]")
    assert shown() == [True, "29"]
    assert "41 arms" in choose(page, problem="light") and shown() == [True, "41"]
    assert "10 arms" in choose(page, problem="se") and shown() == [False, "10"]
    points = {level: users for level, users, _ in RUNS["identity"]["10"]["local"]["half"]}
    said = choose(page, problem="identity", trust="local")
    assert f"about {show.count(points[1.0])} users, 10 arms" in said
    slow = choose(page, problem="se", trust="local", eps="-1", day="50000")
    assert "weeks" in slow or "days" in slow or "years" in slow
    assert "within a day" in choose(page, eps="0.477", day="100000000")
    assert not page.outside and not page.faults


@pytest.mark.browser
def test_the_calculator_says_times_as_the_tables_do_and_wants_users_every_day(browser, tmp_path):
    page = opened(browser, tmp_path / "calculator.html", calculator.form(RUNS).data)
    points = RUNS["se"]["100"]["local"]["tenth"]
    users = next(users for level, users, _ in points if level == 1.0)
    for days in (0.9, 1, 1.05, 1.2, 1.3, 4, 59, 61, 449, 451, 10000):
        said = show.duration(users, users / days).removeprefix("about ")
        tenth = choose(page, day=str(users / days)).splitlines()[-1]
        assert f"regret: {said} (" in tenth.replace("about ", "", 1), days
    for wrong in ("", "0", "-5"):
        assert choose(page, day=wrong) == "Users a day: a number above 0"
    assert not page.outside and not page.faults


def test_the_calculator_has_every_choice_it_offers():
    assert set(RUNS["se"]) == set(RUNS["matern"]) == set(RUNS["identity"])
    for problem in calculator.PROBLEMS:
        for kinds in RUNS[problem].values():
            for trust in ("local", "aggregator"):
                for share in calculator.SHARES:
                    points = kinds[trust][share]
                    assert [level for level, *_ in points] == [0.1, 0.3, 1.0, 3.0]
                    users = [users for _, users, _ in points]
                    assert users == sorted(users, reverse=True)  # more privacy, more users


def test_no_interval_of_the_calculator_is_wider_than_the_page_says():
    table = picture.better(results.stored("users"))
    table = table[table["share"].isin(calculator.SHARES.values()) & (table["data"] != "stand-in")]
    reach = max(picture.factor(row) for row in table.to_dict("records"))
    said = calculator.widest(results.stored("users"))
    assert 0 <= int(said.split()[0]) - reach < 1
    assert said.endswith("for a half near ε = 0.3")


# ---- JupyterLab ----------------------------------------------------------------------------------


def test_a_number_is_written_in_the_forms_that_prose_asks_for():
    found = lab.texts("x", 0.125)
    assert (found["x"], found["x:.2f"], found["x:.3g"], found["x:.1e"]) == (
        "0.125",
        "0.12",
        "0.125",
        "1.2e-01",
    )
    assert lab.texts("x", 12345)["x:,"] == "12,345"
    assert lab.texts("x", "about 7") == {"x": "about 7"}


def test_scripts_are_for_jupyterlab_alone(monkeypatch):
    shown = []
    monkeypatch.setattr(lab, "display", shown.append)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    lab.tell("x", 1)
    assert not shown
    monkeypatch.setenv("JPY_SESSION_NAME", "notebooks/own.ipynb")
    lab.tell("x", 1)
    assert json.dumps(lab.texts("x", 1)) in shown[0].data


def test_a_notebook_that_papermill_ran_gets_its_numbers(tmp_path, monkeypatch):
    glued = {"data": {formats.GLUED: "0.125"}, "metadata": {"scrapbook": {"name": "x"}}}
    prose = ["about {glue:text}`x:.2f`,\n", "{glue:text}`x` and {glue:text}`y`"]
    cells = [
        {"cell_type": "markdown", "source": prose},
        {"cell_type": "code", "source": [], "outputs": [glued, {"text": "printed"}]},
    ]
    path = tmp_path / "out.ipynb"
    path.write_text(json.dumps({"cells": cells}), "utf-8")
    monkeypatch.setattr(sys, "argv", ["lab", str(path)])
    lab.main()
    filled = json.loads(path.read_text("utf-8"))["cells"]
    assert filled[0]["source"] == ["about 0.12,\n", "0.125 and {glue:text}`y`"]
    assert filled[1] == cells[1]


def test_the_environment_has_the_extension_that_shows_our_markdown():
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    assert "\njupyterlab-myst==" in lock


@pytest.mark.browser
def test_numbers_of_the_prose_appear_in_the_cells_of_jupyterlab(browser, tmp_path):
    script = lambda value: lab.SCRIPT.replace("TEXTS", json.dumps(lab.texts("x-half", value)))
    cell = '<div class="jp-MarkdownCell"><p>about <span>x-half:.2f</span></p></div>'
    editor = '<div class="jp-MarkdownCell"><div class="cm-editor">x-half:.2f</div></div>'
    other = "<p>x-half:.2f</p>"
    page = opened(browser, tmp_path / "lab.html", f'<div id="all">{cell}{editor}{other}</div>')
    text = lambda: page.js("document.body.innerText.split(/\\s+/).join(' ').trim()")
    run(page, script(0.5))
    assert text() == "about 0.50 x-half:.2f x-half:.2f"
    run(page, script(2 / 3))
    assert text() == "about 0.67 x-half:.2f x-half:.2f"
    page.js(f"document.getElementById('all').insertAdjacentHTML('beforeend', `{cell}`)")
    page.until(
        "document.body.innerText.split('about 0.67').length === 3"
    )  # a cell that is drawn later
    assert not page.faults
