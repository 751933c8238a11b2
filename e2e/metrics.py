#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what a running agent reports over HTTP and by `flamelet health`: is it alive, is it ready,
and would Prometheus's own linter let its metrics pass?

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
import time
import urllib.error
import urllib.request

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
HEALTH_SECONDS = 3
BUSY_SECONDS = 10       # that starting `flamelet health` may take on a busy machine


class Connection(http.client.HTTPConnection):
    """HTTP to a Unix socket."""

    def __init__(self, path):
        super().__init__("flamelet", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Kubelet(http.server.BaseHTTPRequestHandler):
    """A kubelet without pods, which answers when it is allowed to."""

    may_answer = threading.Event()

    def do_GET(self):  # pylint: disable=invalid-name
        self.may_answer.wait(60)
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
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
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


def health(binary, *args):
    """Exit status and output of flamelet health."""
    done = subprocess.run([binary, "health", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return done.returncode, done.stdout


def check_probes(binary, directory, path):
    """With an agent that is alive, but not ready."""
    config = f"{directory}/agent.yaml"
    with open(config, "w", encoding="ascii") as file:
        file.write(f"listen: unix:{path}\nfrequency: 19\notlp-endpoint: http://127.0.0.1:1\n")
    listen = ("--listen", f"unix:{path}")
    cases = [(listen, 0, "ok\n"), (("-c", config), 0, "ok\n"),
             (("--ready", *listen), 1, "kubelet"), (("--ready", "-c", config), 1, "kubelet"),
             ((), 2, "--listen"), (("--listen", "10.0.0.1:80"), 2, "127.0.0.1:PORT"),
             (("-c", f"{directory}/none"), 2, "none"),
             (("--listen", f"unix:{directory}/none"), 1, "No such file"),
             (("--listen", f"127.0.0.1:{host.free_port()}"), 1, "refused")]
    faults = []
    for args, status, text in cases:
        if (answer := health(binary, *args))[0] != status or text not in answer[1]:
            faults.append(f"flamelet health {args}: {answer}")
    return faults


def check_probe_of_stopped_agent(binary, agent, path):
    """It neither hangs nor calls an agent alive that does not answer."""
    os.kill(agent.pid, signal.SIGSTOP)
    start = time.monotonic()
    try:
        answer = health(binary, "--listen", f"unix:{path}")
    finally:
        os.kill(agent.pid, signal.SIGCONT)
    seconds = time.monotonic() - start
    if answer[0] != 1 or "timed out" not in answer[1] or seconds > HEALTH_SECONDS + BUSY_SECONDS:
        return [f"flamelet health of a stopped agent: {answer} after {seconds:.1f} s"]
    return []


def get_from_others(address, page):
    try:
        with urllib.request.urlopen(f"http://{address}{page}", timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def check_metrics_for_others(binary, path, port):
    """The port serves metrics and nothing else, and clients that hang there delay no others."""
    addresses = [f"127.0.0.1:{port}"] + ([f"[::1]:{port}"] if socket.has_dualstack_ipv6() else [])
    clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
    faults = []
    for address in addresses:
        if value(get_from_others(address, "/metrics")[1], "flamelet_kubelet_refreshes_total") == 0:
            faults.append(f"{address} has no metrics")
        for page in ("/", "/healthz", "/readyz"):
            if (answer := get_from_others(address, page))[0] != 404:
                faults.append(f"{address}{page}: {answer}")
    if (answer := health(binary, "--ready", "--listen", f"unix:{path}")) != (0, "ok\n"):
        faults.append(f"flamelet health beside clients that hang: {answer}")
    for client in clients:
        client.close()
    return faults


def check_readiness(binary, directory, path):
    """Alive at once; ready when the kubelet has answered, and not before."""
    host.wait_until("the agent samples", lambda: get(path, "/readyz")[1] != "starting\n")
    faults = []
    if (answer := get(path, "/readyz"))[0] != 503 or "kubelet" not in answer[1]:
        faults.append(f"without a kubelet it is ready: {answer}")
    if (answer := get(path, "/healthz")) != (200, "ok\n"):
        faults.append(f"without a kubelet it is not alive: {answer}")
    faults += check_probes(binary, directory, path)
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
    port = host.free_port()
    agent = host.Process("agent", [binary, "agent", "--otlp-endpoint", "http://127.0.0.1:1",
                                   "--kubelet-url", f"http://127.0.0.1:{start_kubelet()}",
                                   "--listen", f"unix:{path}",
                                   "--metrics-listen", f"*:{port}"], f"{directory}/log")
    try:
        host.wait_until("the agent listens", lambda: os.path.exists(path) or not agent.is_alive())
        if not agent.is_alive():
            raise host.Failure("the agent ended: " + agent.log())
        faults = check_readiness(binary, directory, path) + check_metrics(promtool, path)
        faults += check_metrics_for_others(binary, path, port)
        faults += check_probe_of_stopped_agent(binary, agent, path)
        if (mode := stat.S_IMODE(os.stat(path).st_mode)) != 0o600:
            faults.append(f"the socket has mode {mode:o}")
    finally:
        status = agent.finish(25)
    if status != 0:
        faults.append(f"the agent ended with status {status}: {agent.log()[-2000:]}")
    if os.path.exists(path):
        faults.append("the socket is still there")
    return faults


def check(binary):
    promtool = find_promtool()
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory, host.busy_program():
        return check_agent(binary, promtool, directory)


def main():
    return host.judge(check, os.path.abspath(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
