#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of functions in recordings of this machine's own programs; README.md in this directory tells how.

    program_names.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import concurrent.futures
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../local"))

# pylint: disable=wrong-import-position
import debug_forms
import disagreements
import elf_names
import host
import judge
import loads
import recordings

HZ = 1999
FIRST_SECONDS, SECOND_SECONDS = 3, 5
WHOLE_SECONDS = 800


def require_host():
    host.require("g++", "protoc", "readelf", "nm", "objcopy", "strip", "xz", "addr2line")
    if host.cgroup_mounts()[1] is None:
        raise host.Skip("no cgroup2 file system is mounted")


class Test:
    def __init__(self, binary, directory, cgroup):
        self.binary, self.directory, self.cgroup = binary, directory, cgroup
        self.reader = recordings.compile_proto(directory)
        self.server = None
        self.problems = []
        self.compared = disagreements.Comparison()

    def build(self, form):
        """The load, or nothing where something for it is missing."""
        directory = f"{self.directory}/{form.__name__}"
        os.makedirs(directory)
        try:
            load = loads.Load(form, directory, self.cgroup)
            if form is debug_forms.by_server:
                self.start_server(load)
            return [load]
        except host.Skip as skip:
            print(f"SKIP {form.__name__}: {skip}", flush=True)
        except (host.Failure, subprocess.TimeoutExpired) as failure:
            self.problems.append(f"{form.__name__}: {failure}")
        return []

    def start_server(self, load):
        self.server = debug_forms.Server(load.directory)
        self.server.wait_for(elf_names.Dump(load.program.path).build_id)

    def options(self, group):
        """Returns options that say where debug files are, and the directories, apart from those of
        the programs."""
        options, debug_dirs = ["--unwind-cache", f"{self.directory}/rows"], ["/usr/lib/debug"]
        for load in group:
            if load.name == debug_forms.by_build_id.__name__:
                debug_dirs = [f"{load.directory}/debug"]
                options += ["--debug-dir", debug_dirs[0]]
            if load.name == debug_forms.by_server.__name__:
                options += ["--debuginfod-urls", self.server.url,
                            "--debuginfod-cache", f"{self.directory}/cache"]
        return options, debug_dirs

    def record(self, group, options):
        """The second of two recordings: names that take long to find may be missing in the first, and tables to unwind
        by, which take seconds to make on a busy machine."""
        path = f"{self.directory}/{group[0].name}.pb.gz"
        with loads.running(group):
            host.wait_until("the programs are busy", lambda: all(load.is_busy() for load in group))
            for seconds in (FIRST_SECONDS, SECOND_SECONDS):
                recordings.make(self.binary, path, seconds, HZ, *options)
        return recordings.read(path, self.reader)

    def build_all(self):
        """{form: its load, or nothing}"""
        forms = [form for group in loads.GROUPS for form in group]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return dict(zip(forms, pool.map(self.build, forms)))

    def run_group(self, group):
        if not group:
            return
        options, debug_dirs = self.options(group)
        samples = self.record(group, options)
        names = elf_names.Names(self.directory, debug_dirs, group)
        for load in group:
            own = [s for s in samples if s.labels.get("cgroup_id") == load.cgroup_id]
            self.problems += judge.check(load, own, names)
            self.compared.add(own, names)

    def run(self):
        print(judge.ROW_TITLE)
        try:
            built = self.build_all()
            for forms in loads.GROUPS:
                self.run_group([load for form in forms for load in built[form]])
        finally:
            if self.server:
                self.server.stop()
        return self.problems + self.compared.check()


def run_test(binary, directory):
    cgroup = f"{host.cgroup_mounts()[1]}/flamelet-{os.path.basename(directory)}"
    os.makedirs(cgroup)
    try:
        test = Test(binary, directory, cgroup)
        return test.run()
    except (host.Failure, subprocess.TimeoutExpired) as failure:
        return test.problems + [str(failure)]
    finally:
        host.kill_cgroup(cgroup)
        host.remove_cgroup(cgroup)


def check(binary):
    require_host()
    host.limit_time(WHOLE_SECONDS)
    with tempfile.TemporaryDirectory(prefix="symbols-") as directory:
        os.chmod(directory, 0o755)
        return run_test(binary, directory)


if __name__ == "__main__":
    sys.exit(host.judge(check, os.path.abspath(sys.argv[1])))
