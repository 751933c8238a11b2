#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the judge of the chaos run: each fault that it is there to find is made up here, and it must name
it; without any it must be content. The schedule must be what it claims to be.

Exit status 0: all is right; 1: something is wrong, listed."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../local"))

# pylint: disable=wrong-import-position
import chaos_judge as judge
import chaos_schedule
import spin

HZ = 100
SECOND = 1000.0


def make_run(pod="web-1", uid="a" * 32, container="app", container_id="1" * 16, namespace="shop"):
    return judge.Run("steady", namespace, pod, container, uid, container_id, SECOND, SECOND + 10, 5.0)


WEB = make_run()
SIDECAR = make_run(container="sidecar", container_id="2" * 16)
BANK = make_run(namespace="bank", uid="b" * 32, container_id="3" * 16)
REBORN = make_run(uid="c" * 32, container_id="4" * 16)
RUNS = (WEB, SIDECAR, BANK, REBORN)


def resource_of(run):
    uid = "-".join((run.uid[:8], run.uid[8:12], run.uid[12:16], run.uid[16:20], run.uid[20:]))
    return {"k8s.namespace.name": run.namespace, "k8s.pod.name": run.pod, "k8s.pod.uid": uid,
            "k8s.container.name": run.container, "container.id": run.container_id + "0" * 48}


def name_of(run, is_private=False):
    """In a private cgroup namespace a container does not see more than it was told."""
    if is_private:
        return f"spin_{run.digest()}_{'0' * 32}_{spin.UNKNOWN_ID}"
    return f"spin_{run.digest()}_{run.uid}_{run.container_id}"


def sample_of(run, count=1, frames=None, **changes):
    """A right one, but for the changes: None takes an attribute away."""
    resource = dict(resource_of(run), **{key.replace("__", "."): value
                                         for key, value in changes.items()})
    return judge.Received(SECOND + 2, {key: value for key, value in resource.items() if value},
                          spin.thread_name(run.digest()),
                          [name_of(run), "main"] if frames is None else frames, count)


def good_samples():
    return [sample_of(run, 500) for run in RUNS]


NO_NAMES = {"k8s__namespace__name": None, "k8s__pod__name": None, "k8s__container__name": None}
NOTHING = {**NO_NAMES, "k8s__pod__uid": None, "container__id": None}
STATE = "flamelet__identity"
FEW, MANY = 2, 3

# Samples that are added to 2000 right ones, and the expected fault; "" if there must be none.
CASES = (
    ("nothing", [], ""),
    ("a static pod's uid", [sample_of(WEB, k8s__pod__uid=WEB.uid)], ""),
    ("right by a snapshot", [sample_of(WEB, 9, **{STATE: "snapshot"})], ""),
    ("no stack, but a thread", [sample_of(REBORN, frames=["[stack unreadable]"])], ""),
    ("another process of the node", [judge.Received(0, {"service.name": "host"}, "etcd", [], 9)], ""),
    ("a sandbox", [judge.Received(0, dict(resource_of(WEB), **{"container.id": "f" * 64}), "pause",
                                  [], 9)], ""),
    ("few late names", [sample_of(WEB, FEW, k8s__container__name=None, **{STATE: "logs"})], ""),
    ("few unknown", [sample_of(WEB, FEW, **NOTHING, **{STATE: "unknown"})], ""),
    ("few path only", [sample_of(WEB, FEW, **NO_NAMES, **{STATE: "path"})], ""),
    ("many late names", [sample_of(WEB, MANY, k8s__container__name=None, **{STATE: "logs"})],
     "3 of 2003 samples lack a name"),
    ("many unknown", [sample_of(WEB, MANY, **NOTHING, **{STATE: "unknown"})], "lack a name"),
    ("many path only", [sample_of(WEB, MANY, **NO_NAMES, **{STATE: "path"})], "lack a name"),
    ("a name missing without a reason", [sample_of(WEB, k8s__container__name=None)], "1 samples are silent"),
    ("all missing without a reason", [sample_of(WEB, **NOTHING)], "1 samples are silent"),
    ("a name missing that the kubelet knows", [sample_of(WEB, **NO_NAMES, **{STATE: "kubelet"})],
     "1 samples are silent"),
    ("an unknown one with a pod's uid and the word for it", [sample_of(WEB, **NOTHING, **{STATE: "path"})],
     "1 samples are silent"),
    ("the same names in another namespace", [sample_of(WEB, k8s__namespace__name="bank")],
     "1 samples are wrong"),
    ("another pod's name", [sample_of(WEB, k8s__pod__name="web-2")], "1 samples are wrong"),
    ("the earlier pod's uid", [sample_of(REBORN, k8s__pod__uid=WEB.uid)], "1 samples are wrong"),
    ("the sidecar's name", [sample_of(WEB, k8s__container__name="sidecar")], "1 samples are wrong"),
    ("an earlier run's ID", [sample_of(WEB, container__id="2" * 64)], "1 samples are wrong"),
    ("another container altogether", [judge.Received(0, resource_of(BANK), "x", [name_of(WEB)], 7)],
     "7 samples are wrong"),
    ("a wrong one that says it does not know", [sample_of(WEB, k8s__pod__name="x", **{STATE: "unknown"})],
     "1 samples are wrong"),
    ("a container's that the host is said to have", [sample_of(WEB, **NOTHING, **{STATE: "host"})],
     "1 samples are wrong"),
    ("no stack and another namespace", [sample_of(WEB, frames=[], k8s__namespace__name="bank")],
     "1 samples are wrong"),
    ("a container that never was", [judge.Received(0, {}, "x", [name_of(make_run(pod="ghost"))], 1)],
     "1 samples are of containers that nobody knows"),
    ("a container that sees no ID", [sample_of(BANK, frames=[name_of(BANK, is_private=True)])], ""),
    ("one that is said to be elsewhere", [sample_of(BANK, frames=[name_of(BANK, is_private=True)],
                                                    k8s__namespace__name="shop")], "1 samples are wrong"),
    ("another node's container", [judge.Received(0, {}, "x", [name_of(make_run(uid="9" * 32))], 9)], ""),
    ("a container without Kubernetes", [judge.Received(0, {"container.id": "e" * 64}, "x", [], 9)], ""),
    ("the sandbox of two pods", [judge.Received(0, dict(resource_of(WEB), **{"k8s.namespace.name": "bank"}),
                                                "pause", [], 1)],
     "1 samples have names that no pod has together"),
    ("a pod's name alone", [judge.Received(0, {"k8s.pod.name": "web-1"}, "pause", [], 1)],
     "1 samples have names that no pod has together"),
)


