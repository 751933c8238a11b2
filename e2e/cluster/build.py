#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds Kubernetes out of its Go modules and prints the directory that it is in.

    build.py [--kubernetes VERSION]

The directory has bin/ (kubelet, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl, etcd:
one program with six names, and busybox) and cni/ (plugins). It lies outside the tree and is made once.
Exit status 77 and one line: it cannot be built here."""

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../local"))

# pylint: disable=wrong-import-position
import host

SOURCES = os.path.join(HERE, "kubernetes")
VERSION = "1.36.3"
NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet")
PACKAGES = ("busybox-static", "containernetworking-plugins")
PLUGINS = ("bridge", "host-local", "loopback")
TAGS = "notest,grpcnotrace,selinux"
STAMPED = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
SAY_NOTHING = "{{if false}}{{end}}"
MODULES_SECONDS = 900
BUILD_SECONDS = 3600


def versions():
    return sorted(name for name in os.listdir(SOURCES) if name[0].isdigit())


def cache_directory(version):
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "flamelet", f"kubernetes-{version}")


def source_files(version):
    return [os.path.join(SOURCES, "main.go"), os.path.join(SOURCES, version, "go.mod"),
            os.path.join(SOURCES, version, "go.sum")]


def fingerprint(version):
    """Tells whether what is in the cache was made of these sources, in this way."""
    recipe = (linker_flags(version), TAGS, PACKAGES, PLUGINS)
    digest = hashlib.sha256(repr(recipe).encode())
    for path in source_files(version):
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


def is_built(directory, version):
    return host.read_text(f"{directory}/fingerprint") == fingerprint(version)


def go_environment():
    # Only the first proxy: the next one would be a direct fetch from the modules' repositories.
    proxy = subprocess.run(["go", "env", "GOPROXY"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.strip().split(",")[0]
    return dict(os.environ, GOPROXY=proxy, GOTOOLCHAIN="local", GOFLAGS="-buildvcs=false",
                CGO_ENABLED="0")


def as_numbers(version):
    return [int("".join(filter(str.isdigit, part)) or 0) for part in version.split(".")]


def require_go(version):
    if shutil.which("go") is None:
        raise host.Skip("Kubernetes is built with Go, which is not installed")
    with open(os.path.join(SOURCES, version, "go.mod"), encoding="utf-8") as file:
        wanted = next(line.split()[1] for line in file if line.startswith("go "))
    has = host.run("go", "env", "GOVERSION").strip().removeprefix("go")
    if as_numbers(has) < as_numbers(wanted):
        raise host.Skip(f"Kubernetes {version} is built with Go {wanted}, this is {has}")


def fetch_modules(source):
    """Skips where there is no network; go.sum has the last word on what comes."""
    try:
        host.run("nice", "-n", "15", "go", "list", "-mod=readonly", "-deps", f"-f={SAY_NOTHING}", ".",
                 cwd=source, env=go_environment(), seconds=MODULES_SECONDS)
    except (host.Failure, subprocess.TimeoutExpired) as failure:
        raise host.Skip("Kubernetes' modules cannot be had: " + complaint(failure)) from failure


def complaint(failure):
    """The first line of what a command said that is not about its progress."""
    lines = str(failure).split(": exit ", 1)[-1].splitlines()
    return next((line for line in lines if "downloading" not in line), lines[-1])


def linker_flags(version):
    """Without its version, Kubernetes calls itself v0.0.0, and its clients believe it."""
    major, minor, _ = version.split(".")
    stamps = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor,
              "gitTreeState": "archive", "gitCommit": "0" * 40,
              "buildDate": "1970-01-01T00:00:00Z"}
    settings = [f"-X {package}.{name}={value}" for package in STAMPED
                for name, value in stamps.items()]
    return " ".join(["-s", "-w"] + settings)


def build_programs(version, directory):
    with tempfile.TemporaryDirectory(prefix="flamelet-build-") as source:
        for path in source_files(version):
            shutil.copy(path, source)
        fetch_modules(source)
        host.run("nice", "-n", "15", "go", "build", "-mod=readonly", "-trimpath",
                 f"-tags={TAGS}", "-ldflags", linker_flags(version), "-o",
                 f"{directory}/bin/kubernetes", ".", cwd=source, env=go_environment(),
                 seconds=BUILD_SECONDS)
    for name in NAMES:
        os.symlink("kubernetes", f"{directory}/bin/{name}")


def unpack_packages(directory):
    """Debian's files, without installing the packages."""
    host.require("apt-get", "dpkg")
    with tempfile.TemporaryDirectory(prefix="flamelet-build-") as work:
        # apt's own user must be able to write here.
        os.chmod(work, 0o777)
        try:
            host.run("apt-get", "-q", "download", *PACKAGES, cwd=work, seconds=120)
        except (host.Failure, subprocess.TimeoutExpired) as failure:
            raise host.Skip("Debian packages cannot be had: " + complaint(failure)) from failure
        for name in os.listdir(work):
            host.run("dpkg", "-x", f"{work}/{name}", f"{work}/root")
        shutil.copy(f"{work}/root/bin/busybox", f"{directory}/bin/busybox")
        for plugin in PLUGINS:
            shutil.copy(f"{work}/root/usr/lib/cni/{plugin}", f"{directory}/cni/{plugin}")


def fill(version, directory):
    os.makedirs(f"{directory}/bin")
    os.makedirs(f"{directory}/cni")
    unpack_packages(directory)
    build_programs(version, directory)
    with open(f"{directory}/fingerprint", "w", encoding="ascii") as file:
        file.write(fingerprint(version))


def build(version=VERSION):
    """Returns the directory with everything, built now if need be; one build at a time."""
    directory = cache_directory(version)
    if is_built(directory, version):
        return directory
    require_go(version)
    os.makedirs(os.path.dirname(directory), exist_ok=True)
    with open(f"{directory}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_built(directory, version):
            build_anew(version, directory)
    return directory


def build_anew(version, directory):
    """Removes the directory, and what a killed build left behind."""
    unfinished = f"{directory}.unfinished"
    for path in (unfinished, directory):
        shutil.rmtree(path, ignore_errors=True)
    try:
        fill(version, unfinished)
        os.rename(unfinished, directory)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kubernetes", default=VERSION, choices=versions(), metavar="VERSION")
    try:
        print(build(parser.parse_args().kubernetes))
    except host.Skip as skip:
        print(f"SKIP: {skip}", file=sys.stderr)
        return host.SKIP
    except host.Failure as failure:
        sys.exit(f"build.py: {failure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
