# SPDX-License-Identifier: Apache-2.0
"""Checks what `flamelet record` prints and leaves behind if it cannot do what it was asked to do.
Each case takes the program and an empty directory, and returns what is wrong."""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import time
from xml.etree import ElementTree

import host
import recorder

NOBODY = "65534"
F_SETPIPE_SZ = 1031         # not in the fcntl module before Python 3.10
ABSENT_PID = "4194303"      # the last possible one; no test starts so many processes


def record(*command):
    """Runs to the end; returns (exit status, standard error)."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    return done.returncode, done.stderr.strip()


def expect(outcome, statuses, *patterns):
    """The exit status is one of these, and the message matches all patterns."""
    status, message = outcome
    faults = [] if status in statuses else [f"exit status {status}, not {statuses}: {message!r}"]
    return faults + [f"the message lacks /{pattern}/: {message!r}" for pattern in patterns
                     if not re.search(pattern, message)]


def expect_empty(directory):
    left = sorted(os.listdir(directory))
    return [f"left behind: {left}"] if left else []


def without_root(binary, directory):
    """Prints one message with the remedy. The program is copied to where the user "nobody" may read
    it."""
    copy = shutil.copy(binary, f"{directory}/flamelet")
    os.chmod(directory, 0o777)
    outcome = record("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                     copy, "record", "-d", "1", "-o", f"{directory}/x.svg")
    bare = record("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", copy)
    os.unlink(copy)
    faults = expect(outcome, (1,), r"root|CAP_") + expect(bare, (1,), r"flamelet --help", r"root|CAP_", r"sudo")
    if len(outcome[1].splitlines()) > 3:
        faults.append(f"more than one message: {outcome[1]!r}")
    return faults + expect_empty(directory)


def unwritable_output(binary, directory):
    path = f"{directory}/absent/x.svg"
    outcome = record(binary, "record", "-d", "1", "-o", path)
    return expect(outcome, (1,), re.escape(path)) + expect_empty(directory)


def disk_full(binary, directory):
    """A page is too little for any flame graph: what does not fit must not be there at all."""
    host.run("mount", "-t", "tmpfs", "-o", "size=4k", "flamelet-e2e", directory)
    try:
        with host.busy_program():
            outcome = record(binary, "record", "-d", "1", "-o", f"{directory}/x.svg")
        return expect(outcome, (1,), r"x\.svg", r"[Nn]o space") + expect_empty(directory)
    finally:
        host.run("umount", "-l", directory)


def unknown_option(binary, _directory):
    return expect(record(binary, "record", "--frequencey", "99"), (2,), "--frequencey",
                  r"--frequency\b")


def unknown_extension(binary, directory):
    outcome = record(binary, "record", "-d", "1", "-o", f"{directory}/x.foo")
    return (expect(outcome, (2,), r"x\.foo", r"\.svg", r"\.folded", r"\.pb\.gz")
            + expect_empty(directory))


def extension_against_format(binary, directory):
    outcome = record(binary, "record", "-d", "1", "-o", f"{directory}/x.svg", "--format", "pprof")
    return expect(outcome, (2,), r"--format", r"x\.svg") + expect_empty(directory)


def closed_standard_output(binary, directory):
    """It says so before it samples."""
    begin = time.monotonic()
    outcome = record("sh", "-c", 'exec "$0" record -d 20 -o - >&-', binary)
    faults = expect(outcome, (1,), r"standard output is closed")
    if time.monotonic() - begin > 10:
        faults.append("it sampled before it looked at standard output")
    return faults + expect_empty(directory)


FORMATS = {"svg": b"<?xml", "pprof": b"\x1f\x8b", "folded": b""}


def formats_of_standard_output(binary, directory):
    """In a pipe, as `kubectl exec` has it, nothing but the profile comes out."""
    faults = []
    for word, mark in FORMATS.items():
        for name in ("-", "/dev/stdout"):
            with host.busy_program():
                done = subprocess.run([binary, "record", "-d", "1", "-o", name, "--format", word],
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
                                      check=False)
            if done.returncode != 0 or not done.stdout.startswith(mark):
                faults.append(f"{word} to {name}: status {done.returncode}, {done.stdout[:40]!r}, "
                              f"{done.stderr!r}")
            if word == "folded" and not re.search(rb";[^;\n]+ \d+\n$", done.stdout):
                faults.append(f"{name} is not folded text: {done.stdout[-80:]!r}")
            if word == "svg":
                ElementTree.fromstring(done.stdout)
    return faults + expect_empty(directory)


def a_command_that_prints(binary, directory):
    """The command's output is not part of the profile."""
    work = "echo printed; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"
    done = subprocess.run([binary, "record", "-o", "-", "--format", "svg", "--", "sh", "-c", work],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    if done.returncode != 0 or b"printed" not in done.stderr:
        return [f"status {done.returncode}, {done.stdout[:40]!r}, {done.stderr!r}"]
    ElementTree.fromstring(done.stdout)
    return expect_empty(directory)


def absent_process(binary, directory):
    outcome = record(binary, "record", "-d", "1", "-p", ABSENT_PID, "-o", f"{directory}/x.svg")
    return expect(outcome, (1, 3), ABSENT_PID) + expect_empty(directory)


def interrupt(binary, directory):
    """Ctrl-C keeps what was recorded up to then."""
    path = f"{directory}/x.svg"
    with host.busy_program():
        process = recorder.start([binary, "record", "-d", "600", "-o", path], f"{directory}/log")
        time.sleep(2)
        status = process.finish(30, signal.SIGINT)
    if status != 0:
        return [f"exit status {status}: {process.log()!r}"]
    ElementTree.parse(path)
    return []


def plant(path, make):
    """As another user does in a directory that all may write to."""
    os.chmod(os.path.dirname(path), 0o1777)
    make(path)
    os.chown(path, int(NOBODY), int(NOBODY), follow_symlinks=False)


def refused_at_once(binary, path, *patterns):
    begin = time.monotonic()
    outcome = record(binary, "record", "-d", "20", "-o", path)
    faults = expect(outcome, (1,), re.escape(path), *patterns)
    if time.monotonic() - begin > 10:
        faults.append("it sampled before it looked at the file")
    return faults


def planted_fifo(binary, directory):
    """Refuses a FIFO of another user, who could delay the recording and read the profile."""
    path = f"{directory}/x.svg"
    plant(path, os.mkfifo)
    return refused_at_once(binary, path, r"is a FIFO that belongs to uid 65534", r"remove it")


def planted_link(binary, directory):
    """Also where fs.protected_symlinks is 0."""
    path = f"{directory}/x.svg"
    plant(path, lambda name: os.symlink("/dev/null", name))
    return refused_at_once(binary, path, r"is a symbolic link that belongs to uid 65534", r"remove it")


def fifo_without_reader(binary, directory):
    path = f"{directory}/x.svg"
    os.mkfifo(path)
    with host.busy_program():
        outcome = record(binary, "record", "-d", "1", "-o", path)
    return expect(outcome, (1,), re.escape(path), r"start the reader first")


def fifo_with_reader(binary, directory):
    path = f"{directory}/x.svg"
    os.mkfifo(path)
    with host.busy_program(), open(f"{directory}/copy", "wb") as copy, \
         subprocess.Popen(["cat", path], stdout=copy) as reader:
        outcome = record(binary, "record", "-d", "1", "-o", path)
        if outcome[0] != 0:
            reader.kill()
    ElementTree.parse(f"{directory}/copy")
    return expect(outcome, (0,))


@contextlib.contextmanager
def idle_reader(path):
    """Has a FIFO open and reads nothing; it holds less than a profile."""
    os.mkfifo(path)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(fd, F_SETPIPE_SZ, 4096)
    try:
        yield
    finally:
        os.close(fd)


def end_with_idle_reader(binary, directory, duration):
    """The first SIGTERM ends it, whether it samples or writes by then."""
    path = f"{directory}/x.svg"
    with host.busy_program(), idle_reader(path):
        process = recorder.start([binary, "record", "-d", duration, "-o", path], f"{directory}/log")
        time.sleep(4)
        begin = time.monotonic()
        status = process.finish(20, signal.SIGTERM)
    faults = expect((status, process.log()), (1,), re.escape(path))
    if time.monotonic() - begin > 8:
        faults.append(f"it ended {time.monotonic() - begin:.1f} s after SIGTERM")
    return faults


def terminated_while_sampling(binary, directory):
    return end_with_idle_reader(binary, directory, "60")


def terminated_while_writing(binary, directory):
    return end_with_idle_reader(binary, directory, "1")


CASES = (without_root, unwritable_output, disk_full, unknown_option, unknown_extension,
         extension_against_format, closed_standard_output, formats_of_standard_output, a_command_that_prints,
         absent_process, interrupt, planted_fifo, planted_link, fifo_without_reader, fifo_with_reader,
         terminated_while_sampling, terminated_while_writing)
