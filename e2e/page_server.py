#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The server of `flamelet ui`: it answers as the commands do, also while the record is written, and only those who may
ask.

    page_server.py path/to/flamelet path/to/store_bench

Exit status 0: all is right; 1: something is wrong, listed last."""

import argparse
import base64
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
from page_client import Page, is_gzip_of, output_of

SECONDS = 90            # of the record
NO_SAMPLES = 3          # exit status
READING = 1 << 1 | 1 << 2   # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
POD = '{comm=~"program-.*"}'
IDLE_CLIENTS = 40       # more than the server takes
EXTENSIONS = {"folded": "folded", "svg": "svg", "pprof": "pb.gz", "html": "html", "speedscope": "speedscope.json",
              "firefox": "firefox.json", "json": "json", "csv": "csv"}
DATA = re.compile(rb'<script type="application/gzip" id="data">([^<]*)<')


class Scene:
    """A record of a made node, and the program that reads it."""

    def __init__(self, options, directory):
        self.binary, self.maker, self.directory = options.binary, options.maker, directory
        self.store = os.path.join(directory, "record")
        host.run(self.maker, "make", self.store, "light", "10", str(SECONDS / 3600), "0")
        self.first = json.loads(self.command("ls", "--json"))["files"][0]["first"]

    def command(self, *arguments, status=0):
        return output_of(self.binary, *arguments, "--store", self.store, status=status)

    def run(self, *arguments):
        done = subprocess.run([self.binary, *map(str, arguments), "--store", self.store], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=120, check=False)
        return done.returncode, done.stdout

    def range(self, first, seconds):
        """The same range for the page and for a command."""
        begin = self.first + first
        return {"from": begin, "to": begin + seconds}, f"{begin}..{begin + seconds}"


def check_answers(scene, page):
    """Each answer is what the command prints, byte by byte."""
    (times, word), (before, word_before) = scene.range(60, 10), scene.range(0, 30)
    base = {"base_from": before["from"], "base_to": before["to"]}
    cases = (
        ("timeline", {"by": "pod", "step": 1, "max": 3}, ("timeline", word, "--by", "pod", "--step", "1", "--lines", 3)),
        ("timeline", {"by": "cpu", "step": 1}, ("timeline", word, "--by", "cpu", "--step", "1")),
        ("timeline", {"by": "slot"}, ("timeline", word, "--by", "slot")),
        ("timeline", {"by": "comm", "q": POD, "type": "cpu"}, ("timeline", word, "--by", "comm", "-s", POD)),
        ("timeline", {"by": "pod", "throttled": 1}, ("timeline", word, "--by", "pod", "--throttled")),
        ("timeline", {"by": "gpu", "step": 1}, ("timeline", word, "--by", "gpu", "--step", "1")),
        ("timeline", {}, ("timeline", word)),
        ("top", {"by": "pod", "n": 3}, ("top", "--range", word, "--by", "pod", "--rows", 3)),
        ("top", {"q": POD}, ("top", "--range", word, "-s", POD)),
        ("findings", {}, ("findings", word)),
    )
    faults = []
    for what, parameters, words in cases:
        status, _, body = page.api(what, **times, **parameters)
        command, output = scene.run(*words, "--json")
        if (status, command) == (404, NO_SAMPLES) and json.loads(body)["empty"]:
            continue    # a made record has neither slots nor vitals
        if (status, command) != (200, 0) or body != output:
            faults.append(f"{what} {parameters}: {status}, {body[:200]}")
    shown = (
        ({}, ("query", word)),
        ({"q": POD, "group": "pod,comm", "kernel": "hide", "bottomup": 1},
         ("query", word, "-s", POD, "--group", "pod,comm", "--kernel", "hide", "--bottom-up")),
        (base, ("diff", word_before, word)),
        ({**base, "q": POD, "base_q": '{comm!="x"}'}, ("diff", word_before, word, "-s", POD, "--against", '{comm!="x"}')),
    )
    for parameters, words in shown:
        status, _, body = page.api("flame", **times, **parameters)
        html = scene.command(*words, "-o", "-", "--format", "html")
        if status != 200 or body != gzip.decompress(base64.b64decode(DATA.search(html)[1])):
            faults.append(f"flame {parameters}: {status}, {body[:200]}")
    return faults


def check_exports(scene, page):
    """Each file is what the command writes."""
    (times, word), (before, word_before) = scene.range(60, 10), scene.range(0, 30)
    base = {"base_from": before["from"], "base_to": before["to"]}
    cases = [(format_, {}, ("query", word)) for format_ in EXTENSIONS]
    cases += [("folded", {"q": POD, "group": "comm", "bottomup": 1, "kernel": "only"},
               ("query", word, "-s", POD, "--group", "comm", "--bottom-up", "--kernel", "only"))]
    cases += [(format_, base, ("diff", word_before, word)) for format_ in ("html", "svg", "folded", "csv")]
    faults = []
    for format_, parameters, words in cases:
        path = os.path.join(scene.directory, f"x.{EXTENSIONS[format_]}")
        scene.command(*words, "-q", "-o", path)
        status, headers, body = page.api("export", fmt=format_, **times, **parameters)
        with open(path, "rb") as file:
            if status != 200 or file.read() != body:
                faults.append(f"export {format_} {parameters}: {status}, {body[:200]}")
        name = headers.get("Content-Disposition", "")
        if not re.fullmatch(rf'attachment; filename="flamelet-[\w.-]+-\d+T\d+Z\.{re.escape(EXTENSIONS[format_])}"', name):
            faults.append(f"export {format_}: its name is {name}")
    return faults


def check_record(scene, page):
    """What the record has, and its events."""
    listed = json.loads(scene.command("ls", "--json"))
    info, events = page.json("info"), page.json("events")
    for file in info["files"]:  # as --store names them
        file["path"] = os.path.abspath(file["path"])
    faults = [] if info["files"] == listed["files"] else [f"the files are {info['files']}"]
    if (info["hosts"], info["types"], info["warnings"]) != (["node-7.example"], ["cpu"], []):
        faults.append(f"the record is {info}")
    if (info["first"], info["newest"], info["end"]) != (scene.first, scene.first + SECONDS - 1, scene.first + SECONDS):
        faults.append(f"the times are {info}")
    scene.command("pin", f"{scene.first}..{scene.first + 5}", "--note", "a note")
    pins = page.json("events")["pins"]
    scene.command("pin", "--remove", pins[0]["id"] if pins else "p1")
    if events["events"] != listed["events"] or not events["events"]:
        faults.append(f"the events are {events['events'][:3]}")
    return faults + ([] if [pin["note"] for pin in pins] == ["a note"] else [f"the pins are {pins}"])


def check_errors(scene, page):
    times, _ = scene.range(60, 1)
    cases = (
        ("flame", {"from": 1, "to": 2}, 404, True),
        ("timeline", {"from": 1, "to": 2}, 404, True),
        ("top", {"from": 1, "to": 2}, 404, True),
        ("flame", {**times, "type": "off_cpu"}, 404, True),
        ("flame", {**times, "q": '{comm="nobody"}'}, 404, True),
        ("flame", {**times, "base_from": 1, "base_to": 2}, 404, True),
        ("flame", {"from": 1}, 400, False),
        ("flame", {"from": "-1", "to": 2}, 400, False),
        ("flame", {"from": 5, "to": 5}, 400, False),
        ("flame", {**times, "q": "{"}, 400, False),
        ("flame", {**times, "q": '{comm=~"(((a{255}){255}){255}){255}"}'}, 400, False),
        ("flame", {**times, "type": "x"}, 400, False),
        ("flame", {**times, "fmt": "svg"}, 400, False),
        ("flame", {**times, "store": "/etc"}, 400, False),
        ("flame", {**times, "output": "/tmp/x"}, 400, False),
        ("timeline", {**times, "step": "0"}, 400, False),
        ("timeline", {**times, "by": "cpu", "q": POD}, 400, False),
        ("timeline", {**times, "n": "1"}, 400, False),
        ("timeline", {**times, "base_from": 1}, 400, False),
        ("export", times, 400, False),
        ("export", {**times, "fmt": "exe"}, 400, False),
        ("export", {**times, "fmt": "pprof", "base_from": 1, "base_to": times["to"] - 1}, 400, False),
        ("nothing", {}, 404, False),
    )
    faults = []
    for what, parameters, expected, is_empty in cases:
        status, headers, body = page.api(what, **parameters)
        told = json.loads(body) if headers["Content-Type"] == "application/json" else {}
        if (status, told.get("empty", False)) != (expected, is_empty) or len(told.get("error", "")) < 5:
            faults.append(f"{what} {parameters}: {status} {body[:300]}")
    return faults


def check_files(page):
    """The page and its two files: nothing from elsewhere, and headers that forbid it."""
    faults = []
    for what, type_, text in (("", "text/html", b'<meta name="flamelet-api" content="api/v1/">'),
                              ("viewer.js", "text/javascript", b"flamelet"), ("viewer.css", "text/css", b"{")):
        status, headers, body = page.get(what)
        if status != 200 or not headers["Content-Type"].startswith(type_) or text not in body:
            faults.append(f"/{what}: {status} {headers} {body[:100]}")
        if (headers["Cache-Control"], headers["X-Content-Type-Options"]) != ("no-store", "nosniff") or \
                "default-src 'none'; script-src 'self'; style-src 'self';" not in headers["Content-Security-Policy"]:
            faults.append(f"/{what}: {headers}")
        status, headers, packed = page.get(what, headers={"Accept-Encoding": "br, gzip"})
        if len(body) > 2000 and not (headers.get("Content-Encoding") == "gzip" and is_gzip_of(packed, body)):
            faults.append(f"/{what} compressed: {headers}")
        status, headers, nothing = page.get(what, method="HEAD")
        if (status, nothing, headers["Content-Length"]) != (200, b"", str(len(body))):
            faults.append(f"/{what} by HEAD: {status} {headers}")
    return faults + (["the page has an inline script"] if b"<script>" in page.get("")[2] else [])


def check_warnings(scene, page):
    """A damaged file is reported."""
    path = os.path.join(scene.store, "20200101T000000Z.db")
    with open(path, "w", encoding="utf-8") as file:
        file.write("no database")
    status, headers, _ = page.api("flame", **scene.range(60, 1)[0])
    told = page.json("info")["warnings"], page.json("events")["warnings"]
    os.unlink(path)
    faults = [] if all(len(one) == 1 and "is left out" in one[0] for one in told) else [f"the warnings are {told}"]
    if status != 200 or "is left out" not in headers.get("Flamelet-Warnings", ""):
        faults.append(f"a damaged file: {status} {headers}")
    return faults


def test_damaged_block(scene):
    """An answer without the samples of a damaged block says so, whatever is asked."""
    store = os.path.join(scene.directory, "damaged")
    shutil.copytree(scene.store, store)
    path = next(os.path.join(store, name) for name in os.listdir(store) if name.endswith(".db"))
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE block SET data = x'00' WHERE id = (SELECT max(id) FROM block)")
    times, _ = scene.range(0, SECONDS)
    faults = []
    with Page(scene.binary, scene.directory, store) as page:
        for what, parameters in (("flame", {}), ("top", {}), ("findings", {}), ("export", {"fmt": "folded"})):
            status, headers, _ = page.api(what, **times, **parameters)
            if status != 200 or "it is damaged" not in headers.get("Flamelet-Warnings", ""):
                faults.append(f"{what} of a damaged block: {status} {headers}")
    return faults


def check_strangers(page):
    """Others are refused, whatever they ask for."""
    wrong = ("0" if page.token[0] != "0" else "1") + page.token[1:]
    own = f"/{page.token}/"
    cases = (
        (own, "GET", {"Host": "evil.example"}, 403),
        (own, "GET", {"Host": f"evil.example:{page.port}"}, 403),
        (own, "GET", {"Host": "127.0.0.1.evil.example"}, 403),
        (own + "api/v1/info", "GET", {"Origin": "http://evil.example"}, 403),
        (own + "api/v1/info", "GET", {"Origin": "null"}, 403),
        (own + "api/v1/info", "GET", {"Sec-Fetch-Site": "cross-site"}, 403),
        (own + "api/v1/info", "GET", {"Sec-Fetch-Site": "same-site"}, 403),
        (own + "api/v1/info", "POST", {}, 405),
        (own + "api/v1/info", "DELETE", {}, 405),
        (own + "api/v1/info", "OPTIONS", {"Origin": "http://evil.example"}, 403),
        (f"/{wrong}/", "GET", {}, 404),
        (f"/{wrong}/api/v1/info", "GET", {}, 404),
        (f"/{page.token}", "GET", {}, 404),
        ("/", "GET", {}, 404),
        ("/api/v1/info", "GET", {}, 404),
        (own + "../../../../etc/passwd", "GET", {}, 404),
        (own + "%2e%2e/%2e%2e/etc/passwd", "GET", {}, 404),
        (own + "api/v1/../info", "GET", {}, 404),
        (own + "api/v1/info?a=%00", "GET", {}, 400),
        (own + "api/v1/info?a=%zz", "GET", {}, 400),
    )
    faults = []
    for path, method, headers, expected in cases:
        status, _, body = page.ask(path, method, headers)
        if status != expected or page.token.encode() in body or b"root:" in body:
            faults.append(f"{method} {path} {headers}: {status} {body[:200]}")
    for path, headers in ((own + "?q=" + "a" * 100_000, {}), (own, {"X": "a" * 100_000})):
        try:
            status = page.ask(path, headers=headers)[0]
        except OSError:
            status = 0      # it closes the connection
        faults += [] if status in (0, 400, 413, 414, 431) else [f"a large request: {status}"]
    return faults + ([] if page.get("api/v1/info")[0] == 200 else ["afterwards it does not answer"])


def open_socket(page):
    client = socket.create_connection(("127.0.0.1", page.port), timeout=60)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return client


def check_slow_clients(scene, page):
    """One that never ends its request, one that never reads its answer, and more than there is room for."""
    times, _ = scene.range(0, SECONDS)
    half, deaf = open_socket(page), open_socket(page)
    path = f"/{page.token}/api/v1/export?fmt=json&from={times['from']}&to={times['to']}"
    half.sendall(b"GET / HTTP/1.1\r\nHost: local")
    deaf.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    faults = [] if page.get("api/v1/info")[0] == 200 else ["it does not answer beside slow clients"]
    idle = [open_socket(page) for _ in range(IDLE_CLIENTS)]
    faults += [] if page.get("api/v1/info")[0] == 200 else ["it does not answer beside many clients"]
    for client in (half, deaf, *idle):
        client.close()
    return faults


def end(page, name):
    status = page.process.finish(30, signal.SIGTERM)
    return [] if status == 0 else [f"{name} ended with {status}: {page.process.log()}"]


def test_answers(scene):
    with Page(scene.binary, scene.directory, os.path.relpath(scene.store)) as page:
        faults = check_answers(scene, page) + check_exports(scene, page) + check_record(scene, page)
        faults += check_errors(scene, page) + check_files(page) + check_strangers(page) + check_warnings(scene, page)
        return faults + check_slow_clients(scene, page) + end(page, "the server")


def test_growing_record(scene):
    """New seconds of a record that is written appear, and new files, and those that are gone disappear."""
    store = os.path.join(scene.directory, "growing")
    with subprocess.Popen([scene.maker, "make", store, "light", "3", "24", "0"], stdout=subprocess.DEVNULL) as writer:
        try:
            host.wait_until("a file of the record", lambda: subprocess.run(
                [scene.binary, "ls", "--store", store], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                check=False).returncode == 0)
            with Page(scene.binary, scene.directory, store) as page:
                host.wait_until("a second", lambda: page.json("info")["end"])
                end_of_first = page.json("info")["end"]
                host.wait_until("a new second", lambda: page.json("info")["end"] > end_of_first + 60)
                writer.kill()
                writer.wait()
                info = page.json("info")
                word = f"{info['newest'] - 5}..{info['end']}"
                told = output_of(scene.binary, "query", word, "--store", store, "-o", "-")
                faults = [] if page.api("export", fmt="folded", **{"from": info["newest"] - 5, "to": info["end"]})[2] \
                    == told else ["the newest seconds are others"]
                shutil.copy(json.loads(scene.command("ls", "--json"))["files"][0]["path"], os.path.join(store, "20200101T000000Z.db"))
                faults += [] if len(page.json("info")["files"]) == len(info["files"]) + 1 else ["a new file is missing"]
                for name in os.listdir(store):
                    if ".db" in name:
                        os.unlink(os.path.join(store, name))
                faults += [] if page.json("info")["files"] == [] else ["files that are gone are still there"]
                empty = page.api("flame", **{"from": 0, "to": 9})[0], page.api("events")[0], page.api("top", **{"from": 0, "to": 9})[0]
                faults += [] if empty == (404, 200, 404) else [f"an empty record: {empty}"]
                return faults + end(page, "the server of a growing record")
        finally:
            writer.kill()


def test_socket(scene):
    path = os.path.join(scene.directory, "ui.sock")
    with Page(scene.binary, scene.directory, scene.store, listen=f"unix:{path}") as page:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        faults = [] if mode == 0o600 else [f"the socket has mode {mode:o}"]
        faults += [] if page.get("api/v1/info")[0] == 200 else ["the socket does not answer"]
        faults += [] if page.ask("/", headers={"Host": "evil.example"})[0] == 403 else ["a socket takes any host"]
        faults += end(page, "the server at a socket")
    return faults + (["the socket is still there"] if os.path.exists(path) else [])


def state_of(pid, name):
    return re.search(rf"^{name}:\s*(\w+)", host.read_text(f"/proc/{pid}/status"), re.M)[1]


def server_of(page):
    """The process that serves; its parent waits for it."""
    return int(host.read_text(f"/proc/{page.process.pid}/task/{page.process.pid}/children"))


def test_privileges(scene):
    """Root's server has no privileges, except for the files of another user."""
    if os.geteuid() != 0:
        return []
    theirs = os.path.join(scene.directory, "theirs")
    shutil.copytree(scene.store, theirs)
    for name in os.listdir(theirs):
        os.chown(os.path.join(theirs, name), 65534, 65534)
    os.chmod(theirs, 0o755)
    faults = []
    for store, expected in ((scene.store, 0), (theirs, READING)):
        with Page(scene.binary, scene.directory, store) as page:
            status = page.api("flame", **scene.range(60, 1)[0])[0]
            kept = [int(state_of(pid, "CapEff"), 16) for pid in (page.process.pid, server_of(page))]
            faults += [] if status == 200 and not any(one & ~expected for one in kept) else \
                [f"{store}: {status}, capabilities {kept}"]
    return faults


