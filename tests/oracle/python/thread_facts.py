# SPDX-License-Identifier: Apache-2.0
"""Prints the threads of this Python, as a line of JSON for each line of its input: of each thread its identifier,
which is its thread pointer, the address of its PyThreadState, and, if the thread waits, its code objects and positions,
innermost first. Run by compare_places.py, in Pythons from 3.8 on."""
import ctypes
import hashlib
import json
import sys
import threading
import time

PR_SET_PTRACER = 0x59616D61
THREAD_STATE = ctypes.pythonapi.PyThreadState_Get
THREAD_STATE.restype = ctypes.c_void_p

states = {}
lock = threading.Lock()


def register():
    states[threading.get_ident()] = THREAD_STATE()


def wait():
    with lock:
        pass


def recurse(depth):
    return recurse(depth - 1) if depth else wait()


class Caller:
    def call_back(self, _):
        return recurse(5)


def in_generator():
    yield [sorted([1], key=Caller().call_back) for _ in range(1)]


def sleeper():
    register()
    time.sleep(100_000)


def waiter():
    register()
    list(map(lambda x: next(x), [in_generator()]))


def hasher():
    register()
    while True:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 1_000_000)


def computer():
    register()
    while True:
        sum(range(1000))


def chain(ident):
    frame = sys._current_frames()[ident]
    while frame:
        yield id(frame.f_code), frame.f_lasti
        frame = frame.f_back


def main():
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
    register()
    lock.acquire()
    threads = [threading.Thread(target=target, daemon=True) for target in (sleeper, waiter, waiter, hasher, computer)]
    still = threads[:3]
    if sys.argv[1] == "one":
        threads = still = []
    for thread in threads:
        thread.start()
    while len(states) <= len(threads):
        time.sleep(0.01)
    for _ in sys.stdin:
        facts = {"version": sys.version_info[:3], "states": states,
                 "chains": {thread.ident: list(chain(thread.ident)) for thread in still}}
        print(json.dumps(facts), flush=True)


main()
