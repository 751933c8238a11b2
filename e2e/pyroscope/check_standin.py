#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks how `flamelet export` handles Pyroscope's answers, which the stand-in gives, and that the
stand-in gives them.

    check_standin.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last."""

from dataclasses import dataclass, field
import gzip
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time

import grpc

import limits
import recording
import standin as standins

# When the recorded bodies were young.
RECORDED_S = 1795230440
HTTP_TYPE = "application/x-protobuf"
LABELS = {"service.name": "checkout", "k8s.namespace.name": "shop", "k8s.pod.name": "checkout-0"}
OLD_S = 2 * limits.OLDEST_S
RUN_SECONDS = 120


def post(port, body, **headers):
    connection = http.client.HTTPConnection(standins.HOST, port, timeout=30)
    try:
        connection.request("POST", standins.HTTP_PATH, body, {"Content-Type": HTTP_TYPE, **headers})
        answer = connection.getresponse()
        return answer.status, answer.read().decode().strip()
    finally:
        connection.close()


def call(port, body):
    with grpc.insecure_channel(f"{standins.HOST}:{port}") as channel:
        try:
            channel.unary_unary(standins.GRPC_METHOD)(body, timeout=30)
        except grpc.RpcError as error:
            return error.code().name, error.details()
    return "OK", ""


def check_recorded_answers():
    """By heart, and by the rules alone."""
    faults = []
    with standins.Standin() as standin:
        for case in standins.read_cases():
            wanted = case.over_http, case.over_grpc
            if (answer := post(standin.http_port, case.body)) != (wanted[0].http, wanted[0].text):
                faults.append(f"{case.name}: HTTP {answer}")
            if (answer := call(standin.grpc_port, case.body)) != (wanted[1].grpc, wanted[1].text):
                faults.append(f"{case.name}: gRPC {answer}")
            verdict, _stored = limits.judge(case.body, RECORDED_S, limits.Bucket())
            if (verdict.http, verdict.grpc) != (wanted[0].http, wanted[0].grpc):
                faults.append(f"{case.name}: the rules say {verdict}")
    return faults


def check_http():
    body = standins.read_cases()[0].body
    answers = [({"Content-Type": HTTP_TYPE + "; charset=utf-8"}, body, 415),
               ({"Content-Type": "text/plain"}, body, 415),
               ({"Content-Encoding": "gzip"}, gzip.compress(body), 200),
               ({"Content-Encoding": "gzip"}, body, 400),
               ({"Content-Encoding": "zstd"}, body, 200)]
    with standins.Standin() as standin:
        found = [(headers, wanted, post(standin.http_port, sent, **headers)[0])
                 for headers, sent, wanted in answers]
    return [f"{headers}: HTTP {status}, not {wanted}" for headers, wanted, status in found
            if status != wanted]


@dataclass
class Run:
    """One replay of `file` to one stand-in. `results` are the counters that must be all samples;
    `is_once`: in one request."""
    name: str
    file: str
    results: tuple
    standin: dict = field(default_factory=dict)
    options: tuple = ()
    protocols: tuple = ("http", "grpc")
    is_once: bool = False


PRESET = ("--otlp-preset", "pyroscope")
# Refused for good: at once, and no second time.
REFUSED = {"results": ("dropped.rejected",), "is_once": True}
RUNS = [
    Run("taken", "plain", ("sent",), is_once=True),
    *(Run(name, "plain", standin={"verdict": name}, **REFUSED) for name in (
        "26 resource attributes + service.name", "label-value 2049", "2 h old", "no-values",
        "bad-stack", "no-dictionary", "junk-body", "invalid utf-8")),
    Run("no more labels leave than are taken", "labels", ("sent",)),
    Run("nor with the preset", "labels", ("sent",), options=PRESET),
    Run("by the rules, too old", "old", options=("--at", "recorded"), **REFUSED),
    Run("old, sent as if new", "old", ("sent",), options=("--at", "now")),
    Run("429 is tried again, and kept", "plain", ("queued",), standin={"burst": 1},
        options=("--wait", "3s"), protocols=("http",)),
    Run("gRPC has no word for later", "plain", ("dropped.too_large",), standin={"burst": 1},
        options=("--wait", "3s"), protocols=("grpc",)),
    Run("413", "plain", ("dropped.too_large",), standin={"max_body": 100}, protocols=("http",)),
    Run("more samples than one profile may have", "many", ("sent",), options=PRESET),
    Run("samples × mappings", "mappings", ("sent",), options=PRESET),
]


def write_files(directory):
    """{name: (path, number of samples)}"""
    now = time.time()
    plain = recording.Recording()
    plain.add(7, ["leaf", "main"], LABELS)
    plain.add(3, ["other", "main"], LABELS)
    labels = recording.Recording()
    labels.add(5, ["leaf", "main"],
               {**LABELS, "long": "v" * 3000, **{f"l{i}": "v" for i in range(limits.MAX_LABELS)}})
    old = recording.Recording(now - OLD_S)
    old.add(4, ["leaf", "main"], LABELS)
    many = recording.Recording()
    for i in range(2 * limits.MAX_SAMPLES + 10):
        many.add(1, [f"leaf{i % 200}", f"middle{i // 200}", "main"], LABELS)
    mappings = recording.Recording()
    mappings.add_mappings(20)
    for i in range(8000):
        mappings.add(1, [f"leaf{i % 100}", f"middle{i // 100}"] + [f"f{j}" for j in range(18)], LABELS,
                     list(range(1, 21)))
    made = {"plain": plain, "labels": labels, "old": old, "many": many, "mappings": mappings}
    return {name: (file.write(f"{directory}/{name}.pb.gz"), file.total) for name, file in made.items()}


def export(binary, path, standin, protocol, *options):
    """(exit status, what it counted)"""
    name = {"http": "http/protobuf", "grpc": "grpc"}[protocol]
    command = [binary, "export", path, "--otlp-endpoint", standin.url(protocol),
               "--otlp-protocol", name, "--json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=RUN_SECONDS, check=False)
    try:
        return done.returncode, json.loads(done.stdout)
    except json.JSONDecodeError:
        return done.returncode, {"error": done.stdout + done.stderr}


def check_counts(counts, wanted):
    """Every sample is in exactly one place, and it is the one that is wanted."""
    dropped = {f"dropped.{reason}": count for reason, count in counts.get("dropped", {}).items()}
    places = {name: counts.get(name) for name in ("sent", "queued")} | dropped
    return [] if places == {name: wanted.get(name, 0) for name in places} else [f"{wanted}: {counts}"]


def check_run(binary, run, protocol, file, directory):
    path, total = file
    with standins.Standin(**run.standin) as standin:
        status, counts = export(binary, path, standin, protocol, "--queue-dir", directory, *run.options)
        faults = check_counts(counts, dict.fromkeys(run.results, total))
        if status != (0 if run.results == ("sent",) else 1):
            faults.append(f"exit status {status}")
        if standin.stored() != counts.get("sent"):
            faults.append(f"{counts.get('sent')} sent, but {standin.stored()} stored")
        if run.is_once and len(standin.requests) != 1:
            faults.append(f"{len(standin.requests)} requests")
    return [f"{run.name}, {protocol}: {fault}" for fault in faults]


def check_runs(binary, files, directory):
    faults = []
    for run in RUNS:
        for protocol in run.protocols:
            with tempfile.TemporaryDirectory(dir=directory) as queue:
                found = check_run(binary, run, protocol, files[run.file], queue)
            print(f"{'FAIL' if found else 'ok  '} {run.name}, {protocol}", flush=True)
            faults += found
    return faults


def check_return(binary, file, directory):
    """The next run delivers what had to wait because of a limit."""
    path, total = file
    with standins.Standin(burst=1) as standin:
        export(binary, path, standin, "http", "--queue-dir", directory, "--wait", "2s")
        standin.bucket = limits.Bucket()
        status, counts = export(binary, path, standin, "http", "--queue-dir", directory)
        faults = check_counts(counts, {"sent": 2 * total})
        if (status, counts.get("restored"), standin.stored()) != (0, total, 2 * total):
            faults.append(f"after the limit: status {status}, {counts}, {standin.stored()} stored")
    return faults


def main():
    binary = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory:
        files = write_files(directory)
        faults = (check_recorded_answers() + check_http() + check_runs(binary, files, directory)
                  + check_return(binary, files["plain"], f"{directory}/queue"))
    for fault in faults:
        print(f"FAIL: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
