"""Two real browsers behind the same few verbs.

Chromium by playwright, Firefox by WebDriver BiDi (no geckodriver needed).

with browsers.start("firefox") as browser:
page = browser.page()
page.goto(url); page.click("#run"); page.until("window.done"); page.js("document.title")

Clicks, drags and keys are real input events. `outside` collects requests that leave the machine's
files, `faults` errors of the page.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

NAMES = ("chromium", "firefox")
INSIDE = ("file:", "blob:", "data:", "about:", "moz-extension:", "resource:", "chrome:")
PROGRAMS = {
    "chromium": ("chromium", "chromium-browser", "google-chrome"),
    "firefox": ("firefox-esr", "firefox"),
}
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync".split()
)
PREFERENCES = {  # a profile that asks nothing, downloads without a dialogue and calls nobody
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "app.update.enabled": False,
    "browser.download.folderList": 2,
    "browser.download.useDownloadDir": True,
    "browser.helperApps.neverAsk.saveToDisk": "text/csv,image/svg+xml",
    "browser.download.alwaysOpenPanel": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "remote.active-protocols": 1,
}
KEYS = {
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "End": "\ue010",
    "Home": "\ue011",
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Delete": "\ue017",
    "Escape": "\ue00c",
    "Space": " ",
    "Control": "\ue009",
    "Shift": "\ue008",
}


def missing(name):
    """Why a browser cannot be used here, or None."""
    if not _program(name):
        return (
            f"NO {name.upper()}: its tests are SKIPPED; install {PROGRAMS[name][0]} (apt) or set"
            f" {name.upper()}=/path/to/it"
        )
    package = {"chromium": "playwright", "firefox": "websockets"}[name]
    try:
        __import__(package)
    except ImportError:
        return f"NO {package}: the tests in {name} are SKIPPED; pip install -r requirements.lock"
    return None


def _program(name):
    return os.environ.get(name.upper()) or next(
        (found for program in PROGRAMS[name] if (found := shutil.which(program))), None
    )


@contextlib.contextmanager
def start(name):
    """A browser without windows; `page()` opens a page in a session of its own."""
    if name == "chromium":
        from playwright.sync_api import sync_playwright

        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=_program(name), args=FLAGS)
            yield Chromium(browser)
            browser.close()
        return
    with tempfile.TemporaryDirectory() as folder:
        (downloads := Path(folder, "downloads")).mkdir()
        prefs = PREFERENCES | {"browser.download.dir": str(downloads)}
        Path(folder, "user.js").write_text(
            "".join(f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in prefs.items()),
            encoding="utf-8",
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [
            _program(name),
            "--headless",
            "--no-remote",
            "--profile",
            folder,
            "--remote-debugging-port",
            str(port),
        ]
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": folder, "MOZ_CRASHREPORTER_DISABLE": "1"},
        )
        try:
            browser = Firefox(port, downloads)
            yield browser
            browser.close()
        finally:
            process.terminate()
            process.wait(30)


class Page:
    """What both kinds of page share.

    `js` evaluates an expression, promises included, and returns its JSON value.
    """

    width, height = 1280, 720

    def text(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)}).textContent")

    def value(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)}).value")

    def visible(self, selector):
        return self.js(
            f"document.querySelector({json.dumps(selector)})?.checkVisibility({{visibilityProperty:"
            " true}) ?? false"
        )

    def disabled(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)}).matches(':disabled')")

    def checked(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)}).checked")

    def focus(self, selector):
        self.js(f"document.querySelector({json.dumps(selector)}).focus()")

    def box(self, selector):
        """left, top, right, bottom in the viewport."""
        return self.js(
            "(({left, top, right, bottom}) => [left, top, right,"
            f" bottom])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())"
        )

    def url(self):
        return self.js("location.href")

    def until(self, test, seconds=60):
        """Wait until the expression `test` is true."""
        end = time.monotonic() + seconds
        while not self.js(f"Boolean({test})"):
            if time.monotonic() > end:
                raise TimeoutError(
                    f"not within {seconds} s: {test}; the page says"
                    f" {self.js('document.body.innerText.slice(0, 2000)')!r}"
                )
            time.sleep(0.05)

    def _bring(self, selector):
        """Scroll an element into view; its middle, if that is where a click would reach it."""
        x, y, reached = self.js(
            f"""(async () => {{ const e = document.querySelector({json.dumps(selector)});
            const seen = () => {{
              const r = e.getBoundingClientRect();
              const x = r.left + r.width / 2, y = r.top + r.height / 2;
              const top = document.elementFromPoint(x, y);
              const labelled = () => e.labels && [...e.labels].some((l) => l.contains(top));
              return [x, y, Boolean(top && (e === top || e.contains(top) || labelled()))];
            }};
            if (!seen()[2]) {{
              e.scrollIntoView({{ block: "center", behavior: "instant" }});
              await new Promise((r) => setTimeout(r, 100));
            }}
            return seen(); }})()"""
        )
        assert reached, f"{selector} is not where a pointer can reach it"
        return x, y

    def axe(self, context):
        """What axe-core objects to inside `context`: [(rule, html)]."""
        import axe_playwright_python

        script = next(Path(axe_playwright_python.__file__).parent.rglob("axe.min.js")).read_text(
            encoding="utf-8"
        )
        self.js(f"(() => {{ if (!window.axe) {{ {script} ; }} return true; }})()")
        return self.js(
            f"axe.run({json.dumps(context)}).then((r) => r.violations.map((v) => [v.id,"
            " v.nodes[0].html]))"
        )


class Chromium:
    def __init__(self, browser):
        self.browser = browser

    def page(self, script=""):
        """A new page; `script` runs in it before the page's own."""
        context = self.browser.new_context(
            accept_downloads=True, viewport={"width": Page.width, "height": Page.height}
        )
        if script:
            context.add_init_script(script)
        return ChromiumPage(context.new_page())


