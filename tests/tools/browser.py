# SPDX-License-Identifier: BSD-3-Clause
"""A real browser, driven over a pipe: Chromium without a window, and nothing else to install."""

import base64
import fcntl
import itertools
import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time

LIMIT_S = 30.0


def find_chromium():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One page. `problems` has what the console has said that is an error, and what has failed."""

    def __init__(self, width=1280, height=900):
        self._profile = tempfile.mkdtemp()
        to_read, self._out = os.pipe()
        self._in, to_write = os.pipe()
        options = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
                   "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
                   f"--window-size={width},{height}", f"--user-data-dir={self._profile}"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")  # which root cannot have
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (to_read, to_write)]

        def as_the_browser_expects():  # reads what it is to do from descriptor 3, answers on 4
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self._process = subprocess.Popen([find_chromium(), *options, "about:blank"], pass_fds=(3, 4),
                                         preexec_fn=as_the_browser_expects, start_new_session=True, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in (to_read, to_write, *ends):
            os.close(fd)
        os.set_blocking(self._in, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._in, selectors.EVENT_READ)
        self._numbers, self._received, self._session = itertools.count(1), b"", None
        self.problems = []
        page = next(each for each in self._call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)  # its own session: nobody else is in it
            self._process.wait()
        self._selector.close()
        os.close(self._in)
        os.close(self._out)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, address):
        self._call("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete'")

    def run(self, script):
        """The value of an expression in the page."""
        done = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise AssertionError(f"{script}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def wait_for(self, script, limit_s=LIMIT_S):
        """The value of the expression once it is true."""
        end = time.monotonic() + limit_s
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise AssertionError(f"not so in {limit_s} s: {script}; problems: {self.problems}; "
                                     f"text: {self.run('document.body.innerText')[:2000]}")
        return value

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def click(self, selector):
        x, y = self.run(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
                        " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def look_like(self, width, height, dark=False, phone=False):
        """The size of the window, and the colours its user prefers."""
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path, whole=True):
        """Saves what is shown as PNG, the whole page or what fits into the window."""
        shot = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def _call(self, method, **parameters):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + LIMIT_S
        while True:
            answer = self._next(end, method)
            if answer.get("id") == number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self, end, method):
        while b"\0" not in self._received:
            if not self._selector.select(max(0.0, end - time.monotonic())):
                raise AssertionError(f"the browser has not answered {method} in {LIMIT_S} s")
            piece = os.read(self._in, 1 << 20)
            if not piece:
                raise AssertionError(f"the browser has ended with status {self._process.wait()}")
            self._received += piece
        first, _, self._received = self._received.partition(b"\0")
        return json.loads(first)

    def _note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.problems.append(parameters["entry"]["text"])
        elif event.get("method") == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
            self.problems.append(str(parameters["args"]))
