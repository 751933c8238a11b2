#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles of real containers in a real Pyroscope, by each way there is, asked for through its own API:
what belongs to a pod is found under the pod, nothing else is, and not one sample is missing. Every
query of charts/flamelet/dashboards/flamelet-node.json is asked, too.

    PYROSCOPE=/path/to/pyroscope run.py path/to/flamelet [--keep]
    PYROSCOPE_URL=http://127.0.0.1:4040 run.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../local"))

# pylint: disable=wrong-import-position
import dashboards
import host
import recording
import run as local     # e2e/local's
import scene as scenes
import server
from workloads import Pod, Workload

WHOLE_SECONDS = 280
SAMPLING_SECONDS = 12
PERIOD_NS = 10 ** 9 // scenes.FREQUENCY_HZ
# The ways to send to a Pyroscope, and the agent's options for each.
WAYS = {
    "http": ("--otlp-preset", "pyroscope"),
    "grpc": ("--otlp-preset", "pyroscope", "--otlp-protocol", "grpc"),
    "push": ("--exporter", "pyroscope"),
}


def workloads():
    """Three pods in two namespaces; two of the containers have the same name."""
    web = Pod("web-d7c696699-dk5fr", "shop", "web-d7c696699-x7k2p", "web-svc", "burstable",
              owner={"k8s.deployment.name": "web"})
    blink = Pod("blink", "shop", "blink", "blink", "besteffort")
    bank = Pod("web-d7c696699-dk5fr", "bank", "web-d7c696699-q8w4z", "web-svc", "", "systemd",
               {"k8s.deployment.name": "web"})
    return [Workload(label, pod, container, 200_000, 20) for label, pod, container in
            (("shopweb", web, "spin"), ("blink", blink, "blink"), ("bankweb", bank, "spin"))]


class Stage(scenes.Scene):
    """A scene with Pyroscope in place of the Collector."""

    def __init__(self, pyroscope, binary, is_kept):
        super().__init__(binary, is_kept)
        pyroscope.directory = f"{self.directory}/pyroscope"
        self.collector = self.pyroscope = self.add(pyroscope)


def run_agent(stage, way):
    """Samples for a while. Returns the node's name, what the agent counted, and what is wrong."""
    node = stage.add_node(f"e2e-{way}-{stage.tag}")
    agent = stage.launch_agent(node, "--export-interval", "3s", *WAYS[way])
    time.sleep(SAMPLING_SECONDS)
    problems = scenes.end_agent(agent)
    counted = scenes.counters(agent)
    if not counted.get("export_samples_sent") or counted["export_samples_sent"] != counted.get("export_samples_pushed"):
        problems.append(f"{way}: the agent lost samples: {counted}")
    return node.node_name, counted, problems


def wait_for_total(pyroscope, selector, wanted):
    """Acknowledged samples are found a moment later."""
    def check():
        found = pyroscope.flame_graph(selector)[0]
        return [] if found == wanted else [f"{selector}: Pyroscope has {found} ns, sent were {wanted}"]

    return host.last_faults(check, pause=0.2)


def check_total(pyroscope, node, counted):
    """To the sample; and each belongs to one pod, or to the host."""
    wanted = counted.get("export_samples_sent", 0) * PERIOD_NS
    selector = server.selector(node=node)
    problems = wait_for_total(pyroscope, selector, wanted)
    series = pyroscope.series(selector, ["namespace", "pod", "container"])
    if sum(value for _labels, value in series) != wanted:
        problems.append(f"{node}: the parts are not the whole: {series}, {wanted} ns")
    return problems


def check_labels(pyroscope, node, table):
    wanted = {"namespace": {workload.pod.namespace for workload in table},
              "pod": {workload.pod.name for workload in table},
              "container": {workload.container for workload in table}}
    found = {name: pyroscope.label_values(name, server.selector(node=node)) for name in wanted}
    return [] if found == wanted else [f"{node}: labels {found}, not {wanted}"]


