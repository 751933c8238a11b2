# SPDX-License-Identifier: Apache-2.0
"""Builds the image by its Dockerfile, with a buildah that has a storage of its own beside the other caches: the
layers of one run serve the next."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
import time

import base
import host

TREE = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
BASE = "docker.io/library/debian:12-slim"
IMAGE = "localhost/flamelet:e2e"
# Each change of the tree leaves some 60 MB.
MAX_STORAGE_BYTES = 8 << 30
SECONDS = 1500


def cache_directory():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "flamelet", "image")


def size_of(directory):
    return int(host.run("du", "-s", "-B1", directory, seconds=120).split()[0])


class Builder:
    """One at a time has the storage."""

    def __init__(self):
        host.require("buildah")
        self.directory = cache_directory()
        os.makedirs(self.directory, exist_ok=True)
        self.run_directory = tempfile.mkdtemp(prefix="flamelet-e2e-")
        self.storage = f"{self.directory}/storage"
        self.command = ["buildah", "--root", self.storage, "--runroot", self.run_directory,
                        "--storage-driver", "overlay"]
        self.lock = open(f"{self.directory}/lock", "w", encoding="ascii")

    def __enter__(self):
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        if os.path.isdir(self.storage) and size_of(self.storage) > MAX_STORAGE_BYTES:
            self.remove_storage()
        # Removes what a killed build left behind.
        self.buildah("rm", "--all")
        return self

    def __exit__(self, *_):
        host.unmount_below(self.run_directory)
        host.unmount_below(self.storage)
        shutil.rmtree(self.run_directory, ignore_errors=True)
        self.lock.close()

    def remove_storage(self):
        host.unmount_below(self.storage)
        shutil.rmtree(self.storage)

    def buildah(self, *arguments, seconds=120):
        return host.run(*self.command, *arguments, seconds=seconds)

    def has_base(self):
        with contextlib.suppress(host.Failure):
            return self.buildah("inspect", "--type", "image", BASE)
        return None

    def make_base(self):
        archive = f"{self.directory}/base.tar"
        if not os.path.exists(archive):
            base.make_archive(archive)
        if not self.has_base():
            container = self.buildah("from", "scratch").strip()
            self.buildah("add", container, archive, "/")
            self.buildah("commit", "--rm", container, BASE)

    def build(self, *options):
        """By the script that `make image` runs; returns the seconds that it took."""
        self.make_base()
        began = time.monotonic()
        environment = dict(os.environ, IMAGE=IMAGE, IMAGE_TOOL=" ".join(self.command))
        done = subprocess.run(
            [f"{TREE}/cmake/image-build.sh", "--isolation", "chroot", "--layers", "--pull-never", *options],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment,
            timeout=SECONDS, check=False)
        if done.returncode != 0 and "apt-get" in done.stdout[-3000:]:
            raise host.Skip("the image's packages cannot be had: " + done.stdout[-500:])
        if done.returncode != 0:
            raise host.Failure(f"the build failed: {done.stdout[-3000:]}")
        return time.monotonic() - began

    def write_archive(self, path, tag):
        self.buildah("push", IMAGE, f"oci-archive:{path}:{tag}")
