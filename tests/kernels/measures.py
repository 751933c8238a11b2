# SPDX-License-Identifier: Apache-2.0
"""Figures of a guest's profiles: how many samples its programs' CPU time makes and how many there
are, how many stacks are whole, how many frames have a name, and whether each sample has the names
of its pod."""

import re
from dataclasses import dataclass, field

import pprof_file

# A whole stack has one of them: C, C++ and Rust; their threads; programs as they start; Go and its own stacks.
ROOTS = frozenset(("main", "_start", "start_thread", "_dl_start_user", "runtime.goexit", "runtime.mstart",
                   "runtime.rt0_go", "runtime.mcall", "runtime.morestack"))
# The last frame of a stack that is not whole, as bpf/shared/frames.h says why.
REASON = re.compile(r"\[[a-z][a-z0-9 -]*\]$")
# Last frames of a process's first stacks, by which Flamelet learns of the process.
EARLY = ("[process not known yet]", "[unwind table not loaded yet]")
# Last frames of a stack whose copy is not complete (docs/capture.md): the copy is full, or Go's
# runtime works on another stack.
FULL, OTHER_STACK = "[stack copy too short]", ("runtime.systemstack", "[stack unreadable]")
NAMELESS = re.compile(r"\+0x[0-9a-f]+$|\[unknown\]|\[anon\]")
KERNEL_FILE = "[kernel.kallsyms]"


@dataclass
class Share:
    """`part` of `whole`, and what the rest is: {what: how many}."""
    part: int = 0
    whole: int = 0
    rest: dict = field(default_factory=dict)

    def add(self, is_part, number, what):
        self.whole += number
        if is_part:
            self.part += number
        else:
            self.rest[what] = self.rest.get(what, 0) + number

    def percent(self):
        return 100 * self.part / self.whole if self.whole else 0.0

    def reasons(self, most=3):
        found = sorted(self.rest.items(), key=lambda item: -item[1])[:most]
        return ", ".join(f"{number} {what}" for what, number in found)


class Recording:
    """One profile, by what it says of the containers' programs. `has_copies`: of copied stacks."""

    def __init__(self, path, containers, has_copies):
        with open(path, "rb") as file:
            self.file = pprof_file.PprofFile(file.read())
        self.has_copies = has_copies
        self.containers = {container.name: container for container in containers}
        self.counts = dict.fromkeys(self.containers, 0)
        self.roots = {name: Share() for name in self.containers}
        self.names, self.pods, self.late, self.copied = Share(), Share(), Share(), Share()
        self.in_kernel = 0
        self.mappings = {mapping.id: self.file.strings[mapping.filename] for mapping in self.file.message.mapping}
        for sample in self.file.message.sample:
            self.add(sample)

    def labels(self, sample):
        strings = self.file.strings
        return {strings[label.key]: strings[label.str] for label in sample.label if label.str}

    def add(self, sample):
        labels = self.labels(sample)
        container = self.containers.get(labels.get("comm"))
        if not container:
            return
        number, frames = sample.value[0], self.file.names(sample)
        self.counts[container.name] += number
        last = frames[-1] if frames else "no frame"
        self.late.add(last not in EARLY, number, last)
        if last not in EARLY:
            self.add_root(container, frames, number)
        self.add_names(sample, container, number)
        wrong = [f"{key} {labels.get(key)}" for key, value in container.labels().items() if labels.get(key) != value]
        self.pods.add(not wrong, number, f"{container.name}: {' '.join(wrong)}")

    def add_root(self, container, frames, number):
        last = frames[-1] if frames else "no frame"
        is_copied = not self.has_copies or (last != FULL and tuple(frames[-2:]) != OTHER_STACK)
        self.copied.add(is_copied, number, f"{container.name} {last}")
        if is_copied:
            is_whole = not REASON.match(last) and any(frame.removesuffix(".abi0") in ROOTS for frame in frames)
            self.roots[container.name].add(is_whole, number, last)

    def add_names(self, sample, container, number):
        """Of the kernel's and the program's own frames; libraries may have been stripped of their names."""
        in_kernel = False
        for index in sample.location_id:
            location = self.file.locations[index]
            path = self.mappings.get(location.mapping_id, "")
            in_kernel |= path == KERNEL_FILE
            if path == KERNEL_FILE or path.endswith(f"/{container.name}"):
                names = [self.file.strings[self.file.functions[line.function_id].name] for line in location.line]
                nameless = [name for name in names or [""] if not name or NAMELESS.search(name)]
                self.names.add(not nameless, number, "".join(nameless) or "no name")
        self.in_kernel += number * in_kernel

    def root(self):
        total = Share()
        for name, share in self.roots.items():
            total.part, total.whole = total.part + share.part, total.whole + share.whole
            for what, number in share.rest.items():
                what = f"{name} {what}"
                total.rest[what] = total.rest.get(what, 0) + number
        return total


def cpu_seconds(facts, name):
    """{container: CPU time while the recording was made}"""
    used = {}
    for sign, key in ((-1, f"{name}.before"), (1, f"{name}.after")):
        for text in facts.get(key, ()):
            container, microseconds = text.split()
            used[container] = used.get(container, 0.0) + sign * int(microseconds) / 1e6
    return used
