# SPDX-License-Identifier: Apache-2.0
"""A second node: a virtual machine with Debian's kernel, without hardware support, that joins a
node.Node's cluster. Unlike that node it has no cgroup hierarchy but version 2, so its containers have
cgroup namespaces of their own; and it samples nobody's processes but its own.

The virtual machine runs in the first node's namespaces and ends with them. Its network is qemu's: the
first node's loopback addresses are GATEWAY there, and its kubelet's port is there at ADDRESS."""

import json
import os
import platform
import shutil
import sys

import host
import node as nodes
import settings

# pylint: disable=wrong-import-order,wrong-import-position
sys.path.insert(0, os.path.join(nodes.HERE, "../../tests/guest"))
import debian_kernel
import machine

ADDRESS, GATEWAY, NETWORK = "10.0.2.15", "10.0.2.2", "10.0.2.0/24"
MEMORY_MB, CPUS = 3072, 2
KUBELET_PORT = 10250
# With Debian's own setting CAP_PERFMON is not enough; docs/kubernetes.md tells what to do.
DEBIAN_PARANOID, PARANOID = 3, 2
READY_SECONDS = 400
KERNEL = debian_kernel.BOOKWORM


def fetch_kernel():
    if platform.machine() != "x86_64":
        raise host.Skip("the guest's kernel is for x86_64")
    host.require("qemu-system-x86_64")
    return debian_kernel.fetch(KERNEL)


class Guest:
    """The guest, for a test: node_name, log(), start() with what is imported into its containerd.
    `paranoid` is its kernel.perf_event_paranoid; DEBIAN_PARANOID is what its kernel begins with."""

    def __init__(self, node, paranoid=PARANOID):
        self.node, self.paranoid = node, paranoid
        self.kernel = fetch_kernel()
        self.node_name = f"{node.node_name}-vm"
        self.directory = f"{node.directory}/guest"
        self.logs = f"{node.directory}/logs/guest"

    def start(self, images):
        """Returns when the node is ready."""
        for path in (self.directory, f"{self.directory}/cni", self.logs):
            os.makedirs(path)
        login = self.make_certificates()
        self.write_configurations(login, images)
        self.make_reachable()
        self.node.start_in_node("guest", self.command())
        host.wait_until("the guest exists", lambda: self.node.program_lives("guest") and
                        self.node.exists(f"node/{self.node_name}", "default"), READY_SECONDS, 1)
        self.node.wait_for(f"node/{self.node_name}", "default", seconds=READY_SECONDS)

    def path(self, name):
        return f"{self.directory}/{name}"

    def make_certificates(self):
        subject = f"/O=system:nodes/CN=system:node:{self.node_name}"
        self.node.pki.make_server("guest-server", subject,
                                  (f"DNS:{self.node_name}", f"IP:{ADDRESS}"))
        return self.node.pki.make_login("guest", subject, settings.SERVER)

    def write_configurations(self, login, images):
        variables = {"ADDRESS": ADDRESS, "GATEWAY": GATEWAY, "PARANOID": self.paranoid,
                     "RUNTIME": settings.RUNTIME, "IMAGES": " ".join(images), "LOGIN": login,
                     "KUBELET": self.node.tool("kubelet"), "NODE_NAME": self.node_name}
        pki = self.node.pki
        kubelet = {**settings.kubelet(pki, "/"), "address": ADDRESS, "failCgroupV1": True,
                   "tlsCertFile": pki.path("guest-server.crt"),
                   "tlsPrivateKeyFile": pki.path("guest-server.key")}
        files = {"containerd.toml": settings.containerd(self.directory, f"{self.node.kubernetes}/cni"),
                 "cni/pods.conf": json.dumps(settings.POD_NETWORK),
                 "kubelet.json": json.dumps(kubelet),
                 "variables": "".join(f"{name}='{value}'\n" for name, value in variables.items())}
        for name, text in files.items():
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(text)
        shutil.copy(f"{nodes.HERE}/vm_node.sh", self.path("node.sh"))

    def make_reachable(self):
        """The API server reaches the guest's kubelet at the guest's address; not from it, as the guest
        takes what comes from its own address for a mistake."""
        self.node.run_in_node(["ip", "address", "add", f"{ADDRESS}/32", "dev", "lo"])
        self.node.run_in_node(["ip", "route", "replace", "local", ADDRESS, "dev", "lo", "table",
                               "local", "src", settings.NODE_IP])

    def command(self):
        network = f"user,id=net,net={NETWORK},hostfwd=tcp:{ADDRESS}:{KUBELET_PORT}-" \
                  f"{ADDRESS}:{KUBELET_PORT}"
        guest = machine.Machine(self.kernel, self.directory, self.path("node.sh"), self.logs, MEMORY_MB,
                                nr_cpus=CPUS, network=network, kernel_options=["cgroup_no_v1=all"])
        return guest.command(self.path("initramfs"))

    def log(self, name):
        return host.read_text(f"{self.logs}/{name}.log")
