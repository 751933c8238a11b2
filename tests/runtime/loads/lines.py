# SPDX-License-Identifier: Apache-2.0
"""A load whose calls stand in lines that are hard to tell from the interpreter's tables (truth.py).

    lines.py DIRECTORY
"""

import sys

import truth

ROUNDS = 3000


def work(rounds=ROUNDS):
    truth.note()
    total = 0
    for number in range(rounds):
        total += number & 3
    return total


def closure(first, second):
    kept = first

    def inner(third):
        nonlocal kept
        kept = third
        work()

        return (second +
                work() +
                kept)

    return inner(3)


class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, *_args):
        return True


def after_cleanup():
    with Quiet():
        raise ValueError(
            work())
    work()
    try:
        work()
        int("no number")
    except ValueError as error:
        work(ROUNDS + len(error.args))
    else:
        work()
    finally:
        work()
    work()


def loops():
    number = 0
    while number < 2:
        for _ in (1, 2):
            if number:
                continue
            work()
        number += 1
        if work() < 0:
            break
    else:
        work()


def many_lines():
    return dict(
        one=work(),

        two=(lambda:
             work())(),
        three=[
            work()
            for _ in range(
                2)
            if True
        ],
        four=f"""
        text {
            work()}
        """,
    )


def conditions(truthful=True):
    return (work() and
            truthful or
            work()) if (
                not truthful or
                work()) else work()


def decorator(*_args):
    work()
    return lambda function: function


def decorated():
    @decorator(
        work())
    def function(default=work(),
                 other=work()):
        return default + other

    return function()


def generator():
    kept = 1
    got = yield kept
    work()
    while got:
        got = yield (
            work())
    return (lambda: kept)()


def generators():
    made = generator()
    next(made)
    made.send(1)
    made.send(2)
    made.close()


def match_or_not(value):
    if value == 1:
        pass
    elif work() < 0:
        pass
    elif value == 2: work()
    else:
        work()
    assert work(), "never"
    del value; work()


def far_apart():
    """Its call is 70,000 lines behind its first line."""
    source = "def far():\n" + "    one = 1\n" + "\n" * 70000 + "    return work()\n"
    source += "def wide():\n    one = (" + "1," * 3000 + ")\n    return (work(),\n" + "work(),\n" * 200 + ")\n"
    names = {"work": work}
    exec(compile(source, "far.py", "exec"), names)
    return names["far"], names["wide"]


FAR, WIDE = far_apart()
CALLS = (after_cleanup, loops, many_lines, conditions, decorated, generators, FAR, WIDE)


def main():
    turn = 0
    while True:
        for call in CALLS:
            call()
        closure(1, 2)
        match_or_not(2)
        match_or_not(3)
        turn += 1
        if turn == 1:
            truth.tell(sys.argv[1])


if __name__ == "__main__":
    main()
