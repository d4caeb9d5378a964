"""Two real browsers behind the same few verbs.

Chromium by playwright, Firefox by WebDriver BiDi (no geckodriver needed).

    with browsers.start("firefox") as browser:
        page = browser.page()
        page.goto(url)
        page.click("#run")
        page.until("window.done")
        page.js("document.title")

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
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
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
    if not program(name):
        return (
            f"NO {name.upper()}: its tests are SKIPPED; install {PROGRAMS[name][0]} (apt) or set "
            f"{name.upper()}=/path/to/it"
        )
    package = {"chromium": "playwright", "firefox": "websockets"}[name]
    try:
        __import__(package)
    except ImportError:
        return f"NO {package}: the tests in {name} are SKIPPED; pip install -r requirements.lock"
    return None


def program(name):
    """The path of a browser, or None."""
    if os.environ.get(name.upper()):
        return os.environ[name.upper()]
    paths = [shutil.which(candidate) for candidate in PROGRAMS[name]]
    return next((path for path in paths if path), None)


def start(name):
    """A browser without windows; `page()` opens a page in a session of its own."""
    return start_chromium() if name == "chromium" else start_firefox()


@contextlib.contextmanager
def start_chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program("chromium"), args=FLAGS)
        yield Chromium(browser)
        browser.close()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def start_firefox():
    with tempfile.TemporaryDirectory() as folder:
        downloads = Path(folder, "downloads")
        downloads.mkdir()
        preferences = PREFERENCES | {"browser.download.dir": str(downloads)}
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n"
            for name, value in preferences.items()
        ]
        Path(folder, "user.js").write_text("".join(lines), encoding="utf-8")
        port = free_port()
        command = [program("firefox"), "--headless", "--no-remote", "--profile", folder]
        command += ["--remote-debugging-port", str(port)]
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


def element(selector):
    """The JavaScript expression of the first element that a selector finds."""
    return f"document.querySelector({json.dumps(selector)})"


MIDDLE = """(async () => {
    const e = %s;
    const middle = () => {
        const { left, top, width, height } = e.getBoundingClientRect();
        return [left + width / 2, top + height / 2];
    };
    const reached = () => {
        const hit = document.elementFromPoint(...middle());
        const labels = e.labels ? [...e.labels] : [];
        return Boolean(hit && [e, ...labels].some((target) => target.contains(hit)));
    };
    if (!reached()) {
        e.scrollIntoView({ block: "center", behavior: "instant" });
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return [...middle(), reached()];
})()"""


class Page:
    """What both kinds of page share.

    `js` evaluates an expression, promises included, and returns its JSON value.
    """

    width, height = 1280, 720

    def text(self, selector):
        return self.js(f"{element(selector)}.textContent")

    def value(self, selector):
        return self.js(f"{element(selector)}.value")

    def visible(self, selector):
        check = "checkVisibility({visibilityProperty: true})"
        return self.js(f"{element(selector)}?.{check} ?? false")

    def disabled(self, selector):
        return self.js(f"{element(selector)}.matches(':disabled')")

    def checked(self, selector):
        return self.js(f"{element(selector)}.checked")

    def focus(self, selector):
        self.js(f"{element(selector)}.focus()")

    def box(self, selector):
        """left, top, right, bottom in the viewport."""
        sides = "({left, top, right, bottom}) => [left, top, right, bottom]"
        return self.js(f"({sides})({element(selector)}.getBoundingClientRect())")

    def url(self):
        return self.js("location.href")

    def until(self, test, seconds=60):
        """Wait until the expression `test` is true."""
        end = time.monotonic() + seconds
        while not self.js(f"Boolean({test})"):
            if time.monotonic() > end:
                says = self.js("document.body.innerText.slice(0, 2000)")
                raise TimeoutError(f"not within {seconds} s: {test}; the page says {says!r}")
            time.sleep(0.05)

    def bring(self, selector):
        """Scroll an element into view; its middle, if that is where a click would reach it."""
        x, y, reached = self.js(MIDDLE % element(selector))
        assert reached, f"{selector} is not where a pointer can reach it"
        return x, y

    def axe(self, context):
        """What axe-core objects to inside `context`: [(rule, html)]."""
        import axe_playwright_python

        package = Path(axe_playwright_python.__file__).parent
        script = next(package.rglob("axe.min.js")).read_text(encoding="utf-8")
        self.js(f"(() => {{ if (!window.axe) {{ {script} ; }} return true; }})()")
        first = "(run) => run.violations.map((rule) => [rule.id, rule.nodes[0].html])"
        return self.js(f"axe.run({json.dumps(context)}).then({first})")


class Chromium:
    def __init__(self, browser):
        self.browser = browser

    def page(self, script=""):
        """A new page; `script` runs in it before the page's own."""
        viewport = {"width": Page.width, "height": Page.height}
        context = self.browser.new_context(accept_downloads=True, viewport=viewport)
        if script:
            context.add_init_script(script)
        return ChromiumPage(context.new_page())


class ChromiumPage(Page):
    def __init__(self, page):
        self.page = page
        self.outside = []
        self.faults = []
        page.on("request", self.requested)
        page.on("console", self.logged)
        page.on("pageerror", lambda error: self.faults.append(str(error)))

    def requested(self, request):
        if not request.url.startswith(INSIDE):
            self.outside.append(request.url)

    def logged(self, message):
        if message.type == "error":
            self.faults.append(message.text)

    def goto(self, url):
        self.page.goto(url)

    def js(self, expression):
        return self.page.evaluate(f"async () => await ({expression})")

    def click(self, selector):
        self.bring(selector)
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
        self.bring(selector)
        left, top, right, bottom = self.box(selector)
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

        self.pages = {}
        self.number = 0
        self.downloads = downloads
        self.open = contextlib.ExitStack()
        address = f"ws://127.0.0.1:{port}/session"
        end = time.monotonic() + 60
        while True:
            try:
                session = connect(address, max_size=None, open_timeout=10)
                self.socket = self.open.enter_context(session)
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
                self.receive(answer["method"], answer["params"])
            elif answer.get("id") == self.number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
                return answer["result"]

    def receive(self, method, params):
        if method == "log.entryAdded":
            page = self.pages.get(params["source"].get("context"))
            if page and params["level"] == "error":
                page.faults.append(params["text"])
        else:
            page = self.pages.get(params.get("context"))
            url = params["request"]["url"]
            if page and not url.startswith(INSIDE):
                page.outside.append(url)

    def page(self, script=""):
        user = self.send("browser.createUserContext")["userContext"]
        context = self.send("browsingContext.create", type="tab", userContext=user)["context"]
        if script:
            function = f"() => {{ {script} }}"
            self.send("script.addPreloadScript", functionDeclaration=function, contexts=[context])
        self.pages[context] = page = FirefoxPage(self, context, user)
        page.size(Page.width, Page.height)
        return page

    def close(self):
        with contextlib.suppress(Exception):
            self.send("browser.close")
        self.open.close()


class FirefoxPage(Page):
    def __init__(self, browser, context, user):
        self.browser = browser
        self.context = context
        self.user = user
        self.outside = []
        self.faults = []

    def send(self, method, **params):
        return self.browser.send(method, context=self.context, **params)

    def goto(self, url):
        self.send("browsingContext.navigate", url=url, wait="complete")

    def evaluate(self, expression):
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
        got = self.evaluate(f"(async () => JSON.stringify(await ({expression}) ?? null))()")
        return json.loads(got["value"])

    def act(self, kind, actions, **options):
        """Perform actions of one input device."""
        source = {"type": kind, "id": kind, "actions": actions, **options}
        self.send("input.performActions", actions=[source])

    def point(self, *actions):
        self.act("pointer", list(actions), parameters={"pointerType": "mouse"})

    def click(self, selector):
        x, y = self.bring(selector)
        self.point(
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        )

    def drag(self, selector, share):
        self.bring(selector)
        left, top, right, bottom = self.box(selector)
        y = round((top + bottom) / 2)
        shares = [0.25 + (share - 0.25) * i / 8 for i in range(9)]
        at = [round(left + (right - left) * x) for x in shares]
        self.point(
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
        self.act("wheel", [wheel])

    def press(self, key, times=1):
        parts = [KEYS.get(part, part) for part in key.split("+")]
        actions = [{"type": "keyDown", "value": part} for part in parts]
        actions += [{"type": "keyUp", "value": part} for part in reversed(parts)]
        self.act("key", actions * times)

    def fill(self, selector, text):
        self.focus(selector)
        self.press("Control+a")
        actions = [{"type": kind, "value": c} for c in text for kind in ("keyDown", "keyUp")]
        self.act("key", actions)

    def select(self, selector, value):
        """As playwright does it: the value and its events, without the list that opens."""
        self.js(f"""(() => {{
            const e = {element(selector)};
            e.value = {json.dumps(value)};
            for (const kind of ["input", "change"])
                e.dispatchEvent(new Event(kind, {{ bubbles: true }}));
        }})()""")

    def upload(self, selector, path):
        found = self.evaluate(element(selector))
        self.send("input.setFiles", element={"sharedId": found["sharedId"]}, files=[str(path)])

    def download(self, selector):
        folder = self.browser.downloads
        before = set(folder.iterdir())
        end = time.monotonic() + 30
        self.click(selector)
        while time.monotonic() < end:
            under_way = list(folder.glob("*.part"))
            new = [path for path in set(folder.iterdir()) - before if path.stat().st_size]
            if new and not under_way:
                return new[0].read_bytes()
            time.sleep(0.1)
        raise TimeoutError(f"nothing was downloaded by {selector}")

    def size(self, width, height):
        self.width, self.height = width, height
        self.send("browsingContext.setViewport", viewport={"width": width, "height": height})

    def shot(self, path, whole=False):
        origin = "document" if whole else "viewport"
        shot = self.send("browsingContext.captureScreenshot", origin=origin)
        Path(path).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self.browser.pages.pop(self.context, None)
        self.browser.send("browser.removeUserContext", userContext=self.user)
