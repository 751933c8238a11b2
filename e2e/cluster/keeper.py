#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds a node's namespaces and ends all that runs in them, however the test ends.

    keeper.py DIRECTORY CGROUP

says the process id of the namespaces' holder, and waits for the end of its standard input: the test
closes it, or the kernel does when the test is killed. Then it kills whatever is in the network namespace
or below CGROUP, a path in all hierarchies, removes the cgroups and the directory, and says in a line
each what is left of them."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../local"))

# pylint: disable=wrong-import-position
import host

HOLDER = ("unshare", "--mount", "--net", "--propagation", "private", "sleep", "infinity")
END_SECONDS = 20


def network_of(pid):
    """Names the network namespace of a process; None when it is gone."""
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/ns/net")
    return None


def processes_in(network):
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and network_of(pid) == network]


def cgroup_directories(cgroup):
    return [mount + cgroup for mount in host.all_cgroup_mounts() if os.path.isdir(mount + cgroup)]


def start_holder():
    """The namespaces are ready, and nothing mounted there is seen here, once it sleeps."""
    holder = subprocess.Popen(HOLDER, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    host.wait_until("new namespaces",
                    lambda: host.read_text(f"/proc/{holder.pid}/comm") == HOLDER[-2] + "\n",
                    pause=0.005)
    return holder


def kill_all(network, cgroup):
    """True when nothing was left to kill."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    pids = processes_in(network)
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for directory in cgroup_directories(cgroup):
        host.kill_cgroup(directory)
        host.remove_cgroup(directory)
    return not pids and not cgroup_directories(cgroup)


def end(network, directory, cgroup):
    deadline = time.monotonic() + END_SECONDS
    while not kill_all(network, cgroup) and time.monotonic() < deadline:
        time.sleep(0.05)
    while os.path.exists(directory) and time.monotonic() < deadline:
        shutil.rmtree(directory, ignore_errors=True)
    leftovers = [f"process {pid}" for pid in processes_in(network)]
    leftovers += [path for path in [directory] + cgroup_directories(cgroup) if os.path.exists(path)]
    for leftover in leftovers:
        print(leftover, flush=True)


def main():
    directory, cgroup = sys.argv[1:]
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    holder = start_holder()
    network = network_of(holder.pid)
    with contextlib.suppress(BrokenPipeError):
        print(holder.pid, flush=True)
    sys.stdin.read()
    with contextlib.suppress(BrokenPipeError):
        end(network, directory, cgroup)


if __name__ == "__main__":
    main()
