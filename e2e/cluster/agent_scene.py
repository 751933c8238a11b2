# SPDX-License-Identifier: Apache-2.0
"""The scene of the tests of an agent beside a real cluster: a node, the agent, where its profiles go, and the truth about
the node's containers."""

import manifests
import settings
import sink as sinks
import truth as truths

# pylint: disable=wrong-import-order
import host

FREQUENCY_HZ = 99
EXPORT_SECONDS = 2


def write_token(node, account):
    path = f"{node.directory}/token-{account}"
    with open(path, "w", encoding="ascii") as file:
        file.write(node.token(account))
    return path


class Scene:
    """One node and one agent."""

    def __init__(self, node, binary):
        self.node, self.binary = node, binary
        self.namespace = manifests.namespace_of(node)
        self.sink = sinks.Sink(node)
        self.truth = truths.Truth(node)
        self.agent = None

    def start(self):
        self.sink.start()
        self.truth.start()
        self.agent = self.start_agent("agent", settings.READER, self.sink.endpoint)
        host.wait_until("the agent's first profile arrives", self.sink.samples)

    def start_agent(self, name, account, endpoint):
        token = write_token(self.node, account)
        command = [self.binary, "agent", "--otlp-endpoint", endpoint, "--frequency",
                   str(FREQUENCY_HZ), "--export-interval", f"{EXPORT_SECONDS}s"]
        return self.node.start_in_node(name, command + self.node.agent_options(token))
