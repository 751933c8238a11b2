#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Uses the flame graph of a diff in a headless Chromium, and has flamelet's text with two counts agree with it.

usage: check_diff_browser.py FLAMELET SCENARIO_JS WORK_DIR
"""
import pathlib
import subprocess
import sys

import browser
import check_svg_browser

BEFORE = """web;main;serve 200
web;main;serve;parse 400
web;main;serve;zlib 200
cron;old 200
"""
AFTER = """web;main;serve 100
web;main;serve;brotli 500
web;main;serve;parse 400
"""
FOLDED = """cron;old 200 0
web;main;serve 200 100
web;main;serve;brotli 0 500
web;main;serve;parse 400 400
web;main;serve;zlib 200 0
"""
GREY, NEW, GONE = "rgb(233,234,237)", "rgb(229,83,65)", "rgb(79,143,230)"
SERVE = "rgb(247,191,181)"
OTHER_NEW = "rgb(240,146,10)"
AT_START = [f"0 100 {GREY}", f"0 100 {SERVE}", f"50 40 {GREY}", f"0 50 {NEW}", "hidden", "hidden"]
EXPECTED = {
    "start": AT_START,
    "title": "brotli (0.00 % \N{RIGHTWARDS ARROW} 50.00 %, +50.00 points; 0 \N{RIGHTWARDS ARROW} 500 samples; new)",
    "noise": "parse (40.00 % \N{RIGHTWARDS ARROW} 40.00 %, +0.00 points; 400 \N{RIGHTWARDS ARROW} 400 samples; within "
             "sampling noise)",
    "matched": "matched 20.00 % \N{RIGHTWARDS ARROW} 50.00 %, boxes: 2",
    "before": [f"0 100 {GREY}", f"20 80 {SERVE}", f"20 40 {GREY}", "hidden", f"60 20 {GONE}", f"0 20 {GONE}"],
    "gone": "zlib (20.00 % \N{RIGHTWARDS ARROW} 0.00 %, -20.00 points; 200 \N{RIGHTWARDS ARROW} 0 samples; gone)",
    "beforeHash": "#zoom=0&flip=0&before=1",
    "beforeButton": "Width: before",
    "afterAgain": AT_START,
    "otherColors": [f"0 50 {OTHER_NEW}", "#zoom=0&flip=0&palette=1"],
    "zoomedOut": ["#zoom=5&flip=0&before=1", f"0 100 {SERVE}"],
    "ownTime": [f"0 50 {NEW}", "hidden"],
    "ownTimeBefore": ["hidden", f"80 20 {GONE}"],
    "callers": "serve (80.00 % \N{RIGHTWARDS ARROW} 100.00 %, +20.00 points; 800 \N{RIGHTWARDS ARROW} 1,000 samples)",
    "linked": [f"60 20 {GONE}", "hidden"],
}


def main(flamelet, scenario, work_dir):
    chromium = browser.find()
    browser.check_start(chromium, work_dir, *check_svg_browser.OPTIONS)
    files = {}
    for name, text in (("before", BEFORE), ("after", AFTER)):
        files[name] = pathlib.Path(work_dir, f"{name}.folded")
        files[name].write_text(text)
    page = pathlib.Path(work_dir, "diff.svg").resolve()
    done = subprocess.run([flamelet, "diff", files["before"], files["after"], "-o", page, "-o", "-"],
                          stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode() == FOLDED, done.stdout.decode()
    script = f"<script><![CDATA[\n{pathlib.Path(scenario).read_text()}]]></script>\n</svg>"
    page.write_text(page.read_text().rstrip().removesuffix("</svg>") + script)
    check_svg_browser.check(chromium, page, scenario, EXPECTED)


main(*sys.argv[1:])
