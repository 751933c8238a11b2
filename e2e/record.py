#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The local record, as a user writes and asks it: sums, selections, a short burst that is found again, an agent that is
killed, a second one, and disks that are full or fail (record_disks.py).

    record.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import concurrent.futures
import csv
import glob
import json
import os
import random
import shutil
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
import record_disks
from record_scene import BURST, BURST_FUNCTION, END_SECONDS, HZ, LOAD, SAMPLES, WAIT_SECONDS, WRITTEN, Scene, number, total

NR_KILLS = 4
HEAD_SECONDS = 10
# Besides those of the heads, the seconds that the agent had not symbolized yet.
LATE_SECONDS = 5
OWN = ("-s", f'{{comm=~"{LOAD}|{BURST}"}}')


def check_sums(scene, store, agent):
    """Of each second, of all together, and what the agent counted."""
    first, end = (min(file["first"] for file in scene.files(store)), max(file["end"] for file in scene.files(store)))
    seconds = [total(scene.counts(store, f"{second}..{second + 1}")) for second in range(first, end)]
    whole = total(scene.counts(store, "all"))
    listed = sum(file["samples"] for file in scene.files(store))
    written, taken = number(WRITTEN, agent.log()), number(SAMPLES, agent.log())
    print(f"{len(seconds)} seconds have {sum(seconds)} samples, the whole record {whole}, ls {listed}; the agent took "
          f"{taken} and wrote {written}", flush=True)
    return [] if sum(seconds) == whole == listed == written == taken else ["the sums differ"]


def check_burst(scene, store, begin, end):
    """Two seconds of CPU time against what was before them."""
    during, before = scene.counts(store, f"{begin}..{end}"), scene.counts(store, f"{begin - 5}..{begin}")
    found = sum(count for stack, count in during.items() if BURST_FUNCTION in stack)
    print(f"the burst: {found} of {total(during)} samples; before it {total(before)}", flush=True)
    faults = [] if found > 1.5 * HZ else [f"the burst has {found} samples"]
    return faults + ["the burst is where it was not"] * any(BURST_FUNCTION in stack for stack in before)


def check_selection(scene, store):
    """Two selections that are each other's opposite are the whole."""
    selected = scene.counts(store, "all", "-s", f'{{comm="{LOAD}"}}')
    others = scene.counts(store, "all", "-s", f'{{comm!="{LOAD}"}}')
    faults = [] if all("work_all_the_time" in stack or LOAD in stack for stack in selected) else ["a wrong selection"]
    if total(selected) + total(others) != total(scene.counts(store, "all")) or total(selected) < HZ:
        faults.append(f"{total(selected)} and {total(others)} samples are not the whole")
    if total(scene.counts(store, "all", "--comm", LOAD)) != total(selected):
        faults.append("--comm selects other samples than --select")
    return faults


def check_outputs(scene, store):
    directory = scene.directory
    # Of the test's own programs: what else runs may be busier.
    told = scene.flamelet("query", "all", "--store", store, *OWN, "-o", f"{directory}/all.svg", "-o",
                          f"{directory}/all.pb.gz")
    svg = host.read_text(f"{directory}/all.svg")
    faults = [f"the SVG lacks {text}" for text in ("work_all_the_time", "record of ") if text not in svg]
    faults += [] if os.path.getsize(f"{directory}/all.pb.gz") > 100 else ["the pprof file is empty"]
    faults += [] if "top functions" in told and LOAD in told else [f"the summary lacks something: {told}"]
    table = scene.flamelet("ls", "--store", store)
    return faults + ([] if "whole" in table else [f"ls: {table}"])


