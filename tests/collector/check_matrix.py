#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Brings profiles to a real OpenTelemetry Collector over HTTP and gRPC, without TLS, with it, and with certificates of
both sides, and compares what it writes down with what was sent; and lets it refuse.

    check_matrix.py python OTLP_DRIVER              sends with other people's code: the Collector's part
    check_matrix.py flamelet FLAMELET MAKE_PROFILE  sends with `flamelet export`

The Collector does not look at indices and names: conformance/all_requests does.
"""
import os
import subprocess
import sys
import tempfile

from collector import Collector, build, free_ports
from certificates import Certificates
import flamelet_sender
import python_sender
import schema

PROTOCOLS = ("http", "grpc")
SECURITY = {"plain": ("both",), "tls": ("both", "tls"), "mtls": ("both", "tls", "mtls")}


class Python:
    """The body of the sample profile, which must come back as it is."""

    def __init__(self, _work, driver):
        try:
            import grpc  # noqa: F401
        except ImportError as error:
            skip(error)
        self.body = subprocess.run([driver, "encode"], check=True, stdout=subprocess.PIPE).stdout
        self.request = schema.otlp().ExportProfilesServiceRequest.FromString(self.body)

    def arrives(self, collector, protocol, credentials):
        assert python_sender.send(collector, protocol, self.body, credentials) == "200"

    def is_turned_away(self, collector, protocol, credentials):
        assert python_sender.send(collector, protocol, self.body, credentials) is None

    def is_kept(self, collector, protocol):
        status = python_sender.send(collector, protocol, self.body)
        assert status == {"http": "503", "grpc": "UNAVAILABLE"}[protocol], status

    def arrives_later(self, collector, protocol):
        self.arrives(collector, protocol, None)

    def is_too_large(self, collector, protocol):
        self.request.resource_profiles[0].schema_url = "x" * (2 << 20)
        status = python_sender.send(collector, protocol, self.request.SerializeToString())
        assert status == {"http": "400", "grpc": "RESOURCE_EXHAUSTED"}[protocol], status

    def compare(self, requests):
        assert requests == [self.request], "not what was sent"


class Flamelet:
    """A pprof file; what arrives must have the same samples. All of them are accounted for."""

    def __init__(self, work, binary, make_profile):
        self.binary, self.queue = binary, os.path.join(work, "queue")
        path = os.path.join(work, "sample.pb.gz")
        with open(path, "wb") as file:
            subprocess.run([make_profile, "pprof"], check=True, stdout=file)
        self.sample = flamelet_sender.File(path)
        self.large = flamelet_sender.File(
            flamelet_sender.write_large(os.path.join(work, "large.pb.gz")))

    def send(self, collector, protocol, file, *options):
        """Returns whether all was delivered, and the number of samples by the place where they
        ended."""
        status, counts = flamelet_sender.send(self.binary, collector, protocol, file.path, *options)
        places = {**counts["dropped"], "sent": counts["sent"], "queued": counts["queued"]}
        assert counts["pushed"] + counts["restored"] == sum(places.values()), counts
        return status == 0, {place: nr for place, nr in places.items() if nr}

    def arrives(self, collector, protocol, credentials):
        options = flamelet_sender.credentials(*credentials) if credentials else []
        found = self.send(collector, protocol, self.sample, *options)
        assert found == (True, {"sent": self.sample.total()}), found

    def is_turned_away(self, collector, protocol, credentials):
        options = flamelet_sender.credentials(*credentials)
        found = self.send(collector, protocol, self.sample, *options, "--wait", "2s",
                          "--queue-dir", f"{self.queue}-not-trusted-{protocol}")
        assert found == (False, {"queued": self.sample.total()}), found

    def is_kept(self, collector, protocol):
        found = self.send(collector, protocol, self.sample, "--wait", "3s",
                          "--queue-dir", f"{self.queue}-{protocol}")
        assert found == (False, {"queued": self.sample.total()}), found

    def arrives_later(self, collector, protocol):
        """Delivers the queued file, and the same file again."""
        found = self.send(collector, protocol, self.sample,
                          "--queue-dir", f"{self.queue}-{protocol}")
        assert found == (True, {"sent": 2 * self.sample.total()}), found

    def is_too_large(self, collector, protocol):
        found = self.send(collector, protocol, self.large)
        place = {"http": "rejected", "grpc": "too_large"}[protocol]
        assert found == (False, {place: self.large.total()}), found

    def compare(self, requests):
        expected = self.sample.samples()
        keys = {key for attributes, _ in expected for key, _ in attributes}
        found = flamelet_sender.samples_of(requests, keys)
        assert found == expected, f"missing {expected - found}, unexpected {found - expected}"


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(schema.SKIP)


def check_security(sender, program, work):
    directory = Certificates(os.path.join(work, "certificates")).directory
    for protocol in PROTOCOLS:
        for security, parts in SECURITY.items():
            place = os.path.join(work, f"{protocol}-{security}")
            os.mkdir(place)
            credentials = (directory, security == "mtls") if security != "plain" else None
            with Collector(program, place, parts, directory) as collector:
                sender.arrives(collector, protocol, credentials)
                if security == "mtls":
                    sender.is_turned_away(collector, protocol, (directory, False))
            sender.compare(collector.received())
            print(f"{protocol}, {security}: arrived")


def check_refusals(sender, program, work):
    ports = free_ports()        # the same for all: another one is another receiver, with a queue of its own
    for name, parts, happens in (("nobody behind it", ("both", "down"), sender.is_kept),
                                 ("somebody again", ("both",), sender.arrives_later),
                                 ("small requests only", ("both", "small"), sender.is_too_large)):
        place = os.path.join(work, name)
        os.mkdir(place)
        with Collector(program, place, parts, ports=ports) as collector:
            for protocol in PROTOCOLS:
                happens(collector, protocol)
                print(f"{protocol}, {name}: {happens.__name__}")


def main():
    kind, *arguments = sys.argv[1:]
    schema.skip_unless_available()
    program = build()
    with tempfile.TemporaryDirectory() as work:
        sender = {"python": Python, "flamelet": Flamelet}[kind](work, *arguments)
        check_security(sender, program, work)
        check_refusals(sender, program, work)


if __name__ == "__main__":
    main()
