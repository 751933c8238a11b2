#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests which guests are tried again."""

import contextlib
import io
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, part) for part in ("../../e2e/local", "../guest", "../conformance")]

# pylint: disable=wrong-import-position
import debian_kernel
import row as rows

KERNEL = debian_kernel.BOOKWORM
BEGUN = {"kernel": ["6.1.0-50-amd64"]}
ENDED = {**BEGUN, "end": [""]}


class Guest:
    """It said `facts`, and recorded nothing."""
    kernel, console, logs, containers = KERNEL, "Kernel panic", "/nonexistent", ()

    def __init__(self, facts, is_late=False):
        self.facts, self.is_late = facts, is_late

    def has_begun(self):
        return "kernel" in self.facts

    def fact(self, key):
        return self.facts.get(key, [""])[0]

    def read(self, _):
        return ""

    log = read


def attempt(*guests):
    """(the row that counts, how many guests were run)"""
    waiting = list(guests)
    with contextlib.redirect_stdout(io.StringIO()):
        row = rows.attempt(lambda _: rows.Row(waiting.pop(0)), KERNEL, "guest")
    return row, len(guests) - len(waiting)


class Attempt(unittest.TestCase):
    def test_a_whole_guest_is_run_once(self):
        row, tries = attempt(Guest(ENDED), Guest(ENDED))
        self.assertEqual((row.faults, tries), ([], 1))

    def test_a_kernel_that_did_not_start_is_tried_again(self):
        row, tries = attempt(Guest({}), Guest({}), Guest(ENDED))
        self.assertEqual((row.faults, tries), ([], 3))

    def test_a_kernel_that_never_starts_is_a_fault(self):
        row, tries = attempt(*[Guest({})] * 4)
        self.assertEqual((len(row.faults), tries), (1, 3))

    def test_a_kernel_that_dies_with_flamelet_is_a_fault_at_once(self):
        row, tries = attempt(Guest(BEGUN), Guest(ENDED))
        self.assertEqual((len(row.faults), tries), (1, 1))
        self.assertIn("Kernel panic", row.faults[0])

    def test_a_guest_that_was_late_is_tried_again(self):
        row, tries = attempt(Guest(BEGUN, is_late=True), Guest(ENDED))
        self.assertEqual((row.faults, tries), ([], 2))

    def test_what_fails_in_time_is_a_fault_at_once(self):
        row, tries = attempt(Guest({**ENDED, "unified.status": ["1"]}), Guest(ENDED))
        self.assertEqual((len(row.faults), tries), (1, 1))


if __name__ == "__main__":
    unittest.main()
