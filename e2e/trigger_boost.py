#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet agent --trigger-boost: a program that uses the CPU for some seconds after a quiet time is pinned with the half
minute before it. After the firing, samples are taken more often for half a minute, and never else. Samples of both
frequencies add up to the CPU time that the kernel counts for a program that is always busy.

    trigger_boost.py path/to/flamelet bpf|perf

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import json
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "local")]

# pylint: disable=wrong-import-position
import host
import triggers

HZ, BOOST_HZ = 99, 495
SHORT_NS = 10**9 // HZ // (BOOST_HZ // HZ)
USUAL_NS = BOOST_HZ // HZ * SHORT_NS
BOOST_SECONDS = 30
AROUND = 30
BUSY = "boost-busy"
BUSY_CODE = "int main(void) { for (volatile unsigned long i = 0;; i++) ; }"
AFTER_SECONDS = 5


def wait_for_second():
    """Returns the whole second that begins now."""
    time.sleep(1 - time.time() % 1)
    return round(time.time())


class Busy:
    """A program that never waits, and its CPU time."""

    def __init__(self, directory):
        path = os.path.join(directory, BUSY)
        host.run("gcc", "-O1", "-x", "c", "-", "-o", path, input=BUSY_CODE)
        self.process = subprocess.Popen([path])  # pylint: disable=consider-using-with

    def cpu_ns(self):
        with open(f"/proc/{self.process.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0])

    def stop(self):
        self.process.kill()
        self.process.wait()


def samples_of(scene, first, end, *options):
    """The profile of a range as JSON."""
    path = os.path.join(scene.directory, "range.json")
    scene.ask("query", f"{first}..{end}", "-q", "-o", path, *options)
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_told(scene, event):
    told = [body for _path, _type, body in triggers.Server.told]
    if len(told) != 1 or told[0]["boost_hz"] != BOOST_HZ or told[0]["event"] != event["id"]:
        return [f"the server was told {told}"]
    first, end = told[0]["boost_first"], told[0]["boost_end"]
    clock = [time.strftime("%H:%M:%S", time.gmtime(when)) for when in (first, end)]
    faults = [] if end == first + BOOST_SECONDS else [f"the boost is from {first} to {end}"]
    if f"sampled at {BOOST_HZ} Hz from {clock[0]} to {clock[1]} UTC" not in event["text"]:
        faults.append(f"the event is {event}, and the boost from {clock}")
    if scene.metric("flamelet_trigger_boosts_total", "result") != {"begun": "1", "refused": "0"}:
        faults.append("the metric does not tell of one boost")
    return faults


def check_pin(scene, begin):
    pins = scene.listed("pins")
    if len(pins) != 1 or pins[0]["first"] > begin - AROUND + triggers.SURGE_SECONDS or pins[0]["end"] < begin + AROUND:
        return [f"the program began at {begin}, pinned is {pins}"]
    return []


def check_periods(scene, begin, end):
    """A second in which the frequency changes has both."""
    boost = triggers.Server.told[0][2]
    parts = {"before": (begin, boost["boost_first"] - 1, USUAL_NS),
             "in": (boost["boost_first"] + 2, boost["boost_end"] - 1, SHORT_NS),
             "after": (boost["boost_end"] + 2, end, USUAL_NS),
             "around": (begin, end, SHORT_NS)}
    faults = []
    for name, (first, last, period) in parts.items():
        got = samples_of(scene, first, last)["period_ns"]
        if got != period:
            faults.append(f"{name} the boost, the period is {got} and not {period}")
    return faults


def check_sums(scene, begin, end, cpu_ns):
    """The error is that of so many samples of the usual frequency."""
    profile = samples_of(scene, begin, end, "-s", f'{{comm="{BUSY}"}}')
    timeline = json.loads(scene.ask("timeline", f"{begin}..{end}", "--by", "comm", "--step", "1s", "--json"))
    lines = [sum(line["values"]) for line in timeline["lines"] if line["name"] == BUSY]
    error, limit = profile["cpu_time_ns"] / cpu_ns - 1, 0.02 + 4 / math.sqrt(cpu_ns / USUAL_NS)
    print(f"the kernel counted {cpu_ns / 1e9:.3f} s of CPU time, samples {profile['cpu_time_ns'] / 1e9:.3f} s: "
          f"{error:+.2%} (limit {limit:.1%})")
    faults = [] if abs(error) <= limit else ["samples do not add up to the CPU time"]
    if [line * timeline["period_ns"] for line in lines] != [profile["cpu_time_ns"]]:
        faults.append(f"the seconds of the timeline are {lines} of {timeline['period_ns']} ns, the range {profile['total']} "
                      f"of {profile['period_ns']} ns")
    return faults


def observe(scene, busy):
    """Returns when the surge began, the range that was observed, and the CPU time of the busy program in it."""
    first, before = wait_for_second(), busy.cpu_ns()
    time.sleep(AROUND)
    begin = int(time.time())
    subprocess.run([scene.program], check=True)
    host.wait_until("the webhook has come", lambda: triggers.Server.told, triggers.WAIT_SECONDS, 0.3)
    time.sleep(max(0, triggers.Server.told[0][2]["boost_end"] + AFTER_SECONDS - time.time()))
    end, after = wait_for_second(), busy.cpu_ns()
    host.wait_until("the time around is pinned", lambda: scene.listed("pins"), triggers.WAIT_SECONDS, 0.3)
    return begin, first, end, after - before


def check(flamelet, backend, directory):
    scene, busy = triggers.Scene(flamelet, directory), Busy(directory)
    agent = scene.start("-F", str(HZ), "--trigger-boost", str(BOOST_HZ), "--trigger-around", f"{AROUND}s",
                        "--capture", backend)
    try:
        begin, first, end, cpu_ns = observe(scene, busy)
        events = [event for event in scene.listed("events") if event["kind"] == "trigger"]
        faults = check_told(scene, events[0]) if len(events) == 1 else [f"there are {len(events)} events: {events}"]
    finally:
        agent.stop()
        busy.stop()
    return faults + check_pin(scene, begin) + check_periods(scene, first, end) + check_sums(scene, first, end, cpu_ns)


def main(flamelet, backend):
    with tempfile.TemporaryDirectory(prefix="flamelet-boost-") as directory:
        return host.judge(check, flamelet, backend, directory)


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2]))
