#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything a node does, at once and at random, on a real kubelet: every sample in its pod.

    chaos.py path/to/flamelet [--minutes N] [--seed N] [--agent-restart SHARE] [--print-schedule] [--keep]

20 containers a minute begin, a third of them live for less than a second; they are restarted, deleted
with and without grace and with their namespaces; the kubelet is away for a fifth of the time, the API server
for a while, the agent is restarted. What each sample's resource says is compared with what its container
says of itself. Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import json
import os
import signal
import sys
import threading
import time

import chaos_judge
import chaos_player
import chaos_schedule
import chaos_truth
import conduct
import node as nodes
import settings
import sink as sinks
import truth

# pylint: disable=wrong-import-order
import host
import profiles

FREQUENCY_HZ = 99
EXPORT_SECONDS = 2
# The receiver is slow where the machine has much else to do; losing samples is not what is tested.
RECEIVER_SECONDS = 60
CONTAINERS_A_MINUTE = 20
EXAMPLES = 12
# Besides the schedule: the node's start, and until all pods are gone.
EXTRA_SECONDS = 480


class Agent:
    """The agent under test. `gaps`: Unix times between which there was none."""

    def __init__(self, node, binary, endpoint):
        self.node = node
        token_file = f"{node.directory}/token-{settings.READER}"
        with open(token_file, "w", encoding="ascii") as file:
            file.write(node.token())
        self.command = [binary, "agent", "--otlp-endpoint", endpoint, "--frequency",
                        str(FREQUENCY_HZ), "--export-interval", f"{EXPORT_SECONDS}s",
                        "--otlp-timeout", f"{RECEIVER_SECONDS}s", *node.agent_options(token_file)]
        self.processes, self.gaps, self.problems = [], [], []

    def start(self):
        name = f"agent-{len(self.processes)}"
        self.processes.append(self.node.start_in_node(name, self.command))

    def stop(self):
        status = self.processes[-1].finish(20, signal.SIGTERM)
        if status != 0:
            self.problems.append(f"{self.processes[-1].name} ended with status {status}")

    def restart(self):
        begin = time.time()
        self.stop()
        self.start()
        # Until it samples: BPF programs take a moment to load.
        host.wait_until("the new agent says that it samples", self.processes[-1].log)
        time.sleep(2)
        self.gaps.append((begin, time.time()))


class Arrivals:
    """A thread that notes when the receiver's file grows."""

    def __init__(self, path):
        self.path = path
        self.sizes, self.times = [], []
        self.is_stopping = threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)

    def start(self):
        self.thread.start()

    def follow(self):
        while not self.is_stopping.wait(0.05):
            self.look()

    def look(self):
        size = os.path.getsize(self.path) if os.path.exists(self.path) else 0
        if size > (self.sizes[-1] if self.sizes else 0):
            self.sizes.append(size)
            self.times.append(time.time())

    def stop(self):
        self.is_stopping.set()
        self.thread.join()
        self.look()

    def samples(self):
        """Every sample with the time of its arrival."""
        end = 0
        with open(self.path, "rb") as file:
            for line in file:
                end += len(line)
                at = chaos_judge.arrival_of(self.sizes, self.times, end)
                for sample in profiles.read_message(json.loads(line)):
                    yield chaos_judge.Received(at, sample.resource,
                                               sample.attributes.get("thread.name"),
                                               sample.frames, sample.count)


def make_namespaces(node, names):
    for name in names:
        node.kubectl("create", "namespace", name)
    for name in names:
        host.wait_until("service accounts exist",
                        lambda name=name: node.exists("serviceaccount/default", name), 60, 0.2)


def wait_for_the_end(node):
    """All pods are gone, and the last samples of theirs sent."""
    def count():
        return len(node.kubectl("get", "pods", "--all-namespaces", "--output=name").split())
    host.wait_until("all pods are gone", lambda: count() == 0, 120, 1)
    time.sleep(2 * EXPORT_SECONDS + 3)


