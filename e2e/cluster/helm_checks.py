# SPDX-License-Identifier: Apache-2.0
"""The checks of helm.py: what a release's pod may do, what its commands print, and whose profiles
arrived."""

import os
import re
import time

import backend
import compare
import demo
import manifests
import release
import truth as truths

# pylint: disable=wrong-import-order
import host
import server

SANDBOX = os.path.join(release.HERE, "sandbox.py")
# BPF, PERFMON, SYS_PTRACE, DAC_READ_SEARCH, CHECKPOINT_RESTORE, SYSLOG
CAPABILITIES = sum(1 << number for number in (39, 38, 19, 2, 40, 34))
CONFIG = "/etc/flamelet/flamelet.yaml"
SOCKET = "/run/flamelet/http.sock"
LISTENING, ACCEPTS = "0A", "00010000"
DOCTOR_LINE = re.compile(r"^(ok|warn|fail) +(.*)$", re.MULTILINE)
NOTE = re.compile(r"^ +(?:kubectl|helm) .*$", re.MULTILINE)
# Commands of the notes that change something, or do so if something is wrong.
REMEDY = "label namespace"
SPIN, SPIN_SECONDS = "spin", 30
# Longer than two export intervals.
SETTLE_SECONDS = 40
COMPLETE_SECONDS, PAUSE_SECONDS = 150, 5


# Permissions of the pod.

def check_privileges(agent):
    """The container has the six capabilities, none of its processes has another one; helm_privileges.py looks closer."""
    processes = [agent.process_status(pid) for pid in agent.pids()]
    bounds = processes[0]["CapBnd"]
    problems = [] if int(bounds, 16) == CAPABILITIES else [f"the container's capabilities are {bounds}"]
    for status in processes:
        problems += check_process(status)
    problems += listeners(agent.pid())
    print(f"capabilities {bounds}, {len(processes)} processes, {len(problems)} problems", flush=True)
    return problems


def check_process(status):
    wanted = {"Seccomp": "2", "NoNewPrivs": "1"}
    problems = [f"{key} is {status[key]}, not {value}" for key, value in wanted.items() if status[key] != value]
    problems += [f"{key} is {status[key]}" for key in ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb")
                 if int(status[key], 16) & ~CAPABILITIES]
    return [f"{status['Name']}: {problem}" for problem in problems]


def listeners(pid):
    """Returns the listening sockets in the pod's network, without the agent's own Unix socket."""
    found = []
    for kind in ("tcp", "tcp6"):
        lines = host.read_text(f"/proc/{pid}/net/{kind}").splitlines()[1:]
        found += [f"{kind} {line.split()[1]}" for line in lines if line.split()[3] == LISTENING]
    for line in host.read_text(f"/proc/{pid}/net/unix").splitlines()[1:]:
        fields = line.split()
        if fields[3] == ACCEPTS and fields[7:] != [SOCKET]:
            found.append("unix " + " ".join(fields[7:]))
    return [f"the agent listens: {one}" for one in found]


# Output of its commands.

def check_doctor(agent):
    """Nothing may fail; warnings are printed."""
    output = agent.exec("/usr/bin/flamelet", "doctor", "-c", CONFIG)
    lines = DOCTOR_LINE.findall(output)
    for state, text in lines:
        if state == "warn":
            print(f"doctor warns: {text}", flush=True)
    failed = [text for state, text in lines if state == "fail"]
    return failed if lines else [f"doctor says {output!r}"]


def check_notes(agent):
    """The commands in the chart's notes do what the notes say."""
    commands = [line.strip() for line in NOTE.findall(agent.helm("get", "notes", agent.name))]
    commands = [command for command in commands if REMEDY not in command]
    problems = [] if len(commands) > 3 else [f"the notes have these commands: {commands}"]
    for command in commands:
        try:
            host.run(SANDBOX, "shell", "sh", "-c", command, seconds=120)
        except host.Failure as failure:
            problems.append(f"the notes' command: {failure}")
    print(f"{len(commands)} commands of the notes, {len(problems)} problems", flush=True)
    return problems


# Profiles that arrived.