def selections(way, node, table):
    """[(selector, workloads that it chooses)]. The push names have no dots, for servers that take none."""
    pod_name = "k8s_pod_name" if way == "push" else "k8s__pod__name"
    pods = [(labels, [workload]) for workload in table for labels in (
        {"namespace": workload.pod.namespace, "pod": workload.pod.name},
        {pod_name: workload.pod.name})]
    shopweb, blink, bankweb = table
    others = [({"namespace": "shop"}, [shopweb, blink]), ({"namespace": "bank"}, [bankweb]),
              ({"container": "spin"}, [shopweb, bankweb]), ({"container": "blink"}, [blink]),
              ({"service_name": "web-svc", "namespace": "bank"}, [bankweb]),
              ({"workload": "web"}, [shopweb, bankweb]),
              ({}, table), ({"pod": ""}, [])]
    return [(server.selector(node=node, **labels), chosen) for labels, chosen in pods + others]


def check_selections(pyroscope, way, node, table):
    """A query for one workload finds its hot functions and no other's."""
    problems = []
    for selector, chosen in selections(way, node, table):
        total, names = pyroscope.flame_graph(selector)
        found = [workload for workload in table if workload.hot in names]
        if found != chosen or total == 0:
            problems.append(f"{selector}: {total} ns of {[workload.hot for workload in found]}, not "
                            f"{[workload.hot for workload in chosen]}")
    return problems


def check_way(stage, way, table):
    pyroscope = stage.pyroscope
    node, counted, problems = run_agent(stage, way)
    problems += (check_total(pyroscope, node, counted) + check_labels(pyroscope, node, table)
                 + check_selections(pyroscope, way, node, table))
    print(f"{way}: {counted.get('export_samples_sent')} samples, {len(problems)} problems", flush=True)
    return problems


def record(stage):
    """A file to be replayed, and what its samples count."""
    node = stage.add_node(f"e2e-recorded-{stage.tag}")
    path = f"{stage.directory}/recorded.pb.gz"
    host.run(stage.binary, "record", "-d", "3s", "--frequency", str(scenes.FREQUENCY_HZ), "--pod-logs",
             f"{stage.directory}/no-logs", *node.agent_options(), "-o", path, seconds=60)
    return path, sum(sample.value[0] for sample in recording.read(path).sample)


def check_replay(stage, way, path, total):
    """A label of its own tells what the replay brought."""
    name = f"replayed-{way}-{stage.tag}"
    output = host.run(stage.binary, "export", path, "--otlp-endpoint", stage.pyroscope.endpoint(),
                      "--at", "now", "--json", "--resource-attribute", f"replay={name}", *WAYS[way],
                      seconds=90, stderr=None)
    problems = wait_for_total(stage.pyroscope, server.selector(replay=name), total * PERIOD_NS)
    if json.loads(output)["sent"] != total:
        problems.append(f"{way}: {total} samples are in the file: {output}")
    print(f"replay over {way}: {total} samples, {len(problems)} problems", flush=True)
    return problems


def test(stage, table):
    for workload in table:
        stage.start(workload)
    problems = [problem for way in WAYS for problem in check_way(stage, way, table)]
    if server.CPU not in (kinds := stage.pyroscope.profile_types()):
        problems.append(f"profile types are {kinds}")
    file = record(stage)
    problems += [problem for way in WAYS for problem in check_replay(stage, way, *file)]
    chosen = {"node": f"e2e-http-{stage.tag}", "namespace": table[0].pod.namespace,
              "workload": "web", "pod": table[0].pod.name, "container": table[0].container}
    return problems + dashboards.check_profiles(stage.pyroscope, chosen)


def run_test(pyroscope, binary, is_kept):
    table = workloads()
    with Stage(pyroscope, binary, is_kept) as stage:
        problems = ["interrupted"]
        try:
            stage.set_up(table)
            problems = test(stage, table)
        except host.Failure as failure:
            problems = [str(failure)]
        finally:
            local.be_uninterruptible()
            if problems:
                stage.show_logs()
    return problems


def give_up(*_args):
    raise host.Failure(f"not done after {WHOLE_SECONDS} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary", help="the flamelet program to test")
    parser.add_argument("--keep", action="store_true", help="leave the temporary directory")
    args = parser.parse_args()
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.alarm(WHOLE_SECONDS)
    host.adopt_orphans()
    try:
        pyroscope = server.Pyroscope()
        local.require_host()
        problems = run_test(pyroscope, os.path.abspath(args.binary), args.keep)
    except host.Skip as skip:
        print(f"SKIP: {skip}")
        return host.SKIP
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
