#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records loads whose stacks are known, and prints for each how many of its samples are right.

    check_load.py path/to/flamelet KIND [--program PATH] [--root DIRECTORY] [--case NAME]... [--hz HZ] [--seconds CPU]

KIND is cpython, v8 or hotspot; PATH is the runtime, by default the one of this machine.

The columns are shares of samples: *rooted*: from the first function of the process or thread on, with the outermost
function of the load; *chain*: the functions are exactly those that the load told, in their order; *complete*: up to the
function that is busy. *lines* is the share of right lines of functions that call another one, and *named* the share of
frames with a name. The last column says whether the goals of cases.py are met, or by how much a share is too small.

A load with a share below its floor in cases.py is recorded once more, for longer, and that recording counts.

Exit status 0: no share is below its floor; 1: one is; 77: it cannot run here."""

import argparse
import glob
import json
import os
import shutil
import signal
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("e2e/local", "e2e/symbols", "tests/conformance"):
    sys.path.append(os.path.join(HERE, "../..", folder))

# pylint: disable=wrong-import-position
import cases
import fetch
import host
import judge
import recorder
import recordings
import schema

INSTALLED = {"cpython": "/usr/bin/python3", "v8": "node", "hotspot": "java"}
COLUMNS = ("rooted", "chain", "complete", "lines", "named")
MAX_EARLY = 20      # per cent; a deep stack needs many tables
# How much longer a load is recorded that a short recording does not tell from a wrong one.
LONGER = 4
HANG_SECONDS = 300


class Load:
    """A case at work. It has told its stacks once it is constructed."""

    def __init__(self, scene, case):
        self.case = case
        self.directory = f"{scene.outside}/told"
        shutil.rmtree(self.directory, ignore_errors=True)
        os.mkdir(self.directory)
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": f"{scene.inside}/{case.package}",
                       **dict(scene.runtime.environment)}
        self.process = host.Process(case.name, scene.command(case, "told"), f"{scene.outside}/log",
                                    start_new_session=True, env=environment)
        try:
            self.told = self.wait_until_told()
        except BaseException:
            self.stop()
            raise

    def wait_until_told(self):
        def told():
            if not self.process.is_alive():
                raise host.Failure(f"{self.case.name} ended: {self.process.log()[-1000:]}")
            paths = glob.glob(f"{self.directory}/*.json")
            return paths if len(paths) == self.case.nr_processes else None

        return host.wait_until(f"{self.case.name} tells its stacks", told, HANG_SECONDS)

    def pids(self):
        return [int(os.path.basename(path).partition(".")[0]) for path in self.told]

    def read(self):
        """(version, judge.Truth)"""
        documents = [json.loads(host.read_text(path)) for path in self.told]
        chains = [chain for document in documents for chain in document["chains"]]
        return documents[0]["version"], judge.Truth(chains)

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.finish(first=signal.SIGKILL)


def record(binary, load, hz, seconds, path):
    """Records until the processes together have used that much CPU time."""
    pids = load.pids()
    command = [binary, "record", "-F", str(hz), "-d", "0", "-p", ",".join(map(str, pids)), "-o", path]
    recording = recorder.start(command, f"{path}.log")
    end = sum(map(host.cpu_seconds, pids)) + seconds
    try:
        host.wait_until("the work is done", lambda: sum(map(host.cpu_seconds, pids)) >= end, HANG_SECONDS)
    finally:
        recorder.stop(recording)
    return recordings.read(path, schema.pprof().Profile)


def is_judged(sample, case, threads):
    """A JVM's and V8's threads that run no code of the load are left out."""
    if case.threads:
        return str(sample.labels.get("thread", "")).startswith(case.threads)
    return sample.labels.get("tid") in threads


def judged_samples(samples, runtime, case):
    busy = {sample.labels.get("tid") for sample in samples
            if runtime.kind == "cpython" or judge.frames_of(sample, runtime.kind)
            or sample.labels.get("tid") == sample.labels.get("pid")}
    return [sample for sample in samples if sample.locations and is_judged(sample, case, busy)]


def split_tasks(samples, runtime):
    """(samples in the tasks of a load, the share of those between them in per cent)"""
    tasks = [sample for sample in samples if not judge.is_between_tasks(sample, runtime.kind)]
    total = sum(sample.count for sample in samples)
    return tasks, 100 * (1 - sum(sample.count for sample in tasks) / total) if total else 0


class Row:
    """The row of a load in the table."""

    def __init__(self, runtime, version, case, verdict):
        self.runtime, self.version, self.case = runtime, version, case
        self.nr_samples, self.shares = verdict.counts["samples"], verdict.shares()
        self.short = judge.shortages(verdict, case.goals_of(runtime.kind))

    def wants(self, column):
        return self.case.goals_of(self.runtime.kind)[column] > 0

    def goal(self):
        return ", ".join(f"{key} short by {amount:.2f}" for key, amount in self.short.items()) or "met"

    def __str__(self):
        return (f"{self.runtime.name:<24} {self.version:<12} {self.case.name:<20} {self.nr_samples:>7} "
                + " ".join(f"{self.shares[column]:>8.2f}" for column in COLUMNS) + f"  {self.goal()}")


def check_case(options, scene, case):
    """A few hundred samples may be below a floor by chance, and a slow start is much of a short time. So a long recording
    decides, if a short one has faults."""
    faults = record_and_judge(options, scene, case, options.seconds)
    if faults:
        print(f"    again, for {LONGER} times as long: {'; '.join(faults)}", flush=True)
        options.rows.pop()
        faults = record_and_judge(options, scene, case, LONGER * options.seconds)
    return faults


def record_and_judge(options, scene, case, seconds):
    load = Load(scene, case)
    try:
        version, truth = load.read()
        path = options.keep and f"{options.keep}/{case.name}.pb.gz" or f"{scene.outside}/a.pb.gz"
        samples = record(options.binary, load, options.hz, seconds, path)
    finally:
        load.stop()
    judged, between = judged_samples(samples, scene.runtime, case), 0
    if case.max_between:
        judged, between = split_tasks(judged, scene.runtime)
    if case.is_native:
        verdict = judge.judge_native(judged, scene.runtime.kind)
    else:
        verdict = judge.judge(judged, truth, scene.runtime.kind)
    row = Row(scene.runtime, version, case, verdict)
    options.rows.append(row)
    print(row, flush=True)
    faults = judge.faults(verdict, case.floors())
    if verdict.early() > MAX_EARLY:
        faults.append(f"{verdict.early():.1f} % of the samples came before the tables")
    if between > case.max_between:
        faults.append(f"{between:.1f} % of the samples are between tasks")
    if verdict.counts["samples"] < case.min_samples:
        faults.append(f"only {verdict.counts['samples']} samples")
    if faults or options.verbose:
        print(f"    roots: {verdict.roots.most_common(4)}")
        for text, count in verdict.faulty.most_common(judge.NR_EXAMPLES):
            print(f"    {count} samples: {text}", flush=True)
    return [f"{scene.runtime.name} {version}, {case.name}: {fault}" for fault in faults]


def version_of(runtime):
    """(major, minor), by the words that such programs print."""
    flag = "-version" if runtime.kind == "hotspot" else "--version"
    text = host.run(*runtime.start(), flag, env=dict(os.environ, **dict(runtime.environment)))
    words = text.replace('"', " ").replace("v", " ").replace("-", " ").split()
    number = next(word for word in words if word[0].isdigit())
    return tuple(int(part) for part in number.split(".")[:2] if part.isdigit())


def install_package(scene, package, version):
    """Puts a package of PyPI for that version of Python into the scene. Raises host.Skip if there is none."""
    number = ".".join(map(str, version))
    # "t" for a build without the GIL, whose extensions are of another ABI.
    flags = host.run(*scene.runtime.start(), "-c", "import sys; print(sys.abiflags)",
                     env=dict(os.environ, **dict(scene.runtime.environment))).strip()
    directory = fetch.installed(f"{package}-{number}{flags}", sys.executable, "-m", "pip", "install", "--quiet",
                                "--no-deps", "--only-binary=:all:", "--implementation", "cp", "--python-version", number,
                                "--abi", f"cp{number.replace('.', '')}{flags}", package, "--target")
    shutil.copytree(directory, f"{scene.outside}/{package}", dirs_exist_ok=True)


def check_case_of_version(options, scene, case, version):
    try:
        if case.package:
            install_package(scene, case.package, version)
    except host.Skip as skip:
        print(f"SKIP {scene.runtime.name}, {case.name}: {skip}", flush=True)
        return []
    return check_case(options, scene, case)


def check_runtime(options, runtime):
    """Runs the cases that this version can run."""
    version = version_of(runtime)
    scene = cases.Scene(runtime)
    faults = []
    try:
        for case in cases.CASES[runtime.kind]:
            is_wanted = not options.case or case.name in options.case
            if is_wanted and version >= case.oldest and case.name not in runtime.lacks:
                faults += check_case_of_version(options, scene, case, version)
    finally:
        scene.close()
    return faults


def print_head():
    print(f"{'runtime':<24} {'version':<12} {'load':<20} {'samples':>7} "
          + " ".join(f"{column:>8}" for column in COLUMNS) + "  goals", flush=True)


def add_options(parser):
    parser.add_argument("--case", action="append")
    parser.add_argument("--hz", type=int, default=199)
    parser.add_argument("--seconds", type=float, default=2.0, help="of CPU time that each load is recorded for")
    parser.add_argument("--keep", metavar="DIRECTORY", help="keep the recordings there")
    parser.add_argument("--verbose", action="store_true")
    parser.set_defaults(rows=[])


def check(options):
    schema.skip_unless_available()
    program = options.program or INSTALLED[options.kind]
    if options.root == "/":
        host.require(program)
    print_head()
    return check_runtime(options, cases.Runtime(options.kind, os.path.basename(program), (program,), options.root))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("kind", choices=cases.CASES)
    parser.add_argument("--program")
    parser.add_argument("--root", default="/")
    add_options(parser)
    return host.judge(check, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
