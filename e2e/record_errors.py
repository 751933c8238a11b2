# SPDX-License-Identifier: Apache-2.0
"""What `flamelet record` says and leaves behind when it cannot do what it was asked to. Each case
takes the program and an empty directory, and returns what is wrong."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from xml.etree import ElementTree

import host

NOBODY = "65534"
ABSENT_PID = "4194303"      # the last possible one; nobody counts that far within a test


@contextlib.contextmanager
def busy_machine():
    """Something to sample: an idle machine has no profile."""
    loop = subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"])
    try:
        yield
    finally:
        loop.kill()
        loop.wait()


def record(*command):
    """Runs to the end; returns (exit status, standard error)."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=40, check=False)
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
    """One message with the remedy. The program is copied to where nobody may read it."""
    copy = shutil.copy(binary, f"{directory}/flamelet")
    os.chmod(directory, 0o777)
    outcome = record("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                     copy, "record", "-d", "1", "-o", f"{directory}/x.svg")
    os.unlink(copy)
    faults = expect(outcome, (1,), r"root|CAP_")
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
        with busy_machine():
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


def absent_process(binary, directory):
    outcome = record(binary, "record", "-d", "1", "-p", ABSENT_PID, "-o", f"{directory}/x.svg")
    return expect(outcome, (1, 3), ABSENT_PID) + expect_empty(directory)


def interrupt(binary, directory):
    """Ctrl-C keeps what was recorded up to then."""
    path, begin = f"{directory}/x.svg", time.monotonic()
    process = host.Process("flamelet", [binary, "record", "-d", "60", "-o", path],
                           f"{directory}/log")
    with busy_machine():
        time.sleep(2)
        status = process.finish(15, signal.SIGINT)
    if status != 0:
        return [f"exit status {status}: {process.log()!r}"]
    if time.monotonic() - begin > 20:
        return ["Ctrl-C did not end the recording"]
    ElementTree.parse(path)
    return []


CASES = (without_root, unwritable_output, disk_full, unknown_option, unknown_extension,
         absent_process, interrupt)
