#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pods that run Python, Java and JavaScript: their samples have the pod's names, and the functions' own.

    runtimes.py path/to/flamelet [--kubernetes VERSION] [--keep]

The programs' interpreters are this machine's: a pod sees the directories that have them.

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import glob
import os
import shutil
import signal
import sys
from dataclasses import dataclass

import agent_scene
import conduct
import manifests
import node as nodes
import spin

# pylint: disable=wrong-import-order
import host

RUN_SECONDS = 300
SAMPLES = 100
MIN_SHARE = 80      # per cent of a pod's samples, in its functions
WAIT_SECONDS = 120
# What of the machine a pod sees, where it is there.
PLACES = ("/usr", "/lib", "/lib64", "/opt", "/etc/java*")

PYTHON = """
import time

class Ledger:
    def book_entries(self):
        return sum(number * number % 7 for number in range(20000))

def close_the_books(ledger):
    return ledger.book_entries()

while True:
    close_the_books(Ledger())
    time.sleep(0.002)
"""

JAVASCRIPT = """
function weighParcels(count) {
  let total = 0;
  for (let i = 0; i < count; i++)
    total += Math.sqrt(i % 97) * 3;
  return total;
}

function planRoutes() {
  return weighParcels(200000);
}

setInterval(planRoutes, 5);
"""

JAVA = """
public class Stock {
    static long countShelves(int shelves) {
        long total = 0;
        for (int i = 0; i < shelves; i++)
            total += Long.numberOfTrailingZeros(total * 31 + i);
        return total;
    }

    static long takeStock() {
        return countShelves(2_000_000);
    }

    public static void main(String[] arguments) throws InterruptedException {
        long total = 0;
        for (;;) {
            total += takeStock();
            Thread.sleep(total < 0 ? 6 : 5);
        }
    }
}
"""


@dataclass(frozen=True)
class Program:
    """`file` has the text; each of `functions` must be seen, by the name that its runtime gives it."""
    name: str
    command: str
    options: tuple
    file: str
    text: str
    functions: tuple


PROGRAMS = (
    Program("python", "python3", (), "books.py", PYTHON, ("Ledger.book_entries", "close_the_books")),
    Program("node", "node", (), "routes.js", JAVASCRIPT, ("weighParcels", "planRoutes")),
    Program("java", "java", ("-Xmx64m",), "Stock.java", JAVA, ("Stock.countShelves", "Stock.takeStock")),
)


def find_program(command):
    """The file itself: a pod has neither a user's directory nor /etc/alternatives."""
    found = shutil.which(command, path="/usr/local/bin:/usr/bin")
    if found is None:
        raise host.Skip(f"no {command}")
    return os.path.realpath(found)


def host_paths():
    found = [path for place in PLACES for path in glob.glob(place)]
    return [{"name": f"place-{number}", "hostPath": {"path": path}} for number, path in enumerate(found)]


def make_pod(program, directory, namespace):
    volumes = host_paths() + [{"name": "program", "hostPath": {"path": directory}}]
    container = {"name": program.name, "image": spin.IMAGE, "workingDir": "/tmp",
                 "command": [find_program(program.command), *program.options, f"{directory}/{program.file}"],
                 "env": [{"name": "PATH", "value": "/usr/local/bin:/usr/bin"}],
                 "volumeMounts": [{"name": volume["name"], "mountPath": volume["hostPath"]["path"], "readOnly": True}
                                  for volume in volumes] + [{"name": "tmp", "mountPath": "/tmp"}]}
    spec = manifests.pod_spec(container, volumes=volumes + [{"name": "tmp", "emptyDir": {}}])
    return manifests.pod(program.name, spec, namespace)


def start_pods(node, namespace):
    """Returns when all of them run."""
    directory = f"{node.directory}/programs"
    os.mkdir(directory)
    for program in PROGRAMS:
        with open(f"{directory}/{program.file}", "w", encoding="utf-8") as file:
            file.write(program.text)
    pods = [make_pod(program, directory, namespace) for program in PROGRAMS]
    node.apply(manifests.as_text(manifests.make_namespace(namespace), *pods))
    for program in PROGRAMS:
        node.wait_for(f"pod/{program.name}", namespace)


def same_function(wanted, found):
    """Parameters behind the name in Java do not matter."""
    return found.partition("(")[0] == wanted


def samples_of(program, namespace, samples):
    place = {"k8s.namespace.name": namespace, "k8s.pod.name": program.name, "k8s.container.name": program.name}
    return [sample for sample in samples if place.items() <= sample.resource.items()]


def total(samples):
    return sum(sample.count for sample in samples)


def has_function(sample, functions):
    return any(same_function(function, frame) for frame in sample.frames for function in functions)


def faults_of(program, samples):
    """Of the newest samples of one pod."""
    named = total(sample for sample in samples if has_function(sample, program.functions))
    print(f"{program.name}: {total(samples)} samples, {named} of them in its functions", flush=True)
    faults = [f"{program.name}: no sample is in {function}" for function in program.functions
              if not any(has_function(sample, [function]) for sample in samples)]
    if named * 100 < MIN_SHARE * total(samples):
        faults.append(f"{program.name}: {named} of {total(samples)} samples are in its functions")
    return faults


def wait_for_samples(scene, programs, since_ns):
    """Returns {program: samples} once there are enough of each."""
    def look():
        samples = [sample for sample in scene.sink.samples() if sample.start_ns >= since_ns]
        found = {program: samples_of(program, scene.namespace, samples) for program in programs}
        return found if all(total(some) >= SAMPLES for some in found.values()) else None

    return host.wait_until(f"{SAMPLES} samples of each pod", look, WAIT_SECONDS, 0.5)


def newest_ns(scene):
    return max(sample.end_ns for sample in scene.sink.samples())


def test_pods(scene):
    """The first samples are of programs that start; a JVM also compiles its program."""
    start_pods(scene.node, scene.namespace)
    wait_for_samples(scene, PROGRAMS, 0)
    found = wait_for_samples(scene, PROGRAMS, newest_ns(scene))
    faults = [fault for program in PROGRAMS for fault in faults_of(program, found[program])]
    status = scene.agent.finish(20, signal.SIGTERM)
    scene.sink.stop()
    return faults + ([] if status == 0 else [f"the agent's exit status is {status}"])


def run_tests(args):
    with nodes.Node(args.kubernetes, args.keep) as node:
        scene = agent_scene.Scene(node, os.path.abspath(args.binary))
        scene.start()
        problems = test_pods(scene)
        if problems:
            node.show_logs()
    return problems + conduct.leftovers(node)


if __name__ == "__main__":
    sys.exit(conduct.conduct(conduct.make_parser(__doc__).parse_args(), run_tests, RUN_SECONDS))
