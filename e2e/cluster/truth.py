# SPDX-License-Identifier: Apache-2.0
"""Kubernetes' own record of every container that ever ran: each change of each pod, as `kubectl get
pods --watch` tells it. Samples are compared with this."""

from dataclasses import dataclass
import json

import host
import spin

STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
KINDS = {"Deployment": "k8s.deployment.name", "ReplicaSet": "k8s.replicaset.name",
         "StatefulSet": "k8s.statefulset.name", "DaemonSet": "k8s.daemonset.name",
         "Job": "k8s.job.name", "CronJob": "k8s.cronjob.name"}
MANIFEST_HASH = "kubernetes.io/config.hash"


@dataclass
class Container:
    """One run of a container."""
    resource: dict      # the attributes that its samples must have

    def place(self):
        return "/".join(self.resource[key] for key in
                        ("k8s.namespace.name", "k8s.pod.name", "k8s.container.name"))

    def digest(self):
        return spin.digest(*self.place().split("/"))


def container_ids(status):
    """Of the present run and of the last one, as far as they have begun."""
    found = [status.get("containerID")]
    for state in (status.get("state", {}), status.get("lastState", {})):
        found.append(state.get("terminated", {}).get("containerID"))
    return {text.removeprefix("containerd://") for text in found if text}


def controller_of(item):
    """(kind, name) of what controls an object, or None."""
    for owner in item["metadata"].get("ownerReferences", []):
        if owner.get("controller") and owner["kind"] in KINDS:
            return owner["kind"], owner["name"]
    return None


def parse_documents(text):
    """The complete JSON documents of a text; the last one may still be being written."""
    decoder, at = json.JSONDecoder(), 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        try:
            document, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield document


class Truth:
    """Watches from start() on. It asks for no more than kubectl shows to everybody."""

    def __init__(self, node):
        self.node = node
        self.logs = []

    def start(self):
        """Again after the API server was away."""
        name = f"watch-{len(self.logs)}"
        self.node.start_in_node(name, [
            self.node.tool("kubectl"), f"--kubeconfig={self.node.admin}", "get", "pods",
            "--all-namespaces", "--watch", "--output-watch-events", "--output=json"])
        self.logs.append(self.node.log_path(name))

    def pods(self):
        """Every state of every pod so far."""
        for log in self.logs:
            for event in parse_documents(host.read_text(log)):
                yield event["object"]

    def controllers(self):
        """Returns the controllers of ReplicaSets and Jobs: {(namespace, kind, name): (kind,
        name)}."""
        items = self.node.kubectl_json("get", "replicasets,jobs", "--all-namespaces")["items"]
        return {(item["metadata"]["namespace"], item["kind"], item["metadata"]["name"]):
                controller_of(item) for item in items}

    def containers(self):
        """All runs: {(uid without dashes, first 16 digits of the container's ID): Container}."""
        controllers, found = self.controllers(), {}
        for item in self.pods():
            pod = pod_resource(item, controllers)
            uid = pod["k8s.pod.uid"].replace("-", "")
            for status in (status for key in STATUSES for status in item["status"].get(key, [])):
                for container_id in container_ids(status):
                    found[uid, container_id[:16]] = Container({
                        **pod, "k8s.container.name": status["name"], "container.id": container_id})
        return found


def pod_resource(item, controllers):
    """Returns the attributes that all its containers share. A static pod's uid is not what the API
    server calls its image of it, but the hash of its file, which the kubelet and cgroups go by."""
    metadata = item["metadata"]
    resource = {"k8s.namespace.name": metadata["namespace"], "k8s.pod.name": metadata["name"],
                "k8s.pod.uid": metadata.get("annotations", {}).get(MANIFEST_HASH, metadata["uid"]),
                "k8s.node.name": item["spec"].get("nodeName")}
    controller = controller_of(item)
    if controller:
        key = (metadata["namespace"], *controller)
        kind, name = controllers.get(key) or controller
        resource[KINDS[kind]] = name
    return resource
