#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that old_kernel.c shows Linux 3.10: this program runs itself under it and makes calls that
3.10 knew and calls that it did not, from the process itself, a thread and a child.

    check_old_kernel.py path/to/old_kernel

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import ctypes
import errno
import fcntl
import mmap
import os
import platform
import struct
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host

LIBC = ctypes.CDLL(None, use_errno=True)
# Of either architecture, where the tables differ.
NUMBERS = {
    "x86_64": {"sched_setattr": 314, "renameat2": 316, "seccomp": 317, "getrandom": 318,
               "memfd_create": 319, "bpf": 321, "execveat": 322, "userfaultfd": 323, "membarrier": 324,
               "copy_file_range": 326, "preadv2": 327, "pkey_alloc": 330, "statx": 332, "rseq": 334,
               "perf_event_open": 298, "kcmp": 312, "prlimit64": 302},
    "aarch64": {"sched_setattr": 274, "renameat2": 276, "seccomp": 277, "getrandom": 278,
                "memfd_create": 279, "bpf": 280, "execveat": 281, "userfaultfd": 282, "membarrier": 283,
                "copy_file_range": 285, "preadv2": 286, "pkey_alloc": 289, "statx": 291, "rseq": 293,
                "perf_event_open": 241, "kcmp": 272, "prlimit64": 261},
}.get(platform.machine(), {})
NUMBERS.update({"pidfd_send_signal": 424, "io_uring_setup": 425, "open_tree": 428, "pidfd_open": 434,
                "clone3": 435, "close_range": 436, "openat2": 437, "faccessat2": 439,
                "landlock_create_ruleset": 444, "futex_waitv": 449, "a later one": 600})
OLD_CALLS = {"perf_event_open", "kcmp", "prlimit64"}

SOFTWARE, DUMMY = 1, 9
TIME, IDENTIFIER, REGS_USER, STACK_USER = 1 << 2, 1 << 16, 1 << 12, 1 << 13
EXCLUDE_CALLCHAIN_USER, MMAP2, COMM_EXEC, CLOCKID = 1 << 22, 1 << 23, 1 << 24, 1 << 25
FD_CLOEXEC, FD_NO_GROUP = 8, 1
ALLOWED = {0, errno.EACCES, errno.EPERM}    # what this kernel says of itself
OLD_SIZE, NEW_SIZE = 96, 136


def call(name, *arguments):
    """The errno, or 0."""
    ctypes.set_errno(0)
    result = LIBC.syscall(ctypes.c_long(NUMBERS[name]), *(ctypes.c_long(value) for value in arguments))
    return ctypes.get_errno() if result < 0 else 0


def open_event(size=OLD_SIZE, flags=0, behind=b"", **fields):
    """perf_event_open of a CPU clock for this thread: (errno, what the struct says its size is)."""
    wanted = {"config": 0, "sample_type": TIME, "read_format": 0, "bits": 1, **fields}
    attr = struct.pack("IIQQQQQ", SOFTWARE, size, wanted["config"], 10 ** 9, wanted["sample_type"],
                       wanted["read_format"], wanted["bits"])
    attr += bytes(32) + struct.pack("QII", 1 << 7 if wanted["sample_type"] & REGS_USER else 0,
                                    4096 if wanted["sample_type"] & STACK_USER else 0, 0)
    buffer = ctypes.create_string_buffer(attr + behind, NEW_SIZE)
    error = call("perf_event_open", ctypes.addressof(buffer), 0, -1, -1, flags)
    return error, struct.unpack_from("I", buffer, 4)[0]


def new_calls():
    return [f"{name} is there" for name in NUMBERS
            if name not in OLD_CALLS and call(name, -1, -1, -1, -1, -1) != errno.ENOSYS]


def old_calls():
    own = os.getpid()
    faults = [] if call("prlimit64", 0, 0, 0, 0) == 0 else ["prlimit64 fails"]
    return faults + (["kcmp fails"] if call("kcmp", own, own, 0, 0, 0) == errno.ENOSYS else [])


