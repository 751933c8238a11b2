#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests which sizes check_instructions rejects, and which it accepts."""

import os
import tempfile
import unittest

import check_instructions

KNOWN = {("6.1", "x86_64", "sample"): 1000, ("6.1", "x86_64", "fork"): 10, ("6.12", "x86_64", "sample"): 2000,
         ("6.12", "x86_64", "fork"): 10, ("7", "x86_64", "sample"): 3000, ("7", "x86_64", "fork"): 10}


def faults(release, sample, architecture="x86_64", **others):
    return check_instructions.compare(release, architecture, {"sample": sample, "fork": 10, **others}, KNOWN)


class Compare(unittest.TestCase):
    def test_growth_by_eleven_percent_is_found(self):
        self.assertEqual(faults("6.1.0-56-amd64", 1110), ["sample: 1000 instructions before, 1110 now"])

    def test_growth_by_ten_percent_is_not(self):
        self.assertEqual(faults("6.1.0-56-amd64", 1100), [])

    def test_less_is_no_fault(self):
        self.assertEqual(faults("6.1.0-56-amd64", 500), [])

    def test_series_are_told_apart_by_whole_numbers(self):
        self.assertEqual(faults("6.12.117+deb13-amd64", 2000), [])

    def test_a_series_may_be_one_number(self):
        self.assertEqual(len(faults("7.3.4+deb13-amd64", 3301)), 1)

    def test_an_unknown_series_is_no_fault(self):
        self.assertIsNone(faults("6.18.44", 10**6))

    def test_an_unknown_architecture_is_no_fault(self):
        self.assertIsNone(faults("6.1.0-56-arm64", 10**6, "aarch64"))

    def test_a_program_that_the_file_lacks_is_found(self):
        self.assertIn("exit", faults("6.1.0", 1000, exit=5)[0])

    def test_a_program_that_is_gone_is_found(self):
        self.assertIn("fork", check_instructions.compare("6.1.0", "x86_64", {"sample": 1000}, KNOWN)[0])


class Write(unittest.TestCase):
    def test_what_was_measured_replaces_that_kernel_alone(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "instructions.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("# what it is\n6.1 x86_64 old 5\n6.12 x86_64 sample 7\n")
            check_instructions.write("6.1.0-56-amd64", "x86_64", {"sample": 9}, path)
            check_instructions.write("5.10.0-46-amd64", "x86_64", {"sample": 8}, path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "# what it is\n5.10 x86_64 sample 8\n6.1 x86_64 sample 9\n"
                                              "6.12 x86_64 sample 7\n")


if __name__ == "__main__":
    unittest.main()
