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

NR_SAMPLES = 50

# (depth, title, first sample, number of samples) in depth-first order
EXPECTED = [
    (0, "all (50 samples, 100.00 %)", 0, 50),
    (1, "api (10 samples, 20.00 %)", 0, 10),
    (2, "main.main (10 samples, 20.00 %)\napi/main.go:10", 0, 10),
    (3, "main.handle (10 samples, 20.00 %)\ninlined, api/main.go:30", 0, 10),
    (4, "main.render (10 samples, 20.00 %)\napi/main.go:40", 0, 10),
    (5, "main.reply (10 samples, 20.00 %)\ninlined, api/main.go:60", 0, 10),
    (6, "json.encode (10 samples, 20.00 %)\ninlined, json/encode.go:90", 0, 10),
    (1, "java (6 samples, 12.00 %)", 10, 6),
    (2, "JavaMain (6 samples, 12.00 %)", 10, 6),
    (3, "Cart.total() (6 samples, 12.00 %)", 10, 6),
    (1, "kswapd0 (2 samples, 4.00 %)", 16, 2),
    (2, "kthread (2 samples, 4.00 %)", 16, 2),
    (3, "kswapd (2 samples, 4.00 %)", 16, 2),
    (1, "nginx (12 samples, 24.00 %)", 18, 12),
    (2, "main (12 samples, 24.00 %)\nnginx.c", 18, 12),
    (3, "http::serve(int) (12 samples, 24.00 %)\nhttp.cc:30", 18, 12),
    (4, "http::parse(char*) (12 samples, 24.00 %)\ninlined, http/parse.hh:12", 18, 12),
    (5, "do_syscall_64 (12 samples, 24.00 %)", 18, 12),
    (6, "vfs_read (12 samples, 24.00 %)", 18, 12),
    (1, "node (5 samples, 10.00 %)", 30, 5),
    (2, "node::Start (5 samples, 10.00 %)", 30, 5),
    (3, "handler (5 samples, 10.00 %)\nsrv/app.js:3", 30, 5),
    (1, "parser (8 samples, 16.00 %)", 35, 8),
    (2, "parser::run (8 samples, 16.00 %)\nsrc/lib.rs:50", 35, 8),
    (3, "parser::next (8 samples, 16.00 %)\ninlined, src/lib.rs:70", 35, 8),
    (4, "<alloc::vec::Vec<T>>::push (8 samples, 16.00 %)\ninlined, vec/mod.rs:2000", 35, 8),
    (1, "postgres (3 samples, 6.00 %)", 43, 3),
    (2, "main (3 samples, 6.00 %)\nmain.c:20", 43, 3),
    (3, "[stack truncated here] (3 samples, 6.00 %)", 43, 3),
    (1, "python3 (4 samples, 8.00 %)", 46, 4),
    (2, "Py_RunMain (4 samples, 8.00 %)", 46, 4),
    (3, "py::work (4 samples, 8.00 %)", 46, 4),
]
KINDS = ("process", "user space", "Go", "Rust", "JVM", "JavaScript", "other JIT", "kernel",
         "truncated stack", "inlined")


def percent(text):
    assert text.endswith("%"), text
    return float(text[:-1])


def check_box(box, expected, max_depth):
    depth, title, start, nr = expected
    rect = box.find(f"{SVG}rect")
    assert box.find(f"{SVG}title").text == title, title
    assert int(rect.get("y")) == (max_depth - depth) * ROW_PX, title
    assert abs(percent(rect.get("x")) - 100 * start / NR_SAMPLES) < 1e-4, title
    assert abs(percent(rect.get("width")) - 100 * nr / NR_SAMPLES) < 1e-4, title
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
    for wanted in ("a title", "a subtitle", "50 samples", *KINDS):
        assert wanted in header, wanted
    check_alone(text)


main(*sys.argv[1:])
