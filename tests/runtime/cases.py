# SPDX-License-Identifier: Apache-2.0
"""The loads of each runtime, how much of them should be right (the goals), and how much must be (the floors). Floors are
lower where a runtime keeps what is missing to itself; docs/runtimes.md, "Limits", tells what that is."""

import os
import shutil
import tempfile
from dataclasses import dataclass, field

import host

HERE = os.path.dirname(os.path.abspath(__file__))
LOADS = os.path.join(HERE, "loads")
FLOORS = {"rooted": 99, "chain": 99, "lines": 99, "named": 99, "complete": 50}
GOALS = {
    "cpython": {"rooted": 99.5, "chain": 99.5, "lines": 99.9, "named": 99},
    "v8": {"rooted": 99, "chain": 99, "lines": 99, "named": 99},
    "hotspot": {"rooted": 99.5, "chain": 99, "lines": 99, "named": 99},
}
# Of code in assembly that stands in the program without call frame information.
GIL = {"rooted": 97, "chain": 97}
GIL_GOALS = {"rooted": 99, "chain": 99}
NO_NAMES = {"lines": 0, "named": 0}
# Code that V8 has replaced, or is just making, has no name.
V8 = {"chain": 98}


@dataclass(frozen=True)
class Runtime:
    """An installed runtime: the words that start it, and where its root directory is."""
    kind: str       # as in --runtimes
    name: str
    command: tuple
    root: str = "/"
    environment: tuple = ()     # pairs
    lacks: tuple = ()           # names of cases that it cannot run

    def start(self):
        return (("chroot", self.root) if self.root != "/" else ()) + self.command


@dataclass(frozen=True)
class Case:
    """A load with arguments. `threads`: the beginnings of the names of the threads that it tells of; (): all."""
    name: str
    program: tuple
    arguments: tuple = ()
    nr_processes: int = 1
    threads: tuple = ()
    least: dict = field(default_factory=dict)
    goals: dict = field(default_factory=dict)
    oldest: tuple = ()      # the first version that can run it
    options: tuple = ()     # of the runtime
    package: str = ""       # of PyPI, that the load needs
    is_native: bool = False     # the threads run no code of the load, but the runtime's own
    max_between: int = 0    # per cent of the samples that may be between its tasks; these are not judged
    min_samples: int = 100

    def floors(self):
        return {**FLOORS, **self.least}

    def goals_of(self, kind):
        return {**GOALS[kind], **self.goals}


def python(name, *arguments, program="load.py", **others):
    return Case(name, (program,), arguments, **others)


def script(name, *arguments, program="load.js", **others):
    return Case(name, (program,), arguments, **others)


def java(name, *arguments, program="Load", threads=("load-",), **others):
    return Case(name, (program,), arguments, threads=threads, **others)


CASES = {
    "cpython": (
        python("calls", "calls"),
        python("threads", "threads"),
        python("processes", "processes", nr_processes=3),
        python("deep 300", "deep", "300"),
        # Before 3.11, each call is two frames of the interpreter as well: a stack has 1024.
        python("deep 400", "deep", "400", oldest=(3, 11)),
        python("deep 1000", "deep", "1000", oldest=(3, 11)),
        python("alternate 60", "alternate", "60"),
        # More frames than a stack has, so that the outermost ones are missing.
        python("alternate 300", "alternate", "300", least={"rooted": 0}, goals={"rooted": 0}),
        python("unicode", "unicode"),
        python("tasks", "tasks"),
        # Most of its code is gone before it can be read: such a frame is "[python]".
        python("texts", "texts", least={"chain": 0, "complete": 0, "named": 80},
               goals={"chain": 0, "named": 0}),
        python("gil", "1", program="gil.py", least=GIL, goals=GIL_GOALS),
        python("gil threads", "3", program="gil.py", least=GIL, goals=GIL_GOALS),
        python("lines", program="lines.py"),
        # A greenlet has no Python frames before its first function and after its last one.
        python("greenlets", program="greenlets.py", package="greenlet", max_between=2),
        python("interpreters", "calls", program="interpreters.py"),
    ),
    "v8": (
        script("calls", "calls", least=V8),
        script("deep 400", "deep", "400", least=V8),
        # With Node's own frames, more than a stack has.
        script("deep 1000", "deep", "1000", least={**V8, "rooted": 0}, goals={"rooted": 0}),
        script("workers", "workers", least=V8),
        script("async", "async", least=V8, max_between=15),
        script("inlined", program="fib.js", least=V8),
    ),
    "hotspot": (
        java("calls"),
        java("deep 400", "400"),
        java("deep 1000", "1000"),
        java("calls, interpreted", options=("-Xint",)),
        java("calls, C1", options=("-XX:TieredStopAtLevel=1",)),
        # Without polls in its loops.
        java("calls, serial GC", options=("-XX:+UseSerialGC",)),
        java("virtual threads", program="VT", threads=("ForkJoi",), max_between=3, oldest=(21,)),
        java("collector, compilers", "-1", threads=("GC ", "VM Thread", "C1 ", "C2 "), is_native=True, min_samples=10, least=NO_NAMES,
             goals=NO_NAMES, options=("-XX:+UseParallelGC",)),
    ),
}


def compile_java(directory):
    """For the oldest version that a compiler can, and virtual threads for those that have them."""
    host.require("javac")
    sources = [f"{LOADS}/{name}.java" for name in ("Truth", "Load")]
    host.run("javac", "-nowarn", "-Xlint:-options", "--release", "8", "-g", "-d", directory, *sources)
    compilers = ["javac"] + [f"/usr/lib/jvm/{name}/bin/javac" for name in sorted(os.listdir("/usr/lib/jvm"))]
    for compiler in filter(shutil.which, compilers):
        try:
            host.run(compiler, "--release", "21", "-g", "-cp", directory, "-d", directory, f"{LOADS}/VT.java")
            return
        except host.Failure:
            pass


class Scene:
    """A directory for a runtime, inside its root, with the loads and what they write."""

    def __init__(self, runtime):
        self.runtime = runtime
        parent = os.path.join(runtime.root, "tmp")
        self.outside = tempfile.mkdtemp(prefix="flamelet-runtime-", dir=parent)
        os.chmod(self.outside, 0o755)
        shutil.copytree(LOADS, f"{self.outside}/loads")
        if runtime.kind == "hotspot":
            compile_java(f"{self.outside}/loads")
        self.inside = "/" + os.path.relpath(self.outside, runtime.root)

    def command(self, case, directory):
        inside = f"{self.inside}/{directory}"
        if self.runtime.kind == "hotspot":
            program = ("-Xmx256m", "-cp", f"{self.inside}/loads", *case.options, *case.program)
        else:
            program = (*case.options, f"{self.inside}/loads/{case.program[0]}")
        return [*self.runtime.start(), *program, inside, *case.arguments]

    def close(self):
        shutil.rmtree(self.outside, ignore_errors=True)
