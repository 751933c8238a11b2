# SPDX-License-Identifier: Apache-2.0
"""Kubelets that do not answer as they should, each with an agent of its own, all beside the same containers.

Before the fault every agent was told of the pods. Then one more container starts, in a pod that is new: its samples
must come in time, with what is known without the kubelet; those of the others keep their names."""

from collections import Counter
from dataclasses import dataclass
import shutil
import time

import checks
import host
import scene as scenes
from workloads import Pod, Workload

# A window waits three seconds for names, a request for the next second's; the rest is a busy machine's. A kubelet's
# answer would be waited for ten seconds.
LATEST_S = 9.0
STALE_S = 90
FAULT_S = STALE_S + 12
ROTATION_S = 20
# Limit of what a kubelet's reply of any size may add to the memory of an agent.
BODY_MB = 48
KUBELET_STATES = ("kubelet", "snapshot")


@dataclass
class Case:
    """`becomes` is how the new container is known in the end: its samples before say "path". `written`
    are files of the stand-in; `is_restarted`: with new certificates."""
    name: str
    becomes: str
    written: tuple = ()
    is_restarted: bool = False
    is_stopped: bool = False
    verify: str = "full"
    ca_file: str = "ca.crt"
    node: object = None
    agent: object = None

    def has_logs(self):
        return self.becomes == "logs"

    def is_silent(self):
        return self.becomes != "kubelet"

    def begin(self):
        """Certificates count for new connections, so the old ones must end with the stand-in."""
        if self.is_restarted:
            self.node.restart()
        for name, text in self.written:
            self.node.write(name, text)
        if self.is_stopped:
            self.node.stop()


def make_cases():
    return [
        Case("hang", "logs", (("fault", "hang"),)),
        Case("hang-middle", "path", (("fault", "hang-middle"),)),
        Case("drip", "logs", (("fault", "drip"),)),
        Case("huge", "logs", (("fault", "huge"),)),
        Case("endless", "path", (("fault", "endless"),)),
        Case("forbidden", "logs", (("fault", "403"),)),
        Case("revoked", "kubelet", (("accept", "another"),)),
        Case("restarted", "kubelet", (("fault", "null-items 5"),)),
        Case("absent", "logs", is_stopped=True),
        Case("self-signed", "path", (("certificate", "self-signed"),), is_restarted=True),
        Case("pinned", "kubelet", verify="pinned", ca_file="pinned.crt"),
        Case("repinned", "logs", (("certificate", "renewed"),), is_restarted=True, verify="pinned",
             ca_file="pinned.crt"),
    ]


def workloads():
    steady = Pod("web-5b5cc55988-mjsx8", "shop", "web-steady", "web-svc", "burstable", "systemd",
                 {"k8s.deployment.name": "web"}, recording="1.36")
    new = Pod("crash", "shop", "new-e2e", "new-e2e", "burstable", is_listed=False)
    return [Workload("steady", steady, "spin", 60_000, 15), Workload("new", new, "crash", 60_000, 20)]


def start_case(scene, case):
    case.node = scene.add_node(case.name)
    shutil.copy(f"{case.node.directory}/serving.crt", f"{case.node.directory}/pinned.crt")
    logs = scene.logs_directory if case.has_logs() else f"{scene.directory}/no-logs"
    # Only containers, and no lines: a dozen agents share the machine.
    case.agent = scene.launch_agent(
        case.node, *case.node.agent_options(case.verify, case.ca_file), "--pod-logs", logs,
        "--export-interval", "1s", "--inlines", "off", "--cgroup", "/kubepods",
        "--cgroup", "/kubepods.slice")


def start_cases(scene, cases, steady):
    for case in cases:
        start_case(scene, case)
    for case in cases:
        scene.wait_for_profile(case.agent, case.node)
        host.wait_until(f"the agent on {case.name} knows the pods",
                        lambda case=case: state_counts(scene.collector.samples(), case, steady)["kubelet"])


def state_counts(samples, case, workload):
    """Counts the samples of a workload on a node by their state of identity."""
    counts = Counter()
    for sample in checks.samples_of(on_node(samples, case), workload):
        counts[sample.resource.get("flamelet.identity")] += sample.count
    return counts


def on_node(samples, case):
    return [sample for sample in samples if sample.resource.get("k8s.node.name") == case.name]


def state_resources(scene, case, workload):
    """Returns the attributes that a workload must have, by state of identity."""
    named = scene.pod_list.resource(workload, case.name)
    return {"path": workload.path_resource(case.name), "logs": workload.logs_resource(case.name),
            **{state: {**named, "flamelet.identity": state} for state in KUBELET_STATES}}


