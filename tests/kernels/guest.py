# SPDX-License-Identifier: Apache-2.0
"""A virtual machine that measures, as guest.sh tells, and what it left."""

import os
import re
import shutil
import subprocess
import time

# pylint: disable=wrong-import-order
import pods
import host
import machine

HERE = os.path.dirname(os.path.abspath(__file__))
ADDRESS = "10.0.2.15/24"
FREQUENCY_HZ = 99
INTRODUCER = "introducer"  # a process's name
LONG_S, SHORT_S = 7, 2
MEMORY_MB = 1536
TIMEOUT_S = 300
FACT = re.compile(r"^@ (\S+) (\S+) ?(.*?)\r?$", re.MULTILINE)


class Guest:
    """`flamelet` and the containers' programs are what the kernel's architecture runs; paths below `root`."""
    timeout_s = TIMEOUT_S

    def __init__(self, directory, kernel, kernel_directory, flamelet, containers):
        self.directory, self.kernel = directory, kernel
        self.logs = f"{directory}/logs"
        self.flamelet, self.containers = flamelet, containers
        os.makedirs(self.logs)
        self.machine = self.make_machine(kernel_directory)
        self.console, self.facts, self.seconds = "", {}, 0.0
        self.is_late = False  # it was stopped before its end
        self.has_program_sizes = False

    def make_machine(self, kernel_directory):
        return machine.Machine(kernel_directory, self.directory, f"{self.directory}/guest.sh", self.logs, MEMORY_MB,
                               files=pods.files(self.containers))

    def write_plan(self, kubelet_options, program_sizes):
        """Only the programs are sampled, whatever cgroup they seem to be in."""
        self.has_program_sizes = bool(program_sizes)
        names = [container.name for container in self.containers] + [INTRODUCER]
        options = kubelet_options + [f"--comm={name}" for name in names]
        variables = {"FLAMELET": self.flamelet, "OPTIONS": " ".join(options), "ADDRESS": ADDRESS,
                     "GATEWAY": pods.GATEWAY, "FREQUENCY_HZ": FREQUENCY_HZ, "SECONDS_LONG": LONG_S,
                     "SECONDS_SHORT": SHORT_S, "INTRODUCER": INTRODUCER, "PROGRAM_SIZES": program_sizes or ""}
        files = {"variables": "".join(f"{name}='{value}'\n" for name, value in variables.items()),
                 "containers": "".join(f"{each.name} {each.workload.cgroup} {each.program}\n"
                                       for each in self.containers)}
        for name, text in files.items():
            with open(f"{self.directory}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        shutil.copy(f"{HERE}/guest.sh", self.directory)

    def run(self):
        """To its end; what it said is in `facts`, {key: [value, ...]}."""
        begin = time.monotonic()
        command = self.machine.command(f"{self.directory}/initramfs")
        console = host.Process("guest", command, f"{self.logs}/console")
        try:
            console.child.wait(self.timeout_s)
        except subprocess.TimeoutExpired:
            self.is_late = True
        finally:
            console.finish()
        self.console, self.seconds = console.log(), time.monotonic() - begin
        for _, key, value in FACT.findall(self.console):
            self.facts.setdefault(key, []).append(value)

    def has_begun(self):
        """Returns whether guest.sh ran. Emulated processors race where a kernel patches its own code, as it does at its
        start: a few of its starts end in a panic, before anything of Flamelet is run."""
        return "kernel" in self.facts

    def fact(self, key):
        return self.facts.get(key, [""])[0]

    def read(self, name):
        return host.read_text(f"{self.logs}/{name}")

    def log(self, name):
        return self.read(f"{name}.log")
