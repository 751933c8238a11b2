#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests judge.py: it accepts right stacks, and recognizes each kind of wrong ones."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "../../e2e/symbols"), os.path.join(HERE, "../../e2e/local")]

# pylint: disable=wrong-import-position
import judge
from recordings import Line, Location, Sample

NATIVE = "/usr/bin/native"
ALL = {"rooted": 100, "chain": 100, "complete": 100, "lines": 100, "named": 100}


def told(*frames):
    return [{"name": name, "file": f"/load/{file}", "line": line, "start_line": 1, "last_line": 99}
            for name, file, line in frames]


PYTHON = judge.Truth([
    told(("<module>", "load.py", 9), ("main", "load.py", 7), ("work", "load.py", 2)),
    told(("<module>", "load.py", 9), ("main", "load.py", 8), ("Map.step", "load.py", 5), ("work", "load.py", 2)),
])
NODE = judge.Truth([
    told(("Module._load", "loader", 3), ("", "load.js", 9), ("get size", "load.js", 4), ("work", "load.js", 2)),
])
JVM = judge.Truth([
    told(("java.lang.Thread.run", "Thread.java", 5), ("Load.main", "Load.java", 8), ("Load.work", "Load.java", 2)),
])


def native(name):
    return Location(NATIVE, 16, (Line(name, name, "", 0, 0),))


def stop(name):
    return Location("", 0, (Line(name, "", "", 0, 0),))


def frame(name, file, line):
    return Location("[runtime]", 0, (Line(name, name, f"/load/{file}", line, 1),))


def inlined(*frames):
    """One place in the code; the outermost frame first."""
    return Location("[runtime]", 0, tuple(Line(name, name, file, line, 1) for name, file, line in reversed(frames)))


def sample(*locations):
    """Outermost first."""
    return Sample({}, 10, list(reversed(locations)))


START = native("_start")
MODULE = frame("<module>", "load.py", 9)
NAMELESS = Location("[anon]", 0, (Line("[anon]", "", "", 0, 0),))
STUB = Location("[anon]", 0, (Line("StubRoutines (1)", "", "", 0, 0),))
WORK = frame("work", "load.py", 3)

# What it is, the truth, the runtime, the sample, the columns that are below 100 %.
STACKS = (
    ("a chain", PYTHON, "cpython", (START, MODULE, frame("main", "load.py", 7), native("list_sort"), WORK), ""),
    ("another chain", PYTHON, "cpython", (START, MODULE, frame("main", "load.py", 8),
                                          frame("Map.step", "load.py", 5), WORK), ""),
    ("the outer part of a chain", PYTHON, "cpython", (START, MODULE, frame("main", "load.py", 3)), "complete"),
    ("work of the library", PYTHON, "cpython", (START, MODULE, frame("main", "load.py", 3),
                                                frame("sort", "library.py", 3)), "complete"),
    ("a wrong line", PYTHON, "cpython", (START, MODULE, frame("main", "load.py", 6), WORK), "lines"),
    ("a frame too few", PYTHON, "cpython", (START, MODULE, WORK), "chain complete lines"),
    ("the outermost frame is missing", PYTHON, "cpython", (START, frame("main", "load.py", 7), WORK),
     "rooted chain complete lines"),
    ("a frame too many", PYTHON, "cpython", (START, MODULE, frame("main", "load.py", 7), WORK, WORK), "chain"),
    ("the wrong order", PYTHON, "cpython", (START, MODULE, WORK, frame("main", "load.py", 7)),
     "chain complete lines"),
    ("no frame of the runtime", PYTHON, "cpython", (START, native("_PyEval_EvalFrameDefault")),
     "rooted chain complete lines named"),
    ("Python frames of another stack", PYTHON, "cpython", (MODULE, frame("main", "load.py", 3), stop("[Python frames of another stack]"),
                                                           START, native("g_switch")), "complete"),
    ("such frames below a stack that ends early", PYTHON, "cpython",
     (MODULE, frame("main", "load.py", 3), stop("[Python frames of another stack]"), stop("[no frame pointer]"),
      native("g_switch")), "rooted complete"),
    ("a nameless frame", PYTHON, "cpython", (START, MODULE, NAMELESS, WORK), "chain complete lines named"),
    ("nameless frames alone", NODE, "v8", (START, NAMELESS, NAMELESS), "rooted chain complete lines named"),
    ("a stub of the JVM", JVM, "hotspot", (START, frame("java.lang.Thread.run", "Thread.java", 5), STUB,
                                           frame("Load.main", "Load.java", 8), frame("Load.work", "Load.java", 3)), ""),
    ("no native root", PYTHON, "cpython", (MODULE, frame("main", "load.py", 7), WORK), "rooted"),
    ("a stack that ends early", PYTHON, "cpython", (stop("[stack unreadable]"), MODULE,
                                                    frame("main", "load.py", 7), WORK), "rooted"),
    ("a stack before its tables", PYTHON, "cpython", (stop("[unwind table not loaded yet]"), WORK),
     "rooted chain complete lines named"),
    ("a cut stack", PYTHON, "cpython", (stop("[stack too deep]"), frame("main", "load.py", 7), WORK), "rooted"),
    ("names of JavaScript", NODE, "v8", (START, frame("_load", "loader", 3), frame("(anonymous)", "load.js", 9),
                                         frame("Shape.size", "load.js", 4), frame("work", "load.js", 3)), ""),
    ("Node's own frames outside", NODE, "v8", (START, frame("main", "internal", 3), frame("_load", "loader", 3),
                                               frame("", "load.js", 9), frame("size", "load.js", 4),
                                               frame("work", "load.js", 3)), ""),
    ("a JVM around JavaScript", NODE, "v8", (START, STUB, frame("Script.main", "Script.java", 21),
                                             frame("_load", "loader", 3), frame("(anonymous)", "load.js", 9), frame("Shape.size", "load.js", 4),
                                             frame("work", "load.js", 3)), ""),
    ("inlined functions", JVM, "hotspot", (START, frame("java.lang.Thread.run", "Thread.java", 5),
                                           inlined(("Load.main", "Load.java", 8), ("Load.work", "Load.java", 3))), ""),
    ("an inlined function is missing", JVM, "hotspot", (START, frame("java.lang.Thread.run", "Thread.java", 5),
                                                        frame("Load.work", "Load.java", 3)), "chain complete lines"),
    ("a hidden class", JVM, "hotspot", (START, frame("java.lang.Thread.run", "Thread.java", 5),
                                        frame("Load$$Lambda.run", "", 0), frame("Load.main", "Load.java", 8),
                                        frame("Load.work", "Load.java", 3)), ""),
    ("the end of a virtual thread", JVM, "hotspot", (stop("[continuation]"),
                                                     frame("Load.main", "Load.java", 8),
                                                     frame("Load.work", "Load.java", 3)), ""),
    ("a virtual thread on its carrier", JVM, "hotspot", (START, frame("Carrier.run", "Carrier.java", 5),
                                                         stop("[continuation]"), frame("Load.main", "Load.java", 8),
                                                         frame("Load.work", "Load.java", 3)), ""),
)


