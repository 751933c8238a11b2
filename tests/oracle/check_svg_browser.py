#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Clicks and types in the flame graph of make_profile in a headless Chromium.

usage: check_svg_browser.py MAKE_PROFILE SCENARIO_JS WORK_DIR
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
TIMEOUT_S = 90

AT_START = [
    "shown clear 0 100",
    "shown clear 32 4",
    "shown clear 36 24",
    "shown clear 36 24",
    "shown clear 36 24",
    "shown clear 86 6",
]
EXPECTED = {
    "start": AT_START,
    "zoomed": [
        "shown faded 0 100",
        "hidden clear 32 4",
        "shown faded 0 100",
        "shown clear 0 100",
        "shown clear 0 100",
        "hidden clear 86 6",
    ],
    "label": "http::serve(int)",
    "escaped": AT_START,
    "reset": AT_START,
    "ctrlF": True,
    "focused": True,
    "one": "matched 4.00 %, boxes: 1",
    "nested": "matched 24.00 %, boxes: 3",
    "lit": 3,
    "anyCase": "matched 24.00 %, boxes: 1",
    "sameCase": "matched 0.00 %, boxes: 0",
    "bad": "not a regular expression",
    "cleared": ["", "", 0],
    "rootTop": "108",
    "flippedTop": "0",
    "source": "matched 0.00 %, boxes: 0",
    "details": "http::parse(char*) (12 samples, 24.00 %) \N{MIDDLE DOT} inlined, http/parse.hh:12",
}


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIP)


def dump_dom(chromium, page):
    with tempfile.TemporaryDirectory() as user_dir:
        command = [
            chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            f"--user-data-dir={user_dir}", "--dump-dom", page.as_uri(),
        ]
        try:
            done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            skip("chromium did not answer in time")
    if done.returncode != 0:
        skip(f"chromium does not start here: exit status {done.returncode}")
    return done.stdout.decode()


def main(make_profile, scenario, work_dir):
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        skip("no chromium")

    svg = subprocess.run([make_profile, "svg"], stdout=subprocess.PIPE, check=True).stdout.decode()
    script = f"<script><![CDATA[\n{pathlib.Path(scenario).read_text()}]]></script>\n</svg>"
    page = pathlib.Path(work_dir, "scenario.svg").resolve()
    page.write_text(svg.rstrip().removesuffix("</svg>") + script)

    dom = dump_dom(chromium, page)
    notes = re.search(r'<desc id="notes">(.*?)</desc>', dom, re.DOTALL)
    assert notes, "the scenario did not come to its end"
    seen = json.loads(html.unescape(notes.group(1)))
    for name, expected in EXPECTED.items():
        assert seen[name] == expected, f"{name}: {seen[name]} instead of {expected}"


main(*sys.argv[1:])
