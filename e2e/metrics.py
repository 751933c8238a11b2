#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a running agent tells about itself over HTTP: is it alive, is it ready, and would Prometheus's own linter let its
metrics pass?

    metrics.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import http.client
import http.server
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading

E2E = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(E2E, "local"))

# pylint: disable=wrong-import-position
import host

BUILD = os.path.join(E2E, "promtool/build.sh")
BUILD_SECONDS = 850
NO_PODS = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}'
# No help, and a counter whose name does not say so.
BAD_METRICS = "# TYPE requests counter\nrequests 1\n"
LINT_FINDINGS = 3


class Connection(http.client.HTTPConnection):
    """HTTP to a Unix socket."""

    def __init__(self, path):
        super().__init__("flamelet", timeout=5)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Kubelet(http.server.BaseHTTPRequestHandler):
    """A kubelet without pods, which answers when it is allowed to."""

    may_answer = threading.Event()

    def do_GET(self):  # pylint: disable=invalid-name
        self.may_answer.wait(9)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(NO_PODS)))
        self.end_headers()
        self.wfile.write(NO_PODS)

    def log_message(self, *_args):  # pylint: disable=arguments-differ
        pass


def get(path, page):
    connection = Connection(path)
    try:
        connection.request("GET", page)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def lint(promtool, metrics):
    done = subprocess.run([promtool, "check", "metrics"], input=metrics, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=20, check=False)
    return done.returncode, done.stdout


def value(metrics, series):
    for line in metrics.splitlines():
        if line.startswith(series + " "):
            return float(line.rsplit(" ", 1)[1])
    raise host.Failure(f"{series} is not in the metrics")


def find_promtool():
    done = subprocess.run([BUILD], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=BUILD_SECONDS, check=False)
    if done.returncode == host.SKIP:
        raise host.Skip(done.stderr.strip().removeprefix("SKIP: "))
    if done.returncode != 0:
        raise host.Failure(f"{BUILD}: exit {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout.split()[-1]


def start_kubelet():
    """Returns its port."""
    kubelet = http.server.HTTPServer(("127.0.0.1", 0), Kubelet)
    threading.Thread(target=kubelet.serve_forever, daemon=True).start()
    return kubelet.server_port


def check_readiness(path):
    """Alive at once; ready when the kubelet has answered, and not before."""
    host.wait_until("the agent samples", lambda: get(path, "/readyz")[1] != "starting\n")
    faults = []
    if (answer := get(path, "/readyz"))[0] != 503 or "kubelet" not in answer[1]:
        faults.append(f"without a kubelet it is ready: {answer}")
    if (answer := get(path, "/healthz")) != (200, "ok\n"):
        faults.append(f"without a kubelet it is not alive: {answer}")
    Kubelet.may_answer.set()
    host.wait_until("the agent is ready", lambda: get(path, "/readyz") == (200, "ok\n"))
    return faults


def check_metrics(promtool, path):
    host.wait_until("there are samples",
                    lambda: value(get(path, "/metrics")[1], "flamelet_samples_total") > 0)
    metrics = get(path, "/metrics")[1]
    faults = [f"{series} is 0" for series in
              ("flamelet_kubelet_refreshes_total", "process_resident_memory_bytes",
               "process_cpu_seconds_total", "flamelet_kubelet_last_success_timestamp_seconds")
              if value(metrics, series) == 0]
    if (verdict := lint(promtool, metrics)) != (0, ""):
        faults.append(f"promtool check metrics: exit {verdict[0]}: {verdict[1]}")
    if (verdict := lint(promtool, BAD_METRICS))[0] != LINT_FINDINGS:
        faults.append(f"promtool finds nothing wrong with {BAD_METRICS!r}: {verdict}")
    return faults


def check_agent(binary, promtool, directory):
    path = f"{directory}/http.sock"
    port = start_kubelet()
    agent = host.Process("agent", [binary, "agent", "--otlp-endpoint", "http://127.0.0.1:1",
                                   "--kubelet-url", f"http://127.0.0.1:{port}",
                                   "--listen", f"unix:{path}"], f"{directory}/log")
    try:
        host.wait_until("the agent listens", lambda: os.path.exists(path) or not agent.is_alive())
        if not agent.is_alive():
            raise host.Failure("the agent ended: " + agent.log())
        faults = check_readiness(path) + check_metrics(promtool, path)
        if (mode := stat.S_IMODE(os.stat(path).st_mode)) != 0o600:
            faults.append(f"the socket has mode {mode:o}")
    finally:
        status = agent.finish(first=signal.SIGTERM)
    if status != 0:
        faults.append(f"the agent ended with status {status}: {agent.log()[-2000:]}")
    if os.path.exists(path):
        faults.append("the socket is still there")
    return faults


def check(binary):
    promtool = find_promtool()
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory:
        return check_agent(binary, promtool, directory)


def main():
    return host.judge(check, os.path.abspath(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
