# SPDX-License-Identifier: Apache-2.0
"""Looks at the agent and its workers while they run: memory, CPU time, privileges, health."""

import contextlib
import http.client
import os
import threading
import time

import host

PAUSE_S = 0.1
HEALTH_EVERY_S = 1.0
HEALTH_TIMEOUT_S = 3
GRACE_S = 2.0       # until a new worker must have given up all it had
TICKS = os.sysconf("SC_CLK_TCK")


def children_of(pid):
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for thread in threads
            for child in host.read_text(f"/proc/{pid}/task/{thread}/children").split()]


def family_of(pid):
    family = [pid]
    for member in family:
        family += children_of(member)
    return family


def status_of(pid):
    return dict(line.split(":\t", 1) for line in host.read_text(f"/proc/{pid}/status").splitlines() if ":\t" in line)


def cpu_seconds(path):
    """Of a process or thread: its own, and that of its children who ended."""
    fields = host.read_text(f"{path}/stat").rpartition(")")[2].split()
    if len(fields) < 15:
        return 0, 0
    return (int(fields[11]) + int(fields[12])) / TICKS, (int(fields[13]) + int(fields[14])) / TICKS


def kilobytes(status, name):
    return int(status.get(name, "0 kB").split()[0])


class Watch(threading.Thread):
    def __init__(self, pid, health_port):
        super().__init__(daemon=True)
        self.pid, self.port = pid, health_port
        self.peak_kb = self.peak_agent_kb = 0       # of all together, of the agent alone
        self.agent_s = self.workers_s = 0.0
        self.first_seen = {}        # workers, by pid
        self.privileged = {}        # those that kept something: what
        self.nr_unhealthy = self.nr_unhealthy_now = self.worst_unhealthy = 0
        self.was_healthy = False
        self.is_stopping = threading.Event()
        self.health = threading.Thread(target=self.ask_health, daemon=True)

    def start(self):
        super().start()
        self.health.start()

    def stop(self):
        self.is_stopping.set()
        self.join()
        self.health.join(HEALTH_TIMEOUT_S + 1)

    def run(self):
        while not self.is_stopping.wait(PAUSE_S):
            self.look()

    def look(self):
        family = family_of(self.pid)
        statuses = {pid: status_of(pid) for pid in family}
        resident = [kilobytes(status, "RssAnon") + kilobytes(status, "RssShmem") for status in statuses.values()]
        self.peak_kb = max(self.peak_kb, sum(resident))
        self.peak_agent_kb = max(self.peak_agent_kb, resident[0])
        own, ended = cpu_seconds(f"/proc/{self.pid}")
        self.agent_s = max(self.agent_s, own)
        self.workers_s = max(self.workers_s, ended + sum(cpu_seconds(f"/proc/{pid}")[0] for pid in family[1:]))
        for pid in family[1:]:
            self.check_worker(pid, statuses[pid])

    def check_worker(self, pid, status):
        age = time.monotonic() - self.first_seen.setdefault(pid, time.monotonic())
        if age < GRACE_S or not status or status.get("State", "").startswith("Z"):
            return
        kept = [f"{name} {status[name]}" for name in ("CapEff", "CapPrm") if int(status.get(name, "0"), 16)]
        if status.get("Seccomp") != "2":
            kept.append("no system call filter")
        if kept:
            self.privileged[pid] = f"{status.get('Name')}: {', '.join(kept)}"

    def is_healthy(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HEALTH_TIMEOUT_S)
        with contextlib.closing(connection), contextlib.suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        return False

    def ask_health(self):
        while not self.is_stopping.wait(HEALTH_EVERY_S):
            if self.is_healthy():
                self.was_healthy, self.nr_unhealthy_now = True, 0
                continue
            if self.was_healthy and not self.is_stopping.is_set():
                self.nr_unhealthy += 1
                self.nr_unhealthy_now += 1
                self.worst_unhealthy = max(self.worst_unhealthy, self.nr_unhealthy_now)
