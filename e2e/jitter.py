#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jitter, as a user looks for it: somewhere in a stretch of load, a program burns one CPU for two seconds. `ls` must
name it with its time, `query` and `diff` must show its function, and a pin must keep it when its file is removed. So it
is with other kinds of events (event_kinds.py), and the worst of them are kept without a pin.

    jitter.py path/to/flamelet [--seconds 5]

The burst comes at a random time of --seconds, after a minute in which the agent learns what is usual. --seconds 1800 is
the half-hour version.

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import html
import json
import os
import random
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
from event_kinds import Kinds
from record_scene import BURST, END_SECONDS, HZ, LOAD, WAIT_SECONDS, Scene, total

# A name that no other test on this machine has.
NAME = f"jitter-{os.getpid():x}"[:15]

FUNCTION = "burn_for_a_moment"
SUBJECT = f"process {NAME}"
WARM_UP_SECONDS = 65
# Before its first busy second and behind its last one, a burst has seconds in which it was less busy.
EDGE_SECONDS = 2
DAY_SECONDS = 86400
OWN_SUBJECT = "process flamelet"
NR_WORST = 5    # events of a day that are kept


def events(scene, store):
    return json.loads(scene.flamelet("ls", "--json", "--store", store))["events"]


def find_burst(scene, store):
    return [event for event in events(scene, store) if event["subject"] == SUBJECT]


def burn(scene):
    """Returns when it was. It gets its CPU even if others compete for it. In a service of its own, its event is not joined
    with those of programs that happen to begin at the same time."""
    service = f"{host.cgroup_mounts()[1]}/{NAME}.service"

    def enter():
        with open(f"{service}/cgroup.procs", "w", encoding="ascii") as file:
            file.write("0")
        host.preempt_others()

    os.mkdir(service)
    begin = time.time()
    try:
        host.run(f"{scene.directory}/{NAME}", preexec_fn=enter)
    finally:
        host.remove_cgroup(service)
    return begin, time.time()


def check_event(event, begin, end):
    print(f"burst from {begin:.1f} to {end:.1f}; event {event['id']} from {event['first']} to {event['end']}, score "
          f"{event['score']}: {event['text']}", flush=True)
    faults = [] if event["kind"] == "process-cpu" else [f"the event is of kind {event['kind']}"]
    if event["first"] < begin - EDGE_SECONDS or event["end"] > end + EDGE_SECONDS:
        faults.append("the event is not at the time of the burst")
    if event["end"] - event["first"] > end - begin + EDGE_SECONDS:
        faults.append("the event is longer than the burst")
    return faults if event["text"].startswith(f"Process {NAME} used up to ") else faults + ["a wrong sentence"]


def samples_of_function(counts):
    return sum(count for stack, count in counts.items() if FUNCTION in stack)


def share_of_function(counts):
    return samples_of_function(counts) / max(total(counts), 1)


def check_queries(scene, store, event):
    name = f"@{event['id']}"
    all_, selected = scene.counts(store, name), scene.counts(store, name, "-s", event["selector"])
    print(f"{name}: {FUNCTION} has {100 * share_of_function(all_):.0f} % of all samples, "
          f"{100 * share_of_function(selected):.0f} % of those that {event['selector']} selects", flush=True)
    faults = [] if share_of_function(selected) > 0.9 else ["the selector of the event selects other samples"]
    if samples_of_function(all_) < HZ:
        faults.append(f"{FUNCTION} has {samples_of_function(all_)} of the event's samples")
    # The burst may have begun in the last part of the second before.
    if share_of_function(scene.counts(store, f"{name}-1m")) > 0.05:
        faults.append("the minute before the event has the burst, too")
    difference = scene.flamelet("diff", f"{name}-1m", name, "--store", store)
    faults += [] if FUNCTION in difference else [f"diff does not show the burst: {difference}"]
    return faults + check_names(scene, store, event, difference)


def check_names(scene, store, event, difference):
    """What is shown of an event names it, with its selector and the machine."""
    name, picture = f"@{event['id']}", f"{scene.directory}/event.svg"
    faults = [] if f"event   {name}: {event['text']}" in difference else [f"diff does not name the event: {difference}"]
    faults += [] if f"--select '{event['selector']}'" in difference else ["diff does not name the selector"]
    said = scene.flamelet("query", name, "--store", store)
    faults += [] if f"event           {name}: {event['text']}" in said else [f"query does not name the event: {said}"]
    scene.flamelet("diff", name, "--store", store, "-q", "-o", picture)
    drawn = html.unescape(host.read_text(picture))
    wanted = (f"{name} ", f"{name}: {SUBJECT} {event['selector']}", event["host"])
    return faults + [f"the picture lacks {text}" for text in wanted if text not in drawn]


def check_messages(scene, store):
    told = scene.flamelet("query", "@e999", "--store", store, status=3)
    faults = [] if "no event e999; flamelet ls lists the events" in told else [f"an unknown event: {told}"]
    told = scene.flamelet("pin", "--store", store, status=2)
    return faults + ([] if "say what to pin" in told else [f"pin without a range: {told}"])


def list_pins(scene, store):
    return json.loads(scene.flamelet("pin", "--list", "--json", "--store", store))["pins"]


