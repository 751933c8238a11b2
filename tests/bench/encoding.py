# SPDX-License-Identifier: Apache-2.0
"""Measures the encoding of a profile for export, beside pprof and the official encoders."""

import gzip
import os
import subprocess
import tempfile
import time

import otlp_windows

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD_GO = os.path.join(HERE, "../../e2e/build-go.sh")
MEASURE_S = 1
GZIP_LEVEL = 6  # zlib's default, as ours


def print_row(name, raw, packed, encode_ns, gzip_ns="", note=""):
    print(f"  {name:34} {raw:>9} {packed:>9} {encode_ns:>10} {gzip_ns:>8}   {note}".rstrip(), flush=True)


def measure_python(body):
    """The official runtime of this machine: which one, bytes, ns of CPU time; None where it is not."""
    request_class = otlp_windows.load_request_class()
    if request_class is None:
        return None
    from google.protobuf.internal import api_implementation  # pylint: disable=import-outside-toplevel
    request = request_class.FromString(body)
    rounds, start = 0, time.process_time()
    while time.process_time() - start < MEASURE_S:
        encoded = request.SerializeToString()
        rounds += 1
    return api_implementation.Type(), encoded, (time.process_time() - start) / rounds * 1e9


def measure_go(path):
    """Bytes, ns of CPU time; or why not."""
    build = subprocess.run([BUILD_GO, f"{HERE}/otlp_go", "."], capture_output=True, text=True, check=False)
    if build.returncode != 0:
        return build.stderr.strip().splitlines()[-1]
    made = subprocess.run([build.stdout.strip(), path], capture_output=True, text=True, check=True)
    return tuple(int(word) for word in made.stdout.split())


def print_official(path, nr_samples):
    with open(path, "rb") as file:
        body = file.read()
    python = measure_python(body)
    note = "baseline: serialises finished messages only"
    if python is None:
        print("  protobuf for Python is not installed: its baseline is left out")
    else:
        kind, encoded, ns = python
        packed = len(gzip.compress(encoded, GZIP_LEVEL)) / nr_samples
        print_row(f"official Python runtime ({kind})", f"{len(encoded) / nr_samples:.1f}", f"{packed:.1f}",
                  f"{ns / nr_samples:.0f}", note=note)
    go = measure_go(path)
    if isinstance(go, str):
        print(f"  {go}: Go's baseline is left out")
    else:
        print_row("official Go structs", f"{go[0] / nr_samples:.1f}", "", f"{go[1] / nr_samples:.0f}", note=note)


def print_encoding(folder):
    with tempfile.TemporaryDirectory() as scratch:
        path = f"{scratch}/body"
        made = subprocess.run([f"{folder}/otlp_bench", path], capture_output=True, text=True, check=True)
        rows = [line.split() for line in made.stdout.splitlines()]
        nr_samples = int(rows.pop()[1])
        print(f"\nA busy node's profile on its way out: {nr_samples} samples of 60 containers, 12 to 56 frames; in bytes "
              "a sample\nand ns of CPU time a sample:")
        print_row("", "raw", "gzip", "encode ns", "gzip ns")
        for name, raw, packed, encode_ns, gzip_ns in rows:
            if name == "labels":
                print_row(name, "", "", encode_ns)
            else:
                print_row(name, raw, packed, encode_ns, gzip_ns, "baseline" if name == "pprof" else "")
        print_official(path, nr_samples)
