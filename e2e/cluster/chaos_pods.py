# SPDX-License-Identifier: Apache-2.0
"""The pods of the chaos run, made from manifests.py: pods that need nothing but a kubelet, and end
at once."""

import manifests


def container(name, percent, seconds=None, status=0):
    """Takes that share of a CPU, for ever or for some seconds, and ends with that exit status."""
    arguments = () if seconds is None else (f"{seconds:.3f}", status)
    return manifests.container(name, percent, *arguments)


def spec(containers, init=(), restart="Never"):
    """Without a token to mount, which would wait for the API server. Its node may be away for long."""
    return manifests.pod_spec(*containers, initContainers=list(init), restartPolicy=restart,
                              terminationGracePeriodSeconds=1, automountServiceAccountToken=False,
                              enableServiceLinks=False, tolerations=[{"operator": "Exists"}])


def pod(namespace, name, containers, **options):
    return manifests.pod(name, spec(containers, **options), namespace)


def job(namespace, name, containers, completions, parallelism):
    made = manifests.batch("Job", name, spec(containers), namespace)
    made["spec"].update(completions=completions, parallelism=parallelism)
    return made


def cron_job(namespace, name, containers):
    return manifests.batch("CronJob", name, spec(containers), namespace)


def deployment(namespace, name, containers, replicas):
    return manifests.controller("Deployment", name, spec(containers, restart="Always"), namespace,
                                replicas=replicas)
