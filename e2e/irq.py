#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet record --kind irq, and an agent with --kind cpu,irq, beside a program that sends packets to itself: the kernel
receives them in soft interrupts on the same CPU. What the kernel counted must be what samples of CPU time find there, and
these samples must be no process's but the interrupts'.

    irq.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import http.server
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0:0] = [os.path.join(HERE, "local"), os.path.join(HERE, "../tests/conformance")]

# pylint: disable=wrong-import-position
import host
import kinds
from kinds import Destination
import otlp_check
import schema

SECONDS = 4
HERTZ = 499
TOLERANCE = 0.1
DEVIATIONS = 4  # of the number of samples
# All receivers get each packet, so that most of the sender's time is in the soft interrupt.
SENDER = f"""
import socket, time
def open_socket(port):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("", port))
    return made
receivers = [open_socket(0)]
receivers += [open_socket(receivers[0].getsockname()[1]) for _ in range(100)]
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
sender.connect(("127.255.255.255", receivers[0].getsockname()[1]))
end = time.monotonic() + {SECONDS}
while time.monotonic() < end:
    sender.send(b"packet")
"""
COMM = "irq-sender"
NET_RX = "[softirq NET_RX]"
RECEIVING = "net_rx_action"
CALLERS = ("handle_softirqs", "__do_softirq", "__softirqentry_text_start")


def start(arguments, word, **options):
    """Starts a program and waits until it says that it has begun."""
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, **options)  # pylint: disable=consider-using-with
    while word not in (line := process.stderr.readline()):
        if not line:
            raise RuntimeError(f"{arguments} ended with status {process.wait()}")
    return process


def end(process, signal_number):
    """Ends it. (exit status, what it has written)"""
    process.send_signal(signal_number)
    output, errors = process.communicate()
    return process.returncode, f"{output or ''}{errors}"


def plain(frame):
    return frame.removesuffix("_[k]")


def read_folded(path):
    """[(frames, value)], of frames without the marks of their kinds."""
    return [([plain(frame) for frame in frames], value) for frames, value in kinds.read_folded(path)]


def total(stacks, wanted):
    return sum(value for frames, value in stacks if wanted(frames))


def is_in_softirq(frames):
    return any(caller in frames for caller in CALLERS)


def differ(counted, sampled):
    return abs(counted - sampled) > TOLERANCE * sampled + DEVIATIONS * math.sqrt(sampled / HERTZ)


def received():
    with open("/proc/softirqs", encoding="utf-8") as file:
        return sum(int(number) for line in file if "NET_RX:" in line for number in line.split()[1:])


def check_sums(directory, nr_received, summary):
    """A recording of the sender's CPU time, without interrupts, says how much of it was in them, by its stacks."""
    stacks = read_folded(os.path.join(directory, "irq.folded"))
    sampled = total(read_folded(os.path.join(directory, "cpu.folded")), lambda frames: RECEIVING in frames) / HERTZ
    counted = total(stacks, lambda frames: frames[1] == NET_RX) / 1e9
    below = total(stacks, lambda frames: frames[1] == NET_RX and RECEIVING in frames) / 1e9
    print(f"{nr_received} soft interrupts of NET_RX took {counted:.3f} s, of which {below:.3f} s have stacks; samples of CPU "
          f"time find {sampled:.3f} s")
    if nr_received < 1000 or sampled < 0.02 * SECONDS:
        yield f"the sender did not send enough: {nr_received} soft interrupts, {sampled:.3f} s"
    if differ(counted, sampled):
        yield f"{counted:.3f} s of {NET_RX} were counted, and samples find {sampled:.3f} s"
    if below < 0.5 * counted:
        yield f"only {below:.3f} s of {counted:.3f} s have stacks"
    if any(frames[0] != "[interrupts]" or is_in_softirq(frames) for frames, _ in stacks):
        yield f"there are others than interrupts, or frames of whom they interrupted: {stacks}"
    if total(stacks, lambda frames: frames[1].startswith("[hardirq ")) == 0:
        yield "no time of hard interrupts was counted"
    with open(os.path.join(directory, "irq.svg"), encoding="utf-8") as file:
        picture = file.read()
    for where, text, words in (("summary", summary, "interrupts took "), ("summary", summary, NET_RX),
                               ("flame graph", picture, "in interrupts"), ("flame graph", picture, NET_RX)):
        if words not in text:
            yield f"the {where} lacks {words}: {summary}"