def is_sanitized(binary):
    """A sanitizer makes system calls of its own, so there is no filter."""
    with open(binary, "rb") as file:
        return bool(re.search(rb"__[at]san_init", file.read()))


def test_confinement(scene):
    """The process that serves is under a filter of system calls, and its parent reports how it was ended."""
    with Page(scene.binary, scene.directory, scene.store) as page:
        server = server_of(page)
        state = [state_of(server, name) for name in ("Seccomp", "NoNewPrivs")]
        faults = [] if state[1] == "1" and (state[0] == "2" or is_sanitized(scene.binary)) else \
            [f"the server's state is {state}"]
        os.kill(server, signal.SIGSYS)
        status = page.process.child.wait(30)
        told = "it tried a system call that it may not make" in page.process.log()
        faults += [] if status == 1 and told else [f"a stopped server: {status} {page.process.log()}"]
    with Page(scene.binary, scene.directory, scene.store) as page:
        server = server_of(page)
        page.process.child.kill()
        host.wait_until("the end of the server", lambda: not os.path.exists(f"/proc/{server}"))
    return faults


def test_refusals(scene):
    faults = []
    for arguments, status, text in (
            (("--listen", "0.0.0.0:7070"), 2, b"expected 127.0.0.1"), (("--listen", "127.0.0.2:7070"), 2, b"expected"),
            (("--listen", "unix:ui.sock"), 2, b"expected"), (("--store", "/nowhere"), 1, b"there is no record"),
            (("--listen", "unix:/nowhere/ui.sock"), 1, b"cannot listen")):
        words = (scene.binary, "ui", "--store", scene.store, *arguments)
        words = words if "--store" not in arguments else (scene.binary, "ui", *arguments)
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
        if done.returncode != status or text not in done.stdout:
            faults.append(f"{arguments}: {done.returncode} {done.stdout}")
    return faults


def check(options, directory):
    scene = Scene(options, directory)
    return test_answers(scene) + test_damaged_block(scene) + test_growing_record(scene) + test_socket(scene) + \
        test_privileges(scene) + test_confinement(scene) + test_refusals(scene)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("maker", type=os.path.abspath)
    with tempfile.TemporaryDirectory(prefix="flamelet-page-") as own:
        sys.exit(host.judge_anyone(check, parser.parse_args(), own))
