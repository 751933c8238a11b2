#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet top on real programs: as JSON, and on a terminal with keys, sizes, and every way to end it.

    top.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "local"))

# pylint: disable=wrong-import-position
import host
from top_scene import COLOR, ENTER, LEAVE, Pods, Screen, WAIT_SECONDS

USER, KERNEL, HOSTILE, LOCK = "top-user", "top-kernel", "top-hostile", "top-lock"
PROGRAMS = {
    USER: """
void burn_in_user_space(void) { for (volatile int i = 0; i < 1000000; i++) ; }
int main(void) { for (;;) burn_in_user_space(); }
""",
    KERNEL: """
#include <fcntl.h>
#include <unistd.h>
static char buffer[1 << 16];
void read_zeroes(int fd) { for (int i = 0; i < 1000; i++) if (read(fd, buffer, sizeof(buffer)) < 0) _exit(1); }
int main(void) { int fd = open("/dev/zero", O_RDONLY); for (;;) read_zeroes(fd); }
""",
    HOSTILE: """
#include <sys/prctl.h>
void burn_in_user_space(void) { for (volatile int i = 0; i < 1000000; i++) ; }
int main(void) { prctl(PR_SET_NAME, "\\033[2Jevil"); for (;;) burn_in_user_space(); }
""",
}
# One thread sleeps with a lock that another one wants; ten have nothing to do.
LOCK_PROGRAM = """
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, idle = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
void hold(void) { pthread_mutex_lock(&lock); usleep(50000); pthread_mutex_unlock(&lock); usleep(1000); }
void want(void) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); usleep(1000); }
void wait_for_work(void) { pthread_cond_wait(&never, &idle); }
static void *run_want(void *data) { for (;;) want(); return data; }
static void *run_idle(void *data) { pthread_mutex_lock(&idle); for (;;) wait_for_work(); return data; }
static void *run_waker(void *data) { for (;;) { usleep(20000); pthread_cond_broadcast(&never); } return data; }
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, run_want, NULL);
	pthread_create(&thread, NULL, run_waker, NULL);
	for (int i = 0; i < 10; i++)
		pthread_create(&thread, NULL, run_idle, NULL);
	for (;;)
		hold();
}
"""