class Scene:
    def __init__(self, node, binary):
        self.node = node
        self.sink = sinks.Sink(node)
        self.arrivals = Arrivals(self.sink.output)
        self.watch, self.logs = truth.Truth(node), chaos_truth.Logs(node)
        self.agent = Agent(node, binary, self.sink.endpoint)

    def run(self, schedule):
        """Plays the schedule to its end and returns what could not be done."""
        self.sink.start()
        for part in (self.arrivals, self.watch, self.logs, self.agent):
            part.start()
        host.wait_until("the agent's first profile arrives", lambda: self.arrivals.sizes)
        make_namespaces(self.node, schedule.namespaces)
        player = chaos_player.Player(self.node, self.agent, self.watch, schedule)
        player.play()
        wait_for_the_end(self.node)
        self.agent.stop()
        self.sink.stop()
        self.arrivals.stop()
        return player.problems + self.agent.problems

    def judge(self, nr_containers):
        runs, only_own, only_watched = chaos_truth.all_runs(self.logs, self.watch)
        known = chaos_judge.Truth(runs, self.logs.uids)
        finding = chaos_judge.judge(known, self.arrivals.samples())
        report(finding, self.agent.gaps)
        print(f"{only_own} runs are known by their logs alone, {only_watched} by Kubernetes alone")
        return (chaos_judge.check_chaos(known, nr_containers)
                + chaos_judge.check_attribution(finding)
                + chaos_judge.check_completeness(finding, self.agent.gaps, FREQUENCY_HZ))


def counts_text(counts):
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def report(finding, gaps):
    for line in chaos_judge.table(finding, gaps, FREQUENCY_HZ):
        print(line)
    print(f"{chaos_judge.STATE} of these samples: {counts_text(finding.states)}")
    print(f"what they lack: {counts_text(finding.lacking) or 'nothing'}")
    print(f"other samples: {finding.nr_others}, of them in pods {finding.nr_others_in_pods}, "
          f"with names that no pod has together {finding.nr_contradicted}")
    unseen = chaos_judge.burned_unseen(finding, gaps)
    print(f"containers with CPU time and no sample: {len(unseen)}, "
          f"{sum(run.cpu_s for run in unseen):.2f} s")
    delays = chaos_judge.delays(finding, gaps)
    if delays:
        texts = [f"{name} {chaos_judge.percentile(delays, share):.2f} s" for name, share in
                 (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("most", 1))]
        print(f"from start to the first right sample received, sent every {EXPORT_SECONDS} s "
              f"({len(delays)} containers): {', '.join(texts)}")
    for what, run, sample in list(finding.examples.values())[:EXAMPLES]:
        print(f"  {what}: {run.place() if run else sample.thread}: "
              f"{json.dumps(sample.resource, sort_keys=True)}")
    sys.stdout.flush()


def make_schedule(args, node_name):
    """The samples of another node on this machine must not be taken for this one's."""
    namespaces = tuple(f"{name}-{node_name}" for name in ("shop", "bank"))
    return chaos_schedule.make_schedule(args.seed, args.minutes, namespaces, args.agent_restart)


def run_chaos(args):
    with nodes.Node(args.kubernetes, args.keep) as node:
        print(f"seed {args.seed}, {node.node_name}, Kubernetes {args.kubernetes}", flush=True)
        scene = Scene(node, os.path.abspath(args.binary))
        problems = scene.run(make_schedule(args, node.node_name))
        problems += scene.judge(int(CONTAINERS_A_MINUTE * args.minutes))
        if problems:
            for process in scene.agent.processes:
                print(f"--- {process.name}\n{process.log()[-4000:]}")
        return problems


def parse_args():
    parser = conduct.make_parser(__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--agent-restart", type=float, default=chaos_schedule.AGENT_RESTART,
                        metavar="SHARE", help="of the run that is over when the agent restarts "
                        f"({chaos_schedule.AGENT_RESTART}; 0.4: while the kubelet is down)")
    parser.add_argument("--print-schedule", action="store_true", help="and do nothing else")
    return parser.parse_args()


def main():
    args = parse_args()
    if args.print_schedule:
        make_schedule(args, "node").print()
        return 0
    return conduct.conduct(args, run_chaos, int(60 * args.minutes) + EXTRA_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
