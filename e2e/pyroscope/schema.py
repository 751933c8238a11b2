# SPDX-License-Identifier: Apache-2.0
"""The messages of OTLP and pprof as classes of the official protobuf runtime."""

import importlib
import os
import subprocess
import sys
import tempfile

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/proto")


def load(name):
    """Compiles tests/proto/NAME.proto and returns its module."""
    with tempfile.TemporaryDirectory() as output:
        subprocess.run(["protoc", f"--proto_path={PROTO}", f"--python_out={output}", f"{name}.proto"],
                       check=True)
        sys.path.insert(0, output)
        try:
            return importlib.import_module(f"{name}_pb2")
        finally:
            sys.path.remove(output)


otlp = load("otlp_profiles")
pprof = load("profile")
