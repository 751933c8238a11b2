# SPDX-License-Identifier: Apache-2.0
"""Who runs: the pods, their containers and what each is expected to be called. This table is the
ground truth; everything the profiles say is compared with it."""

from dataclasses import dataclass, field
import secrets
import uuid


@dataclass
class Pod:
    """A pod made after a recorded one, `template` in `template_namespace`; its containers bear the
    template's names. `style` is the kubelet's cgroup driver; `is_listed`: /pods has it now."""
    template: str
    namespace: str
    name: str
    service: str
    qos: str = ""
    style: str = "cgroupfs"
    uid: str = field(default_factory=lambda: str(uuid.uuid4()))
    is_listed: bool = True

    def cgroup(self):
        if self.style == "cgroupfs":
            return "/".join(filter(None, ["/kubepods", self.qos, "pod" + self.uid]))
        slices = ["/kubepods.slice"]
        prefix = "kubepods"
        if self.qos:
            prefix += "-" + self.qos
            slices.append(prefix + ".slice")
        return "/".join(slices + [f"{prefix}-pod{self.uid.replace('-', '_')}.slice"])


@dataclass
class Workload:
    """One run of one container, or of a host process when it has no pod.

    `label` begins the name of its hot function and of its program. It starts at `at` seconds;
    None: it is already there, idle, when the agent starts. Times are of time.monotonic()."""
    label: str
    pod: Pod | None
    container: str
    cpu_ms: int
    percent: int
    at: float | None = 0.0
    is_exiting: bool = False
    hot: str = ""
    container_id: str = field(default_factory=lambda: secrets.token_hex(32))
    cgroup: str = ""
    cgroup_id: int = 0
    started: float | None = None
    ended: float | None = None
    cpu_us: int = 0

    def __post_init__(self):
        if self.pod and self.pod.style == "cgroupfs":
            self.cgroup = f"{self.pod.cgroup()}/{self.container_id}"
        elif self.pod:
            self.cgroup = f"{self.pod.cgroup()}/cri-containerd-{self.container_id}.scope"

    def command(self, program):
        """The arguments of spin.c."""
        return [program, "wait" if self.at is None else "now", str(self.cpu_ms),
                str(self.percent), "exit" if self.is_exiting else "stay"]

    def resource(self, node_name):
        """The resource attributes its samples must carry; a host process must have none of them."""
        if not self.pod:
            return {}
        return {
            "k8s.namespace.name": self.pod.namespace,
            "k8s.pod.name": self.pod.name,
            "k8s.pod.uid": self.pod.uid,
            "k8s.container.name": self.container,
            "container.id": self.container_id,
            "k8s.node.name": node_name,
            "service.name": self.pod.service,
        }


def name_programs(workloads, tag):
    """Program names must fit into a thread's name, 15 bytes, and differ between parallel runs."""
    for workload in workloads:
        workload.hot = f"{workload.label}_{tag}"
        assert len(workload.hot) <= 15, workload.hot
        if not workload.pod:
            workload.cgroup = f"/flamelet-e2e-{tag}"
    return workloads


def attribution_workloads():
    """About 10 s of work: every layout of names, identifiers and lifetimes that has gone wrong."""
    replica = "web-d7c696699-x7k2p"
    web = Pod("web-d7c696699-dk5fr", "shop", replica, "web-svc", "burstable")
    # The same names in another namespace, no QoS level in the path.
    bank = Pod("web-d7c696699-dk5fr", "bank", replica, "web-svc", "", "systemd")
    db = Pod("db-0", "shop", "db-0", "db", "burstable", "systemd")
    # Init, sidecar, main and debug container in one pod.
    multi = Pod("multi", "shop", "multi", "multi", "besteffort")
    # The kubelet gives pods from files an identifier without dashes.
    static = Pod("static-node-1", "kube-system", "static-e2e", "static-e2e", "burstable",
                 uid=secrets.token_hex(16))
    # A CronJob's pod; it runs half a second and is deleted soon after.
    tick = Pod("tick-29920447-rnfkg", "batch", "tick-29920447-q8w4z", "tick", "besteffort",
               "systemd")
    crash = Pod("crash", "shop", "crash", "crash", "besteffort")
    return [
        Workload("shopweb", web, "spin", 2000, 20, at=None),
        Workload("shopdb", db, "db", 2000, 20, at=None),
        Workload("static", static, "static", 1500, 15, at=None),
        Workload("hostproc", None, "", 1500, 15),
        Workload("bankweb", bank, "spin", 2000, 20),
        Workload("init", multi, "init", 400, 100, at=0.5, is_exiting=True),
        Workload("crash1", crash, "crash", 600, 50, at=1.0, is_exiting=True),
        Workload("tick", tick, "tick", 500, 100, at=1.5, is_exiting=True),
        Workload("sidecar", multi, "sidecar", 1200, 15, at=2.0),
        Workload("main", multi, "main", 1200, 15, at=2.0),
        Workload("crash2", crash, "crash", 1200, 15, at=3.0),
        Workload("debug", multi, "dbg", 1000, 15, at=3.5),
    ]


def single_workload(label):
    """A short container in a pod of its own, which no earlier answer of the kubelet has named."""
    pod = Pod("crash", "shop", "once-" + label, "once-" + label, "burstable", is_listed=False)
    return Workload(label, pod, "crash", 400, 100, is_exiting=True)
