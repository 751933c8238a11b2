# SPDX-License-Identifier: Apache-2.0
"""Cases of language runtimes: programs that claim to be one, and real ones whose memory lies, hangs or goes away."""

import os
import re
import signal
import threading
import time

import host
from stage import HOSTILE_UID
from trial import Case

CANNOT_RUN = 77
SPARSE = 4 << 30
STATE_BYTES = 512 << 10     # as in forged_runtime.c
KINDS = ("PYTHON", "JAVA", "V8")
# Of root, because the kernel lets users hold pages for themselves only.
OF_ROOT = ("hold_names",)
LIES = ("hold_names", "huge_names", "rewrite_code", "rewrite_lengths", "cycle_of_frames", "cycle_of_threads",
        "many_functions", "exec_again", "fork_again")
STOPPED_S, RUNNING_S = 0.3, 0.03


def build(stage, kind):
    """A file of its own for each stage: the agent has not seen it."""
    path = f"{stage.directory}/forged-{kind.lower()}"
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forged_runtime.c")
    host.run("gcc", "-O1", "-rdynamic", f"-D{kind}", source, "-o", path, "-lpthread")
    return path


def start(stage, name, command, uid):
    process = stage.start(name, command, stage.hostile, uid)
    time.sleep(0.2)
    if not process.is_alive() and process.child.returncode == CANNOT_RUN:
        raise host.Skip(f"{name}: not possible here")
    return process


def forge(kinds, mode):
    def attack(stage):
        for kind in kinds:
            path = build(stage, kind)
            start(stage, os.path.basename(path), [path, mode], 0 if mode == "hold" else HOSTILE_UID)
        return [f"forged-{kind.lower()}"[:15] for kind in kinds]
    return attack


def lie(kind):
    def attack(stage):
        process = stage.run_script("lying_python.py", kind, uid=0 if kind in OF_ROOT else HOSTILE_UID)
        time.sleep(0.2)
        if not process.is_alive():
            raise host.Skip(f"{kind} is not possible here") if process.child.returncode == CANNOT_RUN else \
                host.Failure(f"{kind} ended: {process.log()[-300:]}")
        return ["python3"]
    return attack


def sparse(stage):
    """An interpreter that has 4 GB, nearly all of it holes."""
    path = build(stage, "PYTHON")
    os.truncate(path, SPARSE)
    start(stage, "forged-python", [path, "cycles"], HOSTILE_UID)
    return ["forged-python"]


def stop_and_go(pid, is_over):
    while not is_over.wait(STOPPED_S):
        try:
            os.kill(pid, signal.SIGCONT)
            time.sleep(RUNNING_S)
            os.kill(pid, signal.SIGSTOP)
        except ProcessLookupError:
            return


def frozen(stage):
    """It is stopped nearly all the time, so also while its frames are read."""
    process = stage.run_script("lying_python.py", "many_functions")
    is_over = threading.Event()
    thread = threading.Thread(target=stop_and_go, args=(process.pid, is_over), daemon=True)
    thread.start()
    stage.stack.callback(thread.join)
    stage.stack.callback(is_over.set)
    return ["python3"]


def kill_again(stage):
    """Processes that are killed at any moment of their lives."""
    script = ('while :; do /usr/bin/python3 -S "$1" many_functions & p=$!; /usr/bin/python3 -S -c "import time; '
              'time.sleep(0.0$((RANDOM % 10)))"; kill -9 $p; wait $p; done')
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lying_python.py")
    stage.start("killer", ["/bin/bash", "-c", script, "bash", path], stage.hostile, HOSTILE_UID)
    return ["python3"]


def hang(mount_fuse):
    """A runtime whose state is in a file of a file system that does not answer."""
    def attack(stage):
        content, program = f"{stage.directory}/content", build(stage, "PYTHON")
        with open(content, "wb") as file:
            file.truncate(STATE_BYTES)
        start(stage, "forged-python", [program, f"{mount_fuse(stage, content, 'hang')}/file"], 0)
        return ["forged-python"]
    return attack


def worker_was_late(_stage, log):
    """Pages that are held must have cost a worker its time, and be counted."""
    return [] if re.search(r"runtime_worker_timeouts=[1-9]", log) else ["no late worker is counted"]


def runtime_cases(mount_fuse):
    cases = [Case(f"forged: {mode}", forge(KINDS, mode)) for mode in ("cycles", "rewrite", "hold")]
    cases.append(Case("forged: 2000 processes", forge(("PYTHON",), "many"), seconds=25))
    cases.append(Case("forged: a sparse file of 4 GB", sparse))
    cases.append(Case("forged: its memory is on FUSE and hangs", hang(mount_fuse), seconds=20, check=worker_was_late))
    cases += [Case(f"Python: {kind.replace('_', ' ')}", lie(kind)) for kind in LIES]
    cases += [Case("Python: stopped while it is read", frozen), Case("Python: killed at any moment", kill_again)]
    for case in cases:
        case.group, case.has_python = "runtimes", True
        case.is_short = case.check is not None
    return cases
