# SPDX-License-Identifier: Apache-2.0
"""Every sample of every container carries exactly that container's names."""

import re
import secrets

import checks
import scene as scenes
from workloads import Pod, SANDBOX, Workload

WEB = {"k8s.deployment.name": "web"}


def pods_from_recordings():
    """Busy containers in pods of three kubelets, by both drivers, of all layouts."""
    replica = "web-d7c696699-x7k2p"
    web = Pod("web-d7c696699-dk5fr", "shop", replica, "web-svc", "burstable", owner=WEB)
    # The same names in another namespace, no QoS level in the path.
    bank = Pod("web-d7c696699-dk5fr", "bank", replica, "web-svc", "", "systemd", WEB)
    db = Pod("db-0", "shop", "db-0", "db", "burstable", "systemd", {"k8s.statefulset.name": "db"})
    # The kubelet gives pods from files an identifier without dashes.
    static = Pod("static-node-1", "kube-system", "static-e2e", "static-e2e", "burstable",
                 uid=secrets.token_hex(16))
    old = Pod("web-node-1", "old", "old-e2e", "web", "burstable", recording="1.20",
              uid=secrets.token_hex(16))
    daemon = Pod("ds-lwmg2", "new", "ds-e2e", "ds", "besteffort", "systemd",
                 {"k8s.daemonset.name": "ds"}, recording="1.36")
    crio = Pod("strange", "new", "strange-e2e", "strange-e2e", "besteffort", recording="1.36")
    return [
        # Told by exclusion, when it is ten seconds old, and as the oldest of its pod.
        Workload("pause", db, SANDBOX, 400, 40, at=None, wakes_at=12.5),
        Workload("shopweb", web, "spin", 2000, 20, at=None),
        Workload("shopdb", db, "db", 2000, 20, at=None),
        Workload("static", static, "static", 1500, 15, at=None),
        Workload("bankweb", bank, "spin", 2000, 20),
        Workload("old", old, "side", 800, 15, at=0.5),
        Workload("crun", daemon, "ds", 1000, 15, at=1.0, layout="crun"),
        Workload("conmon", daemon, "", 500, 15, at=2.0, layout="conmon"),
        Workload("crio", crio, "b", 800, 15, at=2.0, layout="crio"),
    ]


def pods_that_change():
    """Init, sidecar, main and debug container in one pod; restarts; lives of half a second and less, deleted soon."""
    multi = Pod("multi", "shop", "multi", "multi", "besteffort")
    tick = Pod("tick-29920447-rnfkg", "batch", "tick-29920447-q8w4z", "tick", "besteffort",
               "systemd", {"k8s.cronjob.name": "tick"}, deleted_after_s=4.0)
    crash = Pod("crash", "shop", "crash", "crash", "besteffort")
    return [
        Workload("init", multi, "init", 400, 100, at=0.5, is_exiting=True),
        Workload("crash1", crash, "crash", 600, 50, at=1.0, is_exiting=True),
        Workload("tick", tick, "tick", 500, 100, at=1.5, is_exiting=True),
        Workload("sidecar", multi, "sidecar", 1200, 15, at=2.0),
        Workload("main", multi, "main", 1200, 15, at=2.0),
        Workload("crash2", crash, "crash", 1200, 15, at=3.0, restarts=1),
        Workload("debug", multi, "dbg", 1000, 15, at=3.5),
    ] + [flash(number, cpu_ms, 2.5 + number / 2) for number, cpu_ms in enumerate((300, 200, 100))]


def flash(number, cpu_ms, at):
    name = f"once-{number}"
    pod = Pod("once-m4j7l", "batch", name, "once", "besteffort", owner={"k8s.job.name": "once"},
              deleted_after_s=2.5)
    return Workload(f"flash{number}", pod, "job", cpu_ms, 100, at=at, is_exiting=True)


def host_processes():
    """Named by their cgroup's path."""
    docker_id = secrets.token_hex(32)
    return [
        Workload("unit", None, "", 800, 15, cgroup="/system.slice/fl-e2e-TAG.service",
                 says={"service.name": "fl-e2e-TAG.service", "container.id": None}),
        Workload("user", None, "", 800, 15,
                 cgroup="/user.slice/user-4711.slice/user@4711.service/app.slice/fl-e2e-TAG.service",
                 says={"service.name": "user-4711/fl-e2e-TAG.service"}),
        Workload("docker", None, "", 800, 15, cgroup=f"/docker/{docker_id}", container_id=docker_id,
                 says={"service.name": f"docker-{docker_id[:12]}", "container.id": docker_id,
                       "container.runtime.name": "docker"}),
    ]


def workloads():
    return pods_from_recordings() + pods_that_change() + host_processes()


def check_births(agent, table):
    """The kernel told of the containers that started; the first sample did not have to."""
    counters = scenes.counters(agent)
    nr_started = sum(workload.at is not None and workload.pod is not None for workload in table)
    if counters.get("cgroups_born", 0) < nr_started or counters.get("cgroup_events_lost", 0):
        return [f"{nr_started} containers were born, the agent knows of {counters}"]
    return []


def test(scene, table):
    for workload in table:
        if workload.at is None:
            scene.start(workload)
    node = scene.add_node("e2e-node")
    agent = scene.start_agent(node, "--export-interval", "3s")
    scene.play(table)
    problems = scenes.end_agent(agent)
    samples = scene.collector.finish_output()
    truth = {workload.hot: scene.pod_list.resource(workload, node.node_name) for workload in table}
    problems += checks.check_attribution(samples, table, truth, scenes.FREQUENCY_HZ)
    return problems + check_births(agent, table) + check_states(samples)


def check_states(samples):
    """Each sample of the machine says how well it is known whose it is."""
    odd = {sample.resource.get("flamelet.identity") for sample in samples
           if not re.fullmatch("kubelet|partial|path|host|unknown",
                               sample.resource.get("flamelet.identity", ""))}
    return [f"flamelet.identity is {word!r}" for word in odd]