def selections():
    """[(attributes, containers that they choose)]: by namespace, pod, container's name, and all of them."""
    chosen = [{"namespace": one.namespace} for one in demo.CONTAINERS]
    chosen += [{"namespace": one.namespace, "pod": one.pod} for one in demo.CONTAINERS]
    chosen += [{"container": one.name} for one in demo.CONTAINERS]
    chosen += [{"namespace": one.namespace, "pod": one.pod, "container": one.name} for one in demo.CONTAINERS]
    unique = {tuple(sorted(labels.items())): labels for labels in chosen}.values()
    return [(labels, [one for one in demo.CONTAINERS if is_chosen(one, labels)]) for labels in unique]


def is_chosen(one, labels):
    return all(value == {"namespace": one.namespace, "pod": one.pod, "container": one.name}[name]
               for name, value in labels.items())


def missing_and_others(ask):
    """Of all selections: functions that did not arrive yet, and those of containers that were not chosen."""
    missing, others, known = [], [], {name for one in demo.CONTAINERS for name in one.functions}
    for labels, chosen in selections():
        wanted = {name for one in chosen for name in one.functions}
        found = ask(labels) & known
        missing += [f"{labels} lacks {name}" for name in sorted(wanted - found)]
        others += [f"{labels} has {name}" for name in sorted(found - wanted)]
    return missing, others


def check_selections(place, look):
    """Each has its own functions, all of them, and no other container's. `look()` returns what tells the names that are
    there by then for labels. On a machine with much else to do it takes a while until each function was sampled."""
    deadline = time.monotonic() + COMPLETE_SECONDS
    missing, others = missing_and_others(look())
    while missing and time.monotonic() < deadline:
        time.sleep(PAUSE_SECONDS)
        missing, others = missing_and_others(look())
    print(f"{place}: {len(selections())} selections of {len(demo.CONTAINERS)} containers, "
          f"{len(missing)} lack functions, {len(others)} have those of others", flush=True)
    return [f"{place}: {problem}" for problem in missing + others]


def names_of(samples, labels):
    wanted = {f"k8s.{name}.name": value for name, value in labels.items()}.items()
    return {name for sample in samples if wanted <= sample.resource.items() for name in sample.frames}


def check_demo(node):
    def look():
        samples = backend.samples(node)
        return lambda labels: names_of(samples, labels)

    return check_selections("the Collector", look)


def check_host_names(node):
    """Every sample says the machine's name, not the name of the pod that took it."""
    names = {sample.resource.get("host.name") for sample in backend.samples(node)}
    return [] if names == {node.node_name} else [f"host.name is one of {names}, not {node.node_name}"]


def check_pyroscope(agent):
    """A further receiver, as docs/install.md adds it; it is asked as Grafana does."""
    pyroscope = server.Pyroscope()
    pyroscope.url = agent.node.pyroscope_url
    agent.helm("upgrade", agent.name, agent.chart, "--reset-then-reuse-values", "--set",
               f"destinations[0].name=pyroscope,destinations[0].endpoint={backend.PYROSCOPE_ENDPOINT},"
               "destinations[0].preset=pyroscope")
    agent.wait_ready()
    return check_selections(
        "Pyroscope", lambda: lambda labels: pyroscope.flame_graph(server.selector(**labels))[1])


def spinning(namespace):
    """Two pods of two containers, whose samples tell by themselves whose they are, to the container's ID."""
    containers = [manifests.container(name, 4) for name in ("server", "cache")]
    return manifests.controller("Deployment", SPIN, manifests.pod_spec(*containers), namespace, replicas=2)


def check_attribution(node):
    """Every sample of pods that come while the agent runs, against what Kubernetes says of them."""
    namespaces = [namespace for namespace, _ in demo.workloads()]
    truth = truths.Truth(node)
    truth.start()
    node.apply(manifests.as_text(*map(spinning, namespaces)))
    for namespace in namespaces:
        node.wait_for_rollout(f"deployment/{SPIN}", namespace)
    time.sleep(SPIN_SECONDS + SETTLE_SECONDS)
    comparison = compare.Comparison({key: container for key, container in truth.containers().items()
                                     if container.resource.get("k8s.deployment.name") == SPIN})
    comparison.add(backend.samples(node))
    comparison.print_table()
    for namespace in namespaces:
        node.kubectl("--namespace", namespace, "delete", f"deployment/{SPIN}", "--wait=false")
    return comparison.result()
