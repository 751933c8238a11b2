# SPDX-License-Identifier: Apache-2.0
"""The image in containerd, with what a pod of the chart has: six capabilities, the default seccomp profile, no new
privileges, a read-only root, the host's processes and cgroups. The network is the host's, where the receivers are."""

import contextlib
import os
import re
import secrets
import subprocess

import containers
import host

REPOSITORY = "flamelet.test/flamelet"
TAG = "e2e"
CAPABILITIES = ("BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE", "SYSLOG")
# The capabilities that containerd grants by default.
DEFAULT_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID",
                        "SETFCAP", "SETPCAP", "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE")
STOP_SECONDS = 15


def privileges():
    drop = [f"--cap-drop=CAP_{name}" for name in DEFAULT_CAPABILITIES]
    return drop + [f"--cap-add=CAP_{name}" for name in CAPABILITIES]


class Agents:
    """Containers of the image, one after the other. `files` are mounted, {path in the container: file here}."""

    def __init__(self, containerd, cgroup, files):
        self.containerd, self.cgroup = containerd, cgroup
        self.mounts = ["--mount", "type=bind,src=/sys/fs/cgroup,dst=/host/cgroup,options=rbind:ro"]
        for path, source in files.items():
            self.mounts += ["--mount", f"type=bind,src={source},dst={path},options=bind:ro"]
        self.running = []

    def import_archive(self, path):
        self.containerd.ctr("images", "import", "--snapshotter", "native", "--base-name", REPOSITORY, path)

    def run_options(self, container_id, is_read_only=True):
        # Not --net-host: with that, ctr mounts the host's /etc/hosts over ours.
        ours = f"/proc/{os.getpid()}/ns"
        return ["--snapshotter", "native", "--seccomp", f"--with-ns=pid:{ours}/pid", f"--with-ns=network:{ours}/net",
                "--cgroup", f"{self.cgroup}/{container_id}", *privileges(), *self.mounts,
                *(["--read-only"] if is_read_only else [])]

    def once(self, *command, is_read_only=True, seconds=60):
        """Runs a container to its end; returns its exit status and output. ctr adds the image's entrypoint only
        where there is no command."""
        container_id = secrets.token_hex(32)
        done = subprocess.run(
            ["ctr", "--address", f"{self.containerd.directory}/sock", "--namespace", containers.NAMESPACE,
             "run", "--rm", *self.run_options(container_id, is_read_only), f"{REPOSITORY}:{TAG}",
             container_id, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=seconds, check=False)
        return done.returncode, done.stdout

    def start(self, *command):
        container_id = secrets.token_hex(32)
        self.running.append(container_id)
        self.containerd.ctr("run", "--detach", *self.run_options(container_id),
                            "--log-uri", f"file://{self.containerd.output_path(container_id)}",
                            f"{REPOSITORY}:{TAG}", container_id, *command)
        return container_id

    def pid(self, container_id):
        for line in self.containerd.ctr("tasks", "list").splitlines():
            match = re.match(rf"{container_id}\s+(\d+)\s", line)
            if match:
                return int(match.group(1))
        raise host.Failure(f"no task {container_id}: {self.log(container_id)}")

    def log(self, container_id):
        return host.read_text(self.containerd.output_path(container_id))

    def wait_for(self, container_id, what, condition, seconds=60):
        """host.wait_until(), with the container's last words where it fails."""
        try:
            return host.wait_until(what, condition, seconds, 0.01)
        except host.Failure as failure:
            raise host.Failure(f"{failure}; it says {self.log(container_id)[-1000:]}") from failure

    def end(self, container_id):
        """SIGTERM; returns whether it ended by itself."""
        self.containerd.signal(container_id, "SIGTERM")
        try:
            host.wait_until("the agent ends", lambda: "STOPPED" in self.status(container_id), STOP_SECONDS)
        except host.Failure:
            return False
        finally:
            self.remove(container_id)
        return True

    def status(self, container_id):
        return next((line for line in self.containerd.ctr("tasks", "list").splitlines()
                     if line.startswith(container_id)), "STOPPED")

    def remove(self, container_id):
        self.running.remove(container_id)
        with contextlib.suppress(host.Failure):
            self.containerd.ctr("tasks", "delete", "--force", container_id)
        self.containerd.ctr("containers", "delete", container_id)

    def stop(self):
        for container_id in list(self.running):
            with contextlib.suppress(host.Failure, subprocess.TimeoutExpired):
                self.remove(container_id)
