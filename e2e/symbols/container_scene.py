# SPDX-License-Identifier: Apache-2.0
"""Everything that runs while names in containers are tested, and its end."""

import contextlib
import math
import os
import shutil
import signal

import debug_forms
import host
import loads
import pods
import recorder
import recordings

HZ = 499
PROGRAMS = debug_forms.PROGRAMS
VERSIONS = (1, 2, 3)


class Scene:
    """The containers and directories that the cases share. Everything is removed at the end."""

    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.stack = contextlib.ExitStack()
        self.tag = "/flamelet-" + os.path.basename(directory)
        self.cgroup = host.cgroup_mounts()[1] + self.tag
        self.stack.callback(self.remove_cgroups)
        self.reader = recordings.compile_proto(directory)
        self.pods = pods.Pods(f"{directory}/containerd", self.tag)
        self.stack.callback(self.pods.stop)

    def set_up(self):
        os.makedirs(self.cgroup)
        self.pods.start_daemon()
        host.require("gcc")
        for version in VERSIONS:
            path = self.version_path(version)
            host.run("gcc", "-O2", "-static", f"-DVERSION={version}", f"{PROGRAMS}/version.c",
                     "-o", path)
            programs = {"bin/app": path, "bin/work.js": f"{PROGRAMS}/work.js"}
            if version == 1 and shutil.which("javac"):
                host.run("javac", "-d", self.directory, f"{PROGRAMS}/Work.java", seconds=60)
                programs["bin/Work.class"] = f"{self.directory}/Work.class"
            self.pods.import_version(version, programs)

    def version_path(self, version):
        return f"{self.directory}/version-{version}"

    def start_on_host(self, name, *command):
        """Returns the number of the cgroup that it runs in."""
        cgroup = f"{self.cgroup}/{name}"
        os.makedirs(cgroup)
        process = loads.start_in_cgroup(name, command, cgroup, f"{self.directory}/{name}.log")
        self.stack.callback(process.finish, first=signal.SIGKILL)
        return os.stat(cgroup).st_ino

    def wait_for_work(self, name, cpu_seconds):
        """Waits until a program on the host or in a container has used that much CPU time, or has
        ended."""
        stat = f"{self.cgroup}/{name}/cpu.stat"
        host.wait_until(f"{name} works", lambda: not os.path.exists(stat)
                        or host.cgroup_cpu_seconds(f"{self.tag}/{name}") >= cpu_seconds, 180)

    @contextlib.contextmanager
    def recording(self, name, seconds, *options):
        """Records for that time, or longer on a busy machine. `with` yields an object that has the
        samples afterwards."""
        seconds = math.ceil(seconds * host.slowness())
        path = f"{self.directory}/{name}.pb.gz"
        command = recordings.command(self.binary, path, seconds, HZ, *options)
        command.remove("-q")
        made = recorder.start(command, f"{self.directory}/{name}.log")
        self.stack.callback(made.finish, first=signal.SIGKILL)
        made.samples, made.seconds = [], seconds
        yield made
        status = made.child.wait(seconds + recordings.END_SECONDS)
        if status != 0:
            raise host.Failure(f"record: exit status {status}: {made.log()}")
        made.samples = recordings.read(path, self.reader)

    def remove_cgroups(self):
        for mount in host.all_cgroup_mounts():
            host.kill_cgroup(mount + self.tag)
            host.remove_cgroup(mount + self.tag)


def total(samples):
    return sum(sample.count for sample in samples)


def of_cgroup(samples, cgroup_id):
    """Without those of runc, which begins as a part of the container."""
    return [sample for sample in samples if sample.labels.get("cgroup_id") == cgroup_id
            and not sample.labels["thread"].startswith("runc")]


def frame_names(sample):
    return [line.name for place in sample.locations for line in place.lines]


def share_with(samples, text):
    """Of the samples, that have a frame with this in its name."""
    found = total(s for s in samples if any(text in name for name in frame_names(s)))
    return found / max(1, total(samples))
