# SPDX-License-Identifier: Apache-2.0
"""Keeps the bodies of the OTLP requests that a test receiver gets, for check_requests.py.

Where FLAMELET_OTLP_LOG names a directory, each receiver of the test suite makes a RequestLog and adds each body to it,
decompressed, before it answers. What came to a real Collector is added when that has ended: as the file that its
file exporter wrote. Without the variable nothing is written.

The directory is bounded; what does not fit is counted in a file of its own, and check_requests.py fails for it. A receiver
that runs leaves a file, too: by that one can tell receivers that got nothing from tests that did not run.
"""
import os
import threading
import time

VARIABLE = "FLAMELET_OTLP_LOG"
SUFFIX = ".otlp"
COLLECTOR_SUFFIX = ".collector"
RECEIVER_SUFFIX = ".receiver"
OVERFLOW = "overflow"
MAX_FILES = 8000
MAX_BYTES = 512 << 20


class RequestLog:
    def __init__(self, name, max_files=MAX_FILES, max_bytes=MAX_BYTES):
        self.directory = os.environ.get(VARIABLE)
        self.name = f"{name}-{os.getpid()}-{time.time_ns()}"
        self.max_files, self.max_bytes = max_files, max_bytes
        self.lock = threading.Lock()
        self.nr_added = 0
        if self.directory:
            os.makedirs(self.directory, exist_ok=True)
            self.write(self.name + RECEIVER_SUFFIX, b"")

    def add(self, body):
        self.add_file(body, SUFFIX)

    def add_collector_output(self, path):
        if self.directory and os.path.exists(path):
            with open(path, "rb") as file:
                self.add_file(file.read(), COLLECTOR_SUFFIX)

    def add_file(self, body, suffix):
        if not self.directory:
            return
        with self.lock:
            self.nr_added += 1
            name = f"{self.name}-{self.nr_added}{suffix}"
            if self.has_room(len(body)):
                self.write(name, body)
            else:
                self.count_overflow()

    def has_room(self, length):
        sizes = [entry.stat().st_size for entry in os.scandir(self.directory)
                 if entry.name.endswith((SUFFIX, COLLECTOR_SUFFIX))]
        return len(sizes) < self.max_files and sum(sizes) + length <= self.max_bytes

    def write(self, name, body):
        """Whole or not at all: a receiver may be killed at any time."""
        path = os.path.join(self.directory, name)
        with open(path + ".part", "wb") as file:
            file.write(body)
        os.rename(path + ".part", path)

    def count_overflow(self):
        with open(os.path.join(self.directory, OVERFLOW), "ab") as file:
            file.write(b".")


def files(directory):
    """Their paths: of bodies, and of what Collectors wrote."""
    return sorted(entry.path for entry in os.scandir(directory)
                  if entry.name.endswith((SUFFIX, COLLECTOR_SUFFIX)))


def nr_receivers(directory):
    return sum(entry.name.endswith(RECEIVER_SUFFIX) for entry in os.scandir(directory))


def nr_overflowed(directory):
    path = os.path.join(directory, OVERFLOW)
    return os.path.getsize(path) if os.path.exists(path) else 0
