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
# What the stand-in does to a request, in this order; "none" in the middle shows that the agent
# recovers, and the faults after it that it does not forget how to do without.
FAULTS = ("401", "403", "truncate", "null-items", "huge", "none", "hang", "absent")
ARRIVAL_SECONDS = 12


def require_host():
    if os.geteuid() != 0:
        raise host.Skip("not root")
    host.require("containerd", "ctr", "runc", "gcc", "openssl", "protoc")
    if host.cgroup_mounts()[1] is None:
        raise host.Skip("no cgroup2 file system is mounted")


def test_attribution(scene):
    """Every sample of every container carries exactly that container's names."""
    table = [workload for workload in scene.workloads if workload.label not in FAULT_LABELS]
    for workload in table:
        if workload.at is None:
            scene.start(workload)
    agent = scene.start_agent("--export-interval", "3s")
    scene.play(table)
    problems = scenes.end_agent(agent)
    samples = scene.collector.samples()
    return problems + checks.check_attribution(samples, table, scenes.NODE_NAME, FREQUENCY_HZ)


def label_of(fault):
    return "f_" + fault[:6].replace("-", "_")


FAULT_LABELS = [label_of(fault) for fault in FAULTS]


def apply_fault(scene, fault):
    if fault == "absent":
        scene.kubelet.stop()
    else:
        scene.kubelet.set_fault(fault)


def test_fault(scene, fault):
    """A new container under this fault: its samples arrive, with what is known."""
    workload = next(w for w in scene.workloads if w.label == label_of(fault))
    requests_before = len(scene.kubelet.requests())
    apply_fault(scene, fault)
    scene.run_one(workload)
    resource = workload.resource(scenes.NODE_NAME)

    def has_arrived():
        own = checks.samples_of(scene.collector.samples(), workload)
        is_asked = fault == "absent" or len(scene.kubelet.requests()) > requests_before
        return own if own and is_asked else None

    samples = host.wait_until(f"kubelet {fault}: samples arrive and a request was made",
                              has_arrived, ARRIVAL_SECONDS)
    print(f"kubelet {fault:<12} {checks.total(samples):>4} samples, "
          f"{len(scene.kubelet.requests()) - requests_before} requests", flush=True)
    if fault == "none":
        return checks.check_samples(samples, workload, resource)
    return checks.check_path_only(samples, workload, scenes.NODE_NAME)


def test_endpoint_down(scene, agent):
    """An endpoint that is down costs profiles, says so, and nothing else."""
    scene.collector.stop()
    log_before = len(agent.log())
    time.sleep(3)
    scene.must_live(agent)
    is_logged = "export" in agent.log()[log_before:]
    seen = len(scene.collector.samples())
    scene.collector.start()
    host.wait_until("profiles arrive again", lambda: len(scene.collector.samples()) > seen, 15)
    print("endpoint down and up again", flush=True)
    return [] if is_logged else ["no log line says that the endpoint is down"]


def test_faults(scene):
    apply_fault(scene, FAULTS[0])
    agent = scene.start_agent("--export-interval", "1s")
    problems = []
    for fault in FAULTS:
        problems += test_fault(scene, fault)
        scene.must_live(agent)
    problems += test_endpoint_down(scene, agent)
    if "kubelet" not in agent.log():
        problems.append("no log line speaks of the kubelet")
    return problems + scenes.end_agent(agent)


def run_tests(binary, is_kept):
    """Sets the scene, runs both parts and returns what is wrong."""
    scene = scenes.Scene(binary, FREQUENCY_HZ)
    problems = ["interrupted"]
    try:
        single = [workloads.single_workload(label) for label in FAULT_LABELS]
        scene.set_up(workloads.attribution_workloads() + single)
        problems = test_attribution(scene)
        problems += test_faults(scene)
    except host.Failure as failure:
        problems = [str(failure)]
    finally:
        if problems:
            scene.show_logs()
        scene.tear_down(is_kept)
    return problems


def give_up(*_args):
    raise host.Failure(f"not done after {WHOLE_SECONDS} s")


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the flamelet program to test")
    parser.add_argument("--keep", action="store_true", help="leave the temporary directory")
    return parser.parse_args()


def main():
    args = parse_args()
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.alarm(WHOLE_SECONDS)
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
