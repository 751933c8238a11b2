# SPDX-License-Identifier: Apache-2.0
"""The official protobuf runtime's classes for the .proto files of tests/proto, made by protoc."""
import functools
import importlib.util
import os
import subprocess
import sys
import tempfile

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../proto")
SKIP = 77


@functools.lru_cache(maxsize=None)
def load(name):
    """The module of tests/proto/NAME.proto."""
    with tempfile.TemporaryDirectory() as output:
        subprocess.run(["protoc", f"--proto_path={PROTO}", f"--python_out={output}",
                        f"{name}.proto"], check=True)
        spec = importlib.util.spec_from_file_location(f"{name}_pb2", f"{output}/{name}_pb2.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def otlp():
    return load("otlp_profiles")


def pprof():
    return load("profile")


def skip_unless_available():
    """A test without the decoder says so and ends."""
    try:
        otlp()
    except (ImportError, OSError) as error:
        print(f"SKIP: {error}")
        sys.exit(SKIP)


def decode_error():
    from google.protobuf import message

    return message.DecodeError
