# SPDX-License-Identifier: Apache-2.0
"""Checks that the frames of a program have the names in its files."""

import bisect
import collections
import os
import re

import host

LEAST_NAMED = 0.99
LEAST_SAMPLES = 100
FALLBACK = re.compile(r".*\+0x[0-9a-f]+|\[[^\]]*\]", re.DOTALL)
FDE = re.compile(r" FDE cie=\S+ pc=([0-9a-f]+)\.\.([0-9a-f]+)")
CALLS = ["main", "drive", "step"]
INLINED = ["mix", "twist", "step"]
WHOLE_SHARE = 0.95
INLINED_SHARE = 0.9


def is_named(location):
    return bool(location.lines) and not FALLBACK.fullmatch(location.lines[-1].name)


class Counts:
    """Of the user frames in code of which something tells the names."""

    def __init__(self):
        self.frames = self.known = self.named = 0
        self.unnamed = collections.Counter()
        self.places, self.named_places = set(), set()

    def add(self, location, count, has_source):
        self.frames += count
        if not has_source:
            return
        self.known += count
        self.places.add(location)
        if is_named(location):
            self.named += count
            self.named_places.add(location)
        else:
            self.unnamed[location.lines[-1].name if location.lines else "nothing"] += count

    def shares(self):
        return (self.named / max(1, self.known), len(self.named_places) / max(1, len(self.places)))

    def row(self):
        shares = " ".join(f"{100 * share:7.2f} %" for share in self.shares())
        top = ", ".join(f"{name} {count}" for name, count in self.unnamed.most_common(3))
        return f"{self.frames:8} {100 * self.known / max(1, self.frames):6.1f} % {shares}  {top}"


ROW_TITLE = f"{'program':16} {'frames':>8} {'source':>8} {'named':>9} {'distinct':>9}  without a name"


def has_source(location, names):
    """`names`: file -> ElfNames or None."""
    tables = names(location.file)
    address = tables.address_of(location.address) if tables else None
    return address is not None and bool(tables.holders(address))


def check_named(load, samples, names):
    """Prints a row of the table and returns what is wrong."""
    counts, known = Counts(), {}
    for sample in samples:
        for location in filter(lambda place: place.is_user(), sample.locations):
            if location not in known:
                known[location] = has_source(location, names)
            counts.add(location, sample.count, known[location])
    print(f"{load.name:16} {counts.row()}", flush=True)
    total = sum(sample.count for sample in samples)
    if total < LEAST_SAMPLES:
        return [f"{load.name}: only {total} samples"]
    return [f"{load.name}: {100 * share:.2f} % of the {what} are named"
            for share, what in zip(counts.shares(), ("frames", "distinct frames"))
            if share < LEAST_NAMED]


def short_name(name):
    """step for layers::step(unsigned long) and main.step"""
    return re.split(r"::|\.", re.sub(r"[<(].*", "", name))[-1]


def read_tags(source):
    """{function: lines it may be at}, {function: its first line} from the comments in the source."""
    lines, first = collections.defaultdict(set), {}
    with open(source, encoding="ascii") as file:
        for number, text in enumerate(file, 1):
            for match in re.finditer(r"(@|\bbegin )(\w+)", text):
                if match[1] == "@":
                    lines[match[2]].add(number)
                else:
                    first[match[2]] = number
    return lines, first


def is_whole(sample):
    """From main to step. The runtimes of Rust and Go have a main of their own."""
    names = [short_name(line.name) for place in reversed(sample.locations)
             for line in reversed(place.lines)]
    calls = [name for name in names if name in CALLS]
    return [name for name, before in zip(calls, [None] + calls) if name != before] == CALLS


def check_calls(load, samples):
    """Stacks that were cut are another test's: the first ones come before code is known."""
    complete = [sample for sample in samples if sample.locations[-1].file]
    total = sum(sample.count for sample in complete)
    whole = sum(sample.count for sample in complete if is_whole(sample))
    if whole >= WHOLE_SHARE * max(total, 1):
        return []
    return [f"{load.name}: only {whole} of {total} stacks have {' > '.join(CALLS)}"]


def wrong_lines(place, tags, first, program):
    """Yields faults in the source lines of a location. Line 0 marks code that the compiler assigns
    to no line."""
    for line in place.lines:
        name = short_name(line.name)
        said = f"{name} at {line.filename}:{line.line}, begins at {line.start_line}"
        if name in tags and (os.path.basename(line.filename) != os.path.basename(program.source)
                             or line.line not in (tags[name] | {0})):
            yield said
        elif name in first and line.start_line != first[name]:
            yield said


def own_calls(place):
    """Innermost first, without the library's functions."""
    return [name for name in (short_name(line.name) for line in place.lines) if name in INLINED]


def check_lines(load, samples):
    """The functions inlined into step, and all their lines."""
    tags, first = read_tags(load.program.source)
    places = collections.Counter()
    for sample in samples:
        for place in sample.locations:
            if place.file == load.program.path and place.lines:
                places[place] += sample.count
    in_step = {place: count for place, count in places.items()
               if short_name(place.lines[-1].name) == "step"}
    inlined = sum(count for place, count in in_step.items()
                  if own_calls(place) == INLINED)
    faults = sorted({f"{load.name}: {said}" for place in places
                     for said in wrong_lines(place, tags, first, load.program)})[:5]
    if inlined < INLINED_SHARE * sum(in_step.values()) or inlined == 0:
        faults.append(f"{load.name}: {inlined} of {sum(in_step.values())} frames in step"
                      f" show {' < '.join(INLINED)}")
    return faults


def read_functions(path):
    """[(first address, end)] of what has call frame information."""
    text = host.run("readelf", "--debug-dump=frames", path, seconds=60)
    return sorted((int(start, 16), int(end, 16)) for start, end in FDE.findall(text))


def function_name(path, functions, address):
    """Returns the name of an address without a symbol: the start of its function, or the address
    itself if it is in no function."""
    start, end = functions[max(bisect.bisect_right(functions, (address, float("inf"))) - 1, 0)]
    return f"{os.path.basename(path)}+{start if start <= address < end else address:#x}"


def check_functions(load, samples, names):
    """The code of a program without symbols, whose every function readelf knows."""
    path = load.program.path
    functions = read_functions(path)
    places = {place for sample in samples for place in sample.locations if place.file == path and place.lines}
    shown = {place.lines[-1].name for place in places}
    faults = [f"{load.name}: {place.lines[-1].name} is {name}" for place in places
              for name in [function_name(path, functions, names(path).address_of(place.address))]
              if FALLBACK.fullmatch(place.lines[-1].name) and place.lines[-1].name != name]
    if len(places) < 2 * len(shown):
        faults.append(f"{load.name}: {len(places)} addresses have {len(shown)} names")
    return faults[:5]


def check(load, samples, names):
    faults = check_named(load, samples, names)
    if load.program and not load.program.has_names:
        faults += check_functions(load, samples, names)
    if load.program and load.program.has_names:
        faults += check_calls(load, samples)
    if load.program and load.program.has_lines:
        faults += check_lines(load, samples)
    return faults
