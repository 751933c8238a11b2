# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that is used by mouse and keyboard, over the pipe of its DevTools protocol."""
import base64
import contextlib
import json
import os
import pathlib
import select
import subprocess
import tempfile
import time

import browser

TIMEOUT_S = 120    # bounds a hang
KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Backspace": (8, ""), "ArrowDown": (40, ""), "ArrowUp": (38, ""),
        "ArrowLeft": (37, ""), "ArrowRight": (39, ""), "Tab": (9, "")}
SHIFT, CTRL = 8, 2


class Refused(AssertionError):
    """The browser's answer is an error."""


class Pipe:
    """The connection to a browser, which all of its pages use."""

    def __init__(self, to_browser, from_browser):
        self.to_browser, self.from_browser = to_browser, from_browser
        self.rest, self.last_id, self.events = b"", 0, {}

    def receive(self, deadline):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.from_browser], [], [], max(deadline - time.monotonic(), 0))
            data = os.read(self.from_browser, 1 << 20) if ready else b""
            assert data, "the browser does not answer"
            self.rest += data
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, session, method, params):
        """Calls a method of a page, or of the browser. What pages report meanwhile is in `events`, by session."""
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to_browser, data):]
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.last_id:
                if "error" in answer:
                    raise Refused(answer)
                return answer["result"]
            self.events.setdefault(answer.get("sessionId"), []).append(answer)


class Page:
    """One page of a browser that reaches no other host."""

    def __init__(self, pipe):
        self.pipe, self.permitted = pipe, ("file:", "about:", "blob:", "data:")
        self.target = pipe.call(None, "Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = pipe.call(None, "Target.attachToTarget", {"targetId": self.target, "flatten": True})
        self.session = attached["sessionId"]
        self.events = pipe.events.setdefault(self.session, [])
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        return self.pipe.call(self.session, method, params)

    @contextlib.contextmanager
    def open_tab(self):
        """Another page of the same browser, in front of this one, until the context ends."""
        tab = Page(self.pipe)
        yield tab
        self.pipe.call(None, "Target.closeTarget", {"targetId": tab.target})

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, expression, wanted=True):
        """Waits until an expression has a value, which is returned; with `wanted` None until it has any."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                value = self.evaluate(expression)
            except Refused as refused:  # by a page that has just gone
                value = str(refused)
            if value == wanted or wanted is None and value:
                return value
            assert time.monotonic() < deadline, f"{expression} is {value!r}, not {wanted!r}"
            time.sleep(0.05)

    def open(self, url, size=(1200, 700), dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        for address in ("about:blank", url):
            self.navigate(address)

    def navigate(self, url):
        """Waits for the new document. The one before answers for a moment after the browser took the URL."""
        self.evaluate("document.isBefore = true")
        self.call("Page.navigate", url=url)
        self.until("!document.isBefore && document.readyState", "complete")

    def key(self, key, shift=False, ctrl=False):
        """Presses and releases a key, named as in KeyboardEvent.key."""
        code, text = KEYS.get(key, (ord(key[-1].upper()), "" if ctrl else key))
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": (SHIFT if shift else 0) | (CTRL if ctrl else 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def mouse(self, kind, x, y, button="none", shift=False, ctrl=False, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button,
                  modifiers=(SHIFT if shift else 0) | (CTRL if ctrl else 0), **more)

    def click(self, x, y, button="left", shift=False, count=1):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button, shift, clickCount=count)
        self.mouse("mouseReleased", x, y, button, shift, clickCount=count)

    def drag(self, start, end, ctrl=False):
        self.mouse("mouseMoved", *start, ctrl=ctrl)
        self.mouse("mousePressed", *start, "left", ctrl=ctrl, clickCount=1, buttons=1)
        self.mouse("mouseMoved", *end, "left", ctrl=ctrl, buttons=1)
        self.mouse("mouseReleased", *end, "left", ctrl=ctrl, clickCount=1)

    def click_on(self, selector):
        """Clicks on the middle of an element."""
        place = self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
                              "e.scrollIntoView({ block: 'nearest' }); const r = e.getBoundingClientRect();"
                              "return [r.left + r.width / 2, r.top + r.height / 2]; })()")
        self.click(*place)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def permit(self, origin):
        """Requests to that origin are no faults."""
        self.permitted += (origin,)

    def faults(self):
        """What the browser complained of: exceptions, and what the policy forbade; and requests to anywhere."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(params["exceptionDetails"].get("exception", {}).get("description", str(params)))
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
                found.append(params["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(self.permitted):
                    found.append(f"a request to {url[:200]}")
        return found


def first_page(to_browser, from_browser):
    """A browser that does not start is not a fault of the page."""
    try:
        return Page(Pipe(to_browser, from_browser))
    except (AssertionError, OSError) as error:
        browser.skip(f"chromium does not start here: {error}")


@contextlib.contextmanager
def open_browser(download_dir, options=("--disable-gpu",)):
    chromium = browser.find()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as user_dir:
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        # The browser reads its commands from 3 and answers to 4.
        script = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        command = browser.command(chromium, user_dir, "about:blank", *options, "--remote-debugging-pipe")
        with subprocess.Popen(["bash", "-c", script, "bash", str(to_read), str(from_write), *command],
                              pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as process:
            os.close(to_read)
            os.close(from_write)
            try:
                page = first_page(to_write, from_read)
                page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(download_dir))
                yield page
            finally:
                browser.kill(process)
                os.close(to_write)
                os.close(from_read)
