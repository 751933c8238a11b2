# SPDX-License-Identifier: Apache-2.0
"""Backends beside a node and in its network, where pods reach them: a real OpenTelemetry Collector,
which writes them to a file, and a Pyroscope where PYROSCOPE names the program."""

import glob
import os
import sys

import release
import settings
import sink

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../pyroscope"))

# pylint: disable=wrong-import-position
import collector
import host
import profiles
import server

HTTP_PORT, GRPC_PORT = 4318, 4317
ENDPOINT = release.collector_endpoint(HTTP_PORT)
GRPC_ENDPOINT = f"grpc://{settings.NODE_IP}:{GRPC_PORT}"
PYROSCOPE_PORT = 4040
PYROSCOPE_ENDPOINT = release.collector_endpoint(PYROSCOPE_PORT)
# Ports in the node's network, which nothing else uses.
PYROSCOPE_OTHER_PORTS = (9095, 7946, 9099)


def output_of(node):
    """The Collector's file; a full one is renamed."""
    return f"{node.directory}/received/profiles.json"


def start_collector(node):
    program = collector.find_collector()
    if program is None:
        raise host.Skip("no OpenTelemetry Collector")
    os.makedirs(os.path.dirname(output_of(node)))
    environment = dict(os.environ, COLLECTOR_ADDRESS=f"{settings.NODE_IP}:{HTTP_PORT}",
                       COLLECTOR_GRPC_ADDRESS=f"{settings.NODE_IP}:{GRPC_PORT}", COLLECTOR_FILE=output_of(node))
    configurations = [f"--config={collector.COLLECTOR}/{name}.yaml" for name in ("config", "sandbox")]
    node.start_in_node("collector", [program, *configurations], env=environment)
    host.wait_until("the Collector listens", lambda: node.program_lives("collector") and all(
        sink.listens(node.holder, port) for port in (HTTP_PORT, GRPC_PORT)), 30)


def start_pyroscope(node):
    """Returns its address on this machine; None where there is none."""
    program = os.environ.get("PYROSCOPE")
    if not program:
        return None
    # Its data are where it is started.
    command = server.command(os.path.abspath(program), PYROSCOPE_PORT, *PYROSCOPE_OTHER_PORTS, address=settings.NODE_IP)
    node.start_in_node("pyroscope", ["env", f"--chdir={node.directory}", *command])
    port = PYROSCOPE_PORT if not host.accepts_connections(PYROSCOPE_PORT) else host.free_port()
    node.programs["forward"] = host.Process(
        "forward", [sys.executable, f"{HERE}/forward.py", str(node.holder), str(port), settings.NODE_IP,
                    str(PYROSCOPE_PORT)], node.log_path("forward"))
    url = f"http://127.0.0.1:{port}"
    host.wait_until("Pyroscope is ready", lambda: node.program_lives("pyroscope") and server.is_ready(url),
                    server.READY_SECONDS, 0.2)
    return url


class Follower:
    """Reads what the Collector writes from now on, each line once."""

    def __init__(self, node):
        self.path, self.offset = output_of(node), 0
        self.read_lines()

    def read_lines(self):
        """Returns the lines that are complete."""
        if not os.path.exists(self.path):
            return b""
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            data = file.read()
        lines = data[:data.rfind(b"\n") + 1]
        self.offset += len(lines)
        return lines

    def samples(self):
        return profiles.read_samples(self.read_lines().decode())


def samples(node):
    """All that the Collector has, the oldest first."""
    directory, name = os.path.split(output_of(node))
    paths = sorted(glob.glob(f"{directory}/{name[:-5]}-*.json")) + [output_of(node)]
    return [sample for path in paths for sample in profiles.read_samples(host.read_text(path))]
