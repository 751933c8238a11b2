# SPDX-License-Identifier: Apache-2.0
"""What is known of the sandbox between two commands: a directory that only root can read, with a lock that
the process holds which keeps the sandbox, so that a state that outlived it (a crash, a reboot) is known."""

import fcntl
import json
import os
import shutil

import node as nodes

# pylint: disable=wrong-import-order
import host

DIRECTORY = os.environ.get("FLAMELET_SANDBOX") or "/run/flamelet-sandbox"
LOCK, LOG, STATE = (f"{DIRECTORY}/{name}" for name in ("lock", "log", "state.json"))
# Of a node, what its users need who did not start it.
OF_NODE = ("kubernetes", "node_name", "cgroup_root", "kubelet_url", "directory", "holder", "ca_file", "admin")


def take_lock():
    """The open lock, or None when a sandbox is up, or about to be."""
    os.makedirs(DIRECTORY, mode=0o700, exist_ok=True)
    lock = open(LOCK, "w", encoding="ascii")    # pylint: disable=consider-using-with
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        return None
    return lock


def write(state):
    with open(STATE + ".new", "w", encoding="utf-8") as file:
        json.dump(state, file)
    os.rename(STATE + ".new", STATE)


def read():
    """{} when there is none."""
    text = host.read_text(STATE)
    return json.loads(text) if text else {}


def describe(node):
    return {name: getattr(node, name) for name in OF_NODE}


def remove():
    """With what a node has left that could not end in order: its keeper has done the rest."""
    directory = read().get("node", {}).get("directory")
    for path in filter(None, (directory, DIRECTORY)):
        shutil.rmtree(path, ignore_errors=True)


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
