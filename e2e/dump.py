#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet dump on processes whose threads' places are known: sleeping, running, and one that nothing can stop; native
code and Python. The process must go on as if nothing had happened.

    dump.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host

# Of each thread: its state, and functions that are in its stack in this order, innermost first.
NATIVE = {
    "holder": ("sleeping", ["sleep", "hold_the_mutex", "start", "start_thread"]),
    "waiter": ("sleeping", ["pthread_mutex_lock", "wait_for_the_mutex", "start", "start_thread"]),
    "runner": ("running", ["run_for_ever", "start", "start_thread"]),
}
STUCK = "parent"
PYTHON = """
import threading, time

class Shop:
    def sell(self):
        time.sleep(1000)

def compute():
    n = 0
    while True:
        n += 1

def serve():
    Shop().sell()

for job in (serve, compute):
    threading.Thread(target=job, daemon=True).start()
lock = threading.Lock()
lock.acquire()

def wait_for_lock():
    print("ready", flush=True)
    lock.acquire()

wait_for_lock()
"""
PYTHON_CHAINS = (["sell", "serve"], ["compute"], ["wait_for_lock", "<module>", "_start"])


SLEEP = re.compile("nanosleep|futex|read|poll|wait|select")     # the call, which a stop may restart


def dump(flamelet, pid, *options):
    # It waits a few seconds for the tables, which its workers make.
    done = subprocess.run([flamelet, "dump", "-p", str(pid), *options],  # pylint: disable=subprocess-popen-preexec-fn
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
                          preexec_fn=host.come_first)
    if done.returncode != 0 or done.stderr:
        raise host.Failure(f"flamelet dump: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def functions(thread):
    return [frame["function"] for frame in thread["stack"]]


def has_chain(names, chain):
    """The functions are in the stack, in this order. Names may have a prefix: a class, or the C library's own."""
    rest = iter(names)
    return all(any(re.fullmatch(rf"(.*\W|_*)?{re.escape(wanted)}\w*", name) for name in rest) for wanted in chain)


def tracer_of(pid):
    return re.search(r"^TracerPid:\s*(\d+)", host.read_text(f"/proc/{pid}/status"), re.M).group(1)


def check_native_thread(threads, name, state, chain):
    thread = threads.get(name)
    if thread is None:
        return [f"{name}: not among {sorted(threads)}"]
    faults = [] if thread["state"] == state else [f"{name} is {thread['state']}, not {state}"]
    if not has_chain(functions(thread), chain):
        faults.append(f"{name}: {functions(thread)} has no {chain}")
    if state == "sleeping" and not thread["kernel"]:
        faults.append(f"{name}: nothing says where it sleeps in the kernel")
    elif state == "sleeping" and not any(SLEEP.search(function) for function in thread["kernel"]):
        faults.append(f"{name}: the kernel stack does not say in which call it sleeps: {thread['kernel']}")
    return faults


def check_stuck_thread(thread):
    if thread["state"] != "sleeping, uninterruptible":
        return [f"{STUCK} is {thread['state']}"]
    if thread["stopped"] or thread["stack"]:
        return [f"{STUCK} cannot have stopped, but has a stack: {functions(thread)}"]
    return [] if thread["kernel"] else [f"{STUCK} has no kernel stack"]


def check_native(flamelet, directory):
    program = f"{directory}/places"
    host.run("gcc", "-O1", "-g", "-pthread", f"{HERE}/dump.c", "-o", program)
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline().split()[1])
        try:
            host.wait_until_busy(process.pid)
            told = json.loads(dump(flamelet, process.pid, "--json"))
            threads = {thread["name"]: thread for thread in told["threads"]}
            faults = []
            for name, (state, chain) in NATIVE.items():
                faults += check_native_thread(threads, name, state, chain)
            faults += check_stuck_thread(threads[STUCK])
            faults += [] if tracer_of(process.pid) == "0" else ["the process is still traced"]
            before = host.cpu_seconds(process.pid)
            host.wait_until("the process goes on", lambda: host.cpu_seconds(process.pid) > before)
            os.kill(child, signal.SIGKILL) # a zombie after that, as its parent does not wait for it
            if process.stdout.readline() != "the child has ended\n":
                faults.append(f"{STUCK} did not go on")
            print(f"native: {len(threads)} threads, stopped for {told['stopped_us'] / 1000} ms")
            return faults
        finally:
            os.kill(child, signal.SIGKILL) # it has the standard output, too
            process.kill()


def check_python(flamelet):
    with subprocess.Popen(["/usr/bin/python3", "-c", PYTHON], stdout=subprocess.PIPE, text=True) as process:
        try:
            process.stdout.readline()
            host.wait_until_busy(process.pid)
            threads = json.loads(dump(flamelet, process.pid, "--json"))["threads"]
            faults = [f"no thread has {chain}: {[functions(thread) for thread in threads]}" for chain in PYTHON_CHAINS
                      if not any(has_chain(functions(thread), chain) for thread in threads)]
            text = dump(flamelet, process.pid)
            if not re.search(r"^    (Shop\.)?sell  \(<string>:6\)$", text, re.M):
                faults.append(f"no line of Shop.sell: {text}")
            return faults
        finally:
            process.kill()


def check_refusals(flamelet):
    """Kernel threads have only a kernel stack; what a debugger traces, and what is not there, is refused."""
    faults = [] if "[kernel]" in dump(flamelet, 2) else ["the kernel thread 2 has no kernel stack"]
    with subprocess.Popen(["sleep", "1000"]) as process:
        try:
            # A tracer of its own, which ends with its standard input.
            with subprocess.Popen([sys.executable, "-c", "import ctypes, sys\n"
                                   f"assert ctypes.CDLL(None).ptrace(0x4206, {process.pid}, 0, 0) == 0\n"
                                   "print('traced', flush=True)\nsys.stdin.read()"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as tracer:
                tracer.stdout.readline()
                faults += check_refused(flamelet, process.pid, "a debugger traces it")
                tracer.stdin.close()
        finally:
            process.kill()
            process.wait()
    return faults + check_refused(flamelet, process.pid, "no such process")


def check_refused(flamelet, pid, reason):
    done = subprocess.run([flamelet, "dump", "-p", str(pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60, check=False)
    if done.returncode == 1 and reason in done.stderr:
        return []
    return [f"expected \"{reason}\", got exit status {done.returncode}: {done.stderr}"]


def check(flamelet):
    host.require("gcc")
    host.limit_time(500)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        faults = check_native(flamelet, directory) + check_python(flamelet) + check_refusals(flamelet)
    print(f"{time.monotonic() - start:.1f} s")
    return faults


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(host.judge(check, sys.argv[1]))
