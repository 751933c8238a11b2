# SPDX-License-Identifier: Apache-2.0
"""Recordings that begin and end when the test wants, not after a time that a busy machine may not
give."""

import signal

import host

SAYS_IT_SAMPLES = "profiling"
END_SECONDS = 120


def start(command, log_path, **options):
    """Starts `flamelet record` with options. Returns the process once it samples, or has ended. The log may
    have the words of an earlier recording, which do not count."""
    nr_old = len(host.read_text(log_path))
    process = host.Process("record", command, log_path, **options)
    host.wait_until("the recording begins",
                    lambda: SAYS_IT_SAMPLES in process.log()[nr_old:] or not process.is_alive())
    return process


def stop(process):
    """Ends a recording as Ctrl-C does. Fails the test if the recording failed."""
    status = process.finish(END_SECONDS, signal.SIGINT)
    if status != 0:
        raise host.Failure(f"record: exit status {status}: {process.log()}")


def record_work(command, pid, cpu_seconds, log_path):
    """Records until the process has used that much CPU time."""
    process = start([*command, "-d", "0", "-p", str(pid)], log_path)
    end = host.cpu_seconds(pid) + cpu_seconds
    try:
        host.wait_until("the work is done", lambda: host.cpu_seconds(pid) >= end or not process.is_alive(), END_SECONDS)
    finally:
        stop(process)
