# SPDX-License-Identifier: Apache-2.0
"""Checks what an agent leaves on its node: BPF objects, files, cgroups. Also stops and starts a
node as if it lost its power."""

import contextlib
import json
import os
import re
import signal

import host

BPF_ID = re.compile(r"^(prog|map|link)_id:\t(\d+)$", re.MULTILINE)
KINDS = ("prog", "map", "link")
QUEUE = "/var/lib/flamelet/queue"
RELEASE_NAMESPACE = "meta.helm.sh/release-namespace"
END_SECONDS = 30


def children_of(pid):
    return [int(child) for task in os.listdir(f"/proc/{pid}/task")
            for child in host.read_text(f"/proc/{pid}/task/{task}/children").split()]


def bpf_objects(pid):
    """{(kind, id)} of what a process holds open, and of the maps of its programs."""
    found = set()
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        text = host.read_text(f"/proc/{pid}/fdinfo/{name}")
        found |= {(kind, int(number)) for kind, number in BPF_ID.findall(text)}
    held = {number for kind, number in found if kind == "prog"}
    for program in list_objects("prog"):
        if program["id"] in held:
            found |= {("map", number) for number in program.get("map_ids", [])}
    return found


def list_objects(kind):
    return json.loads(host.run("bpftool", "-j", kind, "show", stderr=None) or "[]")


def remaining(objects):
    """Returns the objects that the kernel still has."""
    there = {(kind, one["id"]) for kind in KINDS for one in list_objects(kind)}
    return objects & there


def count(objects):
    """Counts the objects by kind."""
    return {kind: sum(kind == one for one, _ in objects) for kind in KINDS}


def wait_until_gone(objects):
    """The kernel frees them some time after the last one lets go. Returns faults."""
    with contextlib.suppress(host.Failure):
        host.wait_until("BPF objects go", lambda: not remaining(objects), END_SECONDS, 0.5)
    left = remaining(objects)
    return [f"BPF objects are left: {sorted(left)}"] if left else []


def cgroups_of(node, uid):
    """Directories of a pod in all hierarchies."""
    found = []
    for mount in host.all_cgroup_mounts():
        for directory, names, _ in os.walk(mount + node.cgroup_root):
            found += [os.path.join(directory, name) for name in names
                      if uid in name or uid.replace("-", "_") in name]
    return found


def waiting_files(agent):
    """Of the queue, as the agent's own process sees it."""
    return [os.path.join(directory, name)
            for directory, _, names in os.walk(f"/proc/{agent.pid()}/root{QUEUE}")
            for name in names if name.endswith(".spool")]


# A reboot, as far as processes, files in memory and the network go.

def lose_power(node):
    """Nothing of the kubelet, the runtime and their containers runs on, and what is in memory is gone. The
    kernel goes on, so what was written but not synchronised is there as well."""
    node.stop_kubelet()
    node.programs["containerd"].finish(first=signal.SIGKILL)
    kill_shims(node)
    for mount in host.all_cgroup_mounts():
        for name in os.listdir(mount + node.cgroup_root):
            path = f"{mount}{node.cgroup_root}/{name}"
            if os.path.isdir(path):
                host.wait_until("all containers end", lambda path=path: not end_cgroup(path), END_SECONDS, 0.1)
    unmount(node)
    node.run_in_node(["sh", "-c", "ip link delete cni0; rm -rf /run/* && mkdir /run/containerd"])


def end_cgroup(path):
    """Returns whether it is still there."""
    host.kill_cgroup(path)
    host.remove_cgroup(path)
    return os.path.exists(path)


def kill_shims(node):
    """Kills the shims that run in the node's network namespace."""
    namespace = os.readlink(f"/proc/{node.holder}/ns/net")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if (host.read_text(f"/proc/{pid}/comm").startswith("containerd-shim") and
                    os.readlink(f"/proc/{pid}/ns/net") == namespace):
                os.kill(int(pid), signal.SIGKILL)


def unmount(node):
    """Root file systems of containers, their network namespaces, and volumes in memory."""
    mounts = [line.split()[4] for line in host.read_text(f"/proc/{node.holder}/mountinfo").splitlines()]
    for path in reversed(mounts):
        if path.startswith(("/run/", "/var/lib/kubelet/pods/")):
            node.run_in_node(["umount", "--lazy", path])


def start_again(node):
    node.start_in_node("containerd", ["containerd", "--config", f"{node.directory}/containerd.toml"])
    host.wait_until("containerd answers", lambda: node.program_lives("containerd") and node.has_runtime(),
                    END_SECONDS)
    node.start_kubelet()
    node.wait_until_ready()


# What is left when the release is gone.

def host_files(node):
    """Returns the files in the agent's directories on the node, by their paths on the node."""
    root = f"/proc/{node.holder}/root"
    found = []
    for top in ("/var/lib/flamelet", "/run/flamelet"):
        for directory, _, files in os.walk(root + top):
            found += [directory.removeprefix(root)]
            found += [os.path.join(directory, name).removeprefix(root) for name in files]
    return found


def api_objects(node, name, namespace):
    """Returns the objects of a release that the API server still has."""
    kinds = ("daemonset,pod,configmap,secret,serviceaccount,role,rolebinding,networkpolicy,"
             "clusterrole,clusterrolebinding")
    found = node.kubectl_json("get", kinds, "--all-namespaces",
                              f"--selector=app.kubernetes.io/instance={name}")["items"]
    return [f"{item['kind']} {item['metadata']['name']}" for item in found if namespace in (
        item["metadata"].get("namespace"), item["metadata"].get("annotations", {}).get(RELEASE_NAMESPACE))]


def processes_of(node):
    """Of the agent's program, in the node's containers."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if (os.readlink(f"/proc/{pid}/exe").startswith("/usr/bin/flamelet") and
                    node.cgroup_root in host.read_text(f"/proc/{pid}/cgroup")):
                found.append(f"process {pid}")
    return found


def get(node, url):
    """Status and body of what a browser in the node gets; (0, …) without an answer."""
    done = node.run_in_node(["curl", "--silent", "--max-time", "5", "--write-out", "\\n%{http_code}", url])
    body, _, status = done.rpartition("\n")
    return int(status), body


