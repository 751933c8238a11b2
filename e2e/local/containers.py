# SPDX-License-Identifier: Apache-2.0
"""A containerd of our own: own configuration, root, state and socket in the test's directory."""

import contextlib
import os
import subprocess

import host
import image

IMAGE = "flamelet.test/spin:1"
NAMESPACE = "k8s.io"

CONFIG = """version = 2
root = "{directory}/root"
state = "{directory}/state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "{directory}/sock"
[ttrpc]
  address = "{directory}/sock.ttrpc"
[debug]
  level = "warn"
"""


class Containerd:
    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory)
        config_path = f"{directory}/config.toml"
        with open(config_path, "w", encoding="ascii") as config:
            config.write(CONFIG.format(directory=directory))
        self.command = ["containerd", "--config", config_path]
        self.daemon = None

    def start_daemon(self):
        self.daemon = host.Process("containerd", self.command, f"{self.directory}/containerd.log")
        host.wait_until("containerd answers", self.answers)

    def ctr(self, *arguments):
        return host.run("ctr", "--address", f"{self.directory}/sock", "--namespace", NAMESPACE,
                        *arguments)

    def answers(self):
        if not self.daemon.is_alive():
            raise host.Failure("containerd ended: " + self.daemon.log()[-2000:])
        with contextlib.suppress(host.Failure):
            return self.ctr("version")
        return None

    def import_programs(self, programs):
        archive = f"{self.directory}/image.tar"
        image.write_image(archive, IMAGE, programs)
        self.ctr("images", "import", "--snapshotter", "native", archive)

    def start(self, container_id, cgroup, command):
        """Starts a container in the given cgroup; its standard output goes to output_path()."""
        self.ctr("run", "--detach", "--snapshotter", "native", "--cgroup", cgroup,
                 "--log-uri", f"file://{self.output_path(container_id)}",
                 IMAGE, container_id, *command)

    def output_path(self, container_id):
        return f"{self.directory}/{container_id}.out"

    def signal(self, container_id, name):
        self.ctr("tasks", "kill", "--signal", name, container_id)

    def stop(self):
        with contextlib.suppress(host.Failure, subprocess.TimeoutExpired):
            for container_id in self.ctr("tasks", "list", "--quiet").split():
                self.ctr("tasks", "delete", "--force", container_id)
        if self.daemon:
            self.daemon.finish()
        host.kill_mentioning(self.directory)
        host.unmount_below(self.directory)
