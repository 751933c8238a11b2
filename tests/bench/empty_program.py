# SPDX-License-Identifier: Apache-2.0
"""A BPF program that does nothing at each sample: what is measured of it is the measuring."""

import ctypes
import os
import platform
import struct
import time

import measure

NR_BPF = {"x86_64": 321, "aarch64": 280}
NR_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
BPF_PROG_LOAD, TYPE_PERF_EVENT = 5, 7
PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK = 1, 0
PERF_EVENT_IOC_SET_BPF, PERF_EVENT_IOC_ENABLE = 0x40042408, 0x2400
ATTR_BYTES, IS_FREQUENCY = 128, 1 << 10
# r0 = 0; exit
PROGRAM = bytes.fromhex("b700000000000000" "9500000000000000")

libc = ctypes.CDLL(None, use_errno=True)


def call(numbers, *arguments):
    result = libc.syscall(numbers[platform.machine()], *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "cannot load or attach an empty BPF program")
    return result


def load_program():
    code, license_text = ctypes.create_string_buffer(PROGRAM), ctypes.create_string_buffer(b"GPL")
    attributes = struct.pack("=IIQQ", TYPE_PERF_EVENT, len(PROGRAM) // 8, ctypes.addressof(code),
                             ctypes.addressof(license_text)).ljust(ATTR_BYTES, b"\0")
    return call(NR_BPF, BPF_PROG_LOAD, attributes, ATTR_BYTES)


def attach(program, cpu, hz):
    attributes = struct.pack("=IIQQQQQ", PERF_TYPE_SOFTWARE, ATTR_BYTES, PERF_COUNT_SW_CPU_CLOCK, hz, 0, 0,
                             IS_FREQUENCY).ljust(ATTR_BYTES, b"\0")
    event = call(NR_PERF_EVENT_OPEN, attributes, -1, cpu, -1, 0)
    for request, argument in ((PERF_EVENT_IOC_SET_BPF, program), (PERF_EVENT_IOC_ENABLE, 0)):
        if libc.ioctl(event, ctypes.c_ulong(request), argument) < 0:
            raise OSError(ctypes.get_errno(), "cannot attach an empty BPF program")
    return event


def measure_ns(hz, seconds):
    """Of a sample; BPF statistics are on."""
    program = load_program()
    files = [program] + [attach(program, cpu, hz) for cpu in range(os.cpu_count())]
    try:
        time.sleep(seconds)
        ns, runs = measure.sampler_stats(os.getpid())
    finally:
        for file in files:
            os.close(file)
    return ns / runs
