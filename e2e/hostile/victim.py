# SPDX-License-Identifier: Apache-2.0
"""Somebody else's program in Python, busy for ever in a function whose name the test changes in each copy."""


def victim_0000(turns):
    for _ in range(turns):
        pass


def middle(turns):
    victim_0000(turns)


def main():
    while True:
        middle(100000)


main()
