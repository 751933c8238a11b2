# SPDX-License-Identifier: Apache-2.0
"""The objects of Kubernetes that the chaos run is made of, as plain dictionaries."""

import spin


def container(name, percent, seconds=None, status=0):
    """Takes that share of a CPU, for ever or for some seconds, and ends with that exit status."""
    command = ["/bin/spin", str(percent)]
    if seconds is not None:
        command += [f"{seconds:.3f}", str(status)]
    environment = [{"name": variable, "valueFrom": {"fieldRef": {"fieldPath": path}}}
                   for variable, path in (("POD_NAMESPACE", "metadata.namespace"),
                                          ("POD_NAME", "metadata.name"))]
    environment.append({"name": "CONTAINER_NAME", "value": name})
    return {"name": name, "image": spin.IMAGE, "imagePullPolicy": "Never", "command": command,
            "env": environment}


def pod_spec(containers, init=(), restart="Never"):
    """Without a token to mount: that would wait for the API server."""
    return {"containers": containers, "initContainers": list(init), "restartPolicy": restart,
            "terminationGracePeriodSeconds": 1, "automountServiceAccountToken": False,
            "enableServiceLinks": False, "tolerations": [{"operator": "Exists"}]}


def as_object(version, kind, namespace_name, name, **parts):
    metadata = {"name": name, "labels": {"app": name}}
    if namespace_name:
        metadata["namespace"] = namespace_name
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **parts}


def namespace(name):
    return as_object("v1", "Namespace", None, name)


def pod(namespace_name, name, containers, **options):
    return as_object("v1", "Pod", namespace_name, name, spec=pod_spec(containers, **options))


def template(labels, containers, **options):
    return {"metadata": {"labels": labels}, "spec": pod_spec(containers, **options)}


def job(namespace_name, name, pod_template, completions, parallelism):
    return as_object("batch/v1", "Job", namespace_name, name, spec={
        "completions": completions, "parallelism": parallelism, "backoffLimit": 2,
        "template": pod_template})


def cron_job(namespace_name, name, pod_template):
    return as_object("batch/v1", "CronJob", namespace_name, name, spec={
        "schedule": "* * * * *", "successfulJobsHistoryLimit": 1,
        "jobTemplate": {"spec": {"template": pod_template}}})


def deployment(namespace_name, name, pod_template, replicas):
    return as_object("apps/v1", "Deployment", namespace_name, name, spec={
        "replicas": replicas, "selector": {"matchLabels": pod_template["metadata"]["labels"]},
        "template": pod_template})
