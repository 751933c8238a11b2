# SPDX-License-Identifier: Apache-2.0
"""The pods on the guest: an agent as a DaemonSet, with what docs/kubernetes.md says that it needs
and no more, and pods that spin."""

import re

import host
import image
import manifests
import settings

IMAGE = "flamelet.test/agent:1"
NAME = "flamelet"
CAPABILITIES = ("BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE", "SYSLOG")
LISTEN = "127.0.0.1:9091"
LIBRARY = re.compile(r"(/\S+) \(0x[0-9a-f]+\)")
# A cgroup as an init system or another runtime makes it in a container: a cgroup in the container's
# own. A privileged container has no cgroup namespace of its own, and so it sees where that is.
NESTED = ("own=/sys/fs/cgroup$(busybox cut -d: -f3 /proc/self/cgroup) && busybox mkdir $own/nested && "
          "echo 0 >$own/nested/cgroup.procs && exec /bin/spin 8")


def write_agent_image(path, binary, busybox):
    """The program with the libraries that it is linked with, at their own places."""
    libraries = LIBRARY.findall(host.run("ldd", binary))
    image.write_image(path, IMAGE, {"bin/flamelet": binary, "bin/busybox": busybox,
                                    **{library.lstrip("/"): library for library in libraries}})


def agent_options(endpoint):
    """The kubelet's address and its certificate's authority are what every pod knows."""
    return ["--cgroup-root", "/host/cgroup", "--pod-logs", "/host/log", "--otlp-endpoint", endpoint]


def host_directory(name, path):
    return {"name": name, "hostPath": {"path": path, "type": "Directory"}}


def host_mount(name):
    return {"name": name, "mountPath": f"/host/{name}", "readOnly": True}


def agent(node_name, options):
    container = {
        "name": NAME, "image": IMAGE, "command": ["/bin/flamelet", "agent", *options],
        "env": [{"name": "NODE_NAME", **manifests.from_pod("spec.nodeName")},
                {"name": "HOST_IP", **manifests.from_pod("status.hostIP")}],
        "securityContext": {
            "capabilities": {"drop": ["ALL"], "add": list(CAPABILITIES)},
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
            "seccompProfile": {"type": "RuntimeDefault"}},
        "volumeMounts": [host_mount("cgroup"), host_mount("log")]}
    spec = manifests.pod_spec(
        container, hostPID=True, serviceAccountName=settings.READER, **placed_on(node_name),
        volumes=[host_directory("cgroup", "/sys/fs/cgroup"), host_directory("log", "/var/log")])
    spec["terminationGracePeriodSeconds"] = 30
    return manifests.as_text(manifests.controller("DaemonSet", NAME, spec, settings.NAMESPACE))


def placed_on(node_name):
    return {"nodeSelector": {"kubernetes.io/hostname": node_name}}


def early(namespace, node_name):
    """Returns the pods that start before the agent."""
    spec = manifests.pod_spec(manifests.container("old", 8), **placed_on(node_name))
    return manifests.as_text(manifests.make_namespace(namespace),
                             manifests.controller("Deployment", "old", spec, namespace))


def scenario(namespace, node_name):
    """Returns the pods that start after the agent, each at another depth of the tree of cgroups."""
    place = placed_on(node_name)
    burstable = {"requests": {"cpu": "50m", "memory": "16Mi"}}
    guaranteed = {"cpu": "100m", "memory": "32Mi"}
    nested = {**manifests.container("nested"), "securityContext": {"privileged": True},
              "command": ["/bin/busybox", "sh", "-c", NESTED]}
    return manifests.as_text(
        manifests.controller("Deployment", "web", manifests.pod_spec(
            manifests.container("web", 8, resources=burstable), **place), namespace, replicas=2),
        manifests.controller("StatefulSet", "db", manifests.pod_spec(manifests.container(
            "db", 8, resources={"requests": guaranteed, "limits": guaranteed}), **place),
                             namespace, serviceName="db"),
        manifests.controller("Deployment", "nested", manifests.pod_spec(nested, **place), namespace),
        manifests.batch("Job", "once", manifests.pod_spec(
            manifests.container("once", 60, 1), **place), namespace))
