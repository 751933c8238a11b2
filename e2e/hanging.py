#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One thread hangs, and all the same SIGTERM ends the program within 8 s: each thread of the agent and of a recording, and
the symbol worker. /healthz says which thread it is.

A thread is made to hang by ptrace(2): it stops wherever it is, with what it holds, and takes no signal, as one that waits
in the kernel for a disk that does not answer.

    hanging.py path/to/flamelet [--only NAME]

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import concurrent.futures
import contextlib
import ctypes
import fcntl
import gzip
import http.server
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

E2E = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(E2E, "local"))
sys.path.insert(0, os.path.join(E2E, "../tests/conformance"))

# pylint: disable=wrong-import-position
import host
import recorder
from metrics import get
from request_log import RequestLog

END_SECONDS = 8.0
AT_ONCE_SECONDS = 3.0   # less than the program takes after one signal
START_SECONDS = 120
SETTLE_SECONDS = 20     # until all agents have started: recordings want CPU time
RECORD_SECONDS = 20     # until the first functions have names, on a busy machine as well
PTRACE_SEIZE, PTRACE_INTERRUPT = 0x4206, 0x4207
WALL = 0x40000000       # waitpid(2): threads, too
F_SETPIPE_SZ = 1031
PAGE = 4096

NO_PODS = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[]}'
LOOP = "while :; do :; done"
READER = "reader"       # the name of the first thread in /healthz and in the log
FORCED = "ending by force"
LOST = {"agent": "undelivered profiles are lost", "record": "the recording is lost unless"}
AGENT_SECONDS = {READER: 30, "unwind": 60, "symbolizer": 60, "pods": 30, "exporter": 60, "http": 30,
                 "metrics": 30, "signals": 30}
# Threads whose data is lost if they hang.
COSTLY = (READER, "exporter")

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class Backend(http.server.BaseHTTPRequestHandler):
    """A receiver that takes everything, and a kubelet without pods."""

    log = None
    protocol_version = "HTTP/1.1"

    def answer(self, content_type, body):
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.log.add(body)
        self.answer("application/x-protobuf", b"")

    def do_GET(self):  # pylint: disable=invalid-name
        self.answer("application/json", NO_PODS)

    def log_message(self, *_args):  # pylint: disable=arguments-differ
        pass


def start_backend():
    """Returns its URL."""
    Backend.log = RequestLog("hanging")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def ptrace(request, tid):
    if libc.ptrace(request, tid, None, None) < 0:
        raise host.Failure(f"ptrace({request:#x}) of thread {tid}: "
                           f"{os.strerror(ctypes.get_errno())}")


def find_thread(pid, name):
    if name == READER:
        return pid
    for tid in os.listdir(f"/proc/{pid}/task"):
        if int(tid) != pid and host.read_text(f"/proc/{pid}/task/{tid}/comm").strip() == name:
            return int(tid)
    return None


def find_workers(pid):
    """Processes that the threads of this one have started."""
    workers = []
    with contextlib.suppress(FileNotFoundError):
        for tid in os.listdir(f"/proc/{pid}/task"):
            workers += map(int, host.read_text(f"/proc/{pid}/task/{tid}/children").split())
    return workers


def is_there(pid):
    """Returns whether a process exists. A zombie does not count."""
    return re.search(r"^State:\s+[^ZX\s]", host.read_text(f"/proc/{pid}/status"), re.M) is not None


class Program:
    """A flamelet, one thread of which may hang. All calls come from one thread: ptrace(2) wants it so."""

    def __init__(self, command, directory, **options):
        self.process = host.Process("flamelet", command, f"{directory}/log", **options)
        self.hanging = None
        self.is_gone = False

    @property
    def pid(self):
        return self.process.pid

    def must_live(self):
        if not self.process.is_alive():
            raise host.Failure(f"it ended, status {self.process.child.returncode}: "
                               f"{self.process.log()[-2000:]}")

    def wait_for(self, what, condition, seconds=START_SECONDS):
        def check():
            self.must_live()
            return condition()

        return host.wait_until(what, check, seconds)

    def hang(self, name):
        tid = self.wait_for(f"there is a thread {name}", lambda: find_thread(self.pid, name))
        ptrace(PTRACE_SEIZE, tid)
        ptrace(PTRACE_INTERRUPT, tid)
        os.waitpid(tid, WALL)
        self.hanging = tid

    def has_ended(self):
        """The kernel tells of a process only when its last thread was waited for."""
        if self.hanging and self.hanging != self.pid:
            with contextlib.suppress(ChildProcessError):
                tid, status = os.waitpid(self.hanging, WALL | os.WNOHANG)
                if tid and (os.WIFEXITED(status) or os.WIFSIGNALED(status)):
                    self.hanging = None
        return not self.process.is_alive()

    def end(self, number):
        """Returns the exit status and the seconds it took; None and too many when it did not end."""
        workers = find_workers(self.pid)
        begin = time.monotonic()
        os.kill(self.pid, number)
        while not self.has_ended() and time.monotonic() < begin + 2 * END_SECONDS:
            time.sleep(0.02)
        seconds = time.monotonic() - begin
        status = self.process.child.returncode
        if status is None:
            self.kill()
        time.sleep(0.2)
        left = [worker for worker in workers if is_there(worker)]
        return status, seconds, left

    def kill(self):
        self.process.child.kill()
        host.wait_until("it is killed", self.has_ended)


