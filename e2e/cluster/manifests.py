# SPDX-License-Identifier: Apache-2.0
"""The pods of the scenario, one of each kind that Kubernetes has. All of them spin. An agent samples the
whole machine: where another node runs on it as well, only names that are nowhere else tell whose a sample
is. So the namespace is named after the node."""

import json

import spin


def from_pod(field):
    return {"valueFrom": {"fieldRef": {"fieldPath": field}}}


def container(name, *arguments, **more):
    """A container that runs spin.c; `arguments` are its own, `more` are further fields."""
    variables = [{"name": "POD_NAMESPACE", **from_pod("metadata.namespace")},
                 {"name": "POD_NAME", **from_pod("metadata.name")},
                 {"name": "CONTAINER_NAME", "value": name}]
    return {"name": name, "image": spin.IMAGE, "env": variables,
            "command": ["/bin/spin", *map(str, arguments)], **more}


def pod_spec(*containers, **more):
    return {"terminationGracePeriodSeconds": 0, "containers": list(containers), **more}


def namespace_of(node):
    return f"shop-{node.node_name}"


def pod(name, spec, namespace):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
            "spec": spec}


def controller(kind, name, spec, namespace, **more):
    """A Deployment, DaemonSet or StatefulSet."""
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": kind,
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": spec}, **more}}


def batch(kind, name, spec, namespace):
    """A Job or a CronJob, which begins with the next minute."""
    job = {"template": {"spec": dict(spec, restartPolicy="Never")}}
    is_cron = kind == "CronJob"
    return {"apiVersion": "batch/v1", "kind": kind,
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": job}} if is_cron else job}


def as_text(*items):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)})


def make_namespace(name):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def scenario(namespace):
    """Everything but the static pod and the debug container."""
    burstable = {"requests": {"cpu": "50m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}}
    guaranteed = {"cpu": "100m", "memory": "32Mi"}
    multi = pod_spec(container("main", 8),
                     initContainers=[container("init", 60, 1),
                                     container("sidecar", 5, restartPolicy="Always")])
    return as_text(
        make_namespace(namespace),
        controller("Deployment", "web", pod_spec(container("web", 8, resources=burstable)), namespace,
                   replicas=2),
        controller("DaemonSet", "ds", pod_spec(container("ds", 5), hostNetwork=True), namespace),
        controller("StatefulSet", "db", pod_spec(
            container("db", 5, resources={"requests": guaranteed, "limits": guaranteed})),
                   namespace, serviceName="db"),
        batch("Job", "once", pod_spec(container("once", 40, 3)), namespace),
        batch("CronJob", "tick", pod_spec(container("tick", 40, 3)), namespace),
        pod("multi", multi, namespace),
        pod("crash", pod_spec(container("crash", 50, 2, 3)), namespace),
        pod("blink", pod_spec(container("blink", 100, 0.3), restartPolicy="Never"), namespace))


def static_pod():
    """The kubelet appends the node's name to the pod's."""
    return json.dumps(pod("static", pod_spec(container("static", 5), hostNetwork=True),
                          "kube-system"))


def late_pod(namespace):
    """One that a restarted kubelet has not known before."""
    return as_text(pod("late", pod_spec(container("late", 8)), namespace))