def check_files_without_samples(scene, store):
    """An agent that samples nothing, and one that is killed at its start, leave files as well."""
    file = scene.files(store)[0]
    others = f"{scene.directory}/without-samples"
    deleted = {"20200101T000000Z.db": (), "20200102T000000Z.db": ("block",),
               "20200103T000000Z.db": ("block", "timeline")}
    os.mkdir(others)
    for name, tables in deleted.items():
        shutil.copy(file["path"], f"{others}/{name}")
        for table in tables:
            host.run("sqlite3", f"{others}/{name}", f"DELETE FROM {table}")
    listed = sorted(scene.files(others), key=lambda one: one["path"])
    faults = [] if [one["samples"] for one in listed] == [file["samples"], 0, 0] else [f"ls: {listed}"]
    ends = [one["end"] > 0 for one in listed]
    faults += [] if ends == [True, True, False] else [f"ls: files have an end: {ends}"]
    return faults + ([] if scene.flamelet("ls", "--store", others).count("no samples") == 2 else ["ls names no samples"])


def check_top(scene, store):
    """The table of the record has the record's samples, and those of a selection."""
    whole = json.loads(scene.flamelet("top", "--range", "all", "--store", store, "--json", "--rows", "1000000"))
    load = json.loads(scene.flamelet("top", "--range", "all", "--store", store, "--json", "-s", f'{{comm="{LOAD}"}}'))
    rows = {row["name"]: row for row in whole["rows"]}
    names = [frame["function"] for frame in rows[LOAD]["hottest"]["frames"]]
    faults = [] if names[0] == "work_all_the_time" else [f"the hottest stack is {names}"]
    if whole["samples"] != total(scene.counts(store, "all")) or whole["samples"] != sum(
            row["samples"] for row in whole["rows"]):
        faults.append(f"top has {whole['samples']} samples")
    if [row["samples"] for row in load["rows"]] != [rows[LOAD]["samples"]]:
        faults.append(f"top selects {load['rows']}")
    table = scene.flamelet("top", "--range", "all", "--store", store)
    return faults + ([] if "%ALL" in table and "application: work_all_the_time" in table else [f"the table is {table}"])


def timeline(scene, store, *more):
    return json.loads(scene.flamelet("timeline", "all", "--store", store, "--json", "--step", "1s", "--lines", 100000,
                                     *more))


def check_timeline(scene, store):
    """By whatever label: each second, each program and the whole have the sums of the samples."""
    whole, faults = total(scene.counts(store, "all")), []
    for by in ("comm", "pod", "cgroup", "host", "pid", "cpu", "slot"):
        lines = timeline(scene, store, "--by", by)["lines"]
        if sum(line["total"] for line in lines) != whole:
            faults.append(f"the timeline by {by} has {sum(line['total'] for line in lines)} of {whole} samples")
    by_comm = timeline(scene, store, "--by", "comm")
    for index in range(0, len(by_comm["seconds"]), 5):
        values = [line["values"][index] or 0 for line in by_comm["lines"]]
        second = by_comm["first"] + index
        counted = total(scene.counts(store, f"{second}..{second + 1}"))
        if sum(values) != counted:
            faults.append(f"second {second} has {sum(values)} samples in the timeline and {counted} in the blocks")
    load = [line["total"] for line in by_comm["lines"] if line["name"] == LOAD]
    if load != [total(scene.counts(store, "all", "--comm", LOAD))]:
        faults.append(f"the timeline has {load} samples of {LOAD}")
    vitals = {line["name"]: line["values"] for line in timeline(scene, store)["lines"]}
    busy = [user for user in vitals["user"] if user]
    print(f"the timeline has {whole} samples in {len(by_comm['seconds'])} seconds, and vitals of {len(busy)}", flush=True)
    if len(busy) < 5 or max(busy) > os.cpu_count() * 2e9 or None in vitals["memory_total"][1:-1]:
        faults.append(f"the vitals are {vitals}")
    return faults + check_timeline_messages(scene, store)


def check_timeline_messages(scene, store):
    cases = (
        (("timeline", "10..20", "--store", store), 3, "flamelet ls lists what it has"),
        (("timeline", "all", "--step", "500ms", "--store", store), 2, "a step has whole seconds"),
        (("ls", "10..20", "--store", store), 3, "the record has nothing of that time"),
        (("timeline", "all", "--by", "cpu", "-s", '{comm="a"}', "--store", store), 2, "only use the label host"),
    )
    told = [scene.flamelet(*arguments, status=status) for arguments, status, _ in cases]
    return [f"{case[0]}: {text}" for case, text in zip(cases, told) if case[2] not in text]


