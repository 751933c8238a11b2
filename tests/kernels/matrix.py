#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flamelet on Debian's kernels, in virtual machines, as a table: a row for each kernel, and what was measured there.

    matrix.py FLAMELET PROGRAMS [--program-sizes PROGRAM] [--kernel SERIES]... [--keep DIRECTORY]

PROGRAMS is the directory of the programs that tests/oracle/unwind/programs builds. docs/platforms.md says what the columns
mean. Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, part) for part in ("../../e2e/local", "../guest", "../conformance")]

# pylint: disable=wrong-import-position
import debian_kernel
import guest as guests
import host
import pods
import row as rows

KERNELS = (debian_kernel.Kernel("5.10", "bullseye"), debian_kernel.BOOKWORM, debian_kernel.Kernel("6.12", "trixie"),
           debian_kernel.Kernel("7", "trixie-backports"))


class Matrix:
    """The programs and the kubelet that all guests share."""

    def __init__(self, args, directory):
        self.directory = directory
        self.flamelet = os.path.abspath(args.flamelet)
        self.program_sizes = os.path.abspath(args.program_sizes) if args.program_sizes else ""
        self.containers = pods.make(os.path.abspath(args.programs))
        self.kubelet = pods.Kubelet(f"{directory}/kubelet", self.containers)

    def measure(self, kernel, name):
        guest = guests.Guest(f"{self.directory}/{name}", kernel, debian_kernel.fetch(kernel), self.flamelet,
                             self.containers)
        guest.write_plan(self.kubelet.options(), self.program_sizes)
        guest.run()
        return rows.Row(guest)

    def row(self, kernel):
        return rows.attempt(lambda name: self.measure(kernel, name), kernel, f"{kernel.suite}-{kernel.architecture}")


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("flamelet")
    parser.add_argument("programs")
    parser.add_argument("--program-sizes", metavar="PROGRAM", help="prints the instructions that are verified")
    parser.add_argument("--kernel", action="append", metavar="SERIES", choices=[each.series for each in KERNELS])
    parser.add_argument("--keep", metavar="DIRECTORY", help="where consoles, logs and profiles stay")
    return parser.parse_args()


def measure(args, directory):
    matrix = Matrix(args, directory)
    kernels = [kernel for kernel in KERNELS if not args.kernel or kernel.series in args.kernel]
    return rows.judge(rows.each(matrix.kubelet, matrix.row, kernels))


def check(args):
    host.require("qemu-system-x86_64", "protoc", "openssl", "ldd")
    return rows.in_directory(args.keep, lambda directory: measure(args, directory))


if __name__ == "__main__":
    sys.exit(host.judge_anyone(check, parse_args()))
