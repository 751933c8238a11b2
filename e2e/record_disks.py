# SPDX-License-Identifier: Apache-2.0
"""Disks that do not take the record: one that is full for a minute, and one that fails. Sampling and export go on, the
agent's counters say what happens, and what was written before can be read."""

import contextlib
import http.server
import os
import re
import subprocess
import threading
import time
import urllib.request

import host
from record_scene import END_SECONDS, SAMPLES, WAIT_SECONDS, WRITTEN, number, total

DISK_MEGABYTES, IMAGE_MEGABYTES = 4, 32
# The agent looks at the free space once a minute, and a block is a minute.
FULL_SECONDS = 65
GROWING = ("samples_total", "export_samples_sent_total", "store_write_failures_total")
DROPPED = 'store_samples_dropped_total{reason="disk"}'
PUSHED = re.compile(r"\bstore_samples_pushed=(\d+)")
DISK_DROPPED = re.compile(r"\bstore_samples_dropped=(\d+)")


class Destination:
    """Accepts whatever it is sent."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):  # pylint: disable=invalid-name
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args):  # pylint: disable=arguments-differ
            pass

    def __enter__(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_error):
        self.server.shutdown()
        self.server.server_close()

    def options(self):
        return ["--otlp-endpoint", f"http://127.0.0.1:{self.server.server_port}", "--export-interval", "1s"]


class Agent:
    """An agent that exports as well, and its counters."""

    def __init__(self, scene, name, store):
        self.scene, self.name, self.store, self.port = scene, name, store, host.free_port()
        self.process = self.stack = None

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            options = stack.enter_context(Destination()).options()
            self.process = self.scene.start_agent(self.name, self.store, *options, "--metrics-listen",
                                                  f"127.0.0.1:{self.port}")
            stack.callback(self.process.stop)
            self.scene.wait_for_second(self.store, 1)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_error):
        self.stack.close()

    def wait_for_log(self, text):
        host.wait_until(f"the log says: {text}", lambda: text in self.process.log(), WAIT_SECONDS, 0.5)

    def metric(self, series):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith(f"flamelet_{series} "):
                    return int(float(line.rsplit(" ", 1)[1]))
        raise host.Failure(f"flamelet_{series} is not in the metrics")

    def metrics(self):
        return {series: self.metric(series) for series in (*GROWING, DROPPED)}

    def faults_while_refused(self, before):
        """What is not as it should be, long enough after `before`, when the disk began to refuse the record."""
        faults = host.last_faults(lambda: [f"{self.name}: {series} stays at {before[series]}" for series in GROWING
                                           if self.metric(series) <= before[series]])
        after = self.metrics()
        print(f"{self.name}: {after}, {before} before", flush=True)
        faults += [] if after[DROPPED] == 0 else [f"{self.name}: {after[DROPPED]} samples are dropped"]
        # What was written before can be read.
        return faults + ([] if total(self.scene.counts(self.store, "all")) else [f"{self.name}: nothing can be read"])


def test_full_disk(scene):
    """What waits in memory is written as soon as there is room."""
    disk = f"{scene.directory}/small"
    os.mkdir(disk, 0o700)
    host.run("mount", "-t", "tmpfs", "-o", f"size={DISK_MEGABYTES}m,mode=0700", "tmpfs", disk)
    try:
        with Agent(scene, "full", f"{disk}/record") as agent:
            return fill_and_free(scene, agent, f"{disk}/ballast")
    finally:
        subprocess.run(["umount", "--lazy", disk], check=False)


def fill(path):
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def fill_and_free(scene, agent, ballast):
    before, full_s = agent.metrics(), int(time.time())
    fill(ballast)
    agent.wait_for_log("cannot write the record")
    time.sleep(max(0, full_s + FULL_SECONDS - time.time()))
    faults = agent.faults_while_refused(before)
    os.unlink(ballast)
    agent.wait_for_log("is written again")
    status = agent.process.finish(END_SECONDS)
    whole, taken = total(scene.counts(agent.store, "all")), number(SAMPLES, agent.process.log())
    lost = sum(file["lost"] for file in scene.files(agent.store))
    print(f"full disk: {whole} of {taken} samples are in the record, {lost} are lost", flush=True)
    return faults + ([] if status == 0 and whole == taken and not lost else ["the full disk lost something"])


def test_failing_disk(scene):
    """After an error of the disk, the kernel makes the file system read-only. Nobody else can do so while the agent has a
    file open for writing. It stays so until it is mounted again; the next agent goes on there."""
    image, disk = f"{scene.directory}/image", f"{scene.directory}/failing"
    os.mkdir(disk, 0o700)
    with open(image, "wb") as file:
        file.truncate(IMAGE_MEGABYTES << 20)
    try:
        host.require("mkfs.ext4", "findmnt")
        host.run("mkfs.ext4", "-q", image)
        mount_image(image, disk)
    except (host.Skip, host.Failure) as reason:
        print(f"the failing disk: SKIP: {reason}", flush=True)
        return []
    try:
        return fail_and_repair(scene, image, disk)
    finally:
        subprocess.run(["umount", "--lazy", disk], check=False)


def mount_image(image, disk):
    host.run("mount", "-o", "loop,errors=remount-ro", image, disk)


def fail_disk(disk):
    device = os.path.basename(host.run("findmnt", "--noheadings", "--output", "SOURCE", disk).strip())
    with open(f"/sys/fs/ext4/{device}/trigger_fs_error", "w", encoding="ascii") as file:
        file.write("1")


def fail_and_repair(scene, image, disk):
    with Agent(scene, "failing", f"{disk}/record") as agent:
        before, written = agent.metrics(), total(scene.counts(agent.store, "all"))
        fail_disk(disk)
        agent.wait_for_log("cannot write the record")
        faults = agent.faults_while_refused(before)
        if (status := agent.process.finish(END_SECONDS)) != 0:
            return faults + [f"the exit status on the failing disk is {status}: {agent.process.log()}"]
        log = agent.process.log()
    pushed, kept, dropped = (number(pattern, log) for pattern in (PUSHED, WRITTEN, DISK_DROPPED))
    faults += [] if pushed == kept + dropped else [f"of {pushed} samples, {kept} are written and {dropped} dropped"]
    host.run("umount", disk)
    mount_image(image, disk)
    with Agent(scene, "repaired", agent.store) as agent:
        agent.process.finish(END_SECONDS)
    files = scene.files(agent.store)
    print(f"failing disk: {written} samples were written before; files with {[file['samples'] for file in files]}",
          flush=True)
    return faults + ([] if len(files) > 1 and files[0]["samples"] >= written else ["the failing disk lost a file"])


TESTS = (test_full_disk, test_failing_disk)