def check_findings(scene, store):
    """The range is named, and its events are those of ls."""
    text = scene.flamelet("findings", "all", "--store", store)
    answer = json.loads(scene.flamelet("findings", "all", "--store", store, "--json"))
    listed = json.loads(scene.flamelet("ls", "--json", "--store", store))
    times = (min(file["first"] for file in listed["files"]), max(file["end"] for file in listed["files"]))
    named = time.strftime("range           %Y-%m-%d %H:%M:%S to ", time.localtime(times[0]))
    faults = [] if text.startswith(named) and ("no events in this range" in text or "score  what" in text) else [text]
    if (answer["first"], answer["end"]) != times or answer["events"] != listed["events"]:
        faults.append(f"findings: {answer['first']} to {answer['end']}, events {answer['events']}; ls: {listed}")
    selected = json.loads(scene.flamelet("findings", "all", "--store", store, "--json", "--comm", LOAD))
    return faults + (["findings of a selection have events"] if "events" in selected else [])


def check_views(scene, store):
    """Views that leave nothing out, and formats, have the same sum."""
    whole = total(scene.counts(store, "all"))
    sums = {option: total(scene.counts(store, "all", *option.split()))
            for option in ("--group comm,pid", "--bottom-up", "--kernel hide", "--group host --bottom-up")}
    table = json.loads(scene.flamelet("query", "all", "--store", store, "--format", "json"))
    sums["json"] = sum(sample["value"] for sample in table["samples"])
    lines = scene.flamelet("query", "all", "--store", store, "--format", "csv").splitlines()
    sums["csv"] = sum(int(row["self"]) for row in csv.DictReader(lines))
    scope = json.loads(scene.flamelet("query", "all", "--store", store, "--format", "speedscope", "-o", "-"))
    sums["speedscope"] = sum(map(sum, (part["weights"] for part in scope["profiles"]))) // table["period_ns"]
    faults = [f"{name} has {count} of {whole} samples" for name, count in sums.items() if count != whole]
    kernel = total(scene.counts(store, "all", "--kernel", "only"))
    faults += [] if 0 < kernel < whole else [f"{kernel} of {whole} samples are of the kernel"]
    here = total(scene.counts(store, "all", "--cgroup", "/"))
    return faults + ([] if 0 < here <= whole else [f"{here} of {whole} samples are of a cgroup"])


def check_messages(scene, store):
    """Each wrong question has an answer that says what to do."""
    cases = (
        (("query", "yesterday", "--store", store), 2, "is not a range of time"),
        (("query", "-1m..-5m", "--store", store), 2, "ends before it begins"),
        (("query", "@e99", "--store", store), 3, "the record has no event e99"),
        (("query", "-1m", "-5m", "--store", store), 2, "a range is one word"),
        (("query", "-s", "{pod=web}", "--store", store), 2, "expected a value in quotation marks"),
        (("query", "10..20", "--store", store), 3, "flamelet ls lists what it has"),
        (("query", "all", "-s", '{comm="nobody"}', "--store", store), 3, "flamelet ls lists what it has"),
        (("query", "all", "-s", '{nosuch="x"}', "--store", store), 3, "no sample of this time has a label nosuch; there"),
        (("query", "all", "--pod", "web", "--store", store), 3, "has a label pod; there are: host, "),
        (("timeline", "all", "--by", "foo", "--store", store), 2, "no sample of this time has a label foo; there are: "),
        (("query", "--store", f"{scene.directory}/none"), 1, "there is no record"),
        (("top", "--range", "yesterday", "--store", store), 2, "is not a range of time"),
        (("top", "-s", '{comm="a"}', "--store", store), 2, "--range"),
        (("top", "--range", "10..20", "--store", store), 3, "flamelet ls lists what it has"),
        (("pin", "all", "--note", 1024 * "n", "--store", store), 2, "1023 bytes are the most"),
        (("query", "all", "--query-memory-max", "1M", "--store", store), 1, "raise --query-memory-max"),
        (("query", "all", "-C", "0", "--store", store), 3, "--store-cpu"),
        (("query", "all", "--selector", "app=web", "--store", store), 3, "--pod-label"),
        (("query", "all", "--cgroup", "/no/such", "--store", store), 2, "not found below"),
        (("query", "all", "--container", "web,0123456789ab", "--store", store), 2, "cannot be mixed"),
        (("query", "all", "-t", "1", "--store", store), 2, "is an option of record"),
        (("ls", "--store", f"{scene.directory}/{LOAD}"), 1, "no file of a record"),
        (("agent",), 2, "--store DIR"),
        (("agent", "--store", "relative"), 2, "absolute path"),
    )
    return scene.check_answers(cases)


