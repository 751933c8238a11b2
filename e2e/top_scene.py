# SPDX-License-Identifier: Apache-2.0
"""A terminal with a command on it, and pods without a runtime, for the tests and the picture of top."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import uuid

import host
import kubelet

ENTER, LEAVE, HOME = "\x1b[?1049h", "\x1b[?1049l", "\x1b[H"
SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
COLOR = re.compile(r"\x1b\[(3|9)[0-9]m")
# They only bound a hang.
END_SECONDS = 90
WAIT_SECONDS = 180
# A service for pictures.
CART = """
import hashlib, json
def hash_session(session):
    return hashlib.sha256(json.dumps(session).encode()).hexdigest()
def price_items(items):
    return sum(item["price"] * item["count"] for item in items)
def render_cart(items):
    return json.dumps({"total": price_items(items), "items": items, "id": hash_session(items)})
items = [{"name": f"item-{i}", "price": i * 3 % 17, "count": i % 5} for i in range(200)]
while True:
    render_cart(items)
"""


class Screen:
    """A command on a terminal of its own, and what it shows there."""

    def __init__(self, command, columns=120, lines=30, environment=None):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(command[0], command, {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
                      if environment is None else environment)
        os.set_inheritable(self.master, False)      # other screens may start at the same time
        self.resize(columns, lines)
        self.before = termios.tcgetattr(self.master)
        self.output = ""
        self.status = None

    def resize(self, columns, lines):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, seconds):
        """Reads for a while. Returns whether the terminal is still open."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            if not select.select([self.master], [], [], left)[0]:
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.output += data.decode("utf-8", "replace")
        return True

    def type(self, text):
        os.write(self.master, text.encode())

    def picture(self):
        """The lines of the last picture that is complete."""
        pictures = [part for part in self.output.split(HOME)[1:] if part.endswith("\x1b[J")]
        return [SEQUENCE.sub("", line).rstrip() for line in pictures[-1].split("\r\n")] if pictures else []

    def wait_for(self, what, text, seconds=WAIT_SECONDS):
        """Waits for a text in the picture."""
        deadline = time.monotonic() + seconds
        while not any(re.search(text, line) for line in self.picture()):
            if time.monotonic() > deadline or not self.read(0.2):
                raise host.Failure(f"{what}: not shown: {text}; the last picture:\n" + "\n".join(self.picture()) +
                                   f"\noutput: {self.output[-2000:]!r}")
        return self.picture()

    def is_raw(self):
        return not termios.tcgetattr(self.master)[3] & (termios.ICANON | termios.ECHO)

    def finish(self):
        """Waits for the end of the command. Returns its status as the shell shows it."""
        deadline = time.monotonic() + END_SECONDS
        while self.status is None and time.monotonic() < deadline:
            self.read(0.1)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            raise host.Failure(f"it did not end within {END_SECONDS} s")
        return self.status

    def faults_of_end(self, how, status):
        """Ends, and checks that the terminal is as it was."""
        ended = self.finish()
        faults = [] if ended == status else [f"{how}: the exit status is {ended}, not {status}"]
        if self.output.rfind(LEAVE) < self.output.rfind(ENTER):
            faults.append(f"{how}: the alternate page was not left")
        if HOME in self.output[self.output.rfind(LEAVE):]:
            faults.append(f"{how}: something was drawn after the end")
        try:
            after = termios.tcgetattr(self.master)
        except termios.error:       # nobody has the terminal open any more
            after = None
        os.close(self.master)
        return faults + ([] if after in (None, self.before) else [f"{how}: the terminal was not restored"])


class Pods:
    """Programs in cgroups that look like those of pods, and a kubelet that tells of these pods."""

    def __init__(self, directory):
        self.directory = directory
        self.shared_cgroups = host.SharedCgroups()
        self.items, self.processes = [], []
        self.cgroups = []       # of the programs, and above them those of their pods; paths in the hierarchy
        self.node = kubelet.Kubelet(f"{directory}/node", "node-1")
        kubelet.replace_file(self.node.pods_path, self.body())
        self.node.start()

    def body(self):
        return json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": self.items})

    def start(self, namespace, workload, kind, container, command, prepare=None):
        """Starts a command as the only container of a pod, which a workload of that kind owns. The new process calls
        `prepare` before."""
        uid, container_id = str(uuid.uuid4()), uuid.uuid4().hex * 2
        owner = f"{workload}-7d9f6c5b8" if kind == "ReplicaSet" else workload
        self.items.append({
            "metadata": {"name": f"{owner}-x2x{len(self.items)}k", "namespace": namespace, "uid": uid,
                         "labels": {"pod-template-hash": "7d9f6c5b8"} if kind == "ReplicaSet" else {},
                         "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": uid,
                                              "controller": True}]},
            "spec": {"nodeName": self.node.node_name, "containers": [{"name": container, "image": "local.test/a:1"}]},
            "status": {"phase": "Running", "startTime": "2026-11-20T10:00:00Z", "containerStatuses": [
                {"name": container, "containerID": f"containerd://{container_id}", "restartCount": 0,
                 "image": "local.test/a:1", "imageID": "", "state": {"running": {}}}]}})
        kubelet.replace_file(self.node.pods_path, self.body())
        self.cgroups.append(f"/kubepods/pod{uid}")
        self.start_in(f"/kubepods/pod{uid}/{container_id}", command, prepare)

    def start_in(self, cgroup, command, prepare=None):
        path = host.cgroup_mounts()[1] + cgroup
        os.makedirs(path, exist_ok=True)
        self.cgroups.append(cgroup)

        def enter():
            with open(path + "/cgroup.procs", "w", encoding="ascii") as procs:
                procs.write("0")
            if prepare:
                prepare()

        self.processes.append(subprocess.Popen(  # pylint: disable=subprocess-popen-preexec-fn
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=enter))

    def options(self):
        return [*self.node.agent_options(), "--pod-logs", f"{self.directory}/no-logs"]

    def cgroup_options(self):
        """Restricts top to these programs."""
        return [word for cgroup in self.cgroups for word in ("--cgroup", cgroup)]

    def stop(self):
        directories = [host.cgroup_mounts()[1] + cgroup for cgroup in self.cgroups]
        for directory in directories:
            host.kill_cgroup(directory)
        for process in self.processes:
            process.wait()
        for directory in directories:
            host.remove_cgroup(directory)
        self.shared_cgroups.release({os.path.dirname(cgroup) for cgroup in self.cgroups
                                     if cgroup.count("/") == 2})
        self.node.stop()
