# SPDX-License-Identifier: Apache-2.0
"""Debian's kernel, without installing its package, and what it needs to reach this machine's files: the
cache directory gets `vmlinuz` and `modules/`, whose names are in the order of loading. It is made once;
who wants a newer kernel removes it."""

import fcntl
import glob
import os
import platform
import re
import shutil
import subprocess
import tempfile

import build
import host

META_PACKAGE = "linux-image-amd64"
# The smaller cloud kernel has no 9p.
MODULES = ("virtio_pci", "virtio_net", "9pnet_virtio", "9p", "overlay", "bridge", "veth")
DEPENDENCY = re.compile(r"Depends: (linux-image-\S+)")
DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")


def cache_directory():
    return os.path.join(os.path.dirname(build.cache_directory(build.VERSION)), META_PACKAGE)


def order_modules(directory):
    """The modules' files, each behind those it depends on. What is built in has none."""
    files = {os.path.basename(path).removesuffix(".ko").replace("-", "_"): path
             for path in glob.glob(f"{directory}/lib/modules/*/kernel/**/*.ko", recursive=True)}
    ordered = []

    def add(name):
        path = files.get(name.replace("-", "_"))
        if path is None or path in ordered:
            return
        with open(path, "rb") as file:
            found = DEPENDS.search(file.read())
        for needed in found.group(1).decode().split(",") if found else ():
            add(needed)
        ordered.append(path)

    for name in MODULES:
        add(name)
    return ordered


def download(directory):
    """Unpacks the package that the meta package stands for today."""
    found = DEPENDENCY.search(host.run("apt-cache", "depends", META_PACKAGE,
                                       env=dict(os.environ, LC_ALL="C")))
    if not found:
        raise host.Failure(f"apt knows of no {META_PACKAGE}")
    host.run("apt-get", "-q", "download", found.group(1), cwd=directory, seconds=300)
    for package in glob.glob(f"{directory}/*.deb"):
        host.run("dpkg", "-x", package, f"{directory}/root", seconds=120)


def fill(directory):
    os.makedirs(f"{directory}/modules")
    with tempfile.TemporaryDirectory(prefix="flamelet-build-") as work:
        # apt's own user must be able to write here.
        os.chmod(work, 0o777)
        try:
            download(work)
        except (host.Failure, subprocess.TimeoutExpired) as failure:
            raise host.Skip("Debian's kernel cannot be had: " + build.complaint(failure)) from failure
        modules = order_modules(f"{work}/root")
        if not modules:
            raise host.Skip("this Debian's kernel modules are compressed, busybox cannot load them")
        shutil.copy(glob.glob(f"{work}/root/boot/vmlinuz-*")[0], f"{directory}/vmlinuz")
        for number, path in enumerate(modules):
            shutil.copy(path, f"{directory}/modules/{number:02}-{os.path.basename(path)}")


def fill_anew(directory):
    """What an earlier try left that was killed goes as well."""
    unfinished = f"{directory}.unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        fill(unfinished)
        os.rename(unfinished, directory)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def fetch():
    """Returns the directory, filled now if need be."""
    if platform.machine() != "x86_64":
        raise host.Skip("the guest's kernel is for x86_64")
    host.require("qemu-system-x86_64", "apt-get", "apt-cache", "dpkg")
    directory = cache_directory()
    os.makedirs(os.path.dirname(directory), exist_ok=True)
    with open(f"{directory}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(directory):
            fill_anew(directory)
    return directory
