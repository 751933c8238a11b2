# SPDX-License-Identifier: Apache-2.0
"""Compares the samples of a load with what the load itself told of its stacks (loads/truth.py).

A sample is right if its frames of the runtime, from the outermost one on, are the outer part of a chain that was told.
Frames of the runtime's own library may follow: the load told no chains that end there. The line of a frame is judged if
it is in the load's source and calls a frame that was told; any other line may be right as well."""

import collections
import os
import re
from dataclasses import dataclass, field

KERNEL = "[kernel.kallsyms]"
TOO_DEEP = "too deep"
# A recording's first stacks of a program may end so.
NOT_YET = ("[unwind table not loaded yet]", "[process not known yet]")
NR_EXAMPLES = 3

HIDDEN = re.compile(r"\$\$Lambda|LambdaForm|^java\.lang\.invoke\.|^jdk\.internal\.vm\.|^java\.lang\.Thread\.runWith\b")
# A virtual thread whose other frames are not on the stack.
CONTINUATION = "[continuation]"
# What follows is of a greenlet that is not on the native stack.
APART = "[Python frames of another stack]"
ANONYMOUS = re.compile(r"[(<\[]?anonymous[)>\]]?$")
LOADS = ("load.py", "gil.py", "lines.py", "far.py", "greenlets.py", "load.js", "fib.js", "Load.java", "VT.java")
SOURCES = (".py", ".js", ".mjs", ".cjs", ".java", "<string>")
INTERNAL = ("<frozen ", "node:", "internal/")


@dataclass(frozen=True)
class Frame:
    name: str
    file: str       # without its directory
    line: int


@dataclass
class Node:
    """A call in the tree of all chains."""
    frame: Frame
    last_line: int = 0
    is_end: bool = False
    calls: dict = field(default_factory=dict)   # Frame: Node

    def add(self, chain):
        node = self
        for told in chain:
            frame = Frame(told["name"], os.path.basename(told["file"]), told["line"])
            node = node.calls.setdefault(frame, Node(frame, told["last_line"]))
        node.is_end = True

    def below(self):
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(node.calls.values())


class Truth:
    """The chains of all processes of a load."""

    def __init__(self, chains):
        self.root = Node(Frame("", "", 0))
        for chain in chains:
            self.root.add(chain)
        self.nodes = list(self.root.below())


def is_nameless(frame):
    """A place that the profiler could not name: "[anon]"."""
    return frame.name.startswith("[") and not frame.file


def is_library(frame):
    return frame.file not in LOADS and not is_nameless(frame)


def is_hidden(frame, runtime):
    """Frames that the runtime itself does not tell of: a JVM's own classes of lambdas, and its stubs; all frames of a JVM
    that V8 is in."""
    if runtime == "v8" and (frame.file.endswith(".java") or frame.name.startswith("StubRoutines")):
        return True
    is_stub = runtime == "hotspot" and not frame.file and not is_nameless(frame) and not re.fullmatch(r"[^ ]+\.[^ .]+(\(.*)?", frame.name)
    return is_stub or HIDDEN.search(frame.name)


def short(name):
    """Of a function in JavaScript, the part that all its names have: "get size", "Shape.size"."""
    return re.split(r"[. ]", name)[-1]


def same_name(told, found, runtime):
    if runtime != "v8":
        return told == found.partition("(")[0]
    return not told or ANONYMOUS.search(found) or short(told) == short(found)


def matches(told, found, runtime):
    if is_nameless(found) or (told.file and found.file and told.file != found.file):
        return False
    return same_name(told.name, found.name, runtime)


def is_of_runtime(location):
    """Code of a runtime has a source file of its language, or no file of machine code."""
    files = [line.filename for line in location.lines]
    if any(file.endswith(SOURCES) or file.startswith(INTERNAL) for file in files):
        return True
    return location.file not in ("", KERNEL, "[vdso]") and not location.file.startswith("/")


def is_mark(location, name):
    return bool(location.lines) and location.lines[0].name == name


def is_continuation(location):
    return is_mark(location, CONTINUATION)


def frames_of(sample, runtime):
    """The frames of the runtime in a sample, outermost first; without those of the thread that carries a virtual one."""
    frames = []
    for location in reversed(sample.locations):
        if is_continuation(location):
            frames = []
        elif is_of_runtime(location):
            frames += [Frame(line.name, os.path.basename(line.filename), line.line)
                       for line in reversed(location.lines)]
    return [frame for frame in frames if not is_hidden(frame, runtime)]


@dataclass
class Match:
    """The part of a chain that a sample follows."""
    nr_frames: int = 0
    nr_lines: int = 0       # that are judged
    nr_wrong_lines: int = 0
    is_complete: bool = False
    is_right: bool = False


def begin(truth, frames, runtime, is_cut):
    """(the frames from the outermost known one on, the nodes that it may be). A JVM and Node run code of their own before
    the load's that their stack traces do not show; where a stack was cut, its outermost frame may be any."""
    first = truth.nodes[1:] if is_cut else truth.root.calls.values()
    for skipped, frame in enumerate(frames):
        found = [node for node in first if matches(node.frame, frame, runtime)]
        if found or runtime == "cpython" or not is_library(frame):
            return frames[skipped:], found
    return [], []


