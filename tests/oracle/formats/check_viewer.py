#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Uses pages with the viewer the way a person does, by mouse and keyboard, in a headless Chromium.

usage: check_viewer.py FLAMELET MAKE_PROFILE WORK_DIR
"""
import base64
import csv
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import browser
import cdp

GRAPH = "document.querySelector('#graph')"
FOUND = "document.querySelector('.found').textContent"
STATUS = "document.querySelector('.status').textContent"
CHIPS = "[...document.querySelectorAll('.chip > span')].map((e) => e.textContent)"
TEXT = "(c) => [...c.children].map((e) => e.textContent).filter(Boolean).join(' ') || c.textContent"
ROWS = f"[...document.querySelectorAll('.table tbody tr:not(.space)')].map((row) => [...row.cells].map({TEXT}))"
HASH = "location.hash"
TOTALS = "document.querySelector('.totals').textContent"
CARD = "(() => { const e = document.querySelector('.card'); return e.hidden ? '' : e.innerText; })()"
FACETS = "[...document.querySelectorAll('.facets li')].map((e) => e.innerText.split('\\n').slice(0, 2).join(' '))"
MENU = "[...document.querySelectorAll('.menu:not([hidden]) button span')].map((e) => e.textContent)"
ROW_PX = 20

BURN = """
import time
def find_needle(end):
    while time.process_time() < end:
        sum(i * i for i in range(1000))
