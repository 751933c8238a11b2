# SPDX-License-Identifier: Apache-2.0
"""The stage of a trial: an agent in a memory cgroup, a victim and a hostile user in cgroups of
their own, and a receiver that does its work. Whatever is started ends with the stage."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../local"), os.path.join(HERE, "../export")]

# pylint: disable=wrong-import-position
import host

VICTIM_UID = 65533
HOSTILE_UID = 65534
HOSTILE_LIMIT = 2 << 30
NICE = 5
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


class Cgroup:
    """One directory in the hierarchy that tells containers apart, one in that which bounds memory."""

    def __init__(self, name, limit=0):
        v1, v2 = host.cgroup_mounts()
        memory = next((mount for mount in v1 if os.path.exists(f"{mount}/memory.limit_in_bytes")), v2)
        self.path = f"{v2 or memory}/{name}"
        self.memory = f"{memory}/{name}"
        for directory in {self.path, self.memory}:
            os.makedirs(directory, exist_ok=True)
        if limit:
            for file in ("memory.limit_in_bytes", "memory.max"):
                with contextlib.suppress(OSError):
                    self.write(f"{self.memory}/{file}", str(limit))

    @staticmethod
    def write(path, text):
        with open(path, "r+", encoding="ascii") as file:
            file.write(text)

    def enter(self):
        for directory in {self.path, self.memory}:
            self.write(f"{directory}/cgroup.procs", "0")

    def nr_oom_kills(self):
        for file in ("memory.oom_control", "memory.events"):
            for line in host.read_text(f"{self.memory}/{file}").splitlines():
                if line.startswith("oom_kill "):
                    return int(line.split()[1])
        return 0

    def remove(self):
        for directory in (self.path, self.memory):
            host.kill_cgroup(directory)
            host.remove_cgroup(directory)


def become(cgroup, uid):
    """Prepares a child before its exec: sets its cgroup and user, and ends it with the test."""
    def prepare():
        cgroup.enter()
        if uid:
            os.nice(NICE)       # the machine has others to serve
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    return prepare


def end(process, seconds, first=signal.SIGTERM):
    """Its exit status; None if nothing ends it, as where the kernel waits for a file system in its name."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.finish(seconds, first)
    return None


class Tools:
    """Programs that the trial itself needs, built once."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="flamelet-hostile-")
        os.chmod(self.directory, 0o755)
        self.lock = threading.Lock()

    def build(self, name, *options):
        """The path of HERE/name.c, compiled."""
        path = f"{self.directory}/{name}"
        with self.lock:
            if not os.path.exists(path):
                host.run("gcc", "-O1", "-g", "-fno-omit-frame-pointer", *options, f"{HERE}/{name}.c", "-o", path)
        return path

    def victim(self, directory, number):
        """Makes a new program, with a function of that number."""
        with open(self.build("victim"), "rb") as file:
            content = file.read()
        path = f"{directory}/v{number:04}"
        with open(path, "wb") as file:
            file.write(content.replace(b"victim_0000", b"victim_%04d" % number))
        os.chmod(path, 0o755)
        return path

    def remove(self):
        shutil.rmtree(self.directory, ignore_errors=True)


class Stage:
    """One case's. Used as a context."""

    def __init__(self, tools, name):
        self.tools = tools
        self.stack = contextlib.ExitStack()
        tag = f"flamelet-hostile-{os.getpid()}"
        self.directory = f"{tools.directory}/{name}"
        self.hostile_directory = f"{self.directory}/hostile"
        os.makedirs(self.hostile_directory)
        os.chown(self.hostile_directory, HOSTILE_UID, HOSTILE_UID)
        self.stack.callback(shutil.rmtree, self.directory, ignore_errors=True)
        self.root = f"/{tag}"
        self.stack.callback(self.remove_root)
        self.agent_cgroup = self.binary = None
        self.victims = self.add_cgroup("victims")
        self.hostile = self.add_cgroup("hostile", HOSTILE_LIMIT)
        self.started = {}       # victim's function: when
        self.nr_paths = 0

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.stack.close()

    def remove_root(self):
        for mount in host.all_cgroup_mounts():
            if mount:
                host.remove_cgroup(mount + self.root)

    def add_cgroup(self, name, limit=0):
        cgroup = Cgroup(f"{self.root[1:]}/{name}", limit)
        self.stack.callback(cgroup.remove)
        return cgroup

    def start(self, name, command, cgroup, uid, **options):
        process = host.Process(name, command, f"{self.directory}/{name}.log",
                               preexec_fn=become(cgroup, uid), cwd="/", **options)
        self.stack.callback(end, process, 2, signal.SIGKILL)
        return process

    def new_path(self):
        """Of a file of the hostile user's."""
        self.nr_paths += 1
        return f"{self.hostile_directory}/file{self.nr_paths}"

    def start_victim(self, number):
        path = self.tools.victim(self.directory, number)
        self.started[f"victim_{number:04}"] = time.monotonic()
        return self.start(f"v{number:04}", [path], self.victims, VICTIM_UID)

    def start_python_victim(self, number):
        path = f"{self.directory}/v{number:04}.py"
        with open(path, "w", encoding="ascii") as file:
            file.write(host.read_text(f"{HERE}/victim.py").replace("victim_0000", f"victim_{number:04}"))
        self.started[f"victim_{number:04}"] = time.monotonic()
        return self.start(f"v{number:04}", ["/usr/bin/python3", path], self.victims, VICTIM_UID)

    def run_files(self, files, uid=HOSTILE_UID, cgroup=None):
        """Runs the code in (path, offset, count, stride) as another user."""
        what = [":".join(map(str, file)) for file in files]
        return self.start("mapper", [self.tools.build("mapper"), *what], cgroup or self.hostile, uid)

    def run_script(self, *arguments, uid=HOSTILE_UID, **options):
        """A Python program of this directory."""
        script, *rest = arguments
        return self.start(script, ["/usr/bin/python3", f"{HERE}/{script}", *map(str, rest)], self.hostile, uid,
                          **options)
