#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `flamelet diff` says of a burst of 2 s: by ranges, by selections and by files.

    diff.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))
sys.path.insert(1, HERE)

# pylint: disable=wrong-import-position
import host
from record_scene import BURST, BURST_FUNCTION, END_SECONDS, LOAD, Scene

BEFORE_SECONDS = 10
# What else runs on this machine is no part of the test.
SELECTION = ("-s", f'{{comm=~"{LOAD}|{BURST}"}}')
LOAD_FUNCTION = "work_all_the_time"


def rows_by_name(report, key):
    return {row["name"]: row for row in report[key]}


def total(report, side):
    return report[side]["total"]


def check_report(report, what):
    """The burst is on top of what grew, new, and certain; the sums are the totals."""
    top = report["functions"][0]
    print(f"{what}: {top['name']} {top['self']}", flush=True)
    faults = [] if top["name"] == BURST_FUNCTION else [f"{what}: {top['name']} is on top"]
    if top["self"]["before"] != 0 or top["self"]["noise"] or top["self"]["points"] <= 0:
        faults.append(f"{what}: {top}")
    for side in ("before", "after"):
        counted = sum(row["self"][side] for row in report["functions"])
        owned = sum(row["total"][side] for row in report["owners"])
        if not counted == owned == total(report, side):
            faults.append(f"{what}, {side}: {counted} and {owned} are not {total(report, side)}")
    owner = report["owners"][0]["name"]
    return faults + ([] if BURST in owner else [f"{what}: {owner} is on top"])


def check_ranges(scene, store, begin, end):
    """By two ranges, and by the second one alone, which is compared with the time before it."""
    faults = []
    for words in ((f"{begin - BEFORE_SECONDS}..{begin}", f"{begin}..{end}"), (f"{begin}..{end}",)):
        for more in ((), ("--absolute",)):
            report = json.loads(scene.flamelet("diff", *words, "--store", store, "--json", *SELECTION, *more))
            faults += check_report(report, " ".join(words + more))
            if report["compares"] != ("rates" if more else "shares"):
                faults.append(f"{words}: compares {report['compares']}")
    text = scene.flamelet("diff", f"{begin}..{end}", "--store", store, *SELECTION)
    grown = text.partition("functions with a larger share\n")[2].splitlines()
    return faults + ([] if BURST_FUNCTION in grown[2] and " new " in grown[2] else [f"the table: {text}"])


def check_files(scene, store, begin, end):
    """pprof and folded files of the same ranges say the same, except what they do not have."""
    directory, faults = scene.directory, []
    for side, range_ in (("before", f"{begin - BEFORE_SECONDS}..{begin}"), ("after", f"{begin}..{end}")):
        scene.flamelet("query", range_, "--store", store, *SELECTION, "-q", "-o", f"{directory}/{side}.pb.gz",
                       "-o", f"{directory}/{side}.folded")
    for extension, has_time in ((".pb.gz", True), (".folded", False)):
        files = [f"{directory}/{side}{extension}" for side in ("before", "after")]
        report = json.loads(scene.flamelet("diff", *files, "--json"))
        faults += check_report(report, extension)
        if ("cpus" in report["after"]) != has_time:
            faults.append(f"{extension}: {report['after']}")
    mixed = json.loads(scene.flamelet("diff", f"{directory}/before.pb.gz", f"{begin}..{end}", "--store", store,
                                      *SELECTION, "--json",
                                      warning="before.pb.gz: samples of files cannot be selected"))
    return faults + check_report(mixed, "a file and a range")


def check_new_process(scene, store, begin, end):
    """A process that was not there before is compared with nothing."""
    words = (f"{begin - BEFORE_SECONDS}..{begin}", f"{begin}..{end}")
    selection = ("-s", f'{{comm="{BURST}"}}', "--store", store, "--json")
    new = json.loads(scene.flamelet("diff", *words, *selection, warning="before: the record has no such samples from"))
    gone = json.loads(scene.flamelet("diff", *reversed(words), *selection,
                                     warning="after: the record has no such samples from"))
    faults = check_report(new, "a new process")
    sums = [(total(report, "before"), total(report, "after")) for report in (new, gone)]
    if sums[0] != (0, sums[1][0]) or sums[1][1] != 0 or [new["compares"], gone["compares"]] != ["rates", "rates"]:
        faults.append(f"a new process: {sums}, {new['compares']}, {gone['compares']}")
    if new["before"]["duration_ns"] < (BEFORE_SECONDS - 1) * 10**9:
        faults.append(f"a new process: {new['before']}")
    row = rows_by_name(gone, "functions")[BURST_FUNCTION]["self"]
    return faults + ([] if row["points"] < 0 and row["cpus"] < 0 and not row["noise"] else [f"a gone process: {row}"])