find_needle(1.5)
"""
# Before and after, as folded text: one function is gone, one is new, one is as it was.
BEFORE = "web;main;serve 200\nweb;main;serve;parse 400\nweb;main;serve;zlib 200\ncron;old 200\n"
AFTER = "web;main;serve 100\nweb;main;serve;brotli 500\nweb;main;serve;parse 400\n"
CONTROLS = "".join(map(chr, [*range(1, 10), *range(11, 32), 127, *range(0x80, 0xa0), 0x2028, 0x202e]))
HOSTILE = ("a</script><script>window.injected=1</script>", "<img src=x onerror=window.injected=1>",
           "<svg onload=window.injected=1>", "javascript:window.injected=1", "esc\x1b[31m\x07", "bidi\u202etxt.exe",
           "x" * 4096, "\U0001f525" * 1024, f"all {CONTROLS} of them", "=cmd()", "__proto__", "constructor")
# What the page's policy forbade, as the page itself sees it.
WATCH_POLICY = """
window.forbidden = [];
addEventListener('securitypolicyviolation', (event) => forbidden.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


def open_page(page, path, fragment="", **options):
    page.open(path.as_uri() + fragment, **options)
    page.until("!!document.querySelector('#app.ready')")


def place(page, row, share):
    """A place in a row of the graph."""
    left, top, width = page.evaluate(f"(() => {{ const r = {GRAPH}.getBoundingClientRect();"
                                     "return [r.left, r.top, r.width]; })()")
    return left + share * width, top + (row + 0.5) * ROW_PX


def click_box(page, row, share, **options):
    page.click(*place(page, row, share), **options)


def fresh(page, path, fragment=""):
    open_page(page, path, fragment)
    page.evaluate(f"{GRAPH}.focus()")


def check_boxes(page, path):
    """Of 50 samples, api has the first 10: json.encode is the sixth box below it."""
    fresh(page, path)
    assert "0.50" not in page.evaluate(TOTALS) and "500 ms CPU time" in page.evaluate(TOTALS), page.evaluate(TOTALS)
    assert "28.0 % in the kernel" in page.evaluate(TOTALS), page.evaluate(TOTALS)
    page.mouse("mouseMoved", *place(page, 6, 0.1))
    card = page.until(CARD, None)
    for text in ("json.encode", "20.0 %", "100 ms", "10 samples", "go, inlined", "/go/src/encoding/json/encode.go:90",
                 "/srv/api"):
        assert text in card, card
    click_box(page, 6, 0.1)
    page.until(HASH, "#zoom=6")
    assert "json.encode" in page.evaluate(STATUS)
    click_box(page, 1, 0.9)  # the box above it, which is as wide now
    page.until(HASH, "#zoom=1")
    page.evaluate("history.back()")
    page.until(HASH, "#zoom=6")
    page.key("Escape")
    page.until(HASH, "")
    for _ in range(3):  # the last one of a quick series is in the URL
        page.key("+")
    page.until(HASH, "#zoom=0%3A0.3285-0.6715")
    click_box(page, 6, 0.5)
    page.evaluate("history.back()")
    page.until(HASH, "#zoom=0%3A0.3285-0.6715")
    page.evaluate("history.back()")
    page.until(f"{HASH}.startsWith('#zoom=6')")


def check_keys(page, path):
    """Without a mouse: walks to a box, zooms, looks at callers, hides, leaves all of it."""
    fresh(page, path)
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowDown"):
        page.key(key)
    assert page.evaluate(STATUS).startswith("http::serve(int)"), page.evaluate(STATUS)
    assert "http::serve(int)" in page.evaluate(CARD)
    page.key("Enter")
    page.until(f"{HASH}.startsWith('#zoom=')")
    page.key("p")
    page.until(HASH, "#pivot=http%3A%3Aserve%28int%29")
    assert page.evaluate(CHIPS) == ["callers and callees of http::serve(int)"]
    page.key("ArrowDown")
    page.key("ArrowDown")
    assert page.evaluate(STATUS).startswith("http::parse(char*)"), page.evaluate(STATUS)
    page.key("h")
    page.until(f"{CHIPS}.includes('hidden http::parse(char*)')")
    page.key("Backspace")
    page.until(f"!{CHIPS}.includes('hidden http::parse(char*)')")
    page.key("u")
    page.until(CHIPS, [])
    page.key("k")
    page.until(f"{TOTALS}.includes('28.0 % of all')")
    page.key("k")
    page.until(CHIPS, ["kernel hidden"])
    page.key("k")
    page.key("b")
    page.until(HASH, "#bottomup=1")
    page.key("i")
    page.until(HASH, "#bottomup=1&flip=1")
    page.key("?", shift=True)
    page.until("document.querySelector('dialog').open")
    page.key("Escape")
    page.until("!document.querySelector('dialog').open")
    for key, scheme in (("d", "light"), ("d", "dark"), ("d", "light")):
        page.key(key)
        page.until("document.documentElement.dataset.theme", scheme)


def check_search(page, path):
    fresh(page, path)
    cases = (("READ", "28.0 % in 2 boxes", "no switch"), ("READ", "0.00 % in 0 boxes", "matchesCase"))
    for text, found, switch in cases:
        page.key("/")
        page.evaluate("document.querySelector('#search').value = ''")
        page.type(text)
        if switch != "no switch":
            page.click_on(f"[data-name={switch}]")
        page.until(FOUND, found)
    page.click_on("[data-name=matchesCase]")
    for text, plain, switched, switch in (("main", "70.0 % in", "50.0 % in", "wholeWord"),
                                          ("^(vfs_read|kswapd)$", "0.00 % in 0", "28.0 % in 2", "isRegex")):
        page.evaluate("(() => { const s = document.querySelector('#search'); s.focus(); s.select(); })()")
        page.type(text)
        if switch == "isRegex":
            page.until(f"{FOUND}.startsWith({json.dumps(plain)})")
        page.click_on(f"[data-name={switch}]")
        page.until(f"{FOUND}.startsWith({json.dumps(switched)})")
        page.click_on(f"[data-name={switch}]")
    page.click_on("[data-name=isRegex]")
    page.evaluate("document.querySelector('#search').focus()")
    page.key("Enter")
    page.until(f"{STATUS}.startsWith('kswapd ')")
    page.evaluate("document.querySelector('#search').select()")
    page.type("(")
    page.until(f"{FOUND}.includes('nterminated')")
    page.key("Escape")
    page.until(FOUND, "")


def check_menu(page, path):
    fresh(page, path)
    click_box(page, 3, 0.6, button="right")
    entries = page.until(MENU + ".length && " + MENU, None)
    assert "Hide the function" in entries, entries
    assert any(entry.startswith("Only pod web-0 (100 %") for entry in entries), entries
    for _ in range(3):
        page.key("ArrowDown")
    page.key("Enter")
    page.until(CHIPS, ["without http::serve(int)"])
    assert "76.0 % of all" in page.evaluate(TOTALS), page.evaluate(TOTALS)
    page.click_on(".chip button")
    page.until(CHIPS, [])
    click_box(page, 3, 0.6, shift=True)
    page.until(f"{HASH}.startsWith('#pivot=')")


def check_labels(page, path):
    fresh(page, path)
    page.key("l")
    facets = page.until(FACETS + ".length && " + FACETS, None)
    assert "web-0 24.0 %" in facets and "[no pod] 70.0 %" in facets, facets
    page.click_on("[data-facet='only pod web-0']")
    page.until(CHIPS, ["pod: web-0"])
    assert "24.0 % of all" in page.evaluate(TOTALS)
    assert "db-0 6.00 %" in page.evaluate(FACETS)
    page.click_on("[data-facet='include pod db-0']")
    page.until(CHIPS, ["pod: web-0, db-0"])
    page.click_on("[data-facet='exclude pod web-0']")
    page.until(CHIPS, ["pod: db-0", "not pod: web-0"])
    page.key("u")
    page.click_on("[data-facet='group namespace']")
    page.click_on("[data-facet='group pod']")
    page.until(CHIPS, ["stacked by namespace, pod"])
    page.evaluate(f"{GRAPH}.focus()")
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown"):
        page.key(key)
    assert page.evaluate(STATUS).startswith("web-0"), page.evaluate(STATUS)
    page.key("o")
    page.until(f"{CHIPS}.includes('pod: web-0')")


def check_table(page, path, downloads):
    fresh(page, path, "#tab=both")
    rows = page.until(ROWS + ".length && " + ROWS, None)
    assert [row[2].split()[0] for row in rows[:2]] == ["vfs_read", "json.encode"], rows
    assert rows[0][0] == "24.0 % 120 ms", rows[0]
    page.click_on("[data-name=sort-name]")
    page.until(f"{ROWS}[0][2].startsWith('<alloc')")
    page.click_on("[data-name=sort-name]")
    page.until(f"{ROWS}[0][2].startsWith('vfs_read')")
    page.click_on(".table tbody tr:not(.space)")
    page.until(FOUND, "24.0 % in 1 box")
    page.until(f"{ROWS}.length", 1)
    page.click_on("[data-name=csv]")
    text = wait_for(downloads / "function.csv").decode()
    assert list(csv.reader(io.StringIO(text))) == [["function", "kind", "place", "self", "total"],
                                                   ["vfs_read", "kernel", "[kernel.kallsyms]", "12", "12"]], text
    page.evaluate("document.querySelector('.table tr[tabindex=\"0\"]').focus()")
    page.key("Enter")
    page.until(f"{HASH}.includes('pivot=vfs_read')")
    fresh(page, path, "#tab=table&by=label.pod")
    assert [row[2] for row in page.until(ROWS + ".length && " + ROWS, None)] == ["[no pod]", "web-0", "db-0"]


def wait_for(path):
    deadline = time.monotonic() + cdp.TIMEOUT_S
    while not path.exists() or path.stat().st_size == 0:
        assert time.monotonic() < deadline, f"{path.name} was not saved"
        time.sleep(0.05)
    return path.read_bytes()


def pixels(page, data, places):
    """Colors of a picture at places, each a share of its width and a row, as a browser shows it."""
    page.open("about:blank")
    url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    return page.evaluate(f"""(async () => {{
        const image = new Image();
        image.src = {json.dumps(url)};
        await image.decode();
        const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return {json.dumps(places)}.map(([share, y]) =>
            [...context.getImageData(share * image.width, y, 1, 1).data].slice(0, 3).join());
    }})()""")


def check_picture(page, path, downloads):
    """The picture has all rows, also those that are not in the window, in the colors of the page below a title."""
    for theme, background in (("light", "255,255,255"), ("dark", "20,23,28")):
        fresh(page, path, f"#theme={theme}")
        page.until("document.documentElement.dataset.theme", theme)
        page.key("s")
        data = wait_for(downloads / "flamegraph.png")
        (downloads / "flamegraph.png").unlink()
        shown = page.evaluate(f"[...{GRAPH}.getContext('2d').getImageData(120, 6 * {ROW_PX} + 2, 1, 1).data]"
                              ".slice(0, 3).join()")
        nr_rows = page.evaluate(f"Number({GRAPH}.parentElement.scrollHeight) / {ROW_PX}")
        width, height = struct.unpack(">II", data[16:24])
        assert width > 1000 and height % ROW_PX == 0 and height <= (nr_rows + 2) * ROW_PX, (width, height, nr_rows)
        encode, behind = pixels(page, data, ((0.1, 8 * ROW_PX + 2), (0.95, height - 4)))
        assert encode == shown and behind == background, (encode, shown, behind)


def check_pixels(page, path):
    """A box ends where its share says, one pixel before its neighbour, and the row one before the next row."""
    url = path.as_uri() + "#theme=light"
    for density in (1, 1.5, 2):
        page.open("about:blank")
        page.call("Emulation.setDeviceMetricsOverride", width=1200, height=700, deviceScaleFactor=density, mobile=False)
        page.navigate(url)
        page.until("!!document.querySelector('#app.ready')")
        # The second row has api with a fifth of the width.
        seen = page.evaluate(f"""(() => {{
            const edge = {GRAPH}.clientWidth / 5;
            const context = {GRAPH}.getContext('2d');
            return [[edge - 2, 3], [edge - 0.5, 3], [edge + 1, 3], [edge - 2, {ROW_PX} - 0.5]].map(([x, y]) =>
                context.getImageData(Math.round(x * {density}), ({ROW_PX} + y) * {density}, 1, 1).data[3] > 0);
        }})()""")
        assert seen == [True, False, True, False], (density, seen)


FOCUSED = ("(() => { const e = document.activeElement; return e === document.body ? '' : e.dataset.facet"
           " ?? e.dataset.name ?? (e.id || e.tagName); })()")


def walk_to(page, key, wanted):
    """Presses a key until that has the focus."""
    for _ in range(200):
        if page.evaluate(FOCUSED) == wanted:
            return
        page.key(key)
    raise AssertionError(f"{key} does not lead to {wanted}")


def check_tab(page, path):
    """Without a mouse: the tabulator reaches each field and group of controls, in the order of the page, and the arrow
    keys reach all controls of a group."""
    open_page(page, path, "#tab=both&labels=1")
    reached = []
    while len(reached) < 20:
        page.key("Tab")
        name = page.evaluate(FOCUSED)
        if not name or name in reached and name == reached[0]:
            break
        reached.append(name)
    wanted = ("tab-both", "search", "group namespace", "graph", "by", "csv", "sort-name", "TR")
    assert [name for name in reached if name in wanted] == list(wanted), reached
    walk_to(page, "Tab", "tab-both")
    walk_to(page, "ArrowRight", "matchesCase")
    walk_to(page, "Tab", "group namespace")
    walk_to(page, "ArrowDown", "group pod")
    walk_to(page, "ArrowRight", "only pod web-0")
    page.key("Enter")
    page.until(CHIPS, ["pod: web-0"])


def check_link(page, path):
    """A link shows the same view; dark mode follows the system."""
    fragment = "#bottomup=1&search=read&tab=both&theme=dark"
    fresh(page, path, fragment)
    page.until(FOUND, "28.0 % in 2 boxes")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
    open_page(page, path, dark=True)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def diff_page(flamelet, work_dir, before, after):
    """The page of a comparison of two texts."""
    sides = work_dir / "before.folded", work_dir / "after.folded"
    for side, text in zip(sides, (before, after)):
        side.write_text(text)
    path = work_dir / "viewer_diff.html"
    subprocess.run([flamelet, "diff", *sides, "-o", path], check=True, stdout=subprocess.DEVNULL)
    return path


def check_diff(page, flamelet, work_dir):
    path = diff_page(flamelet, work_dir, BEFORE, AFTER)
    fresh(page, path, "#tab=both")
    page.until("document.querySelector('h1').textContent", "before.folded \N{RIGHTWARDS ARROW} after.folded")
    rows = {row[4]: row[:4] for row in page.until(ROWS + ".length && " + ROWS, None)}
    assert rows["brotli"] == ["0.00 %", "50.0 %", "+50.00 new", "50.0 %"], rows
    assert rows["zlib"] == ["20.0 %", "0.00 %", "\N{MINUS SIGN}20.00 gone", "0.00 %"], rows
    color = (f"(() => {{ const c = {GRAPH}; return [...c.getContext('2d').getImageData(c.width * 0.25, "
             f"{4 * ROW_PX + 3}, 1, 1).data].slice(0, 3).join(); }})()")
    page.until(color, "229,83,65")  # brotli is new, and red
    page.key("v")
    page.until(color, "240,146,10")
    page.key("w")
    page.until(f"{HASH}.includes('width=before')")
    for _ in range(3):
        page.key("ArrowDown")
    assert page.evaluate(STATUS).startswith("main"), page.evaluate(STATUS)


def use_every_box(page, nr_steps):
    """Walks from box to box, with the card, the menu and the callers of each of them."""
    page.evaluate(f"{GRAPH}.focus()")
    page.key("ArrowDown")
    page.key("ArrowDown")
    for _ in range(nr_steps):
        assert page.evaluate(CARD)
        page.key("m")
        assert page.evaluate(MENU)
        page.key("Escape")
        page.key("ArrowRight")
    page.key("p")
    page.until(f"{HASH}.includes('pivot=')")


def check_hostile(page, flamelet, work_dir):
    """Names do nothing: none runs, none breaks the page, and all are shown."""
    folded = "".join(f"sh;{name.replace(';', ':')};leaf{i} {i + 1}\n" for i, name in enumerate(HOSTILE))
    folded += "".join(f"{name.replace(';', ':')};of its process 40\n" for name in HOSTILE)
    path = diff_page(flamelet, work_dir, folded, folded)
    watch = page.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH_POLICY)["identifier"]
    fresh(page, path, "#tab=both&sort=name&labels=1&pivot=__proto__&hide=constructor&label.__proto__=x")
    page.key("u")
    page.evaluate("document.querySelector('.table tbody').closest('div').scrollTop = 0")
    names = page.until(ROWS + ".length > 9 && " + ROWS, None)
    names = [row[4] for row in names]
    assert HOSTILE[0].replace(";", ":") in names and "__proto__" in names and "esc\\x1b[31m\\x07" in names, names
    assert not set(CONTROLS) & set("".join(names)), names
    use_every_box(page, 2 * len(HOSTILE))
    assert page.evaluate("typeof window.injected") == "undefined"
    assert page.evaluate("document.querySelectorAll('img, svg[onload], script:not(:is(body > script))').length") == 0
    assert page.evaluate("forbidden") == [] and not page.faults(), (page.evaluate("forbidden"), page.faults())
    script = page.evaluate("(() => { const s = document.createElement('script'); s.textContent = 'window.injected = 1';"
                           "document.body.append(s); return typeof window.injected; })()")
    assert script == "undefined", "the policy permits a script"
    page.until("forbidden.join()", "script-src-elem inline")  # so that it would have been seen above
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=watch)
    page.events.clear()  # of which the browser complained