class ChromiumPage(Page):
    def __init__(self, page):
        self.page, self.outside, self.faults = page, [], []
        page.on(
            "request", lambda r: None if r.url.startswith(INSIDE) else self.outside.append(r.url)
        )
        page.on("console", lambda m: self.faults.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: self.faults.append(str(e)))

    def goto(self, url):
        self.page.goto(url)

    def js(self, expression):
        return self.page.evaluate(f"async () => await ({expression})")

    def click(self, selector):
        self._bring(selector)
        self.page.click(selector)

    def fill(self, selector, text):
        self.page.fill(selector, text)

    def select(self, selector, value):
        self.page.select_option(selector, value)

    def press(self, key, times=1):
        for _ in range(times):
            self.page.keyboard.press(key)

    def drag(self, selector, share):
        """Press the pointer on the left half of an element and let go at `share` of its width."""
        left, top, right, bottom = self._bring(selector) and self.box(selector)
        self.page.mouse.move(left + (right - left) / 4, (top + bottom) / 2)
        self.page.mouse.down()
        self.page.mouse.move(left + (right - left) * share, (top + bottom) / 2, steps=8)
        self.page.mouse.up()

    def scroll(self, dy):
        self.page.mouse.move(self.width * 0.7, self.height / 2)
        self.page.mouse.wheel(0, dy)

    def upload(self, selector, path):
        self.page.set_input_files(selector, str(path))

    def download(self, selector):
        with self.page.expect_download() as found:
            self.click(selector)
        return Path(found.value.path()).read_bytes()

    def size(self, width, height):
        self.width, self.height = width, height
        self.page.set_viewport_size({"width": width, "height": height})

    def shot(self, path, whole=False):
        self.page.screenshot(path=str(path), full_page=whole)

    def close(self):
        self.page.context.close()


