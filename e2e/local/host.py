# SPDX-License-Identifier: Apache-2.0
"""Programs, bounded waits, child processes, cgroups and mounts of the host, for all end-to-end
tests.

Deadlines only bound a hang. They are long, so that a busy machine does not fail a test."""

import argparse
import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SKIP = 77
PR_SET_CHILD_SUBREAPER = 36
CGROUP_LOCK = "/run/flamelet-e2e.lock"
START_CPU_SECONDS = 0.2     # Python takes a quarter of it to start
SLOWEST = 4.0
HIGHEST_PRIORITY = -19


class Failure(Exception):
    """The test cannot go on; the message says what did not happen."""


class Skip(Exception):
    """The test cannot run here; the message says what is missing."""


def judge_anyone(check, *args):
    """Calls a check, which returns its faults, and prints them; returns the exit status."""
    try:
        faults = check(*args)
    except Skip as skip:
        print(f"SKIP: {skip}")
        return SKIP
    except (Failure, subprocess.TimeoutExpired) as failure:
        faults = [str(failure)]
    finally:
        Process.stop_all()
    for fault in faults:
        print(f"FAIL: {fault}")
    return 1 if faults else 0


def judge(check, *args):
    """The same for a check of this machine, which only root may do."""
    def check_as_root():
        if os.geteuid() != 0:
            raise Skip("needs root")
        return check(*args)

    return judge_anyone(check_as_root)


def main(check, name, parser=None):
    """The same for check(options, directory) of the program that the command line names, in a directory of its
    own."""
    parser = parser or argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix=f"flamelet-{name}-", ignore_cleanup_errors=True) as directory:
        return judge(check, options, directory)


