# SPDX-License-Identifier: Apache-2.0
"""For each architecture: the names of readelf(1) and rows_dump, the rules that exist, and the
places of files."""
import dataclasses
import os


CACHE = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))


@dataclasses.dataclass(frozen=True)
class Machine:
    numbers: list  # registers by DWARF number
    stack_pointer: str
    frame_pointer: str
    saved: list  # those that rules have places for
    max_place: int  # how far from the CFA that is, in bytes
    return_register: str  # that has the return address until it is saved, or "u"
    names: dict  # what readelf calls otherwise
    native: str  # uname -m
    compiler_prefix: str  # of cross compilers on other machines
    go_arch: str
    root: str  # of installed files, on other machines

    @property
    def is_native(self):
        return os.uname().machine == self.native


X86_64 = Machine(
    numbers="rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra".split(),
    stack_pointer="rsp",
    frame_pointer="rbp",
    saved="rbp rbx r12 r13 r14 r15".split(),
    max_place=8 * 126,
    return_register="u",
    names={"rip": "ra"},
    native="x86_64",
    compiler_prefix="x86_64-linux-gnu-",
    go_arch="amd64",
    root="",
)
ARM64 = Machine(
    numbers=[f"x{i}" for i in range(31)] + ["sp"],
    stack_pointer="sp",
    frame_pointer="x29",
    saved=["x29"],
    max_place=8 * 32766,
    return_register="x30",
    names={"x30": "ra"},
    native="aarch64",
    compiler_prefix="aarch64-linux-gnu-",
    go_arch="arm64",
    root=os.path.join(CACHE, "flamelet/arm64-sysroot"),
)
BY_NAME = {"x86-64": X86_64, "arm64": ARM64}
