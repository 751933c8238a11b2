#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a load in JavaScript in workerd:

    workerd.py WORKERD LOAD ARGUMENT...
    workerd.py WORKERD --version

The load is a module of a worker, and never returns. It writes its file to workerd's output."""

import glob
import json
import os
import subprocess
import sys
import tempfile

CONFIG = """using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
    # Else V8 has no lines of interpreted functions.
    v8Flags = ["--no-enable-lazy-source-positions"],
    services = [(name = "main", worker = (modules = [%s], compatibilityDate = "2026-01-01",
        compatibilityFlags = ["allow_eval_during_startup"]))],
    sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]);
"""
# What a load needs of Node; a module of that name each.
FS = """exports.writeFileSync = (path, text) => console.log(text);
exports.renameSync = () => {};
"""
PATH = "exports.join = (...parts) => parts.join('/');"
THREADS = "exports.isMainThread = true;"
MAIN = """globalThis.process = %s;
globalThis.setImmediate = call => Promise.resolve().then(call);
"""


def module(name, kind, source):
    return f"(name = {json.dumps(name)}, {kind} = {json.dumps(source, ensure_ascii=False)})"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def config_of(program, arguments, version):
    process = {"argv": ["", program, *arguments], "pid": 0, "version": version}
    main = f'import "./process.js";\nimport "./{os.path.basename(program)}";\nexport default {{}};'
    modules = [module("main.js", "esModule", main), module("process.js", "esModule", MAIN % json.dumps(process)),
               module("fs", "commonJsModule", FS), module("path", "commonJsModule", PATH),
               module("worker_threads", "commonJsModule", THREADS)]
    for path in glob.glob(f"{os.path.dirname(program)}/*.js"):
        modules.append(module(os.path.basename(path), "commonJsModule", read(path)))
    return CONFIG % ", ".join(modules)


def main():
    workerd, program, *arguments = sys.argv[1:]
    version = subprocess.run([workerd, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    if program == "--version":
        print(version.replace("-", "."))
        return
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/config.capnp"
        with open(path, "w", encoding="utf-8") as file:
            file.write(config_of(program, arguments, version))
        with subprocess.Popen([workerd, "serve", path], stdout=subprocess.PIPE, text=True) as process:
            told = f"{arguments[0]}/{process.pid}.json"
            for line in process.stdout:
                if not line.startswith("{"):
                    continue
                with open(f"{told}.new", "w", encoding="utf-8") as file:
                    file.write(line)
                os.rename(f"{told}.new", told)


main()
