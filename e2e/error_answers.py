#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent lives on whatever the network answers: while a kubelet tells it of pods, its destinations refuse all
profiles with JSON, in the manner of OTLP and of Pyroscope.

    error_answers.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import http.server
import json
import os
import shutil
import signal
import sys
import tempfile
import threading

E2E = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(E2E, "local"))

# pylint: disable=wrong-import-position
import host
import kubelet

SAYS = "the store is overloaded"
NODE = "any-node"


class Refusal(http.server.BaseHTTPRequestHandler):
    nr_answers = 0
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"code": "unavailable", "message": SAYS, "details": [1, {"a": None}]}).encode()
        self.send_response(503)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        type(self).nr_answers += 1

    def log_message(self, *_args):
        pass


def says_why(agent):
    return f"HTTP status 503: {SAYS}" in agent.log()


def run_agent(binary, directory, node, options):
    """Returns what is wrong."""
    Refusal.nr_answers = 0
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusal)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    command = [binary, "agent", "--otlp-endpoint", f"http://127.0.0.1:{server.server_address[1]}", "--export-interval",
               "1s", "--frequency", "99", *node.agent_options(), *options]
    agent = host.Process("agent", command, f"{directory}/agent.log")
    try:
        host.wait_until("the kubelet is asked", node.requests)
        host.wait_until("profiles are refused", lambda: Refusal.nr_answers > 1 or not agent.is_alive())
        host.wait_until("the log has the answer", lambda: says_why(agent) or not agent.is_alive())
    except host.Failure as failure:
        raise host.Failure(f"{failure}: {agent.log()[-1000:]}") from failure
    finally:
        status = agent.finish(20, signal.SIGTERM)
        server.shutdown()
        server.server_close()
    faults = [] if status == 0 else [f"exit status {status}: {agent.log()[-1000:]}"]
    if not says_why(agent):
        faults.append(f"the answer is not in the log: {agent.log()[-1000:]}")
    return faults


def check(binary):
    host.require("openssl")
    with tempfile.TemporaryDirectory() as directory:
        node = kubelet.Kubelet(f"{directory}/kubelet", NODE)
        shutil.copy(f"{kubelet.FIXTURES}/pods-1.36.json", node.pods_path)
        try:
            node.start()
            with host.busy_program():
                return [fault for options in ((), ("--exporter", "pyroscope"))
                        for fault in run_agent(binary, directory, node, options)]
        finally:
            node.stop()


def main():
    return host.judge(check, os.path.abspath(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
