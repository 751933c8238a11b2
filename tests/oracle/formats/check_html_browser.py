#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the plain page of make_profile, which programs without the viewer write, in a headless Chromium, sorts, filters and searches, in light and in dark.

usage: check_html_browser.py MAKE_PROFILE SCENARIO_JS WORK_DIR
"""
import base64
import hashlib
import pathlib
import subprocess
import sys

import browser

OPTIONS = ("--disable-gpu",)
DARK = (*OPTIONS, "--blink-settings=preferredColorScheme=0")
POLICY = "script-src "
EXPECTED = {
    "boxes": 32,
    "controls": 4,
    "rootTop": "0",
    "scrolled": [0, 0],
    "first": ["vfs_read", "json.encode"],
    "byTotal": ["vfs_read", "do_syscall_64"],
    "byName": ["[stack truncated here]", "<alloc::vec::Vec<T>>::push"],
    "byNameBack": ["vfs_read", "py::work"],
    "filtered": ["vfs_read"],
    "all": 23,
    "found": "matched 24.00 %, boxes: 1",
    "search": "^vfs_read$",
    "headings": ["Functions", "Pods", "Processes", "Threads"],
    "cards": ["0.50 sCPU time", "0.05CPUs busy on average", "50samples", "28.0 %in the kernel"],
    "page": "rgb(246, 247, 249)",
    "wide": False,
    "injected": "undefined",
}


def permit(page, script):
    """Adds a script that the policy of the page permits, and one that it does not."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert page.count(POLICY) == 1 and page.count("</body>") == 1
    page = page.replace(POLICY, f"{POLICY}'sha256-{digest}' ")
    return page.replace("</body>", f"<script>window.injected = 1;</script><script>{script}</script></body>")


def check(chromium, page, expected, options):
    dom, error = browser.dump_dom(chromium, page.as_uri(), *options)
    assert dom is not None, error
    notes = browser.notes_of(dom, "the scenario")
    for name, value in expected.items():
        assert notes[name] == value, f"{name}: {notes[name]} instead of {value}"


def main(make_profile, scenario, work_dir):
    chromium = browser.find()
    browser.check_start(chromium, work_dir, *OPTIONS)
    page = pathlib.Path(work_dir, "page.html").resolve()
    made = subprocess.run([make_profile, "plain-html"], stdout=subprocess.PIPE, check=True).stdout.decode()
    page.write_text(permit(made, pathlib.Path(scenario).read_text()))
    check(chromium, page, EXPECTED, OPTIONS)
    check(chromium, page, {"page": "rgb(20, 23, 28)", "boxes": EXPECTED["boxes"]}, DARK)


main(*sys.argv[1:])
