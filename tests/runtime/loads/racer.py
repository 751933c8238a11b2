#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a load in JavaScript in mini-racer, V8 in a Python process:

    racer.py LOAD ARGUMENT...
    racer.py --version

The load runs in a thread of mini-racer's, and never returns. Its file comes through memory (racer.js)."""

import glob
import json
import os
import signal
import sys
import threading
import time

import py_mini_racer


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def wait_for_file(memory):
    while not int.from_bytes(memory[:4], sys.byteorder):
        time.sleep(0.05)
    return bytes(memory[4:4 + int.from_bytes(memory[:4], sys.byteorder)])


def main():
    if sys.argv[1] == "--version":
        print(py_mini_racer.MiniRacer().v8_version)
        return
    program, *arguments = sys.argv[1:]
    sources = {path: read(path) for path in glob.glob(f"{os.path.dirname(program)}/*.js")}
    # Else V8 has no lines of interpreted functions.
    py_mini_racer.init_mini_racer(flags=(*py_mini_racer.DEFAULT_V8_FLAGS, "--no-enable-lazy-source-positions"))
    context = py_mini_racer.MiniRacer()
    given = {"sources": sources, "program": program, "arguments": arguments, "pid": os.getpid(),
             "version": context.v8_version}
    memory = context.eval(f"{read(os.path.join(os.path.dirname(program), 'racer.js'))}({json.dumps(given)})")
    threading.Thread(target=context.eval, args=(f"run({json.dumps(program)})",)).start()
    path = f"{arguments[0]}/{os.getpid()}.json"
    with open(f"{path}.new", "wb") as file:
        file.write(wait_for_file(memory))
    os.rename(f"{path}.new", path)
    signal.pause()


main()