def check_end(program, status, text, number=signal.SIGTERM):
    """It ends in time, with this status; by force, with this text, where there is one."""
    got, seconds, left = program.end(number)
    log = program.process.log()
    faults = [f"left behind: {left}"] if left else []
    if got is None or seconds > END_SECONDS:
        faults.append(f"SIGTERM did not end it within {END_SECONDS:g} s: {log[-2000:]}")
    elif got != status:
        faults.append(f"exit status {got}, not {status}: {log[-2000:]}")
    if text and not re.search(f"{FORCED}.*{text}", log):
        faults.append(f"no line with {text!r}: {log[-2000:]}")
    return faults, seconds


class Scene:
    """What all cases share. Each case runs in a thread of its own."""

    def __init__(self, binary, url, directory):
        self.binary, self.url, self.directory = binary, url, directory

    def make_directory(self, name):
        path = os.path.join(self.directory, name)
        os.mkdir(path)
        return path

    def start_agent(self, directory):
        command = [self.binary, "agent", "-F", "19", "--otlp-endpoint", self.url, "--kubelet-url",
                   self.url, "--listen", f"unix:{directory}/http.sock", "--metrics-listen",
                   f"127.0.0.1:{host.free_port()}"]
        program = Program(command, directory)
        with killing_on_failure(program):
            program.wait_for("the agent is ready", lambda: is_ready(f"{directory}/http.sock"))
        return program

    def start_record(self, directory, output, **options):
        command = [self.binary, "record", "-F", "99", "-d", "100", "-o", output]
        program = Program(command, directory, **options)
        with killing_on_failure(program):
            program.wait_for("it samples", lambda: recorder.SAYS_IT_SAMPLES in program.process.log())
        time.sleep(RECORD_SECONDS)
        return program


def is_ready(path):
    """Its socket is there before it listens."""
    with contextlib.suppress(OSError):
        return get(path, "/readyz")[0] == 200
    return False


@contextlib.contextmanager
def killing_on_failure(program):
    try:
        yield
    except BaseException:
        if program.process.is_alive():
            program.kill()
        raise


@contextlib.contextmanager
def killing(program):
    try:
        yield program
    finally:
        if program.process.is_alive():
            program.kill()


def check_health(program, directory, name):
    """/healthz names the thread once its time is over, and not before."""
    path = f"{directory}/http.sock"
    said = f"the thread {name} has made no progress for"
    begin = time.monotonic()
    try:
        program.wait_for(f"/healthz names {name}", lambda: said in get(path, "/healthz")[1],
                         AGENT_SECONDS[name] + 60)
    except host.Failure as failure:
        return [f"{failure}: {get(path, '/healthz')}"]
    seconds = time.monotonic() - begin
    if seconds < AGENT_SECONDS[name] - 2:
        return [f"after {seconds:.1f} s already: {get(path, '/healthz')}"]
    return []


def agent_thread(scene, name):
    directory = scene.make_directory(f"agent-{name}")
    with killing(scene.start_agent(directory)) as program:
        program.hang(name)
        faults = [] if name == "http" else check_health(program, directory, name)
        status, text = (1, LOST["agent"]) if name in COSTLY else (0, None)
        if text:
            text += f".*the thread {name} has made no progress"
        found, seconds = check_end(program, status, text)
        if not text and "stopped: " not in program.process.log():
            faults.append(f"no orderly end: {program.process.log()[-2000:]}")
        return faults + found, seconds


def agent_at_once(scene, name):
    """SIGTERM comes before the agent can notice that the thread hangs."""
    directory = scene.make_directory(f"at-once-{name}")
    with killing(scene.start_agent(directory)) as program:
        program.hang(name)
        status, text = (1, f"the thread {name} has made no progress") if name in COSTLY else (0, None)
        return check_end(program, status, text)


