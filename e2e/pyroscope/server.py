# SPDX-License-Identifier: Apache-2.0
"""A real Pyroscope: the program that PYROSCOPE names, started here, or the one that PYROSCOPE_URL tells
of. And its API for queries."""

import contextlib
import json
import os
import signal
import time
import urllib.error
import urllib.request

import host

CPU = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
QUERIER = "querier.v1.QuerierService"
# Without the second half, names with dots are left out of answers.
ACCEPT = "*/*;allow-utf8-labelnames=true"
HOW = ("no Pyroscope: give one with PYROSCOPE=/path/to/pyroscope (2.x, started here, on loopback) "
       "or PYROSCOPE_URL=http://127.0.0.1:4040 (running, without tenants)")
READY_SECONDS = 90
MAX_NODES = 200_000
# Around what is asked for: a range that is shorter than a step of a series has no points.
MARGIN_S = 30


def command(program, http, rpc, gossip, raft, address="127.0.0.1"):
    """All at one address, nothing sent anywhere, ready in two seconds."""
    return [
        program, "-architecture.storage=v2", "-self-profiling.disable-push=true",
        "-usage-stats.enabled=false", "-segment-writer.min-ready-duration=0s",
        "-metastore.min-ready-duration=0s",
        f"-server.http-listen-address={address}", f"-server.http-listen-port={http}",
        f"-server.grpc-listen-address={address}", f"-server.grpc-listen-port={rpc}",
        f"-memberlist.bind-addr={address}", f"-memberlist.advertise-addr={address}",
        f"-memberlist.bind-port={gossip}", f"-distributor.ring.instance-addr={address}",
        f"-query-frontend.instance-addr={address}",
        f"-query-scheduler.ring.instance-addr={address}",
        f"-overrides-exporter.ring.instance-addr={address}",
        f"-segment-writer.lifecycler.addr={address}",
        *(f"-metastore.raft.{name}={address}:{raft}"
          for name in ("bind-address", "advertise-address", "server-id")),
        f"-metastore.address={address}:{rpc}", f"-query-backend.address={address}:{rpc}"]


def is_ready(url):
    with contextlib.suppress(OSError):
        with urllib.request.urlopen(f"{url}/ready", timeout=5) as answer:
            return answer.status == 200
    return False


class Pyroscope:
    """A part of a scene, which starts and stops it."""

    def __init__(self):
        self.directory = None       # for its data and log
        self.url = os.environ.get("PYROSCOPE_URL", "").rstrip("/")
        self.program = os.environ.get("PYROSCOPE")
        self.process = None
        self.began_s = time.time()
        if not self.url and not self.program:
            raise host.Skip(HOW)

    def endpoint(self):
        return self.url

    def start(self):
        if not self.url:
            os.makedirs(self.directory)
            ports = [host.free_port() for _ in range(4)]
            self.url = f"http://127.0.0.1:{ports[0]}"
            self.process = host.Process("pyroscope", command(self.program, *ports),
                                        f"{self.directory}/log", cwd=self.directory)
        host.wait_until("Pyroscope is ready", self.is_ready, READY_SECONDS)

    def is_ready(self):
        if self.process and not self.process.is_alive():
            raise host.Failure("Pyroscope ended: " + self.process.log()[-2000:])
        return is_ready(self.url)

    def stop(self):
        """It takes long to end in order, and nothing is to be kept."""
        if self.process:
            self.process.finish(first=signal.SIGKILL)

    def call(self, method, **fields):
        """One query over the time of this test."""
        fields = {"start": int((self.began_s - MARGIN_S) * 1000),
                  "end": int((time.time() + MARGIN_S) * 1000), **fields}
        request = urllib.request.Request(
            f"{self.url}/{QUERIER}/{method}", json.dumps(fields).encode(),
            {"Content-Type": "application/json", "Accept": ACCEPT})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise host.Failure(f"{method} {fields}: {error.code}: {error.read().decode()}") from error

    def profile_types(self):
        return [kind["ID"] for kind in self.call("ProfileTypes").get("profileTypes", [])]

    def label_values(self, name, *matchers):
        return set(self.call("LabelValues", name=name, matchers=list(matchers)).get("names", []))

    def flame_graph(self, selector, kind=CPU):
        """(total, names of all frames)"""
        graph = self.call("SelectMergeStacktraces", profileTypeID=kind, labelSelector=selector,
                          maxNodes=MAX_NODES)["flamegraph"]
        return int(graph.get("total", 0)), set(graph["names"][1:])

    def series(self, selector, group_by, **fields):
        """[({label: value}, sum of all points)]"""
        fields = {"profileTypeID": CPU, **fields}
        found = self.call("SelectSeries", labelSelector=selector, groupBy=group_by, step=15,
                          **fields).get("series", [])
        return [({label["name"]: label["value"] for label in one.get("labels", [])},
                 sum(point["value"] for point in one["points"])) for one in found]


def selector(**labels):
    """{"k8s.pod.name"="web"} of k8s__pod__name="web": two underscores stand for a dot."""
    pairs = (f'"{name.replace("__", ".")}"="{value}"' for name, value in labels.items())
    return "{" + ",".join(pairs) + "}"
