#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet agent --trigger: a program that uses the CPU after a quiet time is noticed once. The time before and after it
is pinned, also when the file of the record is gone, and everybody is told: the log, a metric, and a server.

    triggers.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import glob
import http.client
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "local")]

# pylint: disable=wrong-import-position
import host

SURGE_SECONDS = 4
PROGRAM, FUNCTION = "trigger-surge", "burn_in_a_surge"
BURN = f"""
#include <time.h>
void {FUNCTION}(void) {{ for (volatile int i = 0; i < 1000000; i++) ; }}
int main(void) {{ time_t end = time(0) + {SURGE_SECONDS}; while (time(0) < end) {FUNCTION}(); return 0; }}
"""
# So that something is pinned of the time before, even if the machine is busy when the program begins.
AROUND = SURGE_SECONDS
# On a busy machine, a program gets a part of a CPU only.
RULE = f"process-cpu of {PROGRAM} > 5%"
WAIT_SECONDS = 120


class Server(http.server.BaseHTTPRequestHandler):
    """Is told of triggers."""

    told = []

    def do_POST(self):  # pylint: disable=invalid-name
        self.told.append((self.path, self.headers["Content-Type"],
                          json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_args):  # pylint: disable=arguments-differ
        pass


class Scene:
    def __init__(self, flamelet, directory):
        self.flamelet, self.directory = flamelet, directory
        self.store, self.program = os.path.join(directory, "record"), os.path.join(directory, PROGRAM)
        self.port = host.free_port()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        host.run("gcc", "-O1", "-x", "c", "-", "-o", self.program, input=BURN)

    def start(self, *options):
        agent = host.Process("agent", [self.flamelet, "agent", "--store", self.store, "--trigger", RULE,
                                       "--trigger-webhook", f"http://127.0.0.1:{self.server.server_port}/hook?key=1",
                                       "--metrics-listen", f"127.0.0.1:{self.port}", *options],
                             os.path.join(self.directory, "agent.log"))
        host.wait_until("the record has samples", lambda: self.files() or not agent.is_alive(), WAIT_SECONDS)
        return agent

    def ask(self, *arguments):
        return subprocess.run([self.flamelet, *arguments, "--store", self.store], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=WAIT_SECONDS, check=False).stdout

    def listed(self, what):
        text = self.ask("ls", "--json")
        return json.loads(text)[what] if text else []

    def files(self):
        return [file for file in self.listed("files") if file["samples"] > 0]

    def stacks(self, range_):
        """{folded stack of the program: count}"""
        lines = self.ask("query", range_, "-s", f'{{comm="{PROGRAM}"}}', "-o", "-").splitlines()
        return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}

    def metric(self, name, label):
        """{value of the label: value of the metric}"""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return dict(re.findall(name + r'\{' + label + r'="([^"]*)"\} (\d+)', text))


def surge(scene):
    """Returns when the program began."""
    time.sleep(AROUND + 1)      # the quiet time
    begin = int(time.time())
    subprocess.run([scene.program], check=True)
    return begin


def check_event(scene, begin):
    events = [event for event in scene.listed("events") if event["kind"] == "trigger"]
    if len(events) != 1:
        return [f"there are {len(events)} events: {events}"]
    faults = [] if events[0]["subject"] == f"process {PROGRAM}" else [f"the event does not name it: {events[0]}"]
    if not begin <= events[0]["first"] < begin + SURGE_SECONDS or RULE not in events[0]["text"]:
        faults.append(f"the program began at {begin}, the event is {events[0]}")
    return faults


def check_pin(scene, begin):
    """The copy has to do: the files of the record are removed."""
    pins = scene.listed("pins")
    for path in glob.glob(f"{scene.store}/*.db*"):
        os.unlink(path)
    if len(pins) != 1:
        return [f"there are {len(pins)} pins: {pins}"]
    pin = pins[0]
    faults = [] if RULE in pin["note"] and pin["automatic"] else [f"a wrong pin: {pin}"]
    if pin["first"] >= begin or pin["end"] <= begin + 1 + AROUND:
        faults.append(f"the program began at {begin}, pinned is {pin}")
    during = scene.stacks(f"{pin['first']}..{pin['end']}")
    before = scene.stacks(f"{pin['first']}..{begin}")
    if not any(FUNCTION in stack for stack in during) or before:
        faults.append(f"pinned are {during} and, before the program began, {before}")
    if scene.ask("query", f"{pin['first']}..{begin}", "-o", "-") == "":
        faults.append("nothing is pinned of the time before")
    return faults


def check_told(events):
    if len(Server.told) != 1 or len(events) != 1:
        return [f"the server was told {Server.told}"]
    path, content_type, body = Server.told[0]
    wanted = {"rule": RULE, "subject": f"process {PROGRAM}", "event": events[0]["id"], "first": events[0]["first"]}
    got = {key: body[key] for key in wanted}
    if path != "/hook?key=1" or content_type != "application/json" or got != wanted or RULE not in body["text"]:
        return [f"the server was told {Server.told}"]
    return []


def check(flamelet, directory):
    scene = Scene(flamelet, directory)
    agent = scene.start("-F", "99", "--trigger", "pod-cpu of no/pod > 1%", "--trigger-around", f"{AROUND}s")
    try:
        begin = surge(scene)
        host.wait_until("the time around is pinned", lambda: scene.listed("pins"), WAIT_SECONDS, 0.3)
        fired = scene.metric("flamelet_trigger_firings_total", "rule")
    finally:
        agent.stop()
    events = [event for event in scene.listed("events") if event["kind"] == "trigger"]
    faults = check_event(scene, begin) + check_told(events) + check_pin(scene, begin)
    if fired != {RULE: "1", "pod-cpu of no/pod > 1%": "0"}:
        faults.append(f"the metric is {fired}")
    lines = [line for line in agent.log().splitlines() if f"Trigger {RULE}: process {PROGRAM} had" in line]
    if len(lines) != 1:
        faults.append(f"the log has {len(lines)} lines about it: {agent.log()}")
    return faults


def main(flamelet):
    if os.geteuid() != 0:
        print("SKIP: the agent needs root")
        return host.SKIP
    with tempfile.TemporaryDirectory(prefix="flamelet-triggers-") as directory:
        faults = check(flamelet, directory)
    for fault in faults:
        print(f"FAIL: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
