# SPDX-License-Identifier: Apache-2.0
"""The destination of agents in a node's network namespace: e2e/local's receiver."""

import os
import sys

import host
import profiles

HERE = os.path.dirname(os.path.abspath(__file__))
RECEIVER = os.path.join(HERE, "../local/receiver.py")
PROTO = os.path.join(HERE, "../../tests/proto/otlp_profiles.proto")
LISTENING = "0A"


def listens(pid, port):
    """Returns whether any process listens in the network namespace of a process, over IPv4."""
    sockets = host.read_text(f"/proc/{pid}/net/tcp").splitlines()[1:]
    return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == LISTENING
               for line in sockets)


class Sink:
    """One receiver; its port is free as long as nobody else in the namespace listens there."""

    def __init__(self, node, port=4318):
        self.node, self.port = node, port
        self.output = f"{node.directory}/profiles-{port}.json"
        self.endpoint = f"http://127.0.0.1:{port}"
        self.process = None

    def start(self):
        self.process = self.node.start_in_node(
            f"receiver-{self.port}", [sys.executable, RECEIVER, str(self.port), PROTO, self.output])
        host.wait_until("the receiver listens", self.is_listening)

    def is_listening(self):
        self.node.program_lives(f"receiver-{self.port}")
        return listens(self.process.pid, self.port)

    def samples(self):
        return profiles.read_samples(host.read_text(self.output))

    def stop(self):
        """Ends the receiver. All that was sent has been written afterwards."""
        self.process.finish()
