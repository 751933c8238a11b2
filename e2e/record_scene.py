# SPDX-License-Identifier: Apache-2.0
"""Programs, agents and records for the tests of the local record."""

import contextlib
import json
import os
import re
import subprocess

import host

HZ = 99
LOAD = "record-load"
BURST = "record-burst"
BURST_FUNCTION = "burn_for_a_moment"
FIRST = "record-first"      # another name of a program
# They only bound a hang.
WAIT_SECONDS = 180
END_SECONDS = 120     # of an agent
NO_SAMPLES = 3  # exit status
# Of the last line of an agent's log.
WRITTEN = re.compile(r"\bstore_samples_written=(\d+)")
SAMPLES = re.compile(r"\bsamples=(\d+)")
# Each function is known by its name.
SPIN = """
void work_all_the_time(void) { for (volatile int i = 0; i < 1000000; i++) ; }
int main(void) { for (;;) work_all_the_time(); }
"""
BURN = """
#include <time.h>
void burn_for_a_moment(void) { for (volatile int i = 0; i < 1000000; i++) ; }
int main(void) { clock_t end = 2 * CLOCKS_PER_SEC; while (clock() < end) burn_for_a_moment(); return 0; }
"""


class Scene:
    """A directory, two programs, and commands on the records in it."""

    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        for name, text in ((LOAD, SPIN), (BURST, BURN)):
            host.run("gcc", "-O1", "-x", "c", "-", "-o", f"{directory}/{name}", input=text)

    def start_agent(self, name, store, *options):
        agent = host.Process(name, [self.binary, "agent", "--store", store, "-F", str(HZ), *options],
                             f"{self.directory}/{name}.log")
        try:
            host.wait_until("the agent keeps a record",
                            lambda: "keeping a record" in agent.log() or not agent.is_alive(), WAIT_SECONDS)
        except host.Failure:
            agent.stop()
            raise
        if not agent.is_alive():
            raise host.Failure(f"the agent ended: {agent.log()}")
        return agent

    def run(self, *arguments):
        return subprocess.run([self.binary, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=WAIT_SECONDS, check=False)

    def flamelet(self, *arguments, status=0, warning=""):
        """Returns the standard output; what is on standard error is a failure, unless a status or a warning is
        expected."""
        done = self.run(*arguments)
        if done.returncode != status or (status == 0 and bool(done.stderr) != bool(warning)) or \
                warning not in done.stderr:
            raise host.Failure(f"{arguments}: exit status {done.returncode}: {done.stderr}")
        return done.stdout or done.stderr

    def check_answers(self, cases):
        """Each case is arguments, the exit status, and words that must be in the answer. Returns the faults."""
        answers = [(arguments, text, self.flamelet(*arguments, status=status)) for arguments, status, text in cases]
        return [f"{arguments}: {told}" for arguments, text, told in answers if text not in told]

    def files(self, store):
        return json.loads(self.flamelet("ls", "--json", "--store", store))["files"]

    def counts(self, store, range_, *more):
        """{folded stack: count}; empty if there are no samples"""
        words = ("query", range_, "--store", store, "-o", "-", *more)
        done = self.run(*words)
        if done.returncode == NO_SAMPLES:
            return {}
        if done.returncode != 0 or done.stderr:
            raise host.Failure(f"{words}: exit status {done.returncode}: {done.stderr}")
        lines = done.stdout.splitlines()
        return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines}

    def newest(self, store):
        """The newest second of a record that has samples; 0 if there is none yet."""
        with contextlib.suppress(host.Failure):     # there may be nothing in the first file yet
            return max((file["end"] - 1 for file in self.files(store) if file["samples"] > 0), default=0)
        return 0

    def warm_up(self, store, program=BURST, function=BURST_FUNCTION, options=()):
        """Runs a program, by another name, until the agent has the names of its file: on a busy machine, they come too
        late for the first run."""
        host.wait_until("the record has samples", lambda: self.newest(store) > 0, WAIT_SECONDS)
        path = f"{self.directory}/{FIRST}"
        os.link(f"{self.directory}/{program}", path)

        def is_named():
            host.run(path, *options)
            return any(function in stack for stack in self.counts(store, "all", "-s", f'{{comm="{FIRST}"}}'))

        host.wait_until(f"{program} has names", is_named, WAIT_SECONDS)
        os.unlink(path)

    def wait_for_second(self, store, second):
        host.wait_until("a second is in the record", lambda: self.newest(store) >= second, WAIT_SECONDS, 0.5)


def total(counts):
    return sum(counts.values())


def number(pattern, text):
    """The last one; 0 has no entry in the log."""
    return int((pattern.findall(text) or [0])[-1])
