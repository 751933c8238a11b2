# SPDX-License-Identifier: Apache-2.0
"""The state of the sandbox between two commands: a directory that only root can read, with a lock
that the process holds which keeps the sandbox, so that a state that outlived it (a crash, a reboot)
is known."""

import fcntl
import json
import os
import shutil

import node as nodes

# pylint: disable=wrong-import-order
import host

VARIABLE = "FLAMELET_SANDBOX"      # For a second sandbox, which tests have.
DIRECTORY = "/run/flamelet-sandbox"
# Of a node, what its users need who did not start it.
OF_NODE = ("kubernetes", "node_name", "cgroup_root", "kubelet_url", "directory", "holder", "ca_file", "admin")


def path(name):
    return os.path.join(os.environ.get(VARIABLE) or DIRECTORY, name)


def take_lock():
    """The open lock, or None when a sandbox is up, or about to be."""
    os.makedirs(path(""), mode=0o700, exist_ok=True)
    lock = open(path("lock"), "w", encoding="ascii")    # pylint: disable=consider-using-with
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def write(state):
    with open(path("state.new"), "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.rename(path("state.new"), path("state"))


def read():
    """{} when there is none."""
    text = host.read_text(path("state"))
    return json.loads(text) if text else {}


def describe(node):
    return {name: getattr(node, name) for name in OF_NODE}


def remove():
    """With what a node has left that could not end in order: its keeper has done the rest."""
    directory = read().get("node", {}).get("directory")
    for place in filter(None, (directory, path(""))):
        shutil.rmtree(place, ignore_errors=True)


class Attached(nodes.Node):
    """The sandbox's node, for those who did not start it and do not end it."""

    def __init__(self):     # pylint: disable=super-init-not-called
        state = read()
        if not state.get("is_ready"):
            raise host.Failure("no sandbox is up: `make cluster` brings it up")
        self.__dict__.update(state["node"], is_kept=False, keeper=None, pki=None, programs={})
        if not os.path.exists(f"/proc/{self.holder}/ns/net"):
            raise host.Failure("the sandbox has ended: `e2e/cluster/sandbox.py down` clears up")
        self.pyroscope_url = state["pyroscope"]
