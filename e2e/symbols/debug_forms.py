# SPDX-License-Identifier: Apache-2.0
"""Builds programs/layers.* in the forms in which programs are shipped: with or without symbols, and with
their debug information in the places where it may be."""

from dataclasses import dataclass
import os
import shutil
import urllib.error
import urllib.request

import elf_names
import host

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


@dataclass
class Program:
    path: str
    source: str
    twin: str = None            # the same with all symbols and debug information
    has_names: bool = True      # somewhere
    has_lines: bool = True


def build_cpp(path, tweak):
    """Each with code and a build id of its own."""
    source = f"{PROGRAMS}/layers.cpp"
    host.run("g++", "-g", "-O2", f"-DTWEAK={tweak}", "-Wl,--build-id", source, "-o", path)
    return Program(path, source)


def strip(program):
    """Strips it; what it was becomes its twin."""
    program.twin = program.path + ".twin"
    shutil.copy2(program.path, program.twin)
    host.run("strip", "--strip-all", program.path)
    return program


def plain(directory):
    return build_cpp(f"{directory}/l_plain", 1)


def cpp_templates(directory):
    path = f"{directory}/templates"
    host.run("g++", "-g", "-O2", "-std=c++17", f"{PROGRAMS}/templates.cpp", "-o", path, seconds=60)
    return [path]


def names_by_nm(path, *options, types="T"):
    lines = host.run("nm", "--format=posix", "--defined-only", *options, path).splitlines()
    return {line.split()[0] for line in lines if line.split()[1] in types}


def mini_debug_info(directory):
    """As in Fedora's packages: an xz-compressed file with the functions that .dynsym does not have."""
    program = strip(build_cpp(f"{directory}/l_mini", 2))
    program.has_lines = False
    debug, mini, keep = (f"{directory}/{name}" for name in ("m.debug", "m.mini", "m.keep"))
    missing = names_by_nm(program.twin, types="TtD") - names_by_nm(program.path, "-D", types="TtDWw")
    with open(keep, "w", encoding="ascii") as file:
        file.write("\n".join(sorted(missing)) + "\n")
    host.run("objcopy", "--only-keep-debug", program.twin, debug)
    host.run("objcopy", "-S", "--remove-section", ".comment", f"--keep-symbols={keep}", debug, mini)
    host.run("xz", mini)
    host.run("objcopy", "--add-section", f".gnu_debugdata={mini}.xz", program.path)
    return program


def split_off(program, debug_path):
    os.makedirs(os.path.dirname(debug_path), exist_ok=True)
    host.run("objcopy", "--only-keep-debug", program.path, debug_path)
    return strip(program)


def by_build_id(directory, name="l_build_id", tweak=3):
    """In directory/debug, which stands for /usr/lib/debug."""
    program = build_cpp(f"{directory}/{name}", tweak)
    build_id = elf_names.Dump(program.path).build_id
    return split_off(program, f"{directory}/debug/.build-id/{build_id}.debug")


def by_link(directory):
    debug_path = f"{directory}/.debug/l_link.debug"
    program = split_off(build_cpp(f"{directory}/l_link", 4), debug_path)
    host.run("objcopy", f"--add-gnu-debuglink={debug_path}", program.path)
    return program


def by_server(directory):
    """On a server only, which has files from directory/server."""
    program = build_cpp(f"{directory}/l_server", 5)
    return split_off(program, f"{directory}/server/l_server.debug")


def musl(directory):
    host.require("musl-gcc")
    source = f"{PROGRAMS}/layers.c"
    host.run("musl-gcc", "-static", "-g", "-O2", source, "-o", f"{directory}/l_musl")
    return Program(f"{directory}/l_musl", source)


def build_rust(path, *options):
    host.require("rustc")
    source = f"{PROGRAMS}/layers.rs"
    host.run("rustc", "-O", "-g", *options, source, "-o", path, seconds=120)
    return Program(path, source)


def rust(directory):
    return build_rust(f"{directory}/l_rust")


def rust_generics(directory):
    """Much inlined into each other, for addr2line to compare with."""
    host.require("rustc")
    path = f"{directory}/generics"
    host.run("rustc", "-O", "-g", f"{PROGRAMS}/generics.rs", "-o", path, seconds=120)
    return [path]


def rust_v0(directory):
    return build_rust(f"{directory}/l_rust_v0", "-Csymbol-mangling-version=v0")


def rust_stripped(directory):
    """Nothing is left that could tell its functions' names."""
    program = build_rust(f"{directory}/l_rust_strip", "-Cstrip=symbols")
    program.has_names = program.has_lines = False
    return program


def go_collector(directory):
    host.require("go")
    path = f"{directory}/collector"
    host.run("go", "build", "-o", path, f"{PROGRAMS}/collector.go", seconds=200)
    return [path]


def build_go(path, *options):
    host.require("go")
    source = f"{PROGRAMS}/layers.go"
    host.run("go", "build", *options, "-o", path, source, seconds=200)
    return Program(path, source)


def go(directory):
    return build_go(f"{directory}/l_go")


def go_stripped(directory):
    """The runtime's table of functions stays, with names."""
    program = build_go(f"{directory}/l_go_strip", "-ldflags=-s -w")
    program.twin = build_go(f"{directory}/l_go_strip.twin").path
    program.has_lines = False
    if code_of(program.path) != code_of(program.twin):
        raise host.Failure("the linker put the code of a stripped Go program elsewhere")
    return program


def code_of(path):
    return [section for section in elf_names.Dump(path).sections if "X" in section[3]]


class Server:
    """A debuginfod server for directory/server."""

    def __init__(self, directory):
        host.require("debuginfod")
        self.url = f"http://127.0.0.1:{host.free_port()}"
        self.process = host.Process("debuginfod", [
            "debuginfod", "-d", ":memory:", "-p", self.url.rpartition(":")[2],
            "-F", f"{directory}/server"], f"{directory}/debuginfod.log")

    def wait_for(self, build_id):
        """Until it has read its files."""
        url = f"{self.url}/buildid/{build_id.replace('/', '')}/debuginfo"
        host.wait_until("debuginfod knows the file", lambda: self.has(url), pause=0.2)

    def has(self, url):
        if not self.process.is_alive():
            raise host.Failure("debuginfod ended: " + self.process.log())
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def stop(self):
        self.process.stop()
