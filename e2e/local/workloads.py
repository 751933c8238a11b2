# SPDX-License-Identifier: Apache-2.0
"""Who runs: the pods, their containers and what each is expected to be called. The tables are the
ground truth; everything the profiles say is compared with them."""

from dataclasses import dataclass, field
import secrets
import uuid

# A container that is none of the pod's own: its samples are those of the sandbox.
SANDBOX = "POD"
# The image in the recorded bodies, as attributes have it.
IMAGES = {"1.20": "registry.local/bb", "1.35": "local.test/bb", "1.36": "local.test/bb"}
IMAGE_TAG = "1"
# A container's directory below its pod's. The last two are made without a runtime: processes are put there.
LAYOUTS = {
    "cgroupfs": "{id}",
    "systemd": "cri-containerd-{id}.scope",
    "crio": "crio-{id}",
    "crun": "crio-{id}.scope/container",
    "conmon": "crio-conmon-{id}.scope",
}
NO_RUNTIME = ("crun", "conmon")
# Attributes that identify a container. They have no value if the container is not known.
CONTAINER_KEYS = ("k8s.container.name", "service.instance.id", "k8s.container.restart_count",
                  "container.image.name", "container.image.tags")
POD_KEYS = ("k8s.namespace.name", "k8s.pod.name", "k8s.pod.uid", "k8s.pod.start_time")


@dataclass
class Pod:
    """A pod made after a recorded one, `template` of the kubelet `recording`; its containers bear the
    template's names. `style` is the kubelet's cgroup driver; `is_listed`: /pods has it now, and
    `deleted_after_s`: until so long after its container ended. `owner` is what the agent says of it."""
    template: str
    namespace: str
    name: str
    service: str
    qos: str = ""
    style: str = "cgroupfs"
    owner: dict = field(default_factory=dict)
    recording: str = "1.35"
    labels: dict = field(default_factory=dict)
    annotations: dict = field(default_factory=dict)
    uid: str = field(default_factory=lambda: str(uuid.uuid4()))
    is_listed: bool = True
    deleted_after_s: float | None = None

    def cgroup(self):
        if self.style == "cgroupfs":
            return "/".join(filter(None, ["/kubepods", self.qos, "pod" + self.uid]))
        slices = ["/kubepods.slice"]
        prefix = "kubepods"
        if self.qos:
            prefix += "-" + self.qos
            slices.append(prefix + ".slice")
        return "/".join(slices + [f"{prefix}-pod{self.uid.replace('-', '_')}.slice"])

    def resource(self, start_time):
        return {
            "k8s.namespace.name": self.namespace, "k8s.pod.name": self.name,
            "k8s.pod.uid": self.uid, "k8s.pod.start_time": start_time,
            "service.name": self.service, "service.namespace": self.namespace, **self.owner}


@dataclass
class Workload:
    """One run of one container, or of a host process when it has no pod.

    `label` begins the name of its hot function and of its program. It starts at `at` seconds;
    None: it is already there, idle, when the agent starts, and begins at `wakes_at`. `says` is what
    a host process is called. Times are of time.monotonic()."""
    label: str
    pod: Pod | None
    container: str
    cpu_ms: int
    percent: int
    at: float | None = 0.0
    wakes_at: float = 0.0
    is_exiting: bool = False
    layout: str = ""
    restarts: int = 0
    cgroup: str = ""
    says: dict = field(default_factory=dict)
    hot: str = ""
    container_id: str = field(default_factory=lambda: secrets.token_hex(32))
    cgroup_id: int = 0
    started: float | None = None
    woken: bool = False
    ended: float | None = None
    cpu_us: int = 0

    def __post_init__(self):
        if self.pod:
            self.layout = self.layout or self.pod.style
            self.cgroup = f"{self.pod.cgroup()}/{LAYOUTS[self.layout].format(id=self.container_id)}"

    def has_runtime(self):
        return self.pod is not None and self.layout not in NO_RUNTIME

    def command(self, program):
        """The arguments of spin.c."""
        return [program, "wait" if self.at is None else "now", str(self.cpu_ms),
                str(self.percent), "exit" if self.is_exiting else "stay"]

    def resource(self, node_name, start_time):
        """The attributes its samples must carry; None: they must not have it."""
        if not self.pod:
            absent = dict.fromkeys(POD_KEYS + CONTAINER_KEYS)
            return {**absent, "flamelet.identity": "host", "process.linux.cgroup": f"0::{self.cgroup}",
                    "k8s.node.name": node_name, **self.says}
        return {**self.pod.resource(start_time), **self.container_resource(),
                "k8s.node.name": node_name, "flamelet.identity": "kubelet"}

    def container_resource(self):
        pod = self.pod
        if self.layout == "conmon":
            return {"container.id": None, **dict.fromkeys(CONTAINER_KEYS)}
        found = {"container.id": self.container_id, "k8s.container.name": self.container,
                 "service.instance.id": f"{pod.namespace}.{pod.name}.{self.container}"}
        if self.container == SANDBOX:
            return {**dict.fromkeys(CONTAINER_KEYS), **found}
        return {**found, "k8s.container.restart_count": str(self.restarts),
                "container.image.name": IMAGES[pod.recording], "container.image.tags": IMAGE_TAG}

    def path_resource(self, node_name):
        """Returns the attributes known from its cgroup's path alone."""
        absent = dict.fromkeys(POD_KEYS + CONTAINER_KEYS)
        return {**absent, "k8s.pod.uid": self.pod.uid, "container.id": self.container_id,
                "k8s.node.name": node_name, "flamelet.identity": "path"}

    def logs_resource(self, node_name):
        """Returns the attributes known from the kubelet's log directories."""
        names = {key: value for key, value in self.resource(node_name, None).items()
                 if key in ("k8s.namespace.name", "k8s.pod.name", "k8s.pod.uid", "container.id",
                            "k8s.container.name", "k8s.node.name", "service.instance.id")}
        return {**dict.fromkeys(CONTAINER_KEYS), **names, "flamelet.identity": "logs"}


def name_programs(workloads, tag):
    """Program names must fit into a thread's name, 15 bytes, and differ between parallel runs."""
    for workload in workloads:
        workload.hot = f"{workload.label}_{tag}"
        assert len(workload.hot) <= 15, workload.hot
        workload.cgroup = workload.cgroup.replace("TAG", tag)
        workload.says = {key: value and value.replace("TAG", tag)
                         for key, value in workload.says.items()}
    return workloads
