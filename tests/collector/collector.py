# SPDX-License-Identifier: Apache-2.0
"""A real OpenTelemetry Collector, and what it wrote down. conformance/ checks that, too."""
import contextlib
import os
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, "../conformance"), os.path.join(HERE, "../standin")]
import collector_output  # noqa: E402  pylint: disable=wrong-import-position
import request_log  # noqa: E402  pylint: disable=wrong-import-position

DIRECTORY = os.path.join(HERE, "../../e2e/collector")
HOST = "127.0.0.1"
PATIENCE_S = 60


def build():
    """The program; ends the test where there can be none."""
    done = subprocess.run([os.path.join(DIRECTORY, "build.sh")], stdout=subprocess.PIPE,
                          check=False, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout.strip()


def free_ports():
    with socket.create_server((HOST, 0)) as one, socket.create_server((HOST, 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


def is_listening(port):
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


class Collector:
    """To be used with "with". `parts` are names of files beside config.yaml that come after it."""

    def __init__(self, program, directory, parts=("both",), certificates="", ports=None):
        self.program, self.certificates = program, certificates
        self.output = os.path.join(directory, "profiles.json")
        self.log = os.path.join(directory, "log")
        self.configs = [f"{DIRECTORY}/{part}.yaml" for part in ("config", *parts)]
        self.is_tls = "tls" in parts
        self.http_port, self.grpc_port = ports or free_ports()
        self.process = None

    def environment(self):
        return dict(os.environ, COLLECTOR_ADDRESS=f"{HOST}:{self.http_port}",
                    COLLECTOR_GRPC_ADDRESS=f"{HOST}:{self.grpc_port}", COLLECTOR_FILE=self.output,
                    COLLECTOR_CERTIFICATES=self.certificates, COLLECTOR_NEXT=f"{HOST}:1")

    def __enter__(self):
        command = [self.program]
        for config in self.configs:
            command += ["--config", config]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, env=self.environment(), stderr=log)
        self.wait_for("Collector", lambda: all(map(is_listening, self.ports())))
        return self

    def ports(self):
        return [self.http_port, self.grpc_port] if len(self.configs) > 1 else [self.http_port]

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """It has written everything then."""
        self.process.terminate()
        self.process.wait()
        request_log.RequestLog("collector").add_collector_output(self.output)

    def port(self, protocol):
        return self.grpc_port if protocol == "grpc" else self.http_port

    def endpoint(self, protocol):
        return f"http{'s' if self.is_tls else ''}://{HOST}:{self.port(protocol)}"

    def wait_for(self, what, condition):
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            result = condition()
            if result:
                return result
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        with open(self.log, encoding="utf-8") as log:
            raise AssertionError(f"no {what}: exit status {self.process.poll()}, {log.read()}")

    def received(self):
        """The requests, to be asked for after stop(). Both of its files must say the same."""
        with open(self.output, encoding="utf-8") as file:
            of_json = list(collector_output.requests_of_json(file.read()))
        if len(self.configs) > 1:
            with open(self.output + ".pb", "rb") as file:
                assert list(collector_output.requests_of_protobuf(file.read())) == of_json
        return of_json