def follow(truth, frames, runtime, is_cut=False):
    """Walks down the tree, along all chains that have these names; the one with the fewest wrong lines counts."""
    frames, nodes = begin(truth, frames, runtime, is_cut)
    states = {id(node): (node, 0) for node in nodes}
    match = Match(nr_frames=1 if states else 0)
    for caller, callee in zip(frames, frames[1:]):
        following = {}
        for node, nr_wrong in states.values():
            nr_wrong += not is_library(caller) and node.frame.line != caller.line
            for called in node.calls.values():
                if matches(called.frame, callee, runtime):
                    known = following.get(id(called), (called, nr_wrong))
                    following[id(called)] = (called, min(nr_wrong, known[1]))
        if not following:
            break
        states = following
        match.nr_frames += 1
        match.nr_lines += not is_library(caller)
    match.nr_wrong_lines = min((nr_wrong for _, nr_wrong in states.values()), default=0)
    match.is_complete = any(node.is_end for node, _ in states.values())
    match.is_right = match.nr_frames > 0 and all(is_library(frame) for frame in frames[match.nr_frames:])
    return match


def native_end(sample):
    """The last location of the native stack."""
    for location, following in zip(sample.locations, sample.locations[1:]):
        if is_mark(following, APART):
            return location
    return sample.locations[-1]


def stop_of(sample):
    """Why a stack ends before its native root; "" if it does not."""
    last = native_end(sample)
    if is_of_runtime(last):
        return "no native root"
    return last.lines[0].name if last.file == "" and last.lines else ""


def is_between_tasks(sample, runtime):
    """A whole stack without code of the runtime: its event loop looks for the next task, or collects garbage. A JVM's
    scheduler of virtual threads is in Java. A thread that it resumes has no frames until they are put back."""
    frames = frames_of(sample, runtime)
    if runtime == "hotspot":
        return stop_of(sample) in ("", CONTINUATION) and all(map(is_library, frames))
    return not stop_of(sample) and not frames


class Verdict:
    """Counts of samples, of lines and of frames."""

    def __init__(self):
        self.counts = collections.Counter()
        self.roots = collections.Counter()
        self.faulty = collections.Counter()
        self.matches = {}   # of stacks that were judged: many samples have the same

    def share(self, part, whole):
        return 100 * self.counts[part] / self.counts[whole] if self.counts[whole] else 0.0

    def shares(self):
        return {"rooted": self.share("rooted", "samples"), "chain": self.share("right", "samples"),
                "complete": self.share("complete", "samples"), "lines": self.share("right lines", "lines"),
                "named": self.share("named", "frames")}

    def early(self):
        """The share of samples before all tables were there; the others are judged."""
        return self.share("early", "all")

    def follow(self, truth, frames, runtime, is_cut):
        key = (tuple(frames), is_cut)
        if key not in self.matches:
            self.matches[key] = follow(truth, frames, runtime, is_cut)
        return self.matches[key]

    def add(self, sample, truth, runtime):
        frames, stop = frames_of(sample, runtime), stop_of(sample)
        self.counts["all"] += sample.count
        if stop in NOT_YET:
            self.counts["early"] += sample.count
            return
        is_virtual = any(map(is_continuation, sample.locations))
        match = self.follow(truth, frames, runtime, is_virtual or TOO_DEEP in stop)
        named = sum(not is_nameless(frame) for frame in frames)
        is_rooted = match.nr_frames > 0 and (not stop or is_virtual)
        for key, value in (("samples", 1), ("rooted", is_rooted), ("right", match.is_right),
                           ("complete", match.is_complete), ("lines", match.nr_lines), ("named", named),
                           ("right lines", match.nr_lines - match.nr_wrong_lines), ("frames", len(frames))):
            self.counts[key] += value * sample.count
        self.roots[stop or native_end(sample).lines[0].name] += sample.count
        if not match.is_right or match.nr_wrong_lines or not is_rooted:
            self.faulty[describe(frames, match, stop)] += sample.count

    def add_native(self, sample, runtime):
        """Of a thread that has no frames of the runtime."""
        stop = stop_of(sample)
        self.counts["all"] += sample.count
        if stop in NOT_YET:
            self.counts["early"] += sample.count
            return
        frames = frames_of(sample, runtime)
        for key, value in (("samples", 1), ("rooted", not stop), ("right", not frames), ("complete", not frames)):
            self.counts[key] += value * sample.count
        self.roots[stop or sample.locations[-1].lines[0].name] += sample.count
        if frames or stop:
            self.faulty[describe(frames, Match(), stop)] += sample.count


def describe(frames, match, stop):
    shown = [f"{frame.name}:{frame.line}" for frame in frames]
    if len(shown) > 24:
        shown = shown[:12] + ["..."] + shown[-12:]
    return (f"{match.nr_frames} of {len(frames)} frames follow, {match.nr_wrong_lines} wrong lines, "
            f"{stop or 'rooted'}: {' > '.join(shown)}")


def judge_native(samples, runtime):
    verdict = Verdict()
    for sample in samples:
        verdict.add_native(sample, runtime)
    return verdict


def judge(samples, truth, runtime):
    verdict = Verdict()
    for sample in samples:
        verdict.add(sample, truth, runtime)
    return verdict


def shortages(verdict, wanted):
    """By how much shares are too small."""
    shares = verdict.shares()
    return {key: share - shares[key] for key, share in wanted.items() if shares[key] < share}


def faults(verdict, least):
    shares = verdict.shares()
    return [f"{key} {shares[key]:.2f} %, not {least[key]:g} %" for key in shortages(verdict, least)]