def perf_events():
    copies = TIME | REGS_USER | STACK_USER
    cases = (
        ("a clock", open_event(), ALLOWED), ("the first size", open_event(64), ALLOWED),
        ("copies of stacks", open_event(sample_type=copies, bits=1 | EXCLUDE_CALLCHAIN_USER), ALLOWED),
        ("a larger struct", open_event(NEW_SIZE), ALLOWED), ("a flag", open_event(flags=FD_NO_GROUP), ALLOWED),
        ("a larger struct with a value", open_event(NEW_SIZE, behind=b"\1"), {errno.E2BIG}),
        ("a size below the first", open_event(63), {errno.E2BIG}),
        ("a size of pages", open_event(8192), {errno.E2BIG}),
        ("MMAP2", open_event(bits=MMAP2), {errno.EINVAL}),
        ("COMM_EXEC", open_event(bits=COMM_EXEC), {errno.EINVAL}),
        ("a clock id", open_event(bits=CLOCKID), {errno.EINVAL}),
        ("the highest bit", open_event(bits=1 << 63), {errno.EINVAL}),
        ("IDENTIFIER", open_event(sample_type=IDENTIFIER), {errno.EINVAL}),
        ("lost events", open_event(read_format=1 << 4), {errno.EINVAL}),
        ("FD_CLOEXEC", open_event(flags=FD_CLOEXEC), {errno.EINVAL}),
        ("a dummy", open_event(config=DUMMY), {errno.ENOENT}),
    )
    faults = [f"{what}: {errno.errorcode.get(error, error)}" for what, (error, _), allowed in cases
              if error not in allowed]
    told = open_event(NEW_SIZE, behind=b"\1")[1]
    if told != OLD_SIZE:
        faults.append(f"the struct's size is said to be {told}")
    if call("perf_event_open", 0, 0, -1, -1, 0) != errno.EFAULT:
        faults.append("a struct at 0 is no fault")
    return faults


def error_of(function, *arguments):
    try:
        function(*arguments)
    except OSError as error:
        return error.errno
    return 0


def operations():
    """Newer operations of old calls, and neighbours that 3.10 knew."""
    with tempfile.TemporaryFile() as file, mmap.mmap(-1, mmap.PAGESIZE) as memory:
        cases = (
            ("O_TMPFILE", error_of(os.open, "/tmp", os.O_TMPFILE | os.O_RDWR, 0o600), errno.EISDIR),
            ("O_DIRECTORY", error_of(os.close, os.open("/tmp", os.O_DIRECTORY)), 0),
            ("F_ADD_SEALS", error_of(fcntl.fcntl, file, fcntl.F_ADD_SEALS, 0), errno.EINVAL),
            ("F_SETPIPE_SZ", error_of(fcntl.fcntl, file, 1031, 4096), errno.EBADF),
            ("F_GETFD", error_of(fcntl.fcntl, file, fcntl.F_GETFD), 0),
            ("MADV_FREE", error_of(memory.madvise, 8), errno.EINVAL),
            ("MADV_WIPEONFORK", error_of(memory.madvise, 18), errno.EINVAL),
            ("MADV_DONTDUMP", error_of(memory.madvise, 16), 0),
            ("PR_CAP_AMBIENT", -LIBC.prctl(47, 4, 0, 0, 0) and ctypes.get_errno(), errno.EINVAL),
            ("PR_GET_NO_NEW_PRIVS", LIBC.prctl(39, 0, 0, 0, 0) < 0, False),
        )
    return [f"{what}: {errno.errorcode.get(found, found)}" for what, found, wanted in cases
            if found != wanted]


def version():
    return [] if platform.release().startswith("3.10.") else [f"the version is {platform.release()}"]


CHECKS = (new_calls, old_calls, perf_events, operations, version)


def inside():
    """Prints what is wrong; for the process, a thread and a child."""
    def judge(where):
        for check in CHECKS:
            for fault in check():
                print(f"{where}: {check.__name__}: {fault}", flush=True)

    judge("process")
    thread = threading.Thread(target=judge, args=["thread"])
    thread.start()
    thread.join()
    child = os.fork()
    if child == 0:
        judge("child")
        os._exit(0)
    os.waitpid(child, 0)
    if error_of(os.wait) != errno.ECHILD:
        print("there is a child that is not known")


def check(shim):
    if not NUMBERS or "bpf" not in NUMBERS:
        raise host.Skip(f"system calls of {platform.machine()} are not known here")
    done = subprocess.run([shim, sys.executable, __file__, "--inside"], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, timeout=60, check=False)
    if done.returncode == 125:
        raise host.Skip(done.stdout.strip())
    faults = done.stdout.splitlines()
    if done.returncode != 0:
        faults.append(f"exit status {done.returncode}")
    status = subprocess.run([shim, "sh", "-c", "exit 7"], check=False).returncode
    absent = subprocess.run([shim, "/absent"], stderr=subprocess.DEVNULL, check=False).returncode
    if (status, absent) != (7, 125):
        faults.append(f"exit statuses {status} and {absent}, not 7 and 125")
    return faults


def main():
    if sys.argv[1] == "--inside":
        return inside()
    return host.judge_anyone(check, os.path.abspath(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
