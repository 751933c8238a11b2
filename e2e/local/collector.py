# SPDX-License-Identifier: Apache-2.0
"""The receiving end: a real OpenTelemetry Collector, or receiver.py where it cannot be built."""

import bisect
import os
import subprocess
import sys
import threading
import time

import host
import profiles

LOCAL = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(LOCAL, "../../tests/conformance"))
import request_log  # noqa: E402  pylint: disable=wrong-import-position

COLLECTOR = os.path.join(os.path.dirname(LOCAL), "collector")
BUILD = os.path.join(COLLECTOR, "build.sh")
PROTO = os.path.join(LOCAL, "../../tests/proto/otlp_profiles.proto")
BUILD_SECONDS = 1500     # two minutes of CPU time, at the lowest priority: a busy machine takes much longer


def find_collector():
    """The path of the cached Collector, built now if need be; None, said aloud, without Go."""
    done = subprocess.run([BUILD], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=BUILD_SECONDS, check=False)
    if done.returncode == host.SKIP:
        reason = done.stderr.strip().removeprefix("SKIP: ") or "it cannot be built here"
        print(f"SKIP OpenTelemetry Collector: {reason}; receiver.py takes its place", flush=True)
        return None
    if done.returncode != 0:
        raise host.Failure(f"{BUILD}: exit {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout.split()[-1]


class ArrivalLog:
    """Notes when a file grew, by looking at it often."""

    def __init__(self, path):
        self.path, self.growths = path, []      # (time since the epoch, size)
        self.is_stopping = threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        while not self.is_stopping.wait(0.05):
            size = os.path.getsize(self.path) if os.path.exists(self.path) else 0
            if size > (self.growths[-1][1] if self.growths else 0):
                self.growths.append((time.time(), size))

    def time_of(self, offset):
        """When the byte before this offset was there; now, where it was not seen yet."""
        index = bisect.bisect_left(self.growths, offset, key=lambda growth: growth[1])
        return self.growths[index][0] if index < len(self.growths) else time.time()

    def stop(self):
        self.is_stopping.set()
        self.thread.join()


class Collector:
    """One receiver on one port. It can go down and come back, with a new output file each time."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory)
        self.program = None
        self.port = host.free_port()
        self.outputs = []
        self.process = None
        self.arrival_log = None

    def endpoint(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        if not self.outputs:
            self.program = find_collector()
        output = f"{self.directory}/profiles-{len(self.outputs)}.json"
        self.outputs.append(output)
        environment = dict(os.environ, COLLECTOR_ADDRESS=f"127.0.0.1:{self.port}",
                           COLLECTOR_FILE=output)
        self.process = host.Process("collector", self.command(output), f"{self.directory}/log",
                                    env=environment)
        self.arrival_log = ArrivalLog(output)
        host.wait_until("the collector listens", self.is_listening)

    def command(self, output):
        if self.program:
            return [self.program, "--config", f"{COLLECTOR}/config.yaml"]
        return [sys.executable, f"{LOCAL}/receiver.py", str(self.port), PROTO, output]

    def is_listening(self):
        if not self.process.is_alive():
            raise host.Failure("the collector ended: " + self.process.log()[-2000:])
        return host.accepts_connections(self.port)

    def samples(self):
        """Returns the samples received since the last start. The last ones are complete only after
        stop()."""
        return profiles.read_samples(host.read_text(self.outputs[-1]))

    def arrivals(self):
        """When profiles arrived, by the time at which they end, in seconds and nanoseconds since the epoch."""
        arrived, offset = {}, 0
        for line in host.read_text(self.outputs[-1]).splitlines(keepends=True):
            offset += len(line.encode())
            if line.endswith("\n"):
                arrived.update((sample.end_ns, self.arrival_log.time_of(offset))
                               for sample in profiles.read_samples(line))
        return arrived

    def finish_output(self):
        """All samples since the last start; what comes now goes into another file."""
        self.stop()
        samples = self.samples()
        self.start()
        return samples

    def stop(self):
        if self.process and not self.arrival_log.is_stopping.is_set():
            self.process.finish()
            self.arrival_log.stop()
            if self.program:    # receiver.py does so itself
                request_log.RequestLog("collector").add_collector_output(self.outputs[-1])
