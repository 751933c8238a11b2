# SPDX-License-Identifier: Apache-2.0
"""The scene of the tests of the chart on a real cluster: a node, the agent as a release of the
chart, where it sends profiles to, and pods."""

import glob
import json
import os
import re
import signal
import subprocess
import time

import conduct
import helm_node
import helm_pods
import helm_sink
import node as nodes
import release

# pylint: disable=wrong-import-order
import host

# Volumes made of ConfigMaps and Secrets are renewed as often: the usual minute is long for a test.
SYNC_SECONDS = 3
EXPORT_SECONDS = 5
WAIT_SECONDS = 120
KNOWN_SECONDS, RECENT_SECONDS = 240, 15
CAPABILITY_SETS = ("CapPrm", "CapEff", "CapBnd", "CapInh", "CapAmb")
BASE = {"exportInterval": f"{EXPORT_SECONDS}s"}


def merged(first, *others):
    """Values of the chart, the later ones over the former."""
    result = dict(first)
    for other in others:
        for key, value in other.items():
            both = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = merged(result[key], value) if both else value
    return result


class Scene:
    """A node with the agent's image and pods, and one receiver; `base` is in the values of each release."""

    def __init__(self, node, args, base=None):
        self.node, self.chart = node, args.chart
        self.binary = os.path.abspath(args.binary)
        self.base = base or {}
        self.sink = helm_sink.Sink(node)
        self.pods = helm_pods.Workloads(node)
        self.release = self.make_release()

    def make_release(self, namespace="flamelet"):
        return release.Release(self.node, namespace=namespace, chart=self.chart)

    def start(self):
        release.load_image(self.node, self.binary, release.app_version(self.chart))
        self.sink.start()
        self.pods.start()

    def values(self, *others):
        return merged({"otlp": {"endpoint": self.sink.endpoint}}, self.base, *others)

    def set_kubelet(self, **settings):
        """Starts the kubelet anew; what is None goes back to the kubelet's default."""
        path = f"{self.node.directory}/kubelet.json"
        config = {**json.loads(host.read_text(path)), **settings}
        config = {key: value for key, value in config.items() if value is not None}
        self.node.stop_kubelet()
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self.node.start_kubelet()
        self.node.wait_until_ready()

    def wait_for_samples(self, what, condition, since=None, seconds=WAIT_SECONDS, sink=None):
        """Until condition(samples since then) is true; returns the samples."""
        since, sink = time.time() if since is None else since, sink or self.sink

        def look():
            samples = sink.samples(since)
            return samples if samples and condition(samples) else None

        return host.wait_until(what, look, seconds, 0.5)

    def wait_for_everything(self, but=(), identity="kubelet", settle=0, sink=None):
        """Until recent samples have all there is to know of the pods, but for some of it, and so many seconds
        have passed. Returns what they lack and the samples."""
        lacking = []

        def has_rest(samples):
            lacking[:] = self.pods.unknown(recent(samples), identity)
            return set(lacking) <= set(but)

        try:
            samples = self.wait_for_samples("", has_rest, time.time() + settle, KNOWN_SECONDS, sink)
        except host.Failure as failure:
            raise host.Failure(f"not known after {KNOWN_SECONDS} s: {lacking}") from failure
        return lacking, recent(samples)


def recent(samples):
    """Returns the samples of the last seconds."""
    begin = max(sample.end_ns for sample in samples) - RECENT_SECONDS * helm_sink.NS_PER_S
    return [sample for sample in samples if sample.start_ns >= begin]


def containers_of(release_):
    """(pod's uid, container's ID): what a restart would change."""
    return release_.pod_object()["metadata"]["uid"], release_.status().get("containerID")


def wait_for_end(agent, seconds=WAIT_SECONDS):
    """Returns the exit status and the last log lines of the agent's container in the release's
    newest revision."""
    def ended():
        wanted = agent.kubectl("get", "controllerrevisions", "--sort-by=.revision", "--output=jsonpath="
                               "{.items[-1:].metadata.labels.controller-revision-hash}").strip()
        states = [(pod["metadata"]["name"], state["terminated"]) for pod in agent.pods()
                  if pod["metadata"]["labels"].get("controller-revision-hash") == wanted
                  for status in pod["status"].get("containerStatuses", [])
                  for state in (status["state"], status.get("lastState", {})) if "terminated" in state]
        return states[0] if states else None

    name, state = host.wait_until("the end of the agent", ended, seconds, 0.5)
    text = state.get("message") or agent.kubectl("logs", name, f"--container={release.CONTAINER}")
    return state["exitCode"], text


