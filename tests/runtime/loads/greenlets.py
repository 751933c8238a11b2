# SPDX-License-Identifier: Apache-2.0
"""A load whose stacks are known (truth.py): greenlets, each of which has a stack of its own.

    greenlets.py DIRECTORY
"""

import functools
import sys

import greenlet

import truth

ROUNDS = 16000
NR_GREENLETS = 3


def work():
    truth.note()
    total = 0
    for number in range(ROUNDS):
        total += number * number % 7
    return total


def key_of(number):
    return work() % number


def climb(depth, switch):
    """Gives up the stack while functions in Python and in C are on it."""
    if depth == 0:
        switch()
        return work()
    return max(map(lambda level: climb(level - 1, switch), [depth]))


def walk(depth, switch):
    """The body of a greenlet."""
    work()
    climb(depth, switch)
    sorted([3, 1, 2], key=key_of)
    switch()
    return work()


def nest(switch):
    """A greenlet that starts another one."""
    greenlet.greenlet(walk).switch(2, switch)
    return work()


def play():
    main = greenlet.getcurrent()
    players = [greenlet.greenlet(functools.partial(walk, 2 * number, main.switch)) for number in range(NR_GREENLETS)]
    players.append(greenlet.greenlet(functools.partial(nest, main.switch)))
    while any(not player.dead for player in players):
        for player in players:
            if not player.dead:
                player.switch()
        work()


def serve(directory):
    turn = 0
    while True:
        play()
        turn += 1
        if turn == 1:
            truth.tell(directory)


if __name__ == "__main__":
    serve(sys.argv[1])