def ask(flamelet, store, directory, kind):
    folded = os.path.join(directory, f"kept-{kind}.folded")
    subprocess.run([flamelet, "query", "all", "--store", store, "--kind", kind, "-g", "process", "-q", "-o", folded],
                   check=True)
    return read_folded(folded)


def check_sent():
    """What is wrong with the requests."""
    types = set()
    for body in Destination.bodies:
        yield from otlp_check.report_lines(otlp_check.check(body))
        request = schema.otlp().ExportProfilesServiceRequest.FromString(body)
        strings = request.dictionary.string_table
        types |= {strings[profile.sample_type.type_strindex] for of_resource in request.resource_profiles
                  for of_scope in of_resource.scope_profiles for profile in of_scope.profiles}
    if not {"samples", "irq"} <= types:
        yield f"the agent has sent profiles of {types}"


def check_agent(flamelet, directory, store):
    """Samples of CPU time in soft interrupts are not the sender's."""
    cpu, irq = (ask(flamelet, store, directory, kind) for kind in ("cpu", "irq"))
    charged = [frames for frames, _ in cpu if frames[0] != "[interrupts]" and is_in_softirq(frames)]
    if charged:
        yield f"interrupts are charged to others: {charged}"
    sampled = total(cpu, lambda frames: frames[0] == "[interrupts]" and NET_RX in frames) / HERTZ
    counted = total(irq, lambda frames: frames[0] == "[interrupts]" and NET_RX in frames) / 1e9
    print(f"an agent: {sampled:.3f} s of CPU time by samples in {NET_RX}, {counted:.3f} s counted")
    if differ(counted, sampled):
        yield f"an agent counted {counted:.3f} s of {NET_RX}, and samples find {sampled:.3f} s"
    if total(cpu, lambda frames: "python" in frames[0]) == 0:
        yield "the sender has no CPU time of its own"
    yield from check_sent()


def check(flamelet, directory):
    """All of it at once: what is recorded begins before the sender and ends behind it."""
    store, program = os.path.join(directory, "store"), os.path.join(directory, COMM)
    os.symlink(sys.executable, program)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Destination)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    agent = start([flamelet, "agent", "--kind", "cpu,irq", "-F", str(HERTZ), "--store", store, "--otlp-compression", "none",
                   "--otlp-endpoint", f"http://127.0.0.1:{server.server_port}"], "sampling at")
    record = [flamelet, "record", "-F", str(HERTZ), "-d", "0"]
    of_cpu = start([*record, "--comm", COMM, "-o", "cpu.folded"], "profiling", cwd=directory, stdout=subprocess.PIPE)
    of_irq = start([*record, "--kind", "irq", "-o", "irq.folded", "-o", "irq.svg"], "profiling", cwd=directory,
                   stdout=subprocess.PIPE)
    before = received()
    subprocess.run([program, "-c", SENDER], check=True)
    nr_received = received() - before
    ends = {name: end(process, signal_number) for name, process, signal_number in
            (("cpu", of_cpu, signal.SIGINT), ("irq", of_irq, signal.SIGINT), ("agent", agent, signal.SIGTERM))}
    failed = [f"{name}: exit status {status}: {text}" for name, (status, text) in ends.items() if status != 0]
    if failed:
        yield from failed
        return
    yield from check_sums(directory, nr_received, ends["irq"][1])
    yield from check_agent(flamelet, directory, store)


def main(flamelet):
    if os.geteuid() != 0:
        print("SKIP: recording needs root")
        return host.SKIP
    schema.skip_unless_available()
    with tempfile.TemporaryDirectory(prefix="flamelet-irq-", dir=os.getcwd()) as directory:
        problems = [*check(flamelet, directory)]
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
