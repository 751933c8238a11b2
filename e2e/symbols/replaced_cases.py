# SPDX-License-Identifier: Apache-2.0
"""Names in files that are replaced or deleted, and of processes that are gone: record and the agent."""

import os
import shutil
import signal
import sys
import time

import host
import profiles
import recordings
from container_scene import HZ, VERSIONS, of_cgroup, share_with, total

HERE = os.path.dirname(os.path.abspath(__file__))
RECEIVER = f"{HERE}/../local/receiver.py"
OTLP_PROTO = f"{HERE}/../../tests/proto/otlp_profiles.proto"
LEAST_NAMED = 0.95
LEAST_NAMED_BY_AGENT = 0.5      # a window is sent before its slower names are there
SHORT_MS = 300
SHORT_WORK_SECONDS = 0.2    # less than SHORT_MS, because the start is not in the cgroup
WORK_SECONDS = 1      # of CPU time, of each program that lives longer


class Agent:
    """The agent, sending to a receiver of its own."""

    def __init__(self, scene):
        self.output, port = f"{scene.directory}/otlp.json", host.free_port()
        command = [sys.executable, RECEIVER, str(port), OTLP_PROTO, self.output]
        receiver = host.Process("receiver", command, f"{scene.directory}/receiver.log")
        scene.stack.callback(receiver.stop)
        host.wait_until("the receiver listens", lambda: host.accepts_connections(port))
        self.process = host.Process("agent", [
            scene.binary, "agent", "-F", str(HZ), "--export-interval", "1s",
            "--otlp-endpoint", f"http://127.0.0.1:{port}"], f"{scene.directory}/agent.log")
        scene.stack.callback(self.process.finish, first=signal.SIGKILL)

    def samples(self):
        """Of the whole of its life, as recordings have them."""
        if self.process.finish() != 0:
            raise host.Failure("the agent failed: " + self.process.log()[-2000:])
        return [as_recorded(sample) for sample in profiles.read_samples(host.read_text(self.output))
                if {"flamelet.cgroup.id", "thread.name"} <= sample.attributes.keys()]


def as_recorded(sample):
    """A sample that the agent sent, as one of a recording."""
    labels = {"cgroup_id": int(sample.attributes["flamelet.cgroup.id"]),
              "thread": sample.attributes["thread.name"]}
    return recordings.Sample(labels, sample.count, [
        recordings.Location("", 0, (recordings.Line(name, "", "", 0, 0),)) for name in sample.frames])


def replace_on_host(scene):
    """One file is replaced while it runs, one deleted; returns {cgroup: version}."""
    path, gone = f"{scene.directory}/app", f"{scene.directory}/gone"
    shutil.copy2(scene.version_path(1), path)
    shutil.copy2(scene.version_path(1), gone)
    expected = {scene.start_on_host("moved-old", path): 1, scene.start_on_host("gone", gone): 1}
    time.sleep(0.2)
    os.unlink(gone)
    shutil.copy2(scene.version_path(2), path + ".new")
    os.rename(path + ".new", path)
    expected[scene.start_on_host("moved-new", path)] = 2
    return expected


def roll_out(scene):
    """Version 1 in a container, then 2 at the same path, and a container that lives for a moment."""
    expected = {scene.pods.run("roll-1", 1, "/bin/app", "0"): 1}
    scene.wait_for_work("roll-1", WORK_SECONDS)
    scene.pods.delete("roll-1")
    expected[scene.pods.run("roll-2", 2, "/bin/app", "0")] = 2
    expected[scene.start_on_host("short", scene.version_path(3), str(SHORT_MS))] = 3
    expected[scene.pods.run("short-pod", 3, "/bin/app", str(SHORT_MS))] = 3
    for name in ("roll-2", "short", "short-pod"):
        scene.wait_for_work(name, WORK_SECONDS if name == "roll-2" else SHORT_WORK_SECONDS)
    return expected


def check_versions(by, samples, expected, least):
    """Only names of its own version, and that nearly everywhere."""
    faults = []
    for cgroup_id, version in expected.items():
        own = of_cgroup(samples, cgroup_id)
        share = share_with(own, f"hot_v{version}")
        foreign = sum(share_with(own, f"_v{other}") for other in VERSIONS if other != version)
        said = (f"{by}: version {version}: {total(own)} samples, {100 * share:.1f} % named, "
                f"{100 * foreign:g} % wrongly")
        print(said, flush=True)
        if not own or share < least or foreign > 0:
            faults.append(said)
    return faults


def files_that_are_replaced(scene):
    agent = Agent(scene)
    with scene.recording("replaced", 9) as made:
        expected = replace_on_host(scene)
        scene.wait_for_work("moved-new", WORK_SECONDS)
        expected |= roll_out(scene)
    faults = check_versions("record", made.samples, expected, LEAST_NAMED)
    return faults + check_versions("agent", agent.samples(), expected, LEAST_NAMED_BY_AGENT)