# What it is, the sample, the columns that are below 100 %.
NATIVE_STACKS = (
    ("a collector's stack", (START, native("GCTask::do_it")), ""),
    ("one with a frame of the runtime", (START, frame("Load.main", "Load.java", 8)), "chain complete"),
    ("one that ends early", (stop("[no frame pointer]"), native("GCTask::do_it")), "rooted"),
)


CARRIER = frame("java.util.concurrent.ForkJoinPool.scan", "ForkJoinPool.java", 3)
CONTINUATION = stop("[continuation]")

# What it is, the runtime, the sample, whether it is between tasks.
LOOP_STACKS = (
    ("an event loop's stack", "v8", (START, native("uv_run")), True),
    ("one with a frame of the load", "v8", (START, native("uv_run"), frame("work", "load.js", 3)), False),
    ("one with code without a name", "v8", (START, native("uv_run"), NAMELESS), False),
    ("one that ends early", "v8", (stop("[no frame pointer]"), native("uv_run")), False),
    ("a carrier's stack", "hotspot", (START, CARRIER), True),
    ("one that ends early", "hotspot", (stop("[no frame pointer]"), CARRIER), False),
    ("one with a frame of the load", "hotspot", (START, CARRIER, CONTINUATION, frame("VT.work", "VT.java", 3)), False),
    ("one with code without a name", "hotspot", (START, CARRIER, NAMELESS), False),
    ("a virtual thread that is being resumed", "hotspot", (START, CARRIER, CONTINUATION, native("thaw")), True),
    ("the same without its carrier", "hotspot", (CONTINUATION, native("thaw")), True),
    ("a virtual thread in Java's library", "hotspot", (CONTINUATION, frame("java.lang.Thread.yield", "Thread.java", 5)), True),
    ("one with a frame of the load below", "hotspot",
     (CONTINUATION, frame("VT.descend", "VT.java", 5), frame("java.lang.Thread.yield", "Thread.java", 5)), False),
)


def check_loop(what, runtime, locations, expected):
    return [] if judge.is_between_tasks(sample(*locations), runtime) == expected else [f"{what}: not {expected}"]


def check_native(what, locations, expected):
    shares = judge.judge_native([sample(*locations)], "hotspot").shares()
    low = sorted(key for key in ("rooted", "chain", "complete") if shares[key] < 100)
    return [] if low == sorted(expected.split()) else [f"{what}: {low} are low, not {expected.split()}"]


def check(what, truth, runtime, locations, expected):
    verdict = judge.judge([sample(*locations)], truth, runtime)
    low = sorted(key for key, share in verdict.shares().items() if share < ALL[key])
    if low != sorted(expected.split()):
        return [f"{what}: {low} are low, not {expected.split()}"]
    nr_faults = len(judge.faults(verdict, ALL))
    return [] if nr_faults == len(low) else [f"{what}: {nr_faults} faults for {low}"]


def main():
    faults = [fault for stack in STACKS for fault in check(*stack)]
    faults += [fault for stack in NATIVE_STACKS for fault in check_native(*stack)]
    faults += [fault for stack in LOOP_STACKS for fault in check_loop(*stack)]
    for fault in faults:
        print(f"FAIL: {fault}")
    print(f"{len(STACKS) + len(NATIVE_STACKS) + len(LOOP_STACKS)} stacks, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
