# SPDX-License-Identifier: Apache-2.0
"""Measures what a soft interrupt costs more while time in interrupts is counted. A thread sends packets to itself, each of
which makes one. The baselines are the same thread without an agent, and beside one that records CPU time only, in turns of
the same run."""

import resource
import socket
import time

import loads

HZ = 19
TURNS = 5
ROUNDS, PACKETS = 20, 20000
WARM_UP_S = 3
KINDS = (None, "cpu", "cpu,irq")


def cpu_ns():
    usage = resource.getrusage(resource.RUSAGE_THREAD)
    return (usage.ru_utime + usage.ru_stime) * 1e9


def round_ns(send, packet):
    begin = cpu_ns()
    for _ in range(PACKETS):
        send(packet)
    return (cpu_ns() - begin) / PACKETS


def packet_ns():
    """The shortest round: the receiver's buffer is full all the time."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        sender.connect(receiver.getsockname())
        return min(round_ns(sender.send, b"packet") for _ in range(ROUNDS))


def measure_turn(flamelet, kind):
    if kind is None:
        return packet_ns()
    agent = loads.start_agent(flamelet, HZ, loads.start_sink(), options=("--kind", kind))
    try:
        time.sleep(WARM_UP_S)
        return packet_ns()
    finally:
        loads.stop_agent(agent)


def print_softirqs(flamelet, _):
    turns = [[measure_turn(flamelet, kind) for kind in KINDS] for _ in range(TURNS)]
    alone, cpu, irq = (min(turn[i] for turn in turns) for i in range(len(KINDS)))
    print(f"\nA packet from a thread to itself, with one soft interrupt, ns of CPU time, the shortest of {TURNS * ROUNDS} runs "
          f"of {PACKETS}:")
    print(f"  --kind cpu,irq {irq:.0f}; baseline: --kind cpu {cpu:.0f}, without an agent {alone:.0f}", flush=True)
