"""A Chromium without a window, told what to do over two pipes: no driver is needed,
whose version has to fit, and no port."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time

BINARY = shutil.which("chromium") or shutil.which("google-chrome")
PATIENCE = 60  # Seconds until what does not answer counts as hung.
# Containers have no sandbox for it to use, and little shared memory.
OPTIONS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--no-first-run", "--no-default-browser-check", "--disable-extensions"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-pipe"),
]
KEYS = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38}
KEYS |= {"ArrowRight": 39, "ArrowDown": 40, "Tab": 9, "Home": 36}


def above_standard(fd):
    """The same file under a number that is not wanted for anything else."""
    high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(fd)
    return high


class Chromium:
    def __init__(self, profile):
        theirs_in, self._to = map(above_standard, os.pipe())
        self._from, theirs_out = map(above_standard, os.pipe())

        def give_pipes():
            os.dup2(theirs_in, 3)
            os.dup2(theirs_out, 4)

        self._process = subprocess.Popen(
            [BINARY, *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=give_pipes,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._rest = b""
        self._number = 0
        self.events = []

    def close(self):
        try:
            self.call("Browser.close")
            self._process.wait(PATIENCE)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _receive(self):
        """The next message."""
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], PATIENCE)
            data = os.read(self._from, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError("the browser has ended, or hangs")
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (got := self._receive()).get("id") != self._number:
            self.events.append(got)
        if "error" in got:
            raise RuntimeError(f"{method}: {got['error']['message']}")
        return got["result"]

    def open(self, url, **options):
        return Page(self, url, **options)


class Page:
    """A tab, loaded."""

    def __init__(self, browser, url, width=1280, height=900, dark=False, scripts=True):
        self._browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self._target, self._session = target, attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'")

    def call(self, method, **params):
        return self._browser.call(method, self._session, **params)

    def close(self):
        self._browser.call("Target.closeTarget", targetId=self._target)

    def resize(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            **{"width": width, "height": height, "deviceScaleFactor": 1},
            mobile=False,
        )

    def run(self, expression):
        """What an expression of JavaScript gives, as JSON can hold it."""
        got = self.call(
            "Runtime.evaluate",
            **{"expression": expression, "returnByValue": True, "awaitPromise": True},
        )
        if "exceptionDetails" in got:
            raise RuntimeError(str(got["exceptionDetails"]))
        return got["result"].get("value")

    def wait_for(self, expression):
        end = time.monotonic() + PATIENCE
        while not self.run(expression):
            assert time.monotonic() < end, f"never: {expression}"
            time.sleep(0.02)

    def events(self, method):
        time.sleep(0.05)
        self.run("1")
        return [
            event["params"]
            for event in self._browser.events
            if event.get("method") == method and event.get("sessionId") == self._session
        ]

    def press(self, key):
        code = KEYS[key]
        shared = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="rawKeyDown", **shared)
        self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def _mouse(self, kind, selector, **more):
        x, y = self.run(
            f"""(() => {{
                const element = document.querySelector({json.dumps(selector)});
                element.scrollIntoView({{ block: "nearest" }});
                const box = element.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2];
            }})()"""
        )
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def hover(self, selector):
        self._mouse("mouseMoved", selector)

    def click(self, selector):
        for kind in ("mousePressed", "mouseReleased"):
            self._mouse(kind, selector, button="left", clickCount=1)

    def accessible(self):
        """(role, name) of all that assistive technology is told of."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            (node["role"]["value"], node.get("name", {}).get("value", ""))
            for node in nodes
            if not node["ignored"]
        ]

    def picture(self, path, whole=True):
        got = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(got["data"]))