def check_pin(scene, store, event):
    """While the agent writes."""
    before = scene.counts(store, f"@{event['id']}")
    scene.flamelet("pin", f"@{event['id']}", "--note", "it was slow", "--store", store)
    pins = list_pins(scene, store)
    print(f"pins: {pins}", flush=True)
    faults = [] if [pin["note"] for pin in pins] == ["it was slow"] else ["the pin is not listed"]
    again = scene.flamelet("pin", f"@{event['id']}", "--store", store)
    faults += [] if again.startswith("already pinned as p1: ") else [f"pinned twice: {again}"]
    listed = json.loads(scene.flamelet("ls", "--json", "--store", store))["pins"]
    faults += [] if listed == pins and "it was slow" in scene.flamelet("ls", "--store", store) else ["ls has no pins"]
    return faults + ([] if scene.counts(store, f"@{event['id']}") == before else ["the pin is counted twice"])


def check_note(scene, store):
    """The event that is the worst one now has another name than @worst."""
    worst = by_badness(events(scene, store))[0]
    scene.flamelet("pin", "@worst", "--store", store)
    notes = [pin["note"] for pin in list_pins(scene, store)]
    wanted = f"@{worst['id']}: {worst['text']}"
    return [] if wanted in notes or len(notes) == 1 else [f"the notes {notes} lack {wanted}"]


def by_badness(found):
    """Flamelet's own events come last."""
    return sorted(found, key=lambda event: (event["subject"] == OWN_SUBJECT, -event["score"]))


def expire(scene, store, file):
    """An agent whose limits the file exceeds removes it. The file of the agent itself must stay, so it is another one."""
    host.wait_until("the file is old", lambda: time.time() > os.stat(file["path"]).st_mtime + 2)
    agent = scene.start_agent("third", store, "--store-age", "1s")
    host.wait_until("the file is removed", lambda: not os.path.exists(file["path"]), WAIT_SECONDS)
    return [] if agent.finish(END_SECONDS) == 0 else ["the third agent failed"]


def check_kept(scene, store, burst):
    """When the file goes, what was pinned stays, and so do the worst events of its day."""
    file = min(scene.files(store), key=lambda one: one["first"])
    of_day = [event for event in events(scene, store) if event["first"] // DAY_SECONDS == file["first"] // DAY_SECONDS]
    worst = by_badness(of_day)[:NR_WORST]
    before = {event["id"]: scene.counts(store, f"@{event['id']}") for event in [burst, *worst]}
    faults = expire(scene, store, file)
    automatic = {pin["id"] for pin in list_pins(scene, store) if pin["automatic"]}
    print(f"of {len(of_day)} events, {sorted(automatic)} are pinned; the worst: "
          f"{', '.join(event['id'] + ' ' + event['kind'] for event in worst)}", flush=True)
    faults += [f"{event['id']} is not pinned: {event['text']}" for event in worst if event["id"] not in automatic]
    after = {name: scene.counts(store, f"@{name}") for name in before}
    return faults + [f"of {total(before[name])} samples of {name}, {total(after[name])} are pinned"
                     for name in before if before[name] != after[name]]


def find(scene, store, seconds, kinds):
    """Returns when the burst was, and which other events the agent has not found."""
    os.link(f"{scene.directory}/{BURST}", f"{scene.directory}/{NAME}")
    agent = scene.start_agent("agent", store, *kinds.options())
    scene.warm_up(store)
    learns_until = time.monotonic() + WARM_UP_SECONDS    # the minute before the burst must not have the warm-up
    kinds.warm_up(store)
    time.sleep(max(0, learns_until - time.monotonic()))
    at = random.random() * seconds
    time.sleep(at)
    begin, end = burn(scene)
    time.sleep(max(0, seconds - at - (end - begin)))
    kinds.start()
    host.wait_until("the burst is an event", lambda: [event for event in find_burst(scene, store) if not event["open"]],
                    WAIT_SECONDS, 0.5)
    faults = host.last_faults(lambda: kinds.missing(events(scene, store)))
    kinds.finish_service()
    # Whatever the agent found is in the file when it is killed.
    agent.finish(first=signal.SIGKILL)
    return begin, end, faults


def test_jitter(scene, seconds, kinds):
    store = f"{scene.directory}/jitter"
    load = host.Process("load", [f"{scene.directory}/{LOAD}"], f"{scene.directory}/load.log")
    begin, end, faults = find(scene, store, seconds, kinds)
    agent = scene.start_agent("second", store)
    print(scene.flamelet("ls", "--store", store), flush=True)
    found = find_burst(scene, store)
    faults += [] if len(found) == 1 else [f"the burst is {len(found)} events"]
    faults += check_event(found[0], begin, end) + check_queries(scene, store, found[0]) + check_messages(scene, store)
    faults += kinds.check(scene, store, events(scene, store)) + check_pin(scene, store, found[0])
    faults += check_note(scene, store)
    status = agent.finish(END_SECONDS)
    load.stop()
    faults += [] if status == 0 else [f"the agent's exit status is {status}"]
    return faults + check_kept(scene, store, found[0])


def check(options, directory):
    host.require("gcc", "openssl")
    if host.cgroup_mounts()[1] is None:
        raise host.Skip("no cgroup2 file system is mounted")
    scene = Scene(options.binary, directory)
    kinds = Kinds(scene)
    try:
        return test_jitter(scene, options.seconds, kinds)
    finally:
        kinds.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5)
    return host.main(check, "jitter", parser)


if __name__ == "__main__":
    sys.exit(main())
