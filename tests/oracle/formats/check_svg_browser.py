#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Clicks and types in the flame graph of make_profile in a headless Chromium.

usage: check_svg_browser.py MAKE_PROFILE SCENARIO_JS LARGE_SCENARIO_JS WORK_DIR
"""
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import browser

SVG = "{http://www.w3.org/2000/svg}"
OPTIONS = ("--disable-gpu",)
FRAMES_PX = "1180"  # the window is as wide as the picture without the script
NR_LEFT_OUT = 1234567

AT_START = ["clear 0 100", "clear 32 4", "clear 36 24", "clear 36 24", "clear 36 24", "clear 86 6"]
EXPECTED = {
    "start": AT_START,
    "hash": "",
    "zoomed": ["faded 0 100", "hidden", "faded 0 100", "clear 0 100", "clear 0 100", "hidden"],
    "zoomedHash": "#zoom=15&flip=0",
    "label": ["all", "nginx", "main", "http::serve(int)", "http::parse(char*)", "do_syscall_64",
              "vfs_read"],
    "back": AT_START,
    "escaped": AT_START,
    "reset": AT_START,
    "ctrlF": True,
    "focused": True,
    "one": "matched 4.00 %, boxes: 1",
    "searchHash": "#zoom=0&search=%5Ekswapd0%24&flip=0",
    "nested": "matched 24.00 %, boxes: 3",
    "lit": 3,
    "anyCase": "matched 24.00 %, boxes: 1",
    "sameCase": "matched 0.00 %, boxes: 0",
    "classCase": "matched 12.00 %, boxes: 1",
    "bad": "not a regular expression",
    "cleared": ["", "", 0],
    "rootTop": "108",
    "flippedTop": "0",
    "flipBackTop": "108",
    "space": True,
    "spaceTop": "0",
    "source": "matched 0.00 %, boxes: 0",
    "details": "http::parse(char*) (12 samples, 24.00 %) \N{MIDDLE DOT} inlined, http/parse.hh:12",
    # 12 of 15 samples of main are nginx's
    "callers": ["clear 0 100", "clear 0 100", "clear 0 80", "clear 80 20", "hidden"],
    "callersHash": "#zoom=0&callers=main&flip=1",
    "noCallers": AT_START,
    "ownTime": ["clear 0 100", "clear 76 24", "clear 76 24", "clear 44 20"],
    "ownTimeZoomed": ["clear 0 100", "clear 0 100", "clear 0 100"],
    "allStacks": AT_START,
    "linked": ["clear 0 100", "clear 0 100", 1, "ngi"],
    "badLink": ["clear 0 100", "#zoom=999999&callers=no+such+function&flip=x"],
}
# Of the picture of 20,000 boxes.
EXPECTED_LARGE = {
    "boxes": 19602,
    "needle": "matched 0.00 %, boxes: 1",
    "lit": 0,
    "litZoomed": 1,
    "labels": ["all", "shop", "github.com/acme/shop/cart.step0_0"],
    "narrow": " \N{MIDDLE DOT} boxes too narrow before you zoom: 1"
              " \N{MIDDLE DOT} smallest boxes left out: 1,234,567",
    "narrowCallers": " \N{MIDDLE DOT} smallest boxes left out, with their callers: 1",
    "narrowAgain": " \N{MIDDLE DOT} boxes too narrow before you zoom: 1"
                   " \N{MIDDLE DOT} smallest boxes left out: 1,234,567",
}


def check(chromium, page, scenario, expected):
    dom, error = browser.dump_dom(chromium, page.as_uri(), *OPTIONS)
    assert dom is not None, f"{scenario}: {error}"
    seen = browser.notes_of(dom, scenario)
    for name, value in expected.items():
        assert seen[name] == value, f"{name}: {seen[name]} instead of {value}"


def labels_of(svg):
    frames = ElementTree.fromstring(svg).find(f"{SVG}svg[@id='frames']")
    assert frames.get("width") == FRAMES_PX, frames.get("width")
    return [text.text for text in frames.iter(f"{SVG}text")]


def check_labels(chromium, page):
    """The script has to cut names as the picture without it does (flame_label.c)."""
    dom, error = browser.dump_dom(chromium, page.as_uri(), *OPTIONS)
    assert dom is not None, f"{page}: {error}"
    labels, expected = labels_of(dom), labels_of(page.read_text())
    assert len(labels) == len(expected) > 250, (len(labels), len(expected))
    for label, value in zip(labels, expected):
        assert label == value, f"label: {label} instead of {value}"


def put_nr_left_out(svg):
    """As if there had been more boxes than the script gets: see svg_data.h."""
    header = '<metadata id="tree">\nsample\n'
    assert svg.count(f"{header}0\n") == 1
    return svg.replace(f"{header}0\n", f"{header}{NR_LEFT_OUT}\n")


def main(make_profile, scenario, large_scenario, work_dir):
    chromium = browser.find()

    def make(kind):
        return subprocess.run([make_profile, kind], stdout=subprocess.PIPE, check=True).stdout.decode()

    browser.check_start(chromium, work_dir, *OPTIONS)
    page = pathlib.Path(work_dir, "labels.svg").resolve()
    page.write_text(make("label-svg"))
    check_labels(chromium, page)
    small, large = make("svg"), put_nr_left_out(make("large-svg"))
    for name, svg, scenario, expected in (
            ("svg", small, scenario, EXPECTED), ("large-svg", large, large_scenario, EXPECTED_LARGE)):
        script = f"<script><![CDATA[\n{pathlib.Path(scenario).read_text()}]]></script>\n</svg>"
        page = pathlib.Path(work_dir, f"scenario-{name}.svg").resolve()
        page.write_text(svg.rstrip().removesuffix("</svg>") + script)
        check(chromium, page, scenario, expected)


if __name__ == "__main__":
    main(*sys.argv[1:])
