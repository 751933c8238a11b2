#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole path, end to end, with real parts; README.md in this directory tells how.

    run.py path/to/flamelet [--keep]

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import os
import signal
import sys
import time

import checks
import host
import scene as scenes
import workloads

FREQUENCY_HZ = 99
WHOLE_SECONDS = 285
# What the stand-in does to requests, in this order. Each line is an agent's life: after failures it asks
# ever more rarely, and a new one asks at once. Samples of a group have arrived before the next group
# begins, so that the good answers to "none", by which the agent recovers, name none of them.
FAULT_RUNS = ((("401",),), (("403",),), (("truncate",),),
              (("huge", "null-items"), ("none",), ("hang", "absent")))
REQUEST_SECONDS = 8
ARRIVAL_SECONDS = 15


def require_host():
    if os.geteuid() != 0:
        raise host.Skip("not root")
    host.require("containerd", "ctr", "runc", "gcc", "openssl", "protoc")
    if not host.is_mount("/"):
        raise host.Skip("/ is no mount point (a chroot): runc cannot start containers in it")
    if host.cgroup_mounts()[1] is None:
        raise host.Skip("no cgroup2 file system is mounted")


def test_attribution(scene):
    """Every sample of every container carries exactly that container's names."""
    table = [workload for workload in scene.workloads if not workload.label.startswith("f_")]
    for workload in table:
        if workload.at is None:
            scene.start(workload)
    agent = scene.start_agent("--export-interval", "3s")
    scene.play(table)
    problems = scenes.end_agent(agent)
    scene.collector.stop()
    samples = scene.collector.samples()
    scene.collector.start()
    return problems + checks.check_attribution(samples, table, scenes.NODE_NAME, FREQUENCY_HZ)


def fault_workload(scene, fault):
    return next(w for w in scene.workloads if w.label == fault_label(fault))


def fault_label(fault):
    return "f_" + fault[:6].replace("-", "_")


def begin_fault(scene, fault):
    """Under this fault, a new container makes the agent ask for a pod it has not heard of."""
    workload = fault_workload(scene, fault)
    requests_before = len(scene.kubelet.requests())
    if fault == "absent":
        scene.kubelet.stop()
    else:
        scene.kubelet.set_fault(fault)
    workload.pod.is_listed = True
    scene.run_one(workload)
    if fault != "absent":
        host.wait_until(f"a request while the kubelet's fault is {fault}",
                        lambda: len(scene.kubelet.requests()) > requests_before, REQUEST_SECONDS)


def check_fault(scene, fault):
    """The samples are there, with all names or with just what the path tells."""
    workload = fault_workload(scene, fault)
    samples = host.wait_until(
        f"samples while the kubelet's fault is {fault}",
        lambda: checks.samples_of(scene.collector.samples(), workload), ARRIVAL_SECONDS)
    print(f"kubelet's fault {fault}: {checks.total(samples)} samples", flush=True)
    if fault == "none":
        return checks.check_samples(samples, workload, workload.resource(scenes.NODE_NAME))
    return checks.check_path_only(samples, workload, scenes.NODE_NAME)


def test_fault_group(scene, group):
    problems = []
    for fault in group:
        begin_fault(scene, fault)
    for fault in group:
        problems += check_fault(scene, fault)
    return problems


def test_endpoint_down(scene, agent):
    """An endpoint that is down costs profiles, says so, and nothing else."""
    scene.collector.stop()
    log_before = len(agent.log())
    time.sleep(3)
    scene.must_live(agent)
    is_logged = "export" in agent.log()[log_before:]
    scene.collector.start()
    host.wait_until("profiles arrive again", scene.collector.samples, 15)
    print("endpoint down and up again", flush=True)
    return [] if is_logged else ["no log line says that the endpoint is down"]


def test_fault_run(scene, groups, is_last):
    """An agent that has never had an answer from the kubelet goes through some faults."""
    scene.kubelet.set_fault(groups[0][0])
    agent = scene.start_agent("--export-interval", "1s")
    problems = []
    for group in groups:
        problems += test_fault_group(scene, group)
        scene.must_live(agent)
    if is_last:
        problems += test_endpoint_down(scene, agent)
    if "kubelet" not in agent.log():
        problems.append("no log line speaks of the kubelet")
    return problems + scenes.end_agent(agent)


def test_faults(scene):
    return [problem for groups in FAULT_RUNS
            for problem in test_fault_run(scene, groups, groups is FAULT_RUNS[-1])]


def run_tests(binary, is_kept):
    """Sets the scene, runs both parts and returns what is wrong."""
    faults = [workloads.single_workload(fault_label(fault))
              for groups in FAULT_RUNS for group in groups for fault in group]
    with scenes.Scene(binary, FREQUENCY_HZ, is_kept) as scene:
        problems = ["interrupted"]
        try:
            scene.set_up(workloads.attribution_workloads() + faults)
            problems = test_attribution(scene)
            problems += test_faults(scene)
        except host.Failure as failure:
            problems = [str(failure)]
        finally:
            be_uninterruptible()
            if problems:
                scene.show_logs()
    return problems


def be_uninterruptible():
    """What was started is taken down to the end."""
    signal.alarm(0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def give_up(*_args):
    raise host.Failure(f"not done after {WHOLE_SECONDS} s")


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the flamelet program to test")
    parser.add_argument("--keep", action="store_true", help="leave the temporary directory")
    return parser.parse_args()


def main():
    args = parse_args()
    if not os.access(args.binary, os.X_OK):
        sys.exit(f"run.py: {args.binary} is not a program")
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.alarm(WHOLE_SECONDS)
    host.adopt_orphans()
    begin = time.monotonic()
    try:
        require_host()
        problems = run_tests(args.binary, args.keep)
    except host.Skip as skip:
        print(f"SKIP: {skip}")
        return host.SKIP
    for problem in problems:
        print(f"FAIL: {problem}")
    print(f"{'FAILED' if problems else 'ok'} in {time.monotonic() - begin:.1f} s")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