class Firefox:
    """One BiDi session; events are sorted to the pages they belong to while waiting for answers."""

    def __init__(self, port, downloads):
        from websockets.sync.client import connect

        self.pages, self.number, self.downloads, self.open, end = (
            {},
            0,
            downloads,
            contextlib.ExitStack(),
            time.monotonic() + 60,
        )
        while True:
            try:
                self.socket = self.open.enter_context(
                    connect(f"ws://127.0.0.1:{port}/session", max_size=None, open_timeout=10)
                )
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["network.beforeRequestSent", "log.entryAdded"])

    def send(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            answer = json.loads(self.socket.recv(timeout=180))
            if answer.get("type") == "event":
                self._event(answer["method"], answer["params"])
            elif answer.get("id") == self.number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
                return answer["result"]

    def _event(self, method, params):
        if method == "log.entryAdded":
            page = self.pages.get(params["source"].get("context"))
            if page and params["level"] == "error":
                page.faults.append(params["text"])
        else:
            page, url = self.pages.get(params.get("context")), params["request"]["url"]
            if page and not url.startswith(INSIDE):
                page.outside.append(url)

    def page(self, script=""):
        user = self.send("browser.createUserContext")["userContext"]
        context = self.send("browsingContext.create", type="tab", userContext=user)["context"]
        if script:
            self.send(
                "script.addPreloadScript",
                functionDeclaration=f"() => {{ {script} }}",
                contexts=[context],
            )
        self.pages[context] = page = FirefoxPage(self, context, user)
        page.size(Page.width, Page.height)
        return page

    def close(self):
        with contextlib.suppress(Exception):
            self.send("browser.close")
        self.open.close()


class FirefoxPage(Page):
    def __init__(self, browser, context, user):
        self.browser, self.context, self.user, self.outside, self.faults = (
            browser,
            context,
            user,
            [],
            [],
        )

    def send(self, method, **params):
        return self.browser.send(method, context=self.context, **params)

    def goto(self, url):
        self.send("browsingContext.navigate", url=url, wait="complete")

    def _evaluate(self, expression):
        got = self.browser.send(
            "script.evaluate",
            expression=expression,
            awaitPromise=True,
            target={"context": self.context},
            userActivation=True,
        )
        if got["type"] == "exception":
            raise RuntimeError(got["exceptionDetails"]["text"])
        return got["result"]

    def js(self, expression):
        got = self._evaluate(f"(async () => JSON.stringify(await ({expression}) ?? null))()")
        return json.loads(got["value"])

    def _pointer(self, *actions):
        self.send(
            "input.performActions",
            actions=[
                {
                    "type": "pointer",
                    "id": "mouse",
                    "parameters": {"pointerType": "mouse"},
                    "actions": list(actions),
                }
            ],
        )

    def click(self, selector):
        x, y = self._bring(selector)
        self._pointer(
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        )

    def drag(self, selector, share):
        left, top, right, bottom = self._bring(selector) and self.box(selector)
        y, at = (
            round((top + bottom) / 2),
            [round(left + (right - left) * (0.25 + (share - 0.25) * i / 8)) for i in range(9)],
        )
        self._pointer(
            {"type": "pointerMove", "x": at[0], "y": y},
            {"type": "pointerDown", "button": 0},
            *({"type": "pointerMove", "x": x, "y": y, "duration": 20} for x in at[1:]),
            {"type": "pointerUp", "button": 0},
        )

    def scroll(self, dy):
        wheel = {
            "type": "scroll",
            "x": round(self.width * 0.7),
            "y": round(self.height / 2),
            "deltaX": 0,
            "deltaY": dy,
        }
        self.send(
            "input.performActions", actions=[{"type": "wheel", "id": "wheel", "actions": [wheel]}]
        )

    def press(self, key, times=1):
        parts = [KEYS.get(part, part) for part in key.split("+")]
        actions = [{"type": "keyDown", "value": part} for part in parts] + [
            {"type": "keyUp", "value": part} for part in reversed(parts)
        ]
        self.send(
            "input.performActions",
            actions=[{"type": "key", "id": "keyboard", "actions": actions * times}],
        )

    def fill(self, selector, text):
        self.focus(selector)
        self.press("Control+a")
        actions = [{"type": kind, "value": c} for c in text for kind in ("keyDown", "keyUp")]
        self.send(
            "input.performActions", actions=[{"type": "key", "id": "keyboard", "actions": actions}]
        )

    def select(self, selector, value):
        """As playwright does it: the value and its events, without the list that opens."""
        self.js(
            f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            e.value = {json.dumps(value)};
            for (const kind of ["input", "change"])
              e.dispatchEvent(new Event(kind, {{ bubbles: true }}));
            }})()"""
        )

    def upload(self, selector, path):
        element = self._evaluate(f"document.querySelector({json.dumps(selector)})")
        self.send("input.setFiles", element={"sharedId": element["sharedId"]}, files=[str(path)])

    def download(self, selector):
        before, end = set(self.browser.downloads.iterdir()), time.monotonic() + 30
        self.click(selector)
        while time.monotonic() < end:
            new = [
                p
                for p in set(self.browser.downloads.iterdir()) - before
                if p.suffix != ".part" and p.stat().st_size
            ]
            if new and not any(p.suffix == ".part" for p in self.browser.downloads.iterdir()):
                return new[0].read_bytes()
            time.sleep(0.1)
        raise TimeoutError(f"nothing was downloaded by {selector}")

    def size(self, width, height):
        self.width, self.height = width, height
        self.send("browsingContext.setViewport", viewport={"width": width, "height": height})

    def shot(self, path, whole=False):
        data = self.send(
            "browsingContext.captureScreenshot", origin="document" if whole else "viewport"
        )["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.pages.pop(self.context, None)
        self.browser.send("browser.removeUserContext", userContext=self.user)
