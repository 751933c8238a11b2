#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kind.sh with stand-ins for docker, kind, kubectl, helm and curl, which note how they were called: the order is
right, and whatever fails, the cluster goes and nothing is left running."""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "kind.sh")
NAMESPACES = ("shop", "bank", "batch")

# Notes a call, fails where FAIL is in it, and answers what kind.sh asks.
STAND_IN = """#!/bin/sh
call="$(basename "$0") $*"
echo "$call" >>"$CALLS"
if [ -n "$FAIL" ]; then case $call in *"$FAIL"*) exit 1 ;; esac; fi
case $call in
"kind get clusters") echo "$CLUSTERS" ;;
docker*perf_event_paranoid) echo "$PARANOID" ;;
kubectl*"apply -f -") cat >>"$MANIFESTS"; echo --- >>"$MANIFESTS" ;;
"docker build"*" -") cat >/dev/null ;;
*port-forward*) exec sleep 60 ;;
curl*) name=$(sed -n 's/.*namespace=."\\([a-z]*\\).*/\\1/p'); echo "{\\"names\\": [\\"${SAYS:-$name}_work\\"]}" ;;
esac
"""
PROGRAMS = ("docker", "kind", "kubectl", "helm", "curl")

ORDER = (
    "kind get clusters",
    "docker build -t ghcr.io/flamelet/flamelet:e2e",
    "docker build --target build",
    "docker build -t flamelet-loads:e2e -",
    "kind create cluster --name flamelet-e2e",
    "kind load docker-image --name flamelet-e2e ghcr.io/flamelet/flamelet:e2e flamelet-loads:e2e",
    "kubectl apply -f -",
    "kubectl apply -f -",
    "kubectl apply -f -",
    "kubectl apply -f -",
    "kubectl -n backend rollout status deployment/pyroscope",
    "docker exec flamelet-e2e-control-plane cat /proc/sys/kernel/perf_event_paranoid",
    "helm install flamelet charts/flamelet",
    "kubectl -n flamelet rollout status daemonset/flamelet",
    "helm uninstall flamelet",
    "kind delete cluster --name flamelet-e2e",
)
# These may come at any time, or more than once.
UNORDERED = ("kubectl -n backend port-forward", "curl ", "docker version")


class Run:
    """kind.sh, to its end."""

    def __init__(self, **variables):
        with tempfile.TemporaryDirectory(prefix="flamelet-kind-") as directory:
            for program in PROGRAMS:
                path = f"{directory}/{program}"
                with open(path, "w", encoding="utf-8") as file:
                    file.write(STAND_IN)
                os.chmod(path, 0o755)
            calls, manifests = f"{directory}/calls", f"{directory}/manifests"
            environment = {"PATH": f"{directory}:/usr/bin:/bin", "CALLS": calls, "MANIFESTS": manifests,
                           "TMPDIR": directory, "FAIL": "", "PARANOID": "2", "WAIT_SECONDS": "1", **variables}
            done = subprocess.run(["setsid", SCRIPT], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=60, check=False,
                                  env=environment)
            self.status, self.output = done.returncode, done.stdout
            self.calls, self.manifests = read(calls).splitlines(), read(manifests)
            self.left = sorted(set(os.listdir(directory)) - {*PROGRAMS, "calls", "manifests"})

    def steps(self):
        return [call for call in self.calls if not call.startswith(UNORDERED)]

    def has(self, text):
        return any(text in call for call in self.calls)

    def __str__(self):
        return f"exit {self.status}: {self.calls}: {self.output}"


def read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_success():
    run = Run()
    steps = run.steps()
    faults = [f"{step!r} does not begin with {wanted!r}" for step, wanted in zip(steps, ORDER)
              if not step.startswith(wanted)]
    if run.status != 0 or len(steps) != len(ORDER) or faults or run.left:
        faults.append(f"it did not run to its end, or left {run.left}: {run}")
    if not run.has("perfEventParanoid=keep"):
        faults.append("it asks for privileges that this kernel does not want")
    faults += [f"no pod of {name}" for name in NAMESPACES if f"name: {name}-0, namespace: {name}" not in run.manifests]
    return faults


def check_failure(fail, is_created, **variables):
    """After the step that fails, the script only deletes the cluster, if it has created it."""
    run = Run(FAIL=fail, **variables)
    faults = []
    if run.status == 0:
        faults.append("it says that all is well")
    if run.has("kind delete cluster") != is_created:
        faults.append("the cluster is left" if is_created else "it deletes a cluster that is not its own")
    if run.left:
        faults.append(f"it leaves {run.left}")
    if run.has("helm uninstall") and fail != "helm uninstall":
        faults.append("it goes on")
    return [f"where {fail or variables} fails: {fault}: {run}" for fault in faults]


def check_choices():
    faults = []
    if not Run(PARANOID="3").has("perfEventParanoid=sysAdmin"):
        faults.append("with perf_event_paranoid 3 the chart is not told")
    if Run(KEEP="1").has("kind delete"):
        faults.append("KEEP=1 does not keep the cluster")
    return faults


def main():
    faults = check_success() + check_choices()
    faults += check_failure("", False, CLUSTERS="flamelet-e2e")
    faults += check_failure("", True, SAYS="shop")
    for fail in ("docker build -t ghcr.io", "docker build --target", "flamelet-loads:e2e -"):
        faults += check_failure(fail, False)
    for fail in ("kind create", "kind load", "apply -f", "deployment/pyroscope", "helm install",
                 "daemonset/flamelet --timeout", "curl", "helm uninstall"):
        faults += check_failure(fail, True)
    for fault in faults:
        print(f"FAIL: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
