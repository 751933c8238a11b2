# SPDX-License-Identifier: Apache-2.0
"""A load whose stacks are known (truth.py).

    load.py DIRECTORY calls | threads | processes | deep DEPTH | alternate DEPTH | unicode | tasks | texts
"""

import asyncio
import functools
import os
import sys
import threading

import truth

ROUNDS = 4000
# Most of the time of deep calls and of tasks must be spent at their end, however slow the way to it is.
ROUNDS_PER_CALL = 40
ROUNDS_OF_TASK = 6 * ROUNDS
NR_WORKERS = 3


def work(rounds=ROUNDS):
    truth.note()
    total = 0
    for number in range(rounds):
        total += number * number % 7
    return total


def recurse(depth, rounds=ROUNDS):
    if depth == 0:
        return work(rounds)
    return recurse(depth - 1, rounds)


def alternate(depth, rounds=ROUNDS):
    """Each level is a function in C that calls back."""
    if depth == 0:
        return work(rounds)
    return max(map(lambda level: alternate(level - 1, rounds), [depth]))


class Walker:
    """Methods of all kinds."""

    def __init__(self):
        self.start = work()

    @property
    def place(self):
        return work()

    @staticmethod
    def stand():
        return work()

    @classmethod
    def make(cls):
        return cls()

    def step(self):
        return self.leap(lambda: work())

    def leap(self, land):
        return land()

    def __enter__(self):
        return work()

    def __exit__(self, *_args):
        work()

    def __lt__(self, other):
        return work() < 0

    def __call__(self):
        return functools.partial(work, ROUNDS)()


def methods():
    walker = Walker.make()
    walker.step()
    Walker.stand()
    walker()
    return walker.place


def closures():
    count = ROUNDS

    def outer():
        def inner():
            return work(count)
        return inner()

    return outer()


def generate(nr):
    for _ in range(nr):
        yield work()


def delegate(nr):
    yield from generate(nr)


def generators():
    for _ in generate(1):
        work()
    return sum(delegate(2))


def comprehensions():
    rows = [work() for _ in range(1)]
    rows += {work(ROUNDS + row % 2) for row in range(2)}
    return rows + list(work() for _ in range(2))


def contexts():
    with Walker() as found:
        work(ROUNDS + found % 2)


def fail():
    work()
    raise ValueError("as it must")


def exceptions():
    try:
        fail()
    except ValueError:
        work()
    finally:
        work()


def key_of(number):
    return work() % number


def callbacks():
    sorted([3, 1, 2], key=key_of)
    list(map(key_of, [5]))
    functools.reduce(lambda total, number: total + key_of(number), [1, 2, 3])
    max([Walker.stand, Walker.stand], key=lambda function: function())
    sorted([Walker(), Walker()])


def decorate(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper


@decorate
@functools.lru_cache(maxsize=None)
def decorated(turn):
    return work()


def texts(_argument):
    """Code objects that live as long as one call."""
    exec("def compiled():\n\n    return work()\n\ncompiled()", {"work": work})
    eval("work()")


CALLS = (methods, closures, generators, comprehensions, contexts, exceptions, callbacks,
         lambda: decorated(object()), lambda: recurse(10), lambda: alternate(5))


def calls(_argument):
    for call in CALLS:
        call()


def deep(depth):
    recurse(depth, ROUNDS + ROUNDS_PER_CALL * depth)


def alternate_deep(depth):
    alternate(depth, ROUNDS + 2 * ROUNDS_PER_CALL * depth)


def renamed(function, name):
    """A name that no source can have."""
    code = function.__code__
    names = {"co_name": name}
    if hasattr(code, "co_qualname"):
        names["co_qualname"] = name
    function.__code__ = code.replace(**names)
    return function


def größe():
    return работа()


def работа():
    return 数える()


def 数える():
    return pictogram()


def pictogram():
    return work()


def unicode(_argument):
    größe()


async def wait(depth):
    if depth == 0:
        await asyncio.sleep(0)
        return work(ROUNDS_OF_TASK)
    return await wait(depth - 1)


async def gather():
    await asyncio.gather(wait(3), wait(5))
    return work(ROUNDS_OF_TASK)


def tasks(_argument):
    asyncio.run(gather())


CASES = {"calls": calls, "threads": calls, "processes": calls, "deep": deep, "alternate": alternate_deep, "unicode": unicode,
         "tasks": tasks, "texts": texts}


def serve(case, argument, is_noted, is_told):
    """The same line calls the case with notes and without."""
    turn = 0
    while True:
        CASES[case](argument)
        turn += 1
        if turn == 1:
            is_noted()
            is_told()


def serve_in_threads(case, argument, directory):
    noted = threading.Barrier(NR_WORKERS, action=lambda: truth.tell(directory))
    threads = [threading.Thread(target=serve, args=(case, argument, noted.wait, int)) for _ in range(NR_WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    directory, case = sys.argv[1:3]
    argument = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    sys.setrecursionlimit(100000)
    renamed(pictogram, "🔥→𝄞")
    if case == "threads":
        serve_in_threads(case, argument, directory)
    if case == "processes":
        for _ in range(NR_WORKERS - 1):
            if os.fork() == 0:
                break
    serve(case, argument, functools.partial(truth.tell, directory), int)


if __name__ == "__main__":
    main()