def check_record(page, flamelet, work_dir):
    """A page, which `record` writes if nothing else is asked for, shows a function that is known to run."""
    if os.geteuid() != 0:
        print("a real record: only as root")
        return
    with tempfile.TemporaryDirectory(dir=work_dir) as directory:
        done = subprocess.run([os.path.abspath(flamelet), "record", "-F", "499", "--", "/usr/bin/python3", "-c", BURN],
                              cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env={name: value for name, value in os.environ.items() if name != "SSH_CONNECTION"})
        assert done.returncode == 0, done.stdout.decode()
        path, = pathlib.Path(directory).glob("flamelet-*.html")
        assert f"to open         in a browser: {path.as_uri()}\n" in done.stdout.decode(), done.stdout.decode()
        fresh(page, path, "#search=find_needle|_PyEval_EvalFrameDefault&mode=r")
        found = page.until(f"{FOUND}.includes(' % in ') && {FOUND}", None)
    assert float(found.split()[0]) > 30, found
    page.key("n")
    page.key("p")
    page.until(f"{CHIPS}.length", 1)


def check_large(page, flamelet, work_dir):
    """200,000 boxes, and 400 deep ones."""
    lines = [f"sh;{';'.join(f'f{i % 7}_{i}_{depth}' if depth > 2 else f'f{depth}' for depth in range(100))} 3\n"
             for i in range(2000)]
    lines.append("sh;" + ";".join(f"deep{depth}" for depth in range(400)) + " 900\n")
    path = diff_page(flamelet, work_dir, "".join(lines), "".join(lines))
    began = time.monotonic()
    fresh(page, path)
    opened = time.monotonic() - began
    page.key("/")
    page.type("deep399")
    page.until(f"{FOUND}.endsWith(' in 1 box')")
    page.key("Enter")
    page.until(f"{STATUS}.startsWith('deep399')")
    assert page.evaluate("document.querySelector('.scroller').scrollTop") > 7000
    print(f"200,000 boxes: {opened:.2f} s until the page is ready, "
          f"{page.evaluate(f'{GRAPH}.dataset.paintMs')} ms for the last picture, {path.stat().st_size >> 10} KiB")


def main(flamelet, make_profile, work_dir):
    work_dir = pathlib.Path(work_dir).resolve()
    downloads = work_dir / "downloads"
    downloads.mkdir(exist_ok=True)
    for file in downloads.iterdir():
        file.unlink()
    path = work_dir / "viewer.html"
    path.write_bytes(subprocess.run([make_profile, "html"], stdout=subprocess.PIPE, check=True).stdout)
    if b'id="data"' not in path.read_bytes():
        browser.skip("flamelet was built without the viewer")
    with cdp.open_browser(downloads) as page:
        for check, *arguments in (
                (check_boxes, path), (check_keys, path), (check_search, path), (check_menu, path),
                (check_labels, path), (check_table, path, downloads), (check_picture, path, downloads),
                (check_pixels, path), (check_tab, path), (check_link, path), (check_diff, flamelet, work_dir), (check_hostile, flamelet, work_dir),
                (check_record, flamelet, work_dir), (check_large, flamelet, work_dir)):
            began = time.monotonic()
            check(page, *arguments)
            assert not page.faults(), (check.__name__, page.faults())
            print(f"{check.__name__}: {time.monotonic() - began:.1f} s")


main(*sys.argv[1:])
