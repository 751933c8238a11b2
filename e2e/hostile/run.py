#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hostile trial of the agent, the same each time; README.md says what is judged.

    run.py path/to/flamelet [--all] [--only WORDS] [--list]

Without --all a short selection runs, of three minutes. Exit status 0: all is right; 1: something is wrong, listed
last; 77: it cannot run here."""

import argparse
import os
import platform
import shutil
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../local"), os.path.join(HERE, "../export")]

# pylint: disable=wrong-import-position
import host
import stage as stages
import trial
import cases


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("binary")
    parser.add_argument("--all", action="store_true", help="the whole trial, of an hour")
    parser.add_argument("--only", default="", help="cases whose group and name have these words")
    parser.add_argument("--list", action="store_true", help="their names")
    parser.add_argument("--seed", type=int, default=16, help="of the mutated files (16)")
    parser.add_argument("--capture", default="auto", help="as the agent's")
    parser.add_argument("--agent-mb", type=int, default=200, help="bound for the agent alone (200)")
    parser.add_argument("--memory-mb", type=int, default=350, help="bound for agent and workers together (350)")
    parser.add_argument("--limit-mb", type=int, default=384, help="of their memory cgroup: the chart's default (384)")
    return parser.parse_args()


def selected(options):
    words = options.only.split()
    found = [case for case in cases.all_cases(options.seed)
             if all(word in f"{case.group}: {case.name}" for word in words)]
    return [case for case in found if options.all or words or case.is_short]


def check(options):
    if platform.machine() != "x86_64":
        raise host.Skip("its loops are x86-64's")
    host.require("gcc", "objcopy", "strip", "xz", "protoc")
    binary = os.path.abspath(options.binary)
    tools = stages.Tools()
    shutil.copy2(binary, f"{tools.directory}/flamelet")
    begin = time.monotonic()
    try:
        judge = trial.Trial(f"{tools.directory}/flamelet", tools,
                            trial.Bounds(options.agent_mb, options.memory_mb, options.limit_mb, options.capture))
        cases.prepare(tools)
        print(trial.Result.TITLE, flush=True)
        results = [run(judge, case) for case in selected(options)]
    finally:
        tools.remove()
    wrong = [result for result in results if faults_of(result)]
    print_groups(results)
    print(f"{len(results)} cases in {time.monotonic() - begin:.0f} s, {len(wrong)} wrong", flush=True)
    return [f"{result.case.group}: {result.case.name}: {fault}" for result in wrong for fault in faults_of(result)]


def print_groups(results):
    """In Markdown, for docs/threat-model.md."""
    print("\n| group | cases | wrong | skipped | agent's CPU | workers' CPU | agent's memory | all memory "
          "| longest gap |\n|" + "---|" * 9)
    for group in dict.fromkeys(result.case.group for result in results):
        of = [result for result in results if result.case.group == group]
        print(f"| {group} | {len(of)} | {sum(bool(faults_of(result)) for result in of)} "
              f"| {sum(is_skipped(result) for result in of)} | {max(result.agent_s for result in of):.1f} s "
              f"| {max(result.workers_s for result in of):.1f} s | {max(result.agent_mb for result in of):.0f} MB "
              f"| {max(result.peak_mb for result in of):.0f} MB "
              f"| {max(result.gap_s for result in of):.1f} s |")


def is_skipped(result):
    return any(fault.startswith("SKIP") for fault in result.faults)


def run(judge, case):
    result = judge.run(case)
    print(result.row(), flush=True)
    return result


def faults_of(result):
    return [fault for fault in result.faults if not fault.startswith("SKIP")]


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))     # what was started is ended by its contexts
    options = arguments()
    if options.list:
        for case in selected(options):
            print(f"{case.group}: {case.name}")
        return 0
    return host.judge(check, options)


if __name__ == "__main__":
    sys.exit(main())
