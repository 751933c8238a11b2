# SPDX-License-Identifier: Apache-2.0
"""Measures the page that `flamelet record` writes beside d3-flame-graph and speedscope, with the same profiles, in one
headless Chromium without a graphics card.

All pages come from one server on this machine and are used by mouse and keyboard. A time ends with the frame after
which the page is quiet (viewer_probe.js), so it contains all work in steps. It is longer on a machine that does other
things; the CPU time of the whole browser beside it is not. An empty page tells how much of the first picture's is
nobody's."""

import functools
import gzip
import http.server
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "../oracle/formats"), str(HERE / "../../e2e/local")]

# pylint: disable=wrong-import-position
import browser
import cdp
import host
import viewers

NODES = (12360, 61032, 192027)
RUNS = 5
SIZE = (1900, 1000)
SLOW_MS = 5000          # what takes longer is measured once
DRAG_STEPS = 120
SEARCHES = ("flush", "lookup", "commit", "handle", "encode")
TIMEOUT_S = 300
OPTIONS = ("--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
GRAPH = "document.querySelector('#graph')"
HEAD = (f"{'viewer':34} {'nodes':>7} {'file KB':>8} | {'first picture':>15} {'zoom':>15} {'search':>15}   frames/s, dragged"
        f"\n{'':52} {'ms, CPU ms':>15} {'ms, CPU ms':>15} {'ms, CPU ms':>15}")


class Empty:
    """A page without anything: what the browser takes by itself. It cannot be used."""
    name = "an empty page"
    ready = "document.readyState !== 'loading'"
    zoom = None

    def files(self, _):
        page = b'<!DOCTYPE html><meta charset="utf-8"><title>empty</title>'
        return {"/empty.html": page}, page

    def path(self):
        return "/empty.html"


class Flamelet:
    """Our page. Its graph is a canvas."""
    name = "flamelet"
    ready = f"!!document.querySelector('#app.ready') && !!{GRAPH}?.dataset.paintMs"
    events = "pointerup"

    def files(self, profile):
        page = profile("html")
        return {"/page.html": page}, page

    def path(self):
        return "/page.html"

    def place(self, page, share):
        left, top, width = page.evaluate(f"(() => {{ const r = {GRAPH}.getBoundingClientRect();"
                                         "return [r.left, r.top, r.width]; })()")
        return left + share * width, top + 90

    def zoom(self, page, share):
        page.click(*self.place(page, share))

    def reset(self, page):
        page.key("Escape")

    def begin_search(self, page):
        page.key("/")
        page.evaluate("document.activeElement.select()")

    def drag_from(self, page):
        page.evaluate(f"{GRAPH}.focus()")
        for _ in range(4):
            page.key("+")
        return self.place(page, 0.5)


class D3:
    """d3-flame-graph. It has no drag."""
    ready = "!!document.querySelector('svg .frame')"
    events = "click"

    def __init__(self, min_frame_px):
        self.min_frame_px = min_frame_px
        self.name = f"d3-flame-graph, minFrameSize({min_frame_px})"

    def files(self, profile):
        data = json.dumps(d3_tree(profile("folded").decode()), separators=(",", ":")).encode()
        return {"/profile.json": data, "/d3.html": d3_page()}, data

    def path(self):
        return f"/d3.html?profile=/profile.json&min={self.min_frame_px}"

    def zoom(self, page, share):
        """One of the two widest frames in the fifth row from the root."""
        nth = int(share > 0.35)
        place = page.evaluate(
            "(() => { const width = (g) => g.querySelector('rect').getBoundingClientRect().width;"
            " const frames = [...document.querySelectorAll('g.frame')].filter((g) => g.__data__.depth === 4)"
            "  .map((g) => ({ g, width: width(g) })).sort((a, b) => b.width - a.width);"
            f" const rect = frames[{nth}].g.querySelector('rect'); rect.scrollIntoView({{ block: 'center' }});"
            " const r = rect.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()")
        page.click(*place)

    def reset(self, page):
        page.evaluate("document.querySelectorAll('g.frame').forEach((g) => {"
                      " if (g.__data__.depth === 0) g.dispatchEvent(new MouseEvent('click', { bubbles: true })); })")

    def begin_search(self, page):
        page.evaluate("(() => { const s = document.querySelector('#search'); s.focus(); s.select(); })()")

    drag_from = None


class Speedscope:
    """speedscope, from its folder."""
    name = "speedscope"
    ready = "document.querySelectorAll('canvas').length > 1"
    events = "dblclick"

    def files(self, profile):
        data = profile("speedscope")
        return {"/speedscope.json": data}, data

    def path(self):
        return "/speedscope/index.html#profileURL=/speedscope.json&view=left-heavy"

    def zoom(self, page, share):
        x, y = share * SIZE[0], 260
        page.click(x, y)
        page.click(x, y, count=2)

    def reset(self, page):
        page.key("0")

    def begin_search(self, page):
        page.key("f", ctrl=True)
        wait_for(page, "document.activeElement.tagName === 'INPUT'")
        page.evaluate("document.activeElement.select()")

    def drag_from(self, page):
        for _ in range(4):
            page.key("+")
        return SIZE[0] / 2, 260


def d3_tree(folded):
    """What d3-flame-graph reads: of each box its name, total value and children."""
    root = {"name": "all", "value": 0, "children": {}}
    for line in folded.splitlines():
        stack, _, count = line.rpartition(" ")
        node = root
        root["value"] += int(count)
        for name in stack.split(";"):
            node = node["children"].setdefault(name, {"name": name, "value": 0, "children": {}})
            node["value"] += int(count)
    return with_lists(root)


def with_lists(node):
    return {**node, "children": [with_lists(child) for child in node["children"].values()]}


@functools.cache
def d3_page():
    """One page with the library in it, made by the program that makes ours."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(viewers.directory(), f"{folder}/node_modules")
        shutil.copy(HERE / "viewer_d3.js", f"{folder}/viewer_d3.mjs")
        host.run("esbuild", f"{folder}/viewer_d3.mjs", "--bundle", "--minify", "--format=esm", "--log-level=error",
                 "--preserve-symlinks", f"--outfile={folder}/d3.js", cwd=folder)
        script, style = (pathlib.Path(folder, f"d3.{kind}").read_bytes() for kind in ("js", "css"))
    return (b'<!DOCTYPE html><meta charset="utf-8"><style>' + style + b'</style><input id="search"><div id="chart"></div>'
            b'<script type="module">' + script + b"</script>")


def without_data(page):
    return re.sub(rb'(<script type="application/gzip" id="data">)[^<]*', rb"\1", page)


def kilobytes(data):
    return len(data) / 1000


def packed_kb(data):
    return kilobytes(gzip.compress(data, 9, mtime=0))


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the files at hand, and the folder of speedscope."""
    files = {}

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path not in self.files:
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Length", str(len(self.files[path])))
        self.end_headers()
        self.wfile.write(self.files[path])

    def translate_path(self, path):
        return super().translate_path(path.removeprefix("/speedscope"))

    def log_message(self, *_):
        pass


def wait_for(page, expression):
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        value = page.evaluate(expression)
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{expression} is {value!r}")
        time.sleep(0.05)


def cpu_ms(page):
    """Of each process of the browser."""
    session, page.session = page.session, None
    processes = page.call("SystemInfo.getProcessInfo")["processInfo"]
    page.session = session
    return {process["id"]: 1000 * process["cpuTime"] for process in processes}


def timed(page, act):
    """What an action takes until the page is quiet, and the browser's CPU time, without processes that have ended."""
    before = cpu_ms(page)
    act()
    took = wait_for(page, "window.benchProbe?.result")
    return took, sum(ms - before.get(process, 0) for process, ms in cpu_ms(page).items())


def several(measure_once):
    """The medians of some runs, or the first one if it is slow."""
    times = []
    for run in range(RUNS):
        times.append(measure_once(run))
        if times[0][0] > SLOW_MS:
            break
    wall, cpu = (statistics.median(column) for column in zip(*times))
    return f"{wall:8.0f} {cpu:6.0f}"


def measure_open(page, url):
    page.call("Page.navigate", url="about:blank")
    return timed(page, lambda: page.call("Page.navigate", url=url))


def measure_event(page, kind, act):
    page.evaluate(f"benchProbe.arm('{kind}')")
    return timed(page, act)


def measure_zoom(page, viewer, run):
    took = measure_event(page, viewer.events, lambda: viewer.zoom(page, 0.3 + 0.1 * (run % 2)))
    viewer.reset(page)
    time.sleep(min(took[0] / 1000, 1) + 0.3)
    return took


def measure_search(page, viewer, run):
    viewer.begin_search(page)
    return measure_event(page, "input", lambda: page.type(SEARCHES[run]))


def measure_drag(page, viewer):
    """Frames per second while the mouse moves to and fro. The browser takes the next movement when it has shown the one
    before."""
    x, y = viewer.drag_from(page)
    page.mouse("mouseMoved", x, y)
    page.mouse("mousePressed", x, y, "left", clickCount=1, buttons=1)
    page.evaluate("benchProbe.count()")
    for step in range(DRAG_STEPS):
        page.mouse("mouseMoved", x + 4 * min(step % 80, 80 - step % 80), y, "left", buttons=1)
    rate = page.evaluate("benchProbe.stop()")
    page.mouse("mouseReleased", x, y, "left", clickCount=1)
    return rate


def measure(page, viewer, base):
    first = several(lambda _: measure_open(page, base + viewer.path()))
    if not viewer.zoom:
        return first
    zoom = several(functools.partial(measure_zoom, page, viewer))
    rate = f"{measure_drag(page, viewer):.0f}" if viewer.drag_from else "-"
    search = several(functools.partial(measure_search, page, viewer))
    return f"{first} {zoom} {search} {rate:>19}"


def print_viewer(viewer, folder, nodes, base):
    def profile(kind):
        return subprocess.run([f"{folder}/viewer_profile", str(nodes), kind], stdout=subprocess.PIPE, check=True).stdout

    Handler.files, data = viewer.files(profile)
    line = f"{viewer.name:34} {nodes:7} {kilobytes(data):8.0f} | "
    with cdp.open_browser(folder, OPTIONS) as page:
        page.call("Emulation.setDeviceMetricsOverride", width=SIZE[0], height=SIZE[1], deviceScaleFactor=1, mobile=False)
        page.call("Page.addScriptToEvaluateOnNewDocument", source=(HERE / "viewer_probe.js").read_text()
                  + f"if (location.protocol === 'http:') benchProbe.open(() => {viewer.ready});")
        try:
            print(line + measure(page, viewer, base), flush=True)
        except AssertionError as error:
            print(f"{line} given up: {str(error)[:60]}", flush=True)


def print_size(folder):
    page = subprocess.run([f"{folder}/viewer_profile", "1", "html"], stdout=subprocess.PIPE, check=True).stdout
    print(f"\nThe page without data: {packed_kb(without_data(page)):.1f} KB of gzip")


def print_baselines(release):
    scope = b"".join(path.read_bytes() for path in sorted(release.iterdir()) if path.suffix in (".js", ".css", ".html"))
    print(f"baselines: d3-flame-graph and what it needs {packed_kb(d3_page()):.1f} KB, speedscope's scripts and styles "
          f"{packed_kb(scope):.1f} KB")


def print_viewers(folder):
    """Our page alone if the others cannot be had."""
    if not shutil.which("chromium") and not shutil.which("google-chrome"):
        print("\nviewer: SKIP: no chromium")
        return
    cdp.TIMEOUT_S = TIMEOUT_S  # a page that is busy does not answer
    print_size(folder)
    try:
        release = viewers.directory() / "speedscope/dist/release"
        all_viewers = (Empty(), Flamelet(), Speedscope(), D3(1), D3(0))
        print_baselines(release)
    except host.Skip as skip:
        print(f"viewer: SKIP of d3-flame-graph and speedscope: {skip}")
        release, all_viewers = pathlib.Path(folder), (Empty(), Flamelet())
    print(HEAD, flush=True)
    handler = functools.partial(Handler, directory=release)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for viewer in all_viewers:
            for nodes in NODES if viewer.zoom else (0,):
                print_viewer(viewer, folder, nodes, f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
