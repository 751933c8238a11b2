#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the flame graph of make_profile with an XML parser and compares its boxes.

usage: check_svg.py MAKE_PROFILE
"""
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"
ROW_PX = 18

# (depth, title, first sample, number of samples) in depth-first order; 17 samples in all
EXPECTED = [
    (0, "all (17 samples, 100.00 %)", 0, 17),
    (1, "kswapd0 (2 samples, 11.76 %)", 0, 2),
    (2, "kthread (2 samples, 11.76 %)", 0, 2),
    (3, "kswapd (2 samples, 11.76 %)", 0, 2),
    (1, "nginx (12 samples, 70.59 %)", 2, 12),
    (2, "main (12 samples, 70.59 %)", 2, 12),
    (3, "http::serve(int) (12 samples, 70.59 %)", 2, 12),
    (4, "do_syscall_64 (12 samples, 70.59 %)", 2, 12),
    (5, "vfs_read (12 samples, 70.59 %)", 2, 12),
    (1, "postgres (3 samples, 17.65 %)", 14, 3),
    (2, "main (3 samples, 17.65 %)", 14, 3),
    (3, "[stack cut here] (3 samples, 17.65 %)", 14, 3),
]


def percent(text):
    assert text.endswith("%"), text
    return float(text[:-1])


def check_box(box, expected, max_depth):
    depth, title, start, nr = expected
    rect = box.find(f"{SVG}rect")
    assert box.find(f"{SVG}title").text == title, title
    assert int(rect.get("y")) == (max_depth - depth) * ROW_PX, title
    assert abs(percent(rect.get("x")) - 100 * start / 17) < 1e-4, title
    assert abs(percent(rect.get("width")) - 100 * nr / 17) < 1e-4, title
    assert re.fullmatch("#[0-9a-f]{6}", rect.get("fill")), title


def check_alone(text):
    """Nothing is loaded from anywhere; the only addresses are names of namespaces."""
    addresses = set(re.findall(r"""https?://[^"'\s]+""", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}, addresses
    assert not re.search(r"href|@import|url\(", text)


def main(make_profile):
    text = subprocess.run([make_profile, "svg"], stdout=subprocess.PIPE, check=True).stdout.decode()
    root = ElementTree.fromstring(text)
    boxes = root.find(f"{SVG}svg[@id='frames']").findall(f"{SVG}g")
    assert len(boxes) == len(EXPECTED)
    for box, expected in zip(boxes, EXPECTED):
        check_box(box, expected, max(depth for depth, *_ in EXPECTED))
    header = "".join(root.find(f"{SVG}g[@id='header']").itertext())
    for wanted in ("a title", "a subtitle", "17 samples", "kernel", "user space"):
        assert wanted in header, wanted
    check_alone(text)


main(*sys.argv[1:])