def require(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Skip(f"{program} is not installed")


def require_containers(*programs):
    """Skips the test where containerd and runc cannot start containers with cgroups of version 2."""
    require("containerd", "ctr", "runc", *programs)
    if not is_mount("/"):
        raise Skip("/ is no mount point (a chroot): runc cannot start containers in it")
    if cgroup_mounts()[1] is None:
        raise Skip("no cgroup2 file system is mounted")


def limit_time(seconds):
    """Fails the test after that time. SIGTERM ends it, with its clean-up."""
    def give_up(*_args):
        raise Failure(f"not done after {seconds} s")

    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.alarm(seconds)


def wait_until(what, condition, seconds=60.0, pause=0.05):
    """Returns the first true value of condition(), or fails by the deadline."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(pause)
    raise Failure(f"{what}: nothing after {seconds:g} s")


def last_faults(check, seconds=60.0, pause=0.5):
    """Repeats a check until it finds no faults. Returns the faults that it finds at the
    deadline."""
    deadline = time.monotonic() + seconds
    while (faults := check()) and time.monotonic() < deadline:
        time.sleep(pause)
    return faults


@contextlib.contextmanager
def busy_program(*command):
    """Runs a program that keeps a CPU busy, and yields its pid. An idle machine has nothing to
    sample."""
    with subprocess.Popen(command or ("/bin/sh", "-c", "while :; do :; done"), stdin=subprocess.DEVNULL) as program:
        try:
            yield program.pid
        finally:
            program.kill()


def cpu_seconds(pid):
    """Returns the CPU time of a process: utime + stime, fields 14 and 15 of proc(5)'s stat."""
    fields = read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_busy(*pids):
    """Waits until each process has used so much CPU time that it has started and does its work."""
    wait_until("the programs are busy", lambda: all(cpu_seconds(pid) >= START_CPU_SECONDS for pid in pids))


def come_first():
    """Gives the current process, and its session where the kernel groups by sessions, the highest priority."""
    if os.getsid(0) != os.getpid():
        os.setsid()
    os.setpriority(os.PRIO_PROCESS, 0, HIGHEST_PRIORITY)
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w", encoding="ascii") as file:
        file.write(str(HIGHEST_PRIORITY))


def preempt_others():
    """Gives the current process its CPU before all others, where its cgroup may have real-time processes. It may only
    run for a few seconds, in one thread."""
    come_first()
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def slowness():
    """Returns how many times longer work takes because other programs share the CPUs: 1.0 on a quiet
    machine, at most SLOWEST."""
    begin, begin_cpu = time.monotonic(), time.thread_time()
    while time.thread_time() < begin_cpu + START_CPU_SECONDS:
        pass
    return min(max((time.monotonic() - begin) / START_CPU_SECONDS, 1.0), SLOWEST)


def run(*command, seconds=600, **options):
    """Runs a command to its end and returns its output, which is also part of a failure."""
    options.setdefault("stderr", subprocess.STDOUT)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=seconds,
                          check=False, **options)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: exit {done.returncode}: {done.stdout.strip()}")
    return done.stdout


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def accepts_connections(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def read_text(path):
    """Returns the file's text, or "" if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


class Process:
    """A child with its output in a file, which never outlives the test."""

    started = []

    def __init__(self, name, command, log_path, **options):
        self.name, self.log_path = name, log_path
        with open(log_path, "ab") as log:
            self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                          stderr=subprocess.STDOUT, **options)
        self.started.append(self)

    @classmethod
    def stop_all(cls):
        """Ends those that a failure left."""
        for process in cls.started:
            process.stop()

    @property
    def pid(self):
        return self.child.pid

    def is_alive(self):
        return self.child.poll() is None

    def log(self):
        return read_text(self.log_path)

    def stop(self):
        self.finish(5)

    def finish(self, seconds=30, first=signal.SIGTERM):
        """Asks the child to end and returns its exit status: -9 if it had to be killed."""
        if self.is_alive():
            self.child.send_signal(first)
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.child.kill()
            return self.child.wait(5)


def is_mount(path):
    """Unlike os.path.ismount() this tells a chroot's / from a real one."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        return any(line.split()[4] == path for line in mounts)


def cgroup_mounts():
    """Mount points of all cgroup hierarchies: ([version 1 ...], version 2 or None)."""
    v1, v2 = [], None
    for line in read_text("/proc/self/mounts").splitlines():
        _, point, kind = line.split()[:3]
        if kind == "cgroup":
            v1.append(point)
        elif kind == "cgroup2":
            v2 = v2 or point
    return v1, v2


def cgroup_cpu_seconds(path):
    """Returns the CPU time of a cgroup, by its path in the hierarchy of version 2."""
    text = read_text(f"{cgroup_mounts()[1]}{path}/cpu.stat")
    return int(text.split("usage_usec ")[1].split()[0]) / 1e6


def kill_cgroup(directory):
    """Kills what still runs in a cgroup and below it."""
    for path, _, _ in os.walk(directory):
        for pid in read_text(os.path.join(path, "cgroup.procs")).split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def remove_cgroup(directory):
    """Removes a cgroup with its children; one that is still busy a second later stays."""
    for path, _, _ in os.walk(directory, topdown=False):
        for _ in range(20):
            try:
                os.rmdir(path)
                break
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.05)


def all_cgroup_mounts():
    v1, v2 = cgroup_mounts()
    return v1 + [v2]


def remove_empty_parents(path):
    """Removes the empty directories of a path that other runs, or a real kubelet, may share."""
    while path not in ("", "/"):
        for mount in all_cgroup_mounts():
            with contextlib.suppress(OSError):
                os.rmdir(mount + path)
        path = os.path.dirname(path)


class SharedCgroups:
    """Counts the runs that use /kubepods: only the last one may remove its empty directories,
    since another one's runc may just be about to make a child there."""

    def __init__(self):
        self.lock = open(CGROUP_LOCK, "w", encoding="ascii")
        fcntl.flock(self.lock, fcntl.LOCK_SH)

    def release(self, parents):
        with self.lock:
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            for parent in parents:
                remove_empty_parents(parent)


def unmount_below(directory):
    points = [line.split()[1] for line in read_text("/proc/self/mounts").splitlines()]
    for point in sorted(points, reverse=True):
        if point.startswith(directory + "/"):
            subprocess.run(["umount", "-l", point], check=False)


def kill_mentioning(directory):
    """Kills processes whose command line names a path below our own temporary directory: the
    shims, which containerd leaves behind on purpose."""
    needle = (directory + "/").encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/cmdline", "rb") as cmdline:
                if int(pid) != os.getpid() and needle in cmdline.read():
                    os.kill(int(pid), signal.SIGKILL)


def adopt_orphans():
    """Processes that our children leave behind, such as the shims, become ours to wait for."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_orphans(seconds=2.0):
    deadline = time.monotonic() + seconds
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                time.sleep(0.05)