class Loads:
    """Programs that are busy, each with a name of its own."""

    def __init__(self, directory):
        self.directory = directory
        self.processes = {}
        for name, text in PROGRAMS.items():
            host.run("gcc", "-O1", "-x", "c", "-", "-o", f"{directory}/{name}", input=text)
            self.processes[name] = subprocess.Popen([f"{directory}/{name}"], stdin=subprocess.DEVNULL)

    def pid(self, name):
        return self.processes[name].pid

    def path(self, name):
        return f"{self.directory}/{name}"

    def pids(self):
        return ",".join(str(process.pid) for process in self.processes.values())

    def stop(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


def rows_of(binary, *arguments):
    done = subprocess.run([binary, "top", "--json", "--rows", "100000", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    if done.returncode != 0 or done.stderr:
        raise host.Failure(f"top --json: exit status {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_json(binary, loads):
    """The sides and functions of programs that are known; nothing depends on what else runs."""
    table = rows_of(binary, "-p", loads.pids(), "-F", "199")[0]
    rows = {row["name"]: row for row in table["rows"]}
    user, kernel = rows[USER], rows[KERNEL]
    hostile = [name for name in rows if "evil" in name]
    print(f"{USER}: {user['cpus']:.2f} CPUs, {user['application']:.2f} of them its own; {KERNEL}: {kernel['cpus']:.2f}, "
          f"{kernel['kernel']:.2f} of them the kernel's; {table['samples']} samples", flush=True)
    faults = []
    faults += [] if set(rows) == {USER, KERNEL, *hostile} else [f"rows are {list(rows)}"]
    faults += [] if hostile == [f"\\x1b[2Jevil ({HOSTILE})"] else [f"the hostile name is {hostile}"]
    faults += [] if user["application"] > 0.8 * user["cpus"] else [f"{USER} is not in its own code"]
    faults += [] if kernel["kernel"] > 0.6 * kernel["cpus"] else [f"{KERNEL} is not in the kernel"]
    faults += [] if user["hottest"]["frames"][0] == {"function": "burn_in_user_space", "kernel": False} else \
        [f"the hottest stack is {user['hottest']}"]
    names = [frame["function"] for frame in kernel["hottest"]["frames"]]
    faults += [] if kernel["hottest"]["side"] == "kernel" and "read_zeroes" in names else \
        [f"the hottest stack is {kernel['hottest']}"]
    for row in table["rows"]:
        parts = sum(row[side] for side in ("application", "kernel", "irq", "softirq"))
        faults += [] if abs(parts - row["cpus"]) < 0.001 and 0 < row["cpus"] < 1.3 else [f"{row['name']}: {row}"]
        faults += [] if row["processes"] == 1 else [f"{row['name']} has {row['processes']} processes"]
    return faults


def check_waits(binary, directory):
    """A thread that wants a lock is blocked; those that wait for work are not."""
    host.run("gcc", "-O1", "-pthread", "-x", "c", "-", "-o", f"{directory}/{LOCK}", input=LOCK_PROGRAM)
    with subprocess.Popen([f"{directory}/{LOCK}"]) as process:
        try:
            table = rows_of(binary, "-p", str(process.pid), "-i", "4s")[0]
            plain = rows_of(binary, "--kind", "cpu")[0]
        finally:
            process.kill()
    row = {row["name"]: row for row in table["rows"]}[LOCK]
    print(f"{LOCK}: {row['wait']} threads are blocked, of {row['waits']}", flush=True)
    functions = [frame["function"] for frame in row["hottest_wait"]["frames"]]
    faults = [] if 0.3 < row["wait"] < 2 and row["waits"]["lock"] > 0.3 else [f"{row['wait']} threads are blocked"]
    faults += [] if row["waits"]["rest"] > 5 else [f"the idle threads are missing: {row['waits']}"]
    faults += [] if row["hottest_wait"]["reason"] == "futex" and "want" in functions else \
        [f"the hottest wait is {row['hottest_wait']}"]
    faults += [] if list(row["reasons"])[0] == "futex" else [f"the reasons are {row['reasons']}"]
    return faults + ([] if plain["wait"] is None and plain["waits"] is None else [f"--kind cpu has waits: {plain}"])


def check_tables(binary, loads):
    """Several tables, other rows, and output that is no terminal."""
    tables = rows_of(binary, "-p", loads.pids(), "-n", "2", "-i", "1s", "--by", "process")
    faults = [] if len(tables) == 2 else [f"{len(tables)} tables"]
    wanted = f"{USER} {loads.pid(USER)}"
    faults += [f"there is no row {wanted}: {table['rows']}" for table in tables
               if not any(row["name"].startswith(wanted) for row in table["rows"])]
    text = host.run(binary, "top", "-p", loads.pids())
    faults += [] if re.search(rf"^{USER} .*\n    \d+ % application: burn_in_user_space ", text, re.MULTILINE) else \
        [f"the table is {text}"]
    return faults + ([] if "\x1b" not in text else ["there are escape sequences in a file"])


def check_pods(binary, loads, directory):
    """Rows of pods have the names that the kubelet tells."""
    if host.cgroup_mounts()[1] is None:
        print("no cgroup2 file system is mounted: pods are not checked")
        return []
    pods = Pods(directory)
    try:
        pods.start("shop", "cart", "ReplicaSet", "server", [loads.path(USER)])
        pods.start("storage", "backup", "DaemonSet", "reader", [loads.path(KERNEL)])
        pods.start_in("/system.slice/top-e2e.service", [loads.path(USER)])
        host.wait_until_busy(*(process.pid for process in pods.processes))
        target = [*pods.options(), *pods.cgroup_options()]
        return [fault for by, names in (
            ("application", {"shop/cart": "deployment", "storage/backup": "daemonset", "top-e2e.service": "service"}),
            ("container", {"shop/cart-7d9f6c5b8-x2x0k/server": "container", "storage/backup-x2x1k/reader": "container",
                           "top-e2e.service": "service"}))
                for fault in faults_of_names(rows_of(binary, *target, "--by", by)[0]["rows"], names)]
    finally:
        pods.stop()


def faults_of_names(rows, names):
    found = {row["name"]: row["kind"] for row in rows}
    return [] if found == names else [f"rows are {found}, not {names}"]


def check_screen(binary, loads):
    """Looks at the screen as a user does."""
    screen = Screen([binary, "top", "-p", loads.pids(), "-i", "1s"])
    screen.wait_for("rows", rf"^{USER} .* app .*burn_in_user_space")
    picture = screen.wait_for("the kernel", rf"^{KERNEL} .*\[k\]")
    faults = [] if screen.is_raw() else ["lines are edited"]
    faults += [] if len(picture) == 30 and re.search(r"CPUs busy", picture[0]) else [f"the picture is {picture}"]
    screen.wait_for("the hostile name", r"\\x1b\[2Jevil")
    screen.type("w")
    screen.wait_for("waits", r"^APPLICATION .*DISK +MEM +LOCK +NET")
    screen.type("w")
    screen.wait_for("CPU time again", r"^APPLICATION .*WAIT +DELAY +APP")
    screen.type("/" + USER + "\r")
    picture = screen.wait_for("a filter", rf"\[filter: {USER}\]")
    faults += [] if not any(line.startswith(KERNEL) for line in picture) else ["the filter hides nothing"]
    screen.wait_for("its row", f"^{USER} ")
    screen.type("\r")
    screen.wait_for("functions", f"functions of {USER}")
    screen.wait_for("a function", r"100\.0  main .*" + USER)
    screen.type("\x1b")
    screen.wait_for("the way back", "^by application")
    screen.resize(80, 12)
    picture = screen.wait_for("another size", r"^APPLICATION")
    host.wait_until("the size has changed", lambda: screen.read(0.2) and len(screen.picture()) == 12, WAIT_SECONDS)
    faults += [f"{len(line)} columns: {line}" for line in screen.picture() if len(line) > 80]
    screen.type("ttt")
    screen.wait_for("other rows", "^by container")
    screen.type("?")
    screen.wait_for("the help", "HOTTEST STACK|select a row")
    screen.type("x \x1b[B\x1b[A")
    screen.wait_for("a pause", r"\[paused\]")
    screen.type("q")
    return faults + screen.faults_of_end("q", 0)


def open_screen(binary, loads, environment=None):
    screen = Screen([binary, "top", "-p", str(loads.pid(USER)), "-i", "1s"], environment=environment)
    screen.wait_for("rows", f"^{USER} ")
    return screen


def check_ends(binary, loads):
    """The terminal is restored however it ends."""
    faults = []
    screen = open_screen(binary, loads)
    screen.type("\x03")
    faults += screen.faults_of_end("Ctrl-C", 0)
    for number, status in ((signal.SIGTERM, 0), (signal.SIGQUIT, -signal.SIGQUIT), (signal.SIGSEGV, -signal.SIGSEGV)):
        screen = open_screen(binary, loads)
        os.kill(screen.pid, number)
        faults += screen.faults_of_end(number.name, status)
    return faults


def check_suspension(binary, loads):
    """Under a shell: Ctrl-Z and fg. Without one, Ctrl-Z does not stop it, as nobody could continue it."""
    screen = Screen([shutil.which("bash"), "--norc", "--noediting", "-i"])
    host.wait_until("the shell's prompt", lambda: screen.read(0.2) and "# " in screen.output, WAIT_SECONDS)
    screen.type(f"stty -g; {binary} top -p {loads.pid(USER)} -i 1s\n")
    screen.wait_for("rows", f"^{USER} ")
    screen.type("\x1a")
    host.wait_until("it stopped", lambda: screen.read(0.2) and "Stopped" in screen.output, WAIT_SECONDS)
    faults = ["a stopped top keeps the terminal"] if screen.is_raw() else []
    faults += [] if LEAVE in screen.output else ["a stopped top keeps the page"]
    screen.output = ""
    screen.type("fg\n")
    screen.wait_for("rows after fg", f"^{USER} ")
    faults += [] if screen.is_raw() and ENTER in screen.output else ["fg does not bring the screen back"]
    screen.type("q")
    host.wait_until("it ended", lambda: screen.read(0.2) and LEAVE in screen.output, WAIT_SECONDS)
    screen.type("stty -g; exit\n")
    screen.finish()
    os.close(screen.master)
    alone = open_screen(binary, loads)
    alone.type("\x1a")
    alone.output = ""
    alone.wait_for("rows without a shell", f"^{USER} ")
    alone.type("q")
    return faults + alone.faults_of_end("Ctrl-Z without a shell", 0)


def check_environments(binary, loads):
    """As in a container: no variables at all. NO_COLOR; a terminal that is none."""
    bare = open_screen(binary, loads, {})
    faults = [] if COLOR.search(bare.output) else ["there are no colours"]
    bare.type("q")
    faults += bare.faults_of_end("without variables", 0)
    plain = open_screen(binary, loads, {"NO_COLOR": "1", "LANG": "C"})
    faults += [] if not COLOR.search(plain.output) else ["NO_COLOR has colours"]
    faults += [] if plain.output.isascii() else ["a terminal without UTF-8 gets it"]
    plain.type("q")
    faults += plain.faults_of_end("NO_COLOR", 0)
    dumb = Screen([binary, "top", "-p", str(loads.pid(USER))], environment={"TERM": "dumb"})
    status = dumb.finish()
    faults += [] if status == 0 and "\x1b" not in dumb.output and USER in dumb.output else \
        [f"TERM=dumb: exit status {status}: {dumb.output!r}"]
    return faults


def run_part(part, *arguments):
    began = time.monotonic()
    faults = part(*arguments)
    print(f"{part.__name__}: {time.monotonic() - began:.1f} s", flush=True)
    return faults


def check(options, directory):
    host.require("gcc", "bash")
    loads = Loads(directory)
    faults = []
    try:
        host.wait_until_busy(*(loads.pid(name) for name in PROGRAMS))
        faults += run_part(check_json, options.binary, loads)
        with concurrent.futures.ThreadPoolExecutor() as pool:   # most of the time they wait for the next picture
            parts = [pool.submit(run_part, *part) for part in (
                (check_screen, options.binary, loads), (check_suspension, options.binary, loads),
                (check_ends, options.binary, loads), (check_environments, options.binary, loads),
                (check_tables, options.binary, loads), (check_waits, options.binary, directory),
                (check_pods, options.binary, loads, directory))]
            return faults + [fault for part in parts for fault in part.result()]
    finally:
        loads.stop()


if __name__ == "__main__":
    sys.exit(host.main(check, "top"))
