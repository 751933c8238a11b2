# SPDX-License-Identifier: Apache-2.0
"""The destination of agents in pods: helm_receiver.py beside a node, and the requests that it
received."""

from dataclasses import dataclass
import json
import os
import sys

import release
import sink as sinks

# pylint: disable=wrong-import-order
import host
import profiles

RECEIVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "helm_receiver.py")
NS_PER_S = 1000000000


@dataclass
class Request:
    at: float           # when it came, in seconds since the epoch
    headers: dict
    ids: list           # of its profiles
    samples: list


def ids_of(message):
    return [profile["profileId"] for part in message.get("resourceProfiles", [])
            for scope in part.get("scopeProfiles", []) for profile in scope.get("profiles", [])]


class Sink(sinks.Sink):
    """Stopped and started again it goes on writing where it left off."""

    def __init__(self, node, port=4318):
        super().__init__(node, port)
        self.endpoint = release.collector_endpoint(port)
        self.offset, self.read_requests = 0, []

    def start(self):
        self.process = self.node.start_in_node(
            f"receiver-{self.port}", [sys.executable, RECEIVER, str(self.port), sinks.PROTO, self.output])
        host.wait_until("the receiver listens", self.is_listening)

    def requests(self):
        """All that came so far. What was read once is not read again."""
        if not os.path.exists(self.output):
            return []
        with open(self.output, "rb") as file:
            file.seek(self.offset)
            text = file.read()
        text = text[:text.rfind(b"\n") + 1]
        self.offset += len(text)
        for line in text.splitlines():
            request = json.loads(line)
            message = request["message"]
            # The request of `flamelet doctor` is empty.
            if message:
                self.read_requests.append(Request(request["at"], request["headers"], ids_of(message),
                                                  list(profiles.read_message(message))))
        return self.read_requests

    def samples(self, since=0.0):
        """Returns the samples of profiles that begin later than a time in seconds since the
        epoch."""
        return [sample for request in self.requests() for sample in request.samples
                if sample.start_ns >= since * NS_PER_S]


def total(samples):
    return sum(sample.count for sample in samples)


def spans(samples):
    """The times that profiles cover, in seconds since the epoch, each once and in order."""
    return sorted({(sample.start_ns / NS_PER_S, sample.end_ns / NS_PER_S) for sample in samples})
