#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet agent --gpu with a stand-in of NVIDIA's library: two GPUs, one of which is lost in every fifth reading, a
process in a pod that uses both, and a library that hangs for ten seconds. The record has the GPUs and the pod, with
gaps where nothing was read, and all else goes on.

    gpu.py path/to/flamelet path/to/libnvidia-ml.so.1

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import json
import os
import re
import shutil
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "local")]

# pylint: disable=wrong-import-position
import host
import record_scene
import top_scene

GIB = 1 << 30
SECONDS = 15    # before and after the library hangs
HANG_SECONDS = 6
LATE_SECONDS = 20   # after which the record has a second


class Gpus:
    """The stand-in in a directory of its own, and its control."""

    def __init__(self, directory, library):
        self.directory = os.path.join(directory, "nvml")
        os.mkdir(self.directory)
        self.library = shutil.copy(library, self.directory)

    def control(self, words):
        with open(os.path.join(self.directory, "new"), "w", encoding="utf-8") as file:
            file.write(words)
        os.rename(file.name, os.path.join(self.directory, "control"))


def metrics(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
        text = answer.read().decode()
    return {name: float(value) for name, value in re.findall(r"^(flamelet_\S+) (\S+)$", text, re.MULTILINE)}


def health(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=20) as answer:
        return answer.read().decode()


class Times:
    """Seconds of Unix time: the library works in [begin, hang) and [again, end)."""

    begin = hang = again = end = 0


def live(gpus, pid, port, agent):
    """Lets the library work, hang, and work again. Returns the times, and what was wrong."""
    times, faults = Times(), []
    read = 'flamelet_gpu_readings_total{result="read"}'
    host.wait_until("GPUs are read", lambda: metrics(port)[read] > 0, record_scene.WAIT_SECONDS)
    times.begin = int(time.time())
    time.sleep(SECONDS)
    times.hang = int(time.time())
    gpus.control(f"pid {pid} hang")
    time.sleep(HANG_SECONDS)
    if health(port) != "ok\n" or not agent.is_alive():
        faults.append(f"the agent suffers while the library hangs: {health(port)}")
    gpus.control(f"pid {pid}")
    before = metrics(port)[read]
    host.wait_until("GPUs are read again", lambda: metrics(port)[read] > before, record_scene.WAIT_SECONDS)
    times.again = int(time.time()) + 1
    time.sleep(SECONDS)
    times.end = int(time.time())
    host.wait_until("the record has it", lambda: time.time() > times.end + LATE_SECONDS, record_scene.WAIT_SECONDS)
    return times, faults


def lines(scene, store, times, *words):
    """{name: {second: value}}, without unknown seconds"""
    told = json.loads(scene.flamelet("timeline", f"{times.begin}..{times.end}", "--step", "1s", "--json", "--store",
                                     store, *words))
    return {line["name"]: {told["first"] + at: value for at, value in enumerate(line["values"]) if value is not None}
            for line in told["lines"]}


def check_devices(busy, times):
    """The first GPU is read in almost all seconds; the second one lacks every fifth; nothing is made up of the time in
    which the library hung."""
    faults = []
    if set(busy) != {"0", "1"} or set(busy["0"].values()) != {37} or set(busy["1"].values()) != {80}:
        return [f"the GPUs are {busy}"]
    works = [*range(times.begin, times.hang - 1), *range(times.again, times.end - 1)]
    one, other = (sum(second in busy[name] for second in works) for name in "01")
    if one < 0.8 * len(works):
        faults.append(f"GPU 0 is known in {one} of {len(works)} seconds")
    if not 0.7 * one <= other <= 0.9 * one:
        faults.append(f"GPU 1 is known in {other} seconds, GPU 0 in {one}: every fifth should be missing")
    hanging = [second for second in range(times.hang + 1, times.hang + HANG_SECONDS - 1) if second in busy["0"]]
    if hanging:
        faults.append(f"the library hung from {times.hang} on, but these are known: {hanging}")
    return faults


def check_pod(scene, store, times, pod):
    """The pod's processes use 30 % of the one and 60 % of the other GPU, and 3 and 1 GiB."""
    use = lines(scene, store, times, "--by", "pod", "--gpu-use").get(pod, {})
    memory = lines(scene, store, times, "--by", "pod", "--gpu-use-memory").get(pod, {})
    late = range(times.again, times.end - 1)    # when samples have told the pod of the cgroup
    faults = []
    if {use.get(second) for second in late} - {None} != {90}:
        faults.append(f"the pod used {use} percent of GPUs")
    if {memory.get(second) for second in late} - {None} != {4 * GIB}:
        faults.append(f"the pod had {memory} bytes of GPUs")
    return faults


def check_others(scene, store, times):
    """All else is recorded in each second, also while the library hangs."""
    vitals = lines(scene, store, times)["user"]
    missing = [second for second in range(times.begin, times.end - 1) if second not in vitals]
    counts = scene.counts(store, f"{times.hang}..{times.again}")
    faults = [f"vitals are missing of {missing}"] if missing else []
    if not any("work_all_the_time" in stack for stack in counts):
        faults.append(f"the samples while the library hung are {list(counts)[:5]}")
    return faults


def check_metrics(numbers):
    faults = []
    for name, least in (('flamelet_gpu_readings_total{result="failed"}', 1), ("flamelet_gpus", 2),
                        ('flamelet_gpu_device_errors_total{reason="lost"}', 2),
                        ('flamelet_gpu_worker_failures_total{reason="timeout"}', 1)):
        if numbers.get(name, 0) < least:
            faults.append(f"{name} is {numbers.get(name)}")
    if numbers['flamelet_gpu_device_errors_total{reason="other"}'] > 0:
        faults.append("there are errors that the library did not report")
    return faults


def check_doctor(scene, gpus):
    told = scene.run("doctor", "--gpu", "--gpu-library", gpus.library).stdout
    lacking = scene.run("doctor", "--gpu", "--gpu-library", gpus.library + "-not").stdout
    faults = []
    if not re.search(r"ok +GPUs +0: Stand-in GPU \(37 % busy, 16 GiB\), 1: Stand-in GPU", told):
        faults.append(f"the doctor does not list the GPUs: {told}")
    if not re.search(r"warn +GPUs +cannot load the library", lacking):
        faults.append(f"the doctor does not miss the library: {lacking}")
    return faults


def check_refused(scene):
    return scene.check_answers([
        (("agent", "--gpu", "--otlp-endpoint", "http://127.0.0.1:1"), 2, "--gpu needs --store"),
    ])


def check(flamelet, library, directory, pods):
    scene = record_scene.Scene(flamelet, directory)
    gpus, store, port = Gpus(directory, library), os.path.join(directory, "record"), host.free_port()
    pods.start("shop", "trainer", "DaemonSet", "main", [f"{directory}/{record_scene.LOAD}"])
    pid, pod = pods.processes[-1].pid, pods.items[-1]["metadata"]["name"]
    gpus.control(f"pid {pid}")
    faults = check_doctor(scene, gpus) + check_refused(scene)
    agent = scene.start_agent("agent", store, "--gpu", "--gpu-library", gpus.library, "--listen", f"127.0.0.1:{port}",
                              *pods.options())
    try:
        times, wrong = live(gpus, pid, port, agent)
        numbers = metrics(port)
    finally:
        agent.stop()
    faults += wrong + check_metrics(numbers)
    faults += check_devices(lines(scene, store, times, "--by", "gpu"), times)
    faults += check_pod(scene, store, times, pod) + check_others(scene, store, times)
    memory = lines(scene, store, times, "--by", "gpu-memory")
    if {name: set(values.values()) for name, values in memory.items()} != {
            "0 total": {16 * GIB}, "0 used": {4 * GIB}, "1 total": {16 * GIB}, "1 used": {2 * GIB}}:
        faults.append(f"the memory of the GPUs is {memory}")
    if agent.log().count("cannot read GPUs: the library did not answer in time") != 1:
        faults.append(f"the log does not say once that the library hung: {agent.log()}")
    return faults


def main(flamelet, library):
    if os.geteuid() != 0:
        print("SKIP: the agent needs root")
        return host.SKIP
    with tempfile.TemporaryDirectory(prefix="flamelet-gpu-") as directory:
        pods = top_scene.Pods(directory)
        try:
            faults = check(flamelet, library, directory, pods)
        finally:
            pods.stop()
    for fault in faults:
        print(f"FAIL: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*map(os.path.abspath, sys.argv[1:3])))
