"""browser.py - a headless Chromium, driven through its DevTools pipe by the standard library alone.

    with Browser(program, folder) as b:
        page = b.open("file:///...")
        page.evaluate("document.title")     # a value
        page.events                          # console messages, exceptions, blocked and made requests
        page.screenshot("page.png")
"""
import base64
import json
import os
import select
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def find():
    """The path of a Chromium; None: none is installed."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, program, folder, timeout_s=120):
        self.program, self.folder, self.timeout_s = program, folder, timeout_s
        self.count, self.pending, self.sessions = 0, b"", {}

    def __enter__(self):
        theirs_in, self.to = os.pipe()
        self.answers, theirs_out = os.pipe()

        def connect():
            # 3 and 4 are where it reads and writes; the ends may be there already.
            a, b = os.dup(theirs_in), os.dup(theirs_out)
            high_in, high_out = os.dup2(a, 60), os.dup2(b, 61)
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        self.process = subprocess.Popen(
            [self.program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--disable-dev-shm-usage", "--no-first-run", "--user-data-dir=" + self.folder, "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        return self

    def __exit__(self, *unused):
        try:
            self.call("Browser.close")
        except (OSError, RuntimeError):
            pass
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def receive(self, until):
        """The next message; None when the time is over."""
        while b"\0" not in self.pending:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise RuntimeError("the browser is gone")
            self.pending += data
        message, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(message)
        if "method" in message and message.get("sessionId") in self.sessions:
            self.sessions[message["sessionId"]].take(message)
        return message

    def call(self, method, params=None, session=None):
        self.count += 1
        wanted = self.count
        message = {"id": wanted, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self.timeout_s
        while True:
            answer = self.receive(until)
            if answer is None:
                raise RuntimeError(f"{method}: no answer")
            if answer.get("id") == wanted:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer.get("result", {})

    def open(self, url, **options):
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self.sessions[session] = Page(self, session, target)
        page.load(url, **options)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target, self.events, self.is_loaded = browser, session, target, [], False

    def close(self):
        self.browser.call("Target.closeTarget", {"targetId": self.target})

    def call(self, method, **params):
        return self.browser.call(method, params, self.session)

    def take(self, message):
        method, params = message["method"], message["params"]
        if method == "Page.loadEventFired":
            self.is_loaded = True
        elif method == "Runtime.consoleAPICalled":
            self.events.append(("console", str(params.get("args"))))
        elif method == "Runtime.exceptionThrown":
            self.events.append(("exception", json.dumps(params["exceptionDetails"])[:500]))
        elif method == "Log.entryAdded":
            self.events.append(("log", params["entry"]["text"]))
        elif method == "Network.requestWillBeSent":
            self.events.append(("request", params["request"]["url"]))
        elif method == "Page.javascriptDialogOpening":
            self.events.append(("dialog", params["message"]))

    def load(self, url, width=1000, height=900, dark=False, scripts=True):
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if not scripts:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        self.is_loaded = False
        self.call("Page.navigate", url=url)
        until = time.monotonic() + self.browser.timeout_s
        while not self.is_loaded:
            if self.browser.receive(until) is None:
                raise RuntimeError("the page does not load")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {json.dumps(answer['exceptionDetails'])[:500]}")
        return answer["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def screenshot(self, path, top=0, height=None):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": top, "width": size["width"], "scale": 1, "height": min(height or size["height"], size["height"] - top)}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=False)["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(data))