def check_selections(scene, store):
    report = json.loads(scene.flamelet("diff", "all", "--store", store, "-s", f'{{comm="{BURST}"}}',
                                       "--against", f'{{comm="{LOAD}"}}', "--json"))
    rows = rows_by_name(report, "functions")
    faults = [] if rows[BURST_FUNCTION]["self"]["before"] == 0 else ["a selection has the other one's samples"]
    return faults + ([] if rows[LOAD_FUNCTION]["self"]["after"] == 0 else ["a selection has the other one's samples"])


def check_outputs(scene, store, begin, end):
    directory = scene.directory
    words = (f"{begin - BEFORE_SECONDS}..{begin}", f"{begin}..{end}")
    scene.flamelet("diff", *words, "--store", store, "-q", "-o", f"{directory}/diff.svg")
    picture = host.read_text(f"{directory}/diff.svg")
    faults = [] if "; new)" in picture and BURST_FUNCTION in picture else ["the SVG lacks the burst"]
    scene.flamelet("diff", *words, "--store", store, *SELECTION, "-q", "--group", "comm", "-o", f"{directory}/diff.csv",
                   "-o", f"{directory}/diff.folded")
    top = host.read_text(f"{directory}/diff.csv").splitlines()[1]
    faults += [] if top.startswith(f"{BURST_FUNCTION},0,0,") else [f"CSV: {top}"]
    if f"{BURST};" not in host.read_text(f"{directory}/diff.folded"):
        faults.append("the folded text lacks a group")
    printed = scene.flamelet("diff", *words, "--store", store, *SELECTION, "--format", "csv", "--group", "comm")
    faults += [] if printed == host.read_text(f"{directory}/diff.csv") else [f"--format csv prints: {printed[:200]}"]
    lines = [line for line in scene.flamelet("diff", *words, "--store", store, *SELECTION, "-o", "-").splitlines()
             if BURST_FUNCTION in line]
    for line in lines:
        before, after = map(float, line.rsplit(" ", 2)[1:])
        if before > 0 or after <= 0:
            faults.append(f"folded text: {line}")
    return faults + ([] if lines else ["the folded text lacks the burst"])


def check_messages(scene, store):
    missing = f"{scene.directory}/missing.folded"
    broken = f"{scene.directory}/broken.folded"
    with open(broken, "w", encoding="utf-8") as file:
        file.write("sh;f 1\nsh;f\n")
    cases = (
        (("diff", "--store", store), 2, "flamelet diff BEFORE AFTER"),
        (("diff", "-1m", "-1m", "--store", store), 2, "both sides are the same"),
        (("diff", "10..20", "-1m", "--store", store), 3, "before: the record has no such samples"),
        (("diff", "-1h", "10..20", "--store", store), 3, "after: the record has no such samples"),
        (("diff", "10..20", "-1m", "--comm", "nobody", "--store", store), 3, "before: the record has no such samples"),
        (("diff", "-20s..-10s", "-10s", "--comm", "nobody", "--store", store), 3, "lists what it has"),
        (("diff", "yesterday", "-1m", "--store", store), 2, "is not a range of time"),
        (("diff", "1", "2", "3", "--store", store), 2, "unexpected argument"),
        (("diff", missing, broken), 1, "No such file"),
        (("diff", broken, missing), 1, "line 2: expected frames, a blank and a count"),
        (("diff", broken), 2, "name two files"),
        (("diff", missing, broken, "--comm", "sh"), 2, "samples of files cannot be selected"),
        (("diff", missing, broken, "--cgroup", "/"), 2, "samples of files cannot be selected"),
        (("findings", f"{scene.directory}/after.pb.gz", "--pod", "web"), 2, "samples of files cannot be selected"),
        (("diff", "-1m", "-a", "{pod=web}", "--store", store), 2, "--against {pod=web}: expected a value"),
    )
    return scene.check_answers(cases)


def test_burst(scene):
    store = f"{scene.directory}/record"
    # Their shares and rates would change with what else runs.
    load = host.Process("load", [f"{scene.directory}/{LOAD}"], f"{scene.directory}/load.log", preexec_fn=host.come_first)
    agent = scene.start_agent("agent", store)
    scene.warm_up(store)
    time.sleep(BEFORE_SECONDS + 2)
    begin = int(time.time())
    host.run(f"{scene.directory}/{BURST}", preexec_fn=host.come_first)
    end = int(time.time()) + 1
    scene.wait_for_second(store, end)
    load.stop()
    faults = [] if agent.finish(END_SECONDS) == 0 else ["the agent failed"]
    return (faults + check_ranges(scene, store, begin, end) + check_files(scene, store, begin, end) +
            check_new_process(scene, store, begin, end) + check_selections(scene, store) +
            check_outputs(scene, store, begin, end) + check_messages(scene, store))


def check(options, directory):
    host.require("gcc")
    return test_burst(Scene(options.binary, directory))


if __name__ == "__main__":
    sys.exit(host.main(check, "diff"))
