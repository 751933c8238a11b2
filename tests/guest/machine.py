# SPDX-License-Identifier: Apache-2.0
"""A virtual machine without hardware support, with a kernel of debian_kernel.py, whose root is a directory of this
machine's, read-only. Its console is qemu's standard output; it ends when its first process does."""

import os
from dataclasses import dataclass, field

import initramfs

INIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "init.sh")
# By Debian's names of architectures: the program, and what makes it a machine; its console; options of its kernel, which would
# otherwise find that the emulated timer does not work, where the machine has no time for it.
QEMU = {
    "amd64": (("qemu-system-x86_64", "-cpu", "max,la57=off", "-machine", "q35"), "ttyS0", ["no_timer_check"]),
    "arm64": (("qemu-system-aarch64", "-machine", "virt"), "ttyAMA0", []),
}
KERNEL_OPTIONS = "panic=-1 quiet loglevel=3"


def shared(tag, path):
    return "-virtfs", f"local,path={path},mount_tag={tag},security_model=none,readonly=on,multidevs=remap"


@dataclass
class Machine:
    """`script` is a shell script of the test's `directory`, which is its argument; both are paths in the guest.
    `logs` is a directory of this machine's, which the script finds at /run/logs and may write to. `network` is as
    for qemu's -netdev, with the name `net`. `files` of this machine's are in the guest below /run/files, in memory,
    by their places there. A root of another architecture is put into memory beside `shares`, directories of this machine's
    that are at the same places in the guest."""
    kernel: str
    directory: str
    script: str
    logs: str
    memory_mb: int
    architecture: str = "amd64"
    root: str = "/"
    nr_cpus: int = 2
    network: str = "user,id=net"
    kernel_options: list = field(default_factory=list)
    files: dict = field(default_factory=dict)
    cpu: str = ""
    shares: tuple = ()

    def program(self):
        return QEMU[self.architecture][0][0]

    def command(self, initramfs_path):
        """Writes the archive, too, that the kernel starts from."""
        initramfs.write(initramfs_path, INIT, self.kernel, self.files)
        machine, console, timer_options = QEMU[self.architecture]
        if self.cpu:
            machine += ("-cpu", self.cpu)
        options = [KERNEL_OPTIONS, f"console={console}", f"directory={self.directory}", f"script={self.script}",
                   *timer_options]
        if self.shares:
            options.append("shares=" + ",".join(self.shares))
        return [*machine, "-accel", "tcg,thread=multi", "-m", str(self.memory_mb), "-smp", str(self.nr_cpus),
                "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio",
                "-kernel", f"{self.kernel}/kernel", "-initrd", initramfs_path,
                "-append", " ".join(options + self.kernel_options),
                "-netdev", self.network, "-device", "virtio-net-pci,netdev=net,romfile=",
                *shared("machine", self.root),
                *(option for number, path in enumerate(self.shares) for option in shared(f"share{number}", path)),
                "-virtfs", f"local,path={self.logs},mount_tag=logs,security_model=none"]