def agent_second_signal(scene, name):
    """The second signal ends the agent at once, whichever thread hangs."""
    directory = scene.make_directory(f"second-{name}")
    with killing(scene.start_agent(directory)) as program:
        program.hang(name)
        os.kill(program.pid, signal.SIGTERM)
        time.sleep(1)
        faults, seconds = check_end(program, -signal.SIGTERM, None)
        return faults + ([f"only after {seconds:.1f} s"] if seconds > AT_ONCE_SECONDS else []), seconds


def agent_worker(scene, _name):
    """A worker is stopped while it is needed for the names of a new program."""
    directory = scene.make_directory("worker")
    with killing(scene.start_agent(directory)) as program:
        worker = program.wait_for("there is a symbol worker", lambda: find_workers(program.pid))[0]
        os.kill(worker, signal.SIGSTOP)
        with host.busy_program(shutil.copy("/bin/bash", f"{directory}/unknown"), "-c", LOOP):
            time.sleep(3)
            return check_end(program, 0, None)


def record_thread(scene, name):
    time.sleep(SETTLE_SECONDS)
    directory = scene.make_directory(f"record-{name}")
    output = f"{directory}/x.folded"
    with killing(scene.start_record(directory, output)) as program:
        program.hang(name)
        status, text = (1, LOST["record"]) if name == READER else (0, None)
        faults, seconds = check_end(program, status, text, signal.SIGINT)
    if (os.path.exists(output) and os.path.getsize(output) > 0) != (status == 0):
        faults.append(f"what was recorded is {'not ' if status == 0 else ''}there")
    return faults, seconds


def record_writing(scene, _name):
    """The recording writes to a pipe that is full."""
    time.sleep(SETTLE_SECONDS)
    directory = scene.make_directory("record-writing")
    reading, writing = os.pipe()
    fcntl.fcntl(writing, F_SETPIPE_SZ, PAGE)
    os.set_blocking(writing, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(PAGE))
    os.set_blocking(writing, True)
    log = open(f"{directory}/stderr", "wb")
    command = [scene.binary, "record", "-F", "99", "-d", "1", "-o", "-"]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=writing, stderr=log)
    try:
        host.wait_until("it samples", lambda: recorder.SAYS_IT_SAMPLES in host.read_text(f"{directory}/stderr"))
        time.sleep(6)
        begin = time.monotonic()
        child.send_signal(signal.SIGTERM)
        status = child.wait(2 * END_SECONDS)
        seconds = time.monotonic() - begin
    finally:
        child.kill()
        child.wait()
        log.close()
        os.close(reading)
        os.close(writing)
    message = host.read_text(f"{directory}/stderr")
    faults = [f"SIGTERM did not end it within {END_SECONDS:g} s"] if seconds > END_SECONDS else []
    if status != 1 or LOST["record"] not in message and "cannot write" not in message:
        faults.append(f"exit status {status}: {message}")
    return faults, seconds


CASES = ([("agent", agent_thread, name) for name in AGENT_SECONDS] +
         [("agent at once", agent_at_once, name) for name in (READER, "symbolizer", "exporter")] +
         [("agent, second signal", agent_second_signal, name) for name in (READER, "symbolizer")] +
         [("agent, symbol worker", agent_worker, "stopped")] +
         [("record", record_thread, name) for name in (READER, "unwind", "symbolizer", "signals")] +
         [("record", record_writing, "while it writes")])


def run_case(scene, case):
    title, run, name = case
    try:
        faults, seconds = run(scene, name)
    except host.Failure as failure:
        faults, seconds = [str(failure)], 0
    except Exception as error:  # pylint: disable=broad-except
        faults, seconds = [repr(error)], 0
    print(f"{'FAIL' if faults else 'ok':<4} {title}: {name} (ended after {seconds:.1f} s)",
          flush=True)
    return [f"{title}: {name}: {fault}" for fault in faults]


def check(binary, only):
    cases = [case for case in CASES if only in f"{case[0]}: {case[2]}"]
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory, host.busy_program(), \
            concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        scene = Scene(binary, start_backend(), directory)
        results = list(pool.map(lambda case: run_case(scene, case), cases))
    return [fault for faults in results for fault in faults]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--only", default="", help="cases that have this in their name")
    options = parser.parse_args()
    return host.judge(check, os.path.abspath(options.binary), options.only)


if __name__ == "__main__":
    sys.exit(main())
