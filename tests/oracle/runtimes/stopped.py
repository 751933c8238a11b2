# SPDX-License-Identifier: Apache-2.0
"""The stacks of a stopped process with a language runtime, as the kernel side's unwinder, compiled for the host, finds them
(runtime_stacks.c)."""

import contextlib
import glob
import os
import signal
import subprocess
from dataclasses import dataclass, field

import host


@dataclass(frozen=True)
class Line:
    """A function in a frame."""
    name: str
    file: str
    line: int
    start_line: int = 0


@dataclass
class Frame:
    """Of the runtime. Several lines: functions that were inlined there, innermost first; none: it has no name."""
    kind: int = 0       # enum runtime_frame
    address: int = 0    # of V8's compiled code
    lines: list = field(default_factory=list)
    mark: str = ""      # no frame, but a name for those that are missing here, such as "continuation"


@dataclass
class Stack:
    tid: int = 0
    thread: int = 0     # its thread pointer
    result: int = -1    # enum unwind_result; 0: up to the root
    ip: int = 0
    fp: int = 0
    frames: list = field(default_factory=list)  # innermost first


class Unwinder:
    """runtime_stacks at work. It makes the tables of a process once."""

    def __init__(self, program, kind, pid):
        self.process = subprocess.Popen([program, kind, str(pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def stacks(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        found = []
        while fields := self.process.stdout.readline().rstrip("\n").split("\t"):
            if fields == [""]:
                break
            if fields[0] == "thread":
                found.append(Stack(*map(int, fields[1:])))
            elif fields[0] == "frame":
                found[-1].frames.append(Frame(*map(int, fields[1:])))
            elif fields[0] == "mark":
                found[-1].frames.append(Frame(mark=fields[1]))
            else:
                found[-1].frames[-1].lines.append(Line(fields[2], fields[3], int(fields[0]), int(fields[1])))
        if self.process.poll() is not None:
            raise host.Failure(f"runtime_stacks: exit {self.process.returncode}")
        return found

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def is_stopped(pid):
    """All threads are."""
    try:
        return all(host.read_text(path).rpartition(")")[2].split()[0] in "Tt" for path in
                   glob.glob(f"/proc/{pid}/task/*/stat"))
    except OSError:
        return False


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        host.wait_until("the process is stopped", lambda: is_stopped(pid), pause=0.001)
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
