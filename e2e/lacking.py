#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts that lack something: no types of the kernel, no BPF, no perf events, missing capabilities, a kernel as old as Linux 3.10.
`record` goes on with what is left and says so, or ends with status 1 and says why; `doctor` names what is missing.

    lacking.py path/to/flamelet path/to/old_kernel

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import concurrent.futures
import errno
import os
import re
import signal
import subprocess
import sys
import tempfile

E2E = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(E2E, "local"))

# pylint: disable=wrong-import-position
import host
import whole_stacks
from capabilities import mask, refuse_call, status_of, with_capabilities

SIX = ("BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE", "SYSLOG")
WITHOUT_BTF = ("unshare", "--mount", "--propagation", "private", "sh", "-c",
               'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh")
BPF, PERF, NONE = "bpf", "perf", "none"
CAPTURES = ("auto", BPF, PERF)
# Recordings that run at the same time: of one program, and most of the time they wait.
JOBS = 6


class Host:
    """How to start a command on this host, the backend that --capture=auto takes there, and a
    pattern of the reason it gives."""

    def __init__(self, name, taken, says, prefix=(), refused=None):
        self.name, self.taken, self.says, self.prefix = name, taken, says, list(prefix)
        self.refused = refused      # (system call, error)

    def options(self):
        if self.refused is None:
            return {}
        return {"preexec_fn": lambda: refuse_call(*self.refused)}

    def is_limited(self):
        """Whether it lacks CAP_IPC_LOCK: then what other recordings lock counts."""
        return "setpriv" in self.prefix

    def run(self, *command):
        """(exit status, all output)"""
        done = subprocess.run([*self.prefix, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=240, check=False, **self.options())
        return done.returncode, done.stdout


def hosts(old_kernel):
    def without(name):
        return with_capabilities(set(SIX) - {name})

    return (
        Host("that lacks nothing", BPF, r""),
        Host("with the six capabilities", BPF, r"", with_capabilities(SIX)),
        Host("without BTF", PERF, r"/sys/kernel/btf/vmlinux", WITHOUT_BTF),
        Host("that refuses bpf()", PERF, r"a seccomp filter blocks it", refused=("bpf", errno.EPERM)),
        Host("without bpf()", PERF, r"Function not implemented", refused=("bpf", errno.ENOSYS)),
        Host("without CAP_BPF", PERF, r"CAP_BPF|\[BPF\]", without("BPF")),
        Host("of Linux 3.10", PERF, r"Function not implemented", [old_kernel]),
        Host("of Linux 3.10 without BTF", PERF, r"/sys/kernel/btf/vmlinux|Function not implemented",
             [*WITHOUT_BTF, old_kernel]),
        Host("that refuses perf events", NONE, r"a seccomp filter blocks it",
             refused=("perf_event_open", errno.EPERM)),
        Host("without perf events", NONE, r"perf_event_open|perf events",
             refused=("perf_event_open", errno.ENOSYS)),
        Host("without CAP_PERFMON", NONE, r"CAP_PERFMON|\[PERFMON\]", without("PERFMON")),
    )


def works(where, capture):
    """Returns whether a recording works there with this --capture. With "auto", one backend is
    enough."""
    return where.taken != NONE and (capture != BPF or where.taken == BPF)


def told(output, pattern):
    return [] if re.search(pattern, output) else [f"{pattern!r} is not in {output!r}"]


def record(binary, where, capture, program, directory):
    """Whole stacks of a running program, and what was taken; or one line that says why not. On a busy machine the first stacks come
    before the tables."""
    path = f"{directory}/{where.name}, {capture}.folded"
    status, output = where.run(binary, "record", "--capture", capture, "-d", f"{4 * host.slowness():.1f}s", "-F", "199",
                             "-p", str(program.pid), "-o", path)
    if not works(where, capture):
        faults = told(output, where.says)
        if status != 1 or len(output.strip().splitlines()) != 1 or os.path.exists(path):
            faults.append(f"exit status {status}, not 1 and one line: {output!r}")
        return faults
    if status != 0:
        return [f"exit status {status}: {output!r}"]
    faults = whole_stacks.check(path, 0.9)
    os.unlink(path)
    is_perf = capture == PERF or where.taken == PERF
    if is_perf != bool(re.search(r"captured by +perf", output)):
        faults.append(f"what was taken is not told: {output!r}")
    if is_perf and capture != PERF:
        faults += told(output, where.says)
    return faults


def doctor(binary, where, capture):
    """The last finding is what `record` does; a missing feature rules out only the backends that need it."""
    status, output = where.run(binary, "doctor", "--capture", capture)
    wanted = 0 if works(where, capture) else 1
    faults = [] if status == wanted else [f"exit status {status}, not {wanted}: {output!r}"]
    path = re.search(r"^(ok|warn|fail) +capture backend +(\w+)", output, re.MULTILINE)
    taken = NONE if wanted else PERF if capture == PERF else where.taken
    if not path or path[2] != taken or (path[1] == "fail") != (taken == NONE):
        faults.append(f"the capture backend is not {taken}: {output!r}")
    if where.taken == PERF:
        faults += told(output, r"rules out the capture backend bpf\n +→ ")
    if where.taken == NONE:
        faults += told(output, r"rules out both capture backends\n +→ ")
    return faults


def check_capture(binary, where, capture, program, directory):
    found = record(binary, where, capture, program, directory) + doctor(binary, where, capture)
    print(f"a host {where.name}, {capture}: {'wrong' if found else 'ok'}", flush=True)
    return [f"a host {where.name}, {capture}: {fault}" for fault in found]


def check_hosts(binary, places, directory):
    """All record the same program."""
    program = host.Process(whole_stacks.NAME, [whole_stacks.compile_frameless(directory), "600"],
                           f"{directory}/program.log")
    alone = [where for where in places if where.is_limited()]
    try:
        host.wait_until_busy(program.pid)
        faults = [fault for where in alone for capture in CAPTURES
                  for fault in check_capture(binary, where, capture, program, directory)]
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            checks = [pool.submit(check_capture, binary, where, capture, program, directory)
                      for where in places if where not in alone for capture in CAPTURES]
            return faults + [fault for check in checks for fault in check.result()]
    finally:
        program.finish(first=signal.SIGKILL)


def commands(binary, where, directory):
    """A command with children: all of them are in the profile."""
    script = "i=0; while [ $i -lt 3 ]; do \"$0\" 1 & i=$((i+1)); done; wait"
    program = whole_stacks.compile_frameless(directory)
    status, output = where.run(binary, "record", "-q", "-o", f"{directory}/b.folded", "--", "sh", "-c", script, program)
    if status != 0:
        return [f"commands on a host {where.name}: exit status {status}: {output!r}"]
    return [f"commands on a host {where.name}: {fault}"
            for fault in whole_stacks.check(f"{directory}/b.folded", 0.9)]


def check(binary, old_kernel):
    host.require("gcc", "setpriv", "unshare")
    if status_of("/proc/self")["CapBnd"] & mask(SIX) != mask(SIX):
        raise host.Skip("root here lacks capabilities")
    host.adopt_orphans()
    faults = []
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory:
        os.chmod(directory, 0o755)
        places = hosts(old_kernel)
        faults += check_hosts(binary, places, directory)
        faults += [fault for where in places if where.name in ("without BTF", "of Linux 3.10")
                   for fault in commands(binary, where, directory)]
    return faults


def main():
    return host.judge(check, *(os.path.abspath(argument) for argument in sys.argv[1:]))


if __name__ == "__main__":
    sys.exit(main())