def check_states(scene, case, workload, samples, allowed):
    """Whatever a sample claims of itself is so."""
    resources = state_resources(scene, case, workload)
    problems = set()
    for sample in checks.samples_of(samples, workload):
        state = sample.resource.get("flamelet.identity")
        if state not in allowed:
            problems.add(f"{case.name}: {workload.label} is known by {state}")
        else:
            problems |= {f"{case.name}: {workload.label}, by {state}: {fault}"
                         for fault in checks.resource_faults(sample, resources[state])}
    return sorted(problems)


def last_state(samples, workload):
    last_ns = max((sample.start_ns for sample in samples), default=0)
    return {sample.resource.get("flamelet.identity") for sample in checks.samples_of(samples, workload)
            if sample.start_ns == last_ns}


def check_lags(case, lags):
    """From the end of a profile to its arrival."""
    return [f"{case.name}: a profile came {lags[-1]:.1f} s late"] if lags[-1] > LATEST_S else []


def check_case(scene, case, table, samples, arrived):
    steady, new = table
    samples = on_node(samples, case)
    lags = sorted({arrived[sample.end_ns] - sample.end_ns / 1e9 for sample in samples}) or [0]
    problems = check_lags(case, lags)
    problems += check_states(scene, case, steady, samples, KUBELET_STATES)
    problems += check_states(scene, case, new, samples, {"path", case.becomes})
    wanted = {"snapshot" if case.is_silent() else "kubelet"}
    if last_state(samples, steady) != wanted:
        problems.append(f"{case.name}: at last steady is known by {last_state(samples, steady)}")
    if last_state(samples, new) != {case.becomes}:
        problems.append(f"{case.name}: at last new is known by {last_state(samples, new)}")
    print(f"{case.name:<12} {dict(state_counts(samples, case, steady))!s:<34} "
          f"{dict(state_counts(samples, case, new))!s:<34} {lags[len(lags) // 2]:>6.1f} "
          f"{lags[-1]:>5.1f} {peak_mb(case.agent):>5.0f}", flush=True)
    return problems + check_log(case)


def check_log(case):
    log = case.agent.log()
    token = host.read_text(f"{case.node.directory}/token")
    problems = [f"{case.name}: the token is in the log"] if token and token in log else []
    if case.is_silent() and "cannot get pod names" not in log:
        problems.append(f"{case.name}: no log line says that the kubelet does not answer")
    return problems


def peak_mb(agent):
    text = host.read_text(f"/proc/{agent.pid}/status")
    return int(text.split("VmHWM:")[1].split()[0]) / 1024


def check_memory(cases):
    """A body of any size is never in memory as a whole."""
    usual = sorted(peak_mb(case.agent) for case in cases)[len(cases) // 2]
    return [f"{case.name}: the agent took {peak_mb(case.agent):.0f} MB, others {usual:.0f} MB"
            for case in cases if peak_mb(case.agent) > usual + BODY_MB]


def rotate(cases):
    """The revoked token is replaced, as a kubelet does in a projected volume."""
    for case in cases:
        if case.name == "revoked":
            case.node.write("token", "another")


def play(scene, cases, new):
    """The fault, with a new container, for as long as it takes to become stale."""
    begin_s = time.time()
    for case in cases:
        case.begin()
    new.pod.is_listed = True
    scene.write_log_names(new)
    scene.start(new)
    time.sleep(ROTATION_S)
    rotate(cases)
    time.sleep(max(0, begin_s + FAULT_S - time.time()))
    return int(begin_s * 1e9)


def test_destination_down(scene, agent):
    """The agent logs that its destination is down, and delivers again once it is back."""
    scene.collector.stop()
    log_before = len(agent.log())
    host.wait_until("a log line says that the destination is down",
                    lambda: scene.must_live(agent) and "export to" in agent.log()[log_before:])
    scene.collector.start()
    host.wait_until("profiles arrive again", scene.collector.samples)
    print("destination down and up again", flush=True)


def test(scene, table):
    steady, new = table
    cases = make_cases()
    scene.start(steady)
    start_cases(scene, cases, steady)
    begin_ns = play(scene, cases, new)
    samples = [sample for sample in scene.collector.samples() if sample.start_ns >= begin_ns]
    arrived = scene.collector.arrivals()
    print(f"{'kubelet':<12} {'samples it named':<34} {'samples of a new container':<34} "
          f"{'late s':>6} {'most':>5} {'MB':>5}")
    problems = check_memory(cases)
    for case in cases:
        scene.must_live(case.agent)
        problems += check_case(scene, case, table, samples, arrived)
    test_destination_down(scene, cases[0].agent)
    for case in cases:
        problems += scenes.end_agent(case.agent)
    return problems