def parse_statuses(text):
    """{name: value} of each /proc/PID/status in a text."""
    return [dict(line.split(":\t", 1) for line in ("Name:" + block).splitlines() if ":\t" in line)
            for block in text.split("Name:")[1:]]


def print_status(status, *names):
    print(" ".join(f"{name}={status[name]}" for name in names), flush=True)


def thread_statuses(pid):
    """Of each thread of a process and of its children."""
    return parse_statuses("".join(
        host.read_text(f"/proc/{one}/task/{task}/status") for one in [pid, *helm_node.children_of(pid)]
        for task in os.listdir(f"/proc/{one}/task")))


def listening_sockets(pid):
    """Returns the sockets in the network namespace of a process: lines of /proc/net."""
    found = []
    for kind, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
        lines = host.read_text(f"/proc/{pid}/net/{kind}").splitlines()[1:]
        found += [f"{kind} {line.split()[1]}" for line in lines if line.split()[3] == state]
    return found


def log_counters(text):
    """The numbers in the agent's last line of them."""
    lines = [line for line in text.splitlines() if "stopped: " in line or "counters: " in line]
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", lines[-1])} if lines else {}


class LogFollower:
    """Follows the log of an agent to its end, because the log does not outlive the pod."""

    def __init__(self, release_):
        node, name = release_.node, f"log-{os.urandom(3).hex()}"
        self.process = node.start_in_node(name, [
            node.tool("kubectl"), f"--kubeconfig={node.admin}", "--namespace", release_.namespace, "logs",
            "--follow", release_.pod(), f"--container={release.CONTAINER}"])
        host.wait_until("the agent's log", self.process.log, WAIT_SECONDS)

    def finish(self):
        """Returns it all once the container has ended."""
        host.wait_until("the end of the agent's log", lambda: not self.process.is_alive(), WAIT_SECONDS)
        return self.process.log()

    def stop(self):
        self.process.finish(first=signal.SIGKILL)


def make_parser(text, parts):
    """Returns a parser of the arguments that all these tests take. `parts` are names of functions
    without "check_"."""
    parser = conduct.make_parser(text)
    parser.add_argument("--chart", default=release.CHART, help="the chart's directory")
    parser.add_argument("--part", action="append", choices=parts, help="only this; repeat for more")
    return parser


def names_of(checks):
    return [check.__name__.removeprefix("check_") for check in checks]


def run_part(scene, check):
    """Returns what is wrong, and whether the next one can go on."""
    name, begin, can_go_on = names_of([check])[0], time.monotonic(), True
    print(f"--- {name}", flush=True)
    try:
        found = check(scene)
    except (host.Failure, subprocess.TimeoutExpired) as failure:
        found, can_go_on = [str(failure)], False
    print(f"--- {name}: {'; '.join(found) or 'ok'}, {time.monotonic() - begin:.1f} s", flush=True)
    return [f"{name}: {problem}" for problem in found], can_go_on


def run_parts(scene, checks, parts):
    """Calls the checks that are asked for, one after another, each of which returns what is wrong."""
    problems = []
    for check in checks:
        if parts and names_of([check])[0] not in parts:
            continue
        found, can_go_on = run_part(scene, check)
        problems += found
        if not can_go_on:
            break
    return problems


def show(scene):
    """Prints what helps to understand a fault."""
    for arguments in (("get", "pods", "--all-namespaces", "--output=wide"),
                      ("get", "events", "--all-namespaces", "--sort-by=.lastTimestamp")):
        print(scene.node.kubectl(*arguments)[-6000:], flush=True)
    for path in sorted(glob.glob(f"{scene.node.directory}/var/log/pods/*/{release.CONTAINER}/*.log")):
        print(f"--- {path}\n{host.read_text(path)[-1500:]}", flush=True)
    scene.node.show_logs()


def run_on_node(args, checks, base=None):
    """A node with all of the above, and the checks on it."""
    begin = time.monotonic()
    with nodes.Node(args.kubernetes, args.keep) as node:
        scene = Scene(node, args, base)
        scene.start()
        print(f"ready after {time.monotonic() - begin:.1f} s: {node.node_name}, Kubernetes "
              f"{args.kubernetes}", flush=True)
        problems = run_parts(scene, checks, args.part)
        if problems:
            show(scene)
    return problems
