# SPDX-License-Identifier: Apache-2.0
"""A real Python process whose own structures lie to who reads them: lying_python.py KIND

It needs CPython 3.11, whose structures are written here as Include/internal/pycore_frame.h, Include/cpython/code.h and
Include/internal/pycore_interp.h have them. Exit status 77: it cannot be done here."""

import ctypes
import fcntl
import os
import random
import struct
import sys
import time

PAGE = 4096
SYS_USERFAULTFD = 323
UFFDIO_API, UFFDIO_REGISTER = 0xc018aa3f, 0xc020aa00
UFFD_API, MODE_MISSING = 0xaa, 1
PROT_READ_WRITE, PRIVATE_ANONYMOUS, MADV_DONTNEED = 3, 0x22, 4
FRAME_OF_OBJECT = 24        # f_frame in struct _frame
PREVIOUS_OF_FRAME = 48      # in struct _PyInterpreterFrame
HUGE = 64 << 20
NR_FUNCTIONS = 3000
CANNOT_RUN = 77
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p


def poke(address, value):
    ctypes.c_uint64.from_address(address).value = value & (1 << 64) - 1


def word_of(code, value):
    """The place in a code object of a pointer to `value`."""
    for place in range(0, sys.getsizeof(code) & ~7, 8):
        if ctypes.c_uint64.from_address(id(code) + place).value == id(value):
            return id(code) + place
    raise SystemExit(CANNOT_RUN)


def held_page():
    """Whoever reads it waits for ever."""
    fd = LIBC.syscall(SYS_USERFAULTFD, os.O_CLOEXEC)
    address = LIBC.mmap(None, ctypes.c_size_t(PAGE), PROT_READ_WRITE, PRIVATE_ANONYMOUS, -1, ctypes.c_long(0))
    try:
        fcntl.ioctl(fd, UFFDIO_API, struct.pack("=QQQ", UFFD_API, 0, 0))
        fcntl.ioctl(fd, UFFDIO_REGISTER, struct.pack("=QQQQ", address, PAGE, MODE_MISSING, 0))
    except (OSError, ValueError):
        raise SystemExit(CANNOT_RUN) from None
    return address


def spin():
    while True:
        pass


def hold_names():
    """The name of the function is in a page that nobody gives."""
    poke(word_of(spin.__code__, spin.__code__.co_qualname), held_page())
    spin()


def huge_names():
    """Names, files and line tables of 64 MB."""
    spin.__code__ = spin.__code__.replace(co_qualname="x" * HUGE, co_filename="\u20ac" * HUGE, co_linetable=b"\x80" * HUGE)
    spin()


def rewrite_code():
    """Pointers of the code that runs change all the time, but for those by which it runs."""
    code = rewrite_code.__code__
    held = (code.co_qualname, code.co_name, code.co_filename, code.co_linetable)
    places = [word_of(code, item) for item in (held[0], held[2], held[3])]
    values = [id(item) for item in held] + [id(code), id(places), 8, 1 << 47, (1 << 64) - 8]
    while True:
        poke(random.choice(places), random.choice(values) + random.choice((0, 0, 0, 1, 8, 40)))


def rewrite_lengths():
    """Lengths and kinds of the name and of the line table change all the time."""
    code = rewrite_lengths.__code__
    places = [id(code.co_qualname) + 16, id(code.co_qualname) + 32, id(code.co_linetable) + 16, id(code.co_filename) + 16]
    while True:
        poke(random.choice(places), random.choice((0, 1, 1 << 20, 1 << 31, 1 << 40, 1 << 62, (1 << 64) - 1)))
        list(map(abs, range(100)))


def cycle_of_frames():
    """The frame's caller is the frame itself."""
    frame = ctypes.c_uint64.from_address(id(sys._getframe()) + FRAME_OF_OBJECT).value    # pylint: disable=protected-access
    poke(frame + PREVIOUS_OF_FRAME, frame)
    while True:
        pass


def cycle_of_threads():
    """The lists of interpreters and of threads lead back to themselves."""
    ctypes.pythonapi.PyInterpreterState_Get.restype = ctypes.c_void_p
    ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p
    interpreter, thread = ctypes.pythonapi.PyInterpreterState_Get(), ctypes.pythonapi.PyThreadState_Get()
    poke(interpreter, interpreter)
    poke(thread, thread)
    poke(thread + 8, thread)
    while True:
        pass


def many_functions():
    """New functions for ever, each sampled for a moment and gone then."""
    number = 0
    while True:
        number = (number + 1) % NR_FUNCTIONS
        scope = {}
        exec(f"def {'n' * 900}{number}():\n for _ in range(20000): pass", scope)     # pylint: disable=exec-used
        scope.popitem()[1]()


def exec_again():
    """Ends its program while it may be read."""
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    os.execv(sys.executable, [sys.executable, "-S", "-E", __file__, "exec_again"])


def fork_again():
    """Each process is busy for a moment."""
    while True:
        pid = os.fork()
        if pid == 0:
            sum(range(300000))
            os._exit(0)     # pylint: disable=protected-access
        os.waitpid(pid, 0)


KINDS = {kind.__name__: kind for kind in (hold_names, huge_names, rewrite_code, rewrite_lengths, cycle_of_frames,
                                          cycle_of_threads, many_functions, exec_again, fork_again)}

if __name__ == "__main__":
    if sys.version_info[:2] != (3, 11):
        sys.exit(CANNOT_RUN)
    KINDS[sys.argv[1]]()
