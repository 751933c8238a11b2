#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Opens files of make_profile in the real speedscope, in a headless Chromium that reaches no other host, and reads its
table of functions.

usage: check_speedscope.py MAKE_PROFILE
"""
import http.server
import json
import queue
import subprocess
import sys
import tempfile
import threading

import browser
import viewers

OPTIONS = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=1200,1400")
TIMEOUT_S = 240  # WebGL without a graphics card, on a busy machine
# Of 50 samples of 10 ms: total and self.
FUNCTIONS = {
    "http::serve(int)": ["120.00ms (24%)", "0.00ns (<0.01%)"],
    "vfs_read": ["120.00ms (24%)", "120.00ms (24%)"],
    "json.encode": ["100.00ms (20%)", "100.00ms (20%)"],
    "<alloc::vec::Vec<T>>::push": ["80.00ms (16%)", "80.00ms (16%)"],
    "Cart.total()": ["60.00ms (12%)", "60.00ms (12%)"],
    "[stack truncated here]": ["30.00ms (6.0%)", "30.00ms (6.0%)"],
    "nginx": ["120.00ms (24%)", "0.00ns (<0.01%)"],
}
# Of the processes without a pod; the two parts that follow are pods.
NO_POD = {
    "json.encode": ["100.00ms (29%)", "100.00ms (29%)"],
    "Cart.total()": ["60.00ms (17%)", "60.00ms (17%)"],
}
# The title of what is shown, the functions, and what is nowhere.
CASES = (
    ("speedscope", "a title", FUNCTIONS, None),
    ("pod-speedscope", "[no pod] (1/3)", NO_POD, "vfs_read"),
)

PROBE = """
setInterval(() => {
	const rows = Array.from(document.querySelectorAll('table tr'),
		(row) => Array.from(row.cells, (cell) => cell.innerText.trim()));

	fetch('/notes', { method: 'POST', body: JSON.stringify({ text: document.body.innerText, rows }) });
}, 500);
"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the directory of speedscope, with the probe in its page, and a profile."""
    profile = b""
    notes = queue.Queue()

    def do_GET(self):
        if self.path == "/":
            page = self.server.release / "index.html"
            self.answer("text/html", page.read_bytes().replace(b"</body>", f"<script>{PROBE}</script></body>".encode()))
        elif self.path == "/profile.json":
            self.answer("application/json", self.profile)
        else:
            super().do_GET()

    def do_POST(self):
        self.notes.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.answer("text/plain", b"")

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def faults_of(notes, title, expected, absent):
    rows = {row[2]: row[:2] for row in notes["rows"] if len(row) == 3}
    faults = [f"{name}: {rows.get(name)} instead of {times}" for name, times in expected.items()
              if rows.get(name) != times]
    if title not in notes["text"]:
        faults.append(f"no \"{title}\" in {notes['text'][:200]!r}")
    if absent and absent in rows:
        faults.append(f"{absent} is in another part")
    return faults


def check_case(chromium, server, data, case):
    """Waits until the page shows what it should."""
    kind, title, expected, absent = case
    faults = [f"no answer in {TIMEOUT_S} s"]
    Handler.profile, Handler.notes = data, queue.Queue()
    url = f"http://127.0.0.1:{server.server_port}/#profileURL=/profile.json&view=sandwich"
    with browser.open_page(chromium, url, *OPTIONS):
        for notes in browser.until(TIMEOUT_S, Handler.notes):
            faults = faults_of(notes, title, expected, absent)
            if not faults:
                break
    return [f"{kind}: {fault}" for fault in faults]


def check_schema(data, schema):
    """The schema that speedscope publishes. Nothing is checked if no validator is installed."""
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        return
    jsonschema.validate(json.loads(data), schema)


def check(make_profile):
    chromium = browser.find()
    release = viewers.directory() / "speedscope/dist/release"
    schema = json.loads((release / "file-format-schema.json").read_text())
    faults = []

    with tempfile.TemporaryDirectory() as work_dir:
        browser.check_start(chromium, work_dir, *OPTIONS)

    def handler(*args):
        return Handler(*args, directory=release)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.release = release
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for case in CASES:
            data = subprocess.run([make_profile, case[0]], stdout=subprocess.PIPE, check=True).stdout
            check_schema(data, schema)
            faults += check_case(chromium, server, data, case)
        server.shutdown()
    return faults


sys.exit(viewers.host.judge_anyone(check, *sys.argv[1:]))
