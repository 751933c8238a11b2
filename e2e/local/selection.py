# SPDX-License-Identifier: Apache-2.0
"""Who is profiled: by options, by a file that changes while the agent runs, by a pod's annotation. What is
excluded has no sample, and the kernel counts that it took none."""

import os
import signal
import time

import checks
import host
import scene as scenes
from workloads import Pod, Workload

# Of the CPU time of what is excluded: the rest is chance, and what ran before the verdict.
COUNTED_SHARE = 0.7
# Of profiles that must have no others: as many intervals of the export, and more than a profile is late.
OBSERVED_SECONDS = 4
FIRST = "exclude-namespace: [bank]\nexclude-selector: tier=batch\n"
INVALID = "exclude-namespace: [shop]\nexclude-selector: \"tier in (\"\n"
SECOND = "exclude-namespace: [shop]\n"


def workloads():
    """All busy at once, for as long as the test takes."""
    web = Pod("web-d7c696699-dk5fr", "shop", "web-keep", "web-svc", "burstable")
    bank = Pod("blink", "bank", "web-bank", "web-bank", "", "systemd")
    batch = Pod("db-0", "shop", "batch-0", "batch-0", "burstable", "systemd", labels={"tier": "batch"})
    private = Pod("crash", "shop", "private", "private", "besteffort", recording="1.36",
                  annotations={"flamelet.dev/profile": "false"})
    return [Workload(label, pod, container, 60_000, 20) for label, pod, container in
            (("keep", web, "spin"), ("bank", bank, "blink"), ("batch", batch, "db"),
             ("private", private, "crash"))]


def recordings(table):
    """Options of record, and whom they choose."""
    keep, bank, batch, private = table
    return {
        ("--pod", "shop/web-keep"): keep,
        ("--container", "blink"): bank,
        ("--container", batch.container_id[:12]): batch,
        ("--namespace", "bank"): bank,
        ("--selector", "tier=batch,!canary"): batch,
        ("--cgroup", keep.cgroup): keep,
        ("--pod", "private"): None,
        ("--namespace", "bank", "--exclude-container", "blink"): None,
        ("--cgroup", private.pod.cgroup(), "--cgroup", bank.cgroup): bank,
    }


def record(scene, node, number, options):
    """Starts a recording; returns it and its file."""
    path = f"{scene.directory}/record-{number}.folded"
    command = [scene.binary, "record", "-d", "3s", "--pod-logs", f"{scene.directory}/no-logs",
               *node.agent_options(), "-o", path, *options]
    return scene.add(host.Process(f"record {options}", command, path + ".log")), path


def test_recordings(scene, node, table):
    """All recordings run at the same time. Each selects one container, or reports that it selects
    none."""
    problems = []
    chosen = recordings(table)
    running = [record(scene, node, number, options) for number, options in enumerate(chosen)]
    for (process, path), (options, wanted) in zip(running, chosen.items()):
        status = process.child.wait(120)
        text = host.read_text(path)
        found = [workload for workload in table if workload.hot in text]
        if found != [wanted] * (wanted is not None) or (status == 0) != (wanted is not None):
            problems.append(f"record {' '.join(options)}: exit status {status}, "
                            f"found {[workload.label for workload in found]}: {process.log()}")
    print(f"record chose rightly {len(chosen) - len(problems)} times of {len(chosen)}", flush=True)
    return problems


def write_config(path, text):
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.rename(path + ".new", path)


def total_cpu_seconds(table):
    return sum(host.cgroup_cpu_seconds(workload.cgroup) for workload in table)


def labels_since(scene, table, since_ns):
    """Returns the labels of the workloads in profiles that began then or later."""
    samples = [sample for sample in scene.collector.samples() if sample.start_ns >= since_ns]
    return {workload.label for workload in table if checks.samples_of(samples, workload)}


def wait_for_others(scene, table, labels):
    """Waits until a profile has exactly these, and checks that the profiles after it have no
    others."""
    since_ns = time.time_ns()

    def is_so():
        begun = scene.collector.samples()
        latest_ns = max((sample.start_ns for sample in begun), default=0)
        return latest_ns > since_ns and labels_since(scene, table, latest_ns) == labels

    host.wait_until(f"only {labels} are profiled", is_so, pause=0.5)
    settled_ns = time.time_ns()
    time.sleep(OBSERVED_SECONDS)
    host.wait_until(f"{labels} are still profiled", lambda: labels_since(scene, table, settled_ns) >= labels, pause=0.5)
    found = labels_since(scene, table, settled_ns)
    return [] if found == labels else [f"{sorted(found)} are profiled, not {sorted(labels)}"]


def wait_for_log(agent, words):
    host.wait_until(f"a log line with {words!r}", lambda: words in agent.log())


def test_invalid(agent, config):
    """Refused once for the changed file and once for the signal; nothing changes."""
    write_config(config, INVALID)
    wait_for_log(agent, "keeping the old options")
    agent.child.send_signal(signal.SIGHUP)
    host.wait_until("the file is refused again",
                    lambda: agent.log().count("keeping the old options") == 2)


def check_counters(agent, excluded_seconds):
    counters = scenes.counters(agent)
    expected = excluded_seconds * scenes.FREQUENCY_HZ
    dropped = counters.get("excluded", 0) + counters.get("undecided", 0)
    print(f"the kernel dropped {dropped} samples where {expected:.0f} are expected at least", flush=True)
    return [] if dropped > COUNTED_SHARE * expected else [f"only {dropped} samples were dropped"]


def test(scene, table):
    keep, bank, batch, private = table
    config = f"{scene.directory}/flamelet.yaml"
    write_config(config, FIRST)
    for workload in table:
        scene.start(workload)
    node = scene.add_node("select-node")
    agent = scene.start_agent(node, "--export-interval", "1s", "--config", config)
    problems = wait_for_others(scene, table, {"keep"})
    since_seconds = total_cpu_seconds([bank, batch, private])
    test_invalid(agent, config)
    problems += test_recordings(scene, node, table)
    problems += wait_for_others(scene, table, {"keep"})
    excluded_seconds = total_cpu_seconds([bank, batch, private]) - since_seconds
    write_config(config, SECOND)
    wait_for_log(agent, "exclude-selector changed")
    problems += wait_for_others(scene, table, {"bank"})
    problems += scenes.end_agent(agent) + check_counters(agent, excluded_seconds)
    private_samples = checks.samples_of(scene.collector.finish_output(), private)
    return problems + ["a pod that is opted out was profiled"] * bool(private_samples)