def problems_of(samples, runs=RUNS, gaps=()):
    finding = judge.judge(judge.Truth(list(runs)), samples)
    return judge.check_attribution(finding) + judge.check_completeness(finding, gaps, HZ)


def check_said(title, problems, expected):
    is_right = (not problems if not expected
                else len(problems) == 1 and expected in problems[0])
    return [] if is_right else [f"{title}: {problems} instead of {expected!r}"]


def check_cases():
    return [fault for title, extra, expected in CASES
            for fault in check_said(title, problems_of(good_samples() + extra), expected)]


def check_missing():
    """Containers without samples, and without an agent."""
    unseen = make_run(pod="unseen", uid="e" * 32, container_id="5" * 16)
    unseen.cpu_s = 0.2
    idle = make_run(pod="idle", uid="f" * 32, container_id="6" * 16)
    idle.cpu_s = 0.05
    gap = ((SECOND - 1, SECOND + 11),)
    return (check_said("an unseen container", problems_of(good_samples(), RUNS + (unseen,)),
                       "0.20 s of CPU time and no sample")
            + check_said("too little CPU time", problems_of(good_samples(), RUNS + (idle,)), "")
            + check_said("half of the samples", problems_of([sample_of(run, 250) for run in RUNS]),
                         "1000 samples where the CPU time makes 2000")
            + check_said("no agent", problems_of([sample_of(WEB, 500)], (WEB, unseen), gap),
                         "where the CPU time makes 0"))


def check_quiet_run():
    """A run in which too little happened proves nothing."""
    problems = judge.check_chaos(judge.Truth(list(RUNS)), 5)
    expected = ["only 4 of 5 containers ran", "only 0 containers lived for less than a second"]
    return [] if problems == expected else [f"a quiet run: {problems}"]


def check_groups(schedule):
    """Actions that belong together stay in order, and none needs an API server that is not
    there."""
    problems, last = [], {}
    for event in schedule.events:
        if event.at < last.get(event.group, 0):
            problems.append(f"out of order: {event}")
        last[event.group] = event.at
        if schedule.is_api_down(event.at) and event.action in ("create", "delete", "debug"):
            problems.append(f"nobody hears: {event}")
    return problems


def check_schedule(seed, minutes):
    schedule = chaos_schedule.make_schedule(seed, minutes, ("shop", "bank"))
    again = chaos_schedule.make_schedule(seed, minutes, ("shop", "bank"))
    problems = check_groups(schedule)
    if list(map(str, schedule.events)) != list(map(str, again.events)):
        problems.append("the same seed makes another schedule")
    if schedule.nr_containers < 20 * minutes or 3 * schedule.nr_brief < 20 * minutes:
        problems.append(f"{schedule.nr_containers} containers, {schedule.nr_brief} brief ones")
    return [f"seed {seed}, {minutes} minutes: {problem}" for problem in problems]


def main():
    problems = check_cases() + check_missing() + check_quiet_run()
    for seed in range(20):
        for minutes in (2, 3, 10):
            problems += check_schedule(seed, minutes)
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
