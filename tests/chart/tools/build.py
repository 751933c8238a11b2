#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the tools that charts are checked with, each at the version that its go.mod pins, and
prints their paths.

    build.py [helm3|helm4|kubeconform|helm-unittest …]

They are kept outside the tree: only the first build takes time (../README.md). Exit status 77 and
one line: they cannot be built here."""

import contextlib
import fcntl
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(HERE, "../../../e2e")
sys.path.insert(0, os.path.join(E2E, "local"))

# pylint: disable=wrong-import-position
import host

BUILD_SECONDS = 1700
PACKAGES = {
    "helm3": "helm.sh/helm/v3/cmd/helm",
    "helm4": "helm.sh/helm/v4/cmd/helm",
    "kubeconform": "github.com/yannh/kubeconform/cmd/kubeconform",
    "helm-unittest": "github.com/helm-unittest/helm-unittest/cmd/helm-unittest",
}
HELM = re.compile(r"helm\.sh/helm/v(\d) (v[\d.]+)$", re.MULTILINE)
CLIENT_GO = re.compile(r"k8s\.io/client-go v0\.(\d+)\.")


def stamps(name):
    """Returns the linker options of Helm's own Makefile: without them Helm calls itself v3.22, and
    version 3 of it takes the cluster that it renders for to be Kubernetes 1.20."""
    with open(os.path.join(HERE, name, "go.mod"), encoding="utf-8") as file:
        pins = file.read()
    major, version = HELM.search(pins).groups()
    variables = {"internal/version.version": version}
    if major == "3":
        for package in ("pkg/chartutil", "pkg/lint/rules"):
            variables[f"{package}.k8sVersionMajor"] = "1"
            variables[f"{package}.k8sVersionMinor"] = CLIENT_GO.search(pins)[1]
    settings = [f"-X helm.sh/helm/v{major}/{variable}={value}" for variable, value in variables.items()]
    return " ".join(["-ldflags=-s -w"] + settings)


@contextlib.contextmanager
def lock():
    """Held while one is built: two tests that start together need not do the same work."""
    cache = os.environ.get("FLAMELET_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "flamelet")
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, "chart-tools.lock"), "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def tool(name):
    """The path of the program, built now if need be."""
    command = [os.path.join(E2E, "build-go.sh"), os.path.join(HERE, name), PACKAGES[name]]
    if name in ("helm3", "helm4"):
        command.append(stamps(name))
    with lock():
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=BUILD_SECONDS, check=False)
    if done.returncode == host.SKIP:
        raise host.Skip(done.stderr.strip().rsplit("SKIP: ", 1)[-1])
    if done.returncode != 0:
        raise host.Failure(f"{name} cannot be built: exit {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout.split()[-1]


def main():
    try:
        for name in sys.argv[1:] or PACKAGES:
            print(tool(name), flush=True)
    except KeyError as error:
        sys.exit(f"build.py: there is no {error}")
    except host.Skip as skip:
        print(f"SKIP: {skip}", file=sys.stderr)
        return host.SKIP
    except host.Failure as failure:
        sys.exit(f"build.py: {failure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
