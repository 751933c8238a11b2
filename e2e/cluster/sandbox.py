#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes on this machine to try things on, with something that takes profiles and something to
profile.

    sandbox.py up path/to/flamelet        brings it up and leaves it running; PYROSCOPE=/path starts that, too
    sandbox.py shell [COMMAND...]         a shell, or a command, in its network, with kubectl and helm
    sandbox.py top NAMESPACE/POD [--container NAME]    a pod's functions, from the profiles that arrived
    sandbox.py status                     is it up, and where
    sandbox.py down                       ends it and removes everything

It needs root. All is in namespaces of its own, as node.py says. It can be up for two days: its certificates
are valid no longer. Exit status 77: it cannot run here."""

import argparse
import os
import signal
import subprocess
import sys
import time

import backend
import build
import conduct
import demo
import node as nodes
import release
import sandbox_state as states
import top

# pylint: disable=wrong-import-order
import host

SELF = os.path.relpath(os.path.abspath(__file__))
UP_SECONDS = 5400       # The first time it builds Kubernetes.
DOWN_SECONDS = 90
PROMPT = "sandbox# "


def say(text):
    print(text, flush=True)


# Processes in the background.

def link_tools(node):
    """A directory with kubectl and helm, for the shell."""
    os.mkdir(f"{node.directory}/bin")
    os.symlink(node.tool("kubectl"), f"{node.directory}/bin/kubectl")
    os.symlink(release.helm_program(), f"{node.directory}/bin/helm")


def bring_up(node, binary, state):
    """All that there is to be had. Says what it does."""
    say(f"Kubernetes {os.path.basename(node.kubernetes).partition('-')[2]} is up, node {node.node_name}")
    backend.start_collector(node)
    state["pyroscope"] = backend.start_pyroscope(node)
    say("the OpenTelemetry Collector listens" + (", and Pyroscope" if state["pyroscope"] else ""))
    link_tools(node)
    say(f"the node has the image {release.load_image(node, binary)}")
    demo.start(node)
    say("pods run: " + ", ".join(f"{namespace}/{name}-0" for namespace, name in demo.workloads()))


def keep(args):
    """Brings the sandbox up, and down again when it is told to."""
    os.set_inheritable(args.lock, False)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    state = {"pid": os.getpid()}
    states.write(state)
    release.helm_program()
    with nodes.Node(args.kubernetes) as node:
        state["node"] = states.describe(node)
        states.write(state)
        bring_up(node, args.binary, state)
        states.write({**state, "is_ready": True})
        while True:
            signal.pause()


# Commands.

def start_keeper(args, lock):
    """In a session of its own: it outlives the terminal."""
    command = [sys.executable, os.path.abspath(__file__), "keep", os.path.abspath(args.binary),
               f"--kubernetes={args.kubernetes}", f"--lock={lock.fileno()}"]
    with open(states.path("log"), "wb") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                start_new_session=True, pass_fds=[lock.fileno()])


def follow(keeper):
    """Shows what the keeper says until the sandbox is up. Returns its exit status, or None."""
    deadline = time.monotonic() + UP_SECONDS
    with open(states.path("log"), encoding="utf-8") as log:
        while True:
            is_over = keeper.poll() is not None
            is_ready = states.read().get("is_ready", False)
            print(log.read(), end="", flush=True)
            if is_over or is_ready:
                return keeper.returncode
            if time.monotonic() > deadline:
                raise host.Failure(f"the sandbox is not up after {UP_SECONDS} s")
            time.sleep(0.1)


def up(args):
    lock = states.take_lock()
    if lock is None:
        say("the sandbox is up already")
        return status(args)
    if states.read():
        say("clearing up after a sandbox that did not end in order")
        states.remove()
        lock = states.take_lock()
    with lock:
        keeper = start_keeper(args, lock)
    try:
        result = follow(keeper)
    except BaseException:
        down(args)
        raise
    if result is not None:
        states.remove()
        return result or 1
    say_what_next()
    return 0


def say_what_next():
    node = states.Attached()
    say(f"\nThe Collector takes OTLP at {backend.ENDPOINT} and {backend.GRPC_ENDPOINT}.")
    if node.pyroscope_url:
        say(f"Pyroscope takes it at {backend.PYROSCOPE_ENDPOINT}; its own page is {node.pyroscope_url}.")
    say(f"Go on with: {SELF} shell")


def shell(args):
    """Only its network is another: files are this machine's."""
    node = states.Attached()
    environment = dict(os.environ, KUBECONFIG=node.admin, PS1=PROMPT, **release.helm_places(node),
                       PATH=f"{node.directory}/bin:{os.environ['PATH']}")
    command = args.command or ["bash", "--norc"]
    return subprocess.run(["nsenter", f"--net=/proc/{node.holder}/ns/net", "--", *command],
                          env=environment, check=False).returncode


def show_top(args):
    namespace, _, pod = args.pod.partition("/")
    return top.show(states.Attached(), namespace, pod, args.container, args.wait)


def status(_args):
    if not states.read().get("is_ready"):
        say("no sandbox is up")
        return 1
    node = states.Attached()
    say(f"node {node.node_name}, files in {node.directory}, profiles in {backend.output_of(node)}")
    say_what_next()
    return 0


def down(_args):
    """Returns when nothing is left."""
    state = states.read()
    lock = states.take_lock()
    if lock is None:
        host.wait_until("the sandbox's keeper", lambda: states.read().get("pid"), 10)
        os.kill(states.read()["pid"], signal.SIGTERM)
        lock = host.wait_until("the sandbox ends", states.take_lock, DOWN_SECONDS, 0.1)
    with lock:
        left = [line for line in host.read_text(states.path("log")).splitlines() if "left behind" in line]
        states.remove()
    for line in left:
        say(line)
    say("the sandbox is down" if state else "no sandbox was up")
    return 1 if left else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="name", required=True)
    for name, function in (("up", up), ("keep", keep)):
        command = commands.add_parser(name)
        command.add_argument("binary")
        command.add_argument("--kubernetes", default=build.VERSION, choices=build.versions())
        command.set_defaults(function=function)
    command.add_argument("--lock", type=int, required=True)
    command = commands.add_parser("shell")
    command.add_argument("command", nargs=argparse.REMAINDER)
    command.set_defaults(function=shell)
    command = commands.add_parser("top")
    command.add_argument("pod", metavar="NAMESPACE/POD")
    command.add_argument("--container")
    command.add_argument("--wait", type=float, default=60, help="so many seconds until there are enough samples")
    command.set_defaults(function=show_top)
    for name, function in (("status", status), ("down", down)):
        commands.add_parser(name).set_defaults(function=function)
    return parser.parse_args()


if __name__ == "__main__":
    ARGUMENTS = parse_arguments()
    sys.exit(conduct.guard(ARGUMENTS.function, ARGUMENTS))
