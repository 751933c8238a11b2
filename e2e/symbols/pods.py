# SPDX-License-Identifier: Apache-2.0
"""Containers with process ids, mounts and /tmp of their own, each in a cgroup that tells its samples."""

import os

import containers
import host
import image

TAG_OF_IMAGE = "flamelet.test/names:{}"


def host_software():
    """The host's programs and libraries, for reading, as options of `ctr run`."""
    paths = ["/usr", "/etc"] + [path for path in ("/lib", "/lib64") if os.path.exists(path)]
    return [option for path in paths for option in
            ("--mount", f"type=bind,src={os.path.realpath(path)},dst={path},options=rbind:ro")]


class Pods(containers.Containerd):
    """`cgroup` is the parent of all, a path in the hierarchy."""

    def __init__(self, directory, cgroup):
        super().__init__(directory)
        self.cgroup = cgroup

    def import_version(self, version, programs):
        archive = f"{self.directory}/image-{version}.tar"
        image.write_image(archive, TAG_OF_IMAGE.format(version), programs)
        self.ctr("images", "import", "--snapshotter", "native", archive)

    def run(self, name, version, *command, options=()):
        """Starts a container and returns the number of its cgroup."""
        self.ctr("run", "--detach", "--snapshotter", "native", "--cgroup", f"{self.cgroup}/{name}",
                 "--log-uri", f"file://{self.output_path(name)}", *options,
                 TAG_OF_IMAGE.format(version), name, *command)
        return os.stat(f"{host.cgroup_mounts()[1]}{self.cgroup}/{name}").st_ino

    def execute(self, name, *command):
        """Runs a command in a container to its end."""
        return self.ctr("tasks", "exec", "--exec-id", f"{name}-{len(command)}", name, *command)

    def delete(self, name):
        self.ctr("tasks", "delete", "--force", name)
