#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent beside a real Kubernetes: every sample in its pod. README.md in this directory tells more.

    run.py path/to/flamelet [--kubernetes VERSION] [--keep]

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import signal
import sys
import time

import agent_scene
import compare
import conduct
import manifests
import node as nodes
import settings
import sink as sinks

# pylint: disable=wrong-import-order
import host

# A container's ID is in its pod's status by then.
STATUS_SECONDS = 4
# The first run builds Kubernetes, which has its own limits.
RUN_SECONDS = 420
DEBUG_TARGET = "multi"


def run_workloads(scene):
    """All kinds of pods, and a debug container in one of them."""
    node, namespace = scene.node, scene.namespace
    node.add_static_pod("static", manifests.static_pod())
    node.apply(manifests.scenario(namespace))
    for resource in ("deployment/web", "daemonset/ds", "statefulset/db"):
        node.wait_for_rollout(resource, namespace)
    node.wait_for(f"pod/{DEBUG_TARGET}", namespace)
    add_debug_container(node, namespace)
    node.wait_for(f"pod/{DEBUG_TARGET}", namespace,
                  "jsonpath={.status.ephemeralContainerStatuses[0].state.running.startedAt}")
    node.wait_for("job/once", namespace, "condition=Complete")
    node.wait_for("pod/blink", namespace, "jsonpath={.status.phase}=Succeeded")
    node.wait_for(f"pod/static-{node.node_name}", "kube-system")


def add_debug_container(node, namespace):
    container = manifests.container("debugger", 8)
    variables = {"POD_NAMESPACE": namespace, "POD_NAME": DEBUG_TARGET,
                 "CONTAINER_NAME": "debugger"}
    node.kubectl("--namespace", namespace, "debug", DEBUG_TARGET, "--target=main",
                 f"--container={container['name']}", f"--image={container['image']}",
                 *(f"--env={name}={value}" for name, value in variables.items()),
                 "--", *container["command"])


def restart_kubelet(scene):
    """Names stay while it is away and while it does not yet know its pods again."""
    node = scene.node
    time.sleep(2 * agent_scene.EXPORT_SECONDS)
    node.stop_kubelet()
    time.sleep(2 * agent_scene.EXPORT_SECONDS)
    node.start_kubelet()
    node.apply(manifests.late_pod(scene.namespace))
    node.wait_for("pod/late", scene.namespace)
    time.sleep(2 * agent_scene.EXPORT_SECONDS)


def wait_for_schedule(scene):
    """The CronJob's first Job has run."""
    jobs = "jsonpath={.status.lastSuccessfulTime}"
    scene.node.wait_for("cronjob/tick", scene.namespace, jobs)


def test_attribution(scene):
    begin = time.monotonic()
    run_workloads(scene)
    print(f"all workloads ran after {time.monotonic() - begin:.1f} s", flush=True)
    restart_kubelet(scene)
    wait_for_schedule(scene)
    time.sleep(2 * agent_scene.EXPORT_SECONDS)
    status = scene.agent.finish(20, signal.SIGTERM)
    scene.sink.stop()
    time.sleep(STATUS_SECONDS)
    comparison = compare.Comparison(scene.truth.containers())
    comparison.add(scene.sink.samples())
    comparison.print_table()
    return comparison.result() + ([] if status == 0 else [f"the agent's exit status is {status}"])


def test_forbidden(scene):
    """An agent that may not ask says which rule it lacks."""
    scene.sink = sinks.Sink(scene.node, 4319)
    scene.sink.start()
    agent = scene.start_agent("forbidden", settings.NOBODY, scene.sink.endpoint)
    is_told = host.wait_until("an answer of the kubelet in the agent's log",
                              lambda: [line for line in agent.log().splitlines() if "403" in line],
                              30)
    print(f"forbidden: {is_told[0]}", flush=True)
    agent.finish(20, signal.SIGTERM)
    return [] if "nodes/pods" in is_told[0] else ["the log line does not name the rule nodes/pods"]


def run_tests(args):
    begin = time.monotonic()
    with nodes.Node(args.kubernetes, args.keep) as node:
        print(f"ready after {time.monotonic() - begin:.1f} s: {node.node_name}, Kubernetes "
              f"{args.kubernetes}", flush=True)
        scene = agent_scene.Scene(node, os.path.abspath(args.binary))
        scene.start()
        problems = test_attribution(scene) + test_forbidden(scene)
        if problems:
            node.show_logs()
        end = time.monotonic()
    print(f"taken down in {time.monotonic() - end:.1f} s", flush=True)
    return problems + conduct.leftovers(node)


if __name__ == "__main__":
    sys.exit(conduct.conduct(conduct.make_parser(__doc__).parse_args(), run_tests, RUN_SECONDS))