def test_questions(scene):
    store = f"{scene.directory}/record"
    load = host.Process("load", [f"{scene.directory}/{LOAD}"], f"{scene.directory}/load.log")
    agent = scene.start_agent("first", store)
    scene.warm_up(store)
    time.sleep(8)
    has_run = host.cpu_seconds(load.pid) + 2
    host.wait_until("the load has samples", lambda: host.cpu_seconds(load.pid) >= has_run, WAIT_SECONDS)
    begin = int(time.time())
    host.run(f"{scene.directory}/{BURST}")
    end = int(time.time()) + 1
    scene.wait_for_second(store, end)
    refused = scene.flamelet("agent", "--store", store, status=1)
    faults = [] if "another flamelet writes the record" in refused else [f"a second agent: {refused}"]
    status = agent.finish(END_SECONDS)
    load.stop()
    faults += [] if status == 0 else [f"the agent's exit status is {status}"]
    faults += check_sums(scene, store, agent) + check_burst(scene, store, begin, end)
    faults += check_selection(scene, store) + check_top(scene, store) + check_timeline(scene, store)
    faults += check_outputs(scene, store) + check_views(scene, store) + check_findings(scene, store)
    return faults + check_files_without_samples(scene, store) + check_messages(scene, store)


def test_kills(scene):
    """Each time a new agent goes on where the killed one was."""
    store = f"{scene.directory}/killed"
    load = host.Process("load", [f"{scene.directory}/{LOAD}"], f"{scene.directory}/load.log")
    faults = []
    for life in range(NR_KILLS):
        agent = scene.start_agent(f"killed-{life}", store)
        began = time.time()
        time.sleep(2 + random.random() * 15)
        killed = time.time()
        agent.finish(first=signal.SIGKILL)
        lost = killed - max(scene.newest(store) + 1, began)
        print(f"killed after {killed - began:.1f} s: the last {lost:.1f} s are lost", flush=True)
        if lost > HEAD_SECONDS + LATE_SECONDS:
            faults.append(f"{lost:.1f} s are lost")
    load.stop()
    agent = scene.start_agent("last", store)
    agent.finish(END_SECONDS)
    whole, listed = total(scene.counts(store, "all")), sum(file["samples"] for file in scene.files(store))
    for path in glob.glob(f"{store}/*.db"):
        said = host.run("sqlite3", path, "PRAGMA integrity_check").strip()
        faults += [] if said == "ok" else [f"{path}: {said}"]
    faults += [f"{path} was left" for path in glob.glob(f"{store}/*-wal")]
    return faults + ([] if whole == listed else [f"ls has {listed} samples, the record {whole}"])


def check(options, directory):
    host.require("gcc", "sqlite3", "mount")
    scene = Scene(options.binary, directory)
    with concurrent.futures.ThreadPoolExecutor() as pool:   # disks take long, and need no quiet
        disks = [pool.submit(test, scene) for test in record_disks.TESTS]
        faults = test_questions(scene) + test_kills(scene)
        return faults + [fault for disk in disks for fault in disk.result()]


if __name__ == "__main__":
    sys.exit(host.main(check, "record"))
