# SPDX-License-Identifier: Apache-2.0
"""Pods of three namespaces beside an agent that runs as a release of the chart, each of another kind to
whoever looks for the names of its functions, and what the agent's samples of them lack."""

import os

import helm_sink
import manifests
import spin

SHOP, BANK, LAB = "shop", "bank", "lab"
USER = 1000
SPIN_PERCENT = 12
# On a busy machine they get next to nothing without a request.
CPU = "150m"
SPIN = f"/bin/spin {SPIN_PERCENT}"
# Only its own user may read the program that this one executes.
PRIVATE = f"umask 077; exec {SPIN}"
# The program is gone once it runs, which its name on standard output says.
DELETED = (f"{SPIN} >/tmp/name & until [ -s /tmp/name ]; do busybox sleep 0.1; done; "
           "busybox rm /tmp/spin_*; wait")
# Half of this one's time is the kernel's.
KERNEL = "while :; do busybox dd if=/dev/zero of=/dev/null bs=1M count=400 2>/dev/null; busybox sleep 0.3; done"
KERNEL_FUNCTION = "do_syscall_64"
# What the agent should know of each pod. "kernel" has functions of its own.
ALL = ("names of pods", "functions of root", "functions of another user", "functions of a deleted program",
       "functions of the host", "functions of the kernel")


class Workloads:
    """Namespaces are named after the node: an agent samples the whole machine."""

    def __init__(self, node):
        self.node = node
        self.namespaces = [self.namespace(name) for name in (SHOP, BANK, LAB)]

    def namespace(self, name):
        return f"{name}-{self.node.node_name}"

    def start(self):
        """Returns when all of them run."""
        self.node.apply(manifests.as_text(*map(manifests.make_namespace, self.namespaces)))
        self.node.apply(manifests.as_text(*self.items()))
        self.start_host_process()
        for name, namespace in ((SHOP, SHOP), ("user", BANK), ("deleted", LAB), ("kernel", LAB)):
            self.node.wait_for(f"pod/{name}", self.namespace(namespace))

    def items(self):
        return [self.pod(SHOP, SHOP, f"exec {SPIN}"),
                self.pod("user", BANK, PRIVATE, securityContext={"runAsUser": USER}),
                self.pod("deleted", LAB, DELETED), self.pod("kernel", LAB, KERNEL)]

    def pod(self, name, namespace, script, **more):
        """One container of the same name, whose program makes its copy in an emptyDir."""
        container = manifests.container(name, resources={"requests": {"cpu": CPU}}, **more)
        container["command"] = ["/bin/busybox", "sh", "-c", script]
        container["env"].append({"name": "SPIN_DIRECTORY", "value": "/tmp"})
        container["volumeMounts"] = [{"name": "tmp", "mountPath": "/tmp"}]
        spec = manifests.pod_spec(container, volumes=[{"name": "tmp", "emptyDir": {}}])
        return manifests.pod(name, spec, self.namespace(namespace))

    def start_host_process(self):
        """One that is in no pod."""
        directory = f"{self.node.directory}/spin-host"
        os.mkdir(directory)
        namespace, name, container = self.host_place()
        environment = dict(os.environ, SPIN_DIRECTORY=directory, POD_NAMESPACE=namespace, POD_NAME=name,
                           CONTAINER_NAME=container)
        self.node.start_in_node("spin-host", [f"{self.node.directory}/spin", str(SPIN_PERCENT)],
                                env=environment)

    def host_place(self):
        return self.node.node_name, "host", "host"

    def place(self, name, namespace):
        return self.namespace(namespace), name, name

    def of(self, place, samples):
        """The samples of one of them, known by its thread's name."""
        thread = spin.thread_name(spin.digest(*place))
        return [sample for sample in samples if sample.attributes.get("thread.name") == thread]

    def names_are_right(self, samples, identity):
        """Checks that all samples have the names of their pods."""
        for name, namespace in ((SHOP, SHOP), ("user", BANK), ("deleted", LAB)):
            place = self.place(name, namespace)
            found = [tuple(sample.resource.get(f"k8s.{key}.name") for key in ("namespace", "pod", "container"))
                     for sample in self.of(place, samples)
                     if sample.resource.get("flamelet.identity") == identity]
            if not found or set(found) != {place} or len(found) < len(self.of(place, samples)):
                return False
        return True

    def has_functions(self, place, samples):
        """Most of the samples: a few are of what is between two turns of work."""
        found = self.of(place, samples)
        named = [sample for sample in found if self.is_named(place, sample)]
        return helm_sink.total(named) > helm_sink.total(found) / 2

    @staticmethod
    def is_named(place, sample):
        identity = spin.identity_of(sample.frames)
        return identity is not None and identity.digest == spin.digest(*place)

    def unknown(self, samples, identity="kubelet"):
        """Returns the parts of ALL that the samples lack."""
        kernel = [sample for sample in samples if sample.resource.get("k8s.pod.name") == "kernel"]
        answers = (
            self.names_are_right(samples, identity),
            self.has_functions(self.place(SHOP, SHOP), samples),
            self.has_functions(self.place("user", BANK), samples),
            self.has_functions(self.place("deleted", LAB), samples),
            self.has_functions(self.host_place(), samples),
            any(KERNEL_FUNCTION in sample.frames for sample in kernel))
        return [text for text, is_known in zip(ALL, answers) if not is_known]

    def pods_with_samples(self, samples):
        """{(namespace, pod)} of ours."""
        found = {(sample.resource.get("k8s.namespace.name"), sample.resource.get("k8s.pod.name"))
                 for sample in samples}
        return {place for place in found if place[0] in self.namespaces}
