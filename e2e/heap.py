#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""flamelet record --kind alloc and --kind heap on a program that knows what it allocates and what it keeps, with
libflamelet-heap.so; and that library in real programs and in one that tries to break it, while all they allocate is recorded.

    heap.py path/to/flamelet path/to/libflamelet-heap.so

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[0:0] = [os.path.join(HERE, "local")]

# pylint: disable=wrong-import-position
import host
import kinds

SECONDS = 5
MEAN_BYTES = 512 << 10
MB = 1e6
# Of samples' sums, by 4.5 standard deviations; and what may be lost before the program is known.
DEVIATIONS = 4.5
LOST_BYTES = 40 * MB
PROGRAMS = {
    "python3": ["python3", "-c", "import json, threading, subprocess\n"
                "def work(): return [json.loads(json.dumps(list(range(2000)))) for _ in range(60)]\n"
                "threads = [threading.Thread(target=work) for _ in range(4)]\n"
                "[t.start() for t in threads]; [t.join() for t in threads]\n"
                "print(len(work()), subprocess.check_output(['echo', 'child']))"],
    "sqlite3": ["sqlite3", ":memory:", "create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c "
                "limit 60000) insert into t select x, hex(x) from c; create index i on t(b); select count(*), max(b) from t;"],
    "gcc": ["gcc", "-O2", "-S", "-o", "-", os.path.join(HERE, "heap.c")],
}


def build(directory, compiler, source):
    program = os.path.join(directory, f"{source}-{compiler}")
    subprocess.run([compiler, "-O1", "-g", "-pthread", "-fno-builtin", "-o", program, os.path.join(HERE, f"{source}.c")], check=True)
    return program


def with_library(library):
    return os.environ | {"LD_PRELOAD": library}


def read_folded(path):
    """[(frames, value)]; none if there is no file."""
    return kinds.read_folded(path) if os.path.exists(path) else []


def read_truth(output):
    """{function: (bytes, number, bytes in use)}"""
    lines = [line.split() for line in output.splitlines() if line.startswith("alloc_")]
    return {words[0]: tuple(int(word) for word in words[1:]) for words in lines}


def sum_of(stacks, function):
    return sum(value for frames, value in stacks if function in frames)


def tolerance_of(total, size):
    """Of the sum of allocations of one size: each is sampled with p = 1 - exp(-size / mean), so the variance of one is at
    most size * (mean + size)."""
    return DEVIATIONS * (total * (MEAN_BYTES + size / 2)) ** 0.5 + 0.01 * total


def check_bytes(stacks, truth, column, kind):
    for function, numbers in truth.items():
        expected, found = numbers[column], sum_of(stacks, function)
        size = numbers[0] / max(numbers[1], 1)
        print(f"{kind} {function}: {expected / MB:.1f} MB, {found / MB:.1f} MB in the profile")
        lost = LOST_BYTES if function == "alloc_by_child" else 0
        if not expected - tolerance_of(expected, size) - lost <= found <= expected + tolerance_of(expected, size):
            yield f"{function} has {expected / MB:.1f} MB ({kind}), and {found / MB:.1f} MB in the profile"


def check_sums(flamelet, library, directory, program):
    """Three recordings of one process at the same time."""
    folded = {words: os.path.join(directory, f"{words.replace(' ', '-')}.folded")
              for words in ("alloc", "heap", "alloc --objects")}
    with subprocess.Popen([program, str(SECONDS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=with_library(library)) as process:
        recordings = [subprocess.Popen([flamelet, "record", "--kind", *words.split(), "-d", "0", "-p", str(process.pid), "-o",
                                        path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                      for words, path in folded.items()]
        for recording in recordings:
            recording.stderr.readline()  # "profiling pid …": it has begun
        output, _ = process.communicate("go\n")
        statuses = [recording.wait() for recording in recordings]
    if process.returncode != 0 or any(statuses):
        yield f"exit status {process.returncode} of the program, {statuses} of the recordings"
        return
    truth = read_truth(output)
    truth.pop("alloc_by_child")  # not a process of -p
    stacks = {words: read_folded(path) for words, path in folded.items()}
    yield from check_bytes(stacks["alloc"], truth, 0, "allocated")
    yield from check_bytes(stacks["heap"], truth, 2, "in use")
    small, nr = truth["alloc_small"][0], truth["alloc_small"][1]
    found = sum_of(stacks["alloc"], "alloc_small")
    if abs(found - small) > 0.05 * small:
        yield f"alloc_small: {small / MB:.1f} MB, {found / MB:.1f} MB in the profile: more than 5 % off"
    found = sum_of(stacks["alloc --objects"], "alloc_small")
    if abs(found - nr) > 0.08 * nr:
        yield f"alloc_small: {nr} objects, {found} in the profile"
    tips = {frames[-1] for frames, _ in stacks["alloc"]}
    if not {"malloc", "calloc", "realloc", "posix_memalign"} <= tips:
        yield f"the frames on top are {tips}"


def check_calls(flamelet, directory, program):
    """A process that tells nothing. Its sums depend on how fast it is under breakpoints; the shares of functions do not."""
    folded = os.path.join(directory, "calls.folded")
    with subprocess.Popen([program, str(SECONDS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        with subprocess.Popen([flamelet, "record", "--kind", "alloc", "-d", "0", "-p", str(process.pid), "-o", folded],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as recording:
            said = [recording.stderr.readline() for _ in range(2)]
            output, _ = process.communicate("go\n")
    truth = read_truth(output)
    truth.pop("alloc_by_child")  # not a process of -p
    stacks, total = read_folded(folded), sum(numbers[0] for numbers in truth.values())
    found = sum(value for _, value in stacks)
    print(f"calls: {total / MB:.1f} MB, {found / MB:.1f} MB in the profile")
    if "calls of its allocator are sampled" not in "".join(said) or recording.returncode != 0:
        yield f"exit status {recording.returncode}, the recording said {said}"
    if not total / 3 < found < total * 3:
        yield f"calls: {total / MB:.1f} MB were allocated, and {found / MB:.1f} MB are in the profile"
    small, kept = sum_of(stacks, "alloc_small"), sum_of(stacks, "alloc_kept")  # the others are few, or at times only
    wanted = truth["alloc_small"][0] / truth["alloc_kept"][0]
    if not wanted / 1.5 < small / max(kept, 1) < wanted * 1.5:
        yield f"calls: {wanted:.2f} times as many bytes as alloc_kept, alloc_small has {small / max(kept, 1):.2f} times as many"
    if not {frames[-1].lstrip("_") for frames, _ in stacks} & {"GI___libc_malloc", "libc_malloc", "malloc"}:
        yield f"calls: the frames on top are { {frames[-1] for frames, _ in stacks} }"


def check_command(flamelet, library, directory, program):
    """With --heap-library nothing is missed, and children are recorded."""
    folded = os.path.join(directory, "command.folded")
    done = subprocess.run([flamelet, "record", "--kind", "alloc", "--heap-library", library, "-o", folded, "--", program, "1"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    truth = read_truth(done.stdout)
    if done.returncode != 0 or "MiB allocated in" not in done.stdout:
        yield f"exit status {done.returncode}: {done.stdout}"
        return
    total = sum(numbers[0] for numbers in truth.values())
    found = sum(value for _, value in read_folded(folded))
    if abs(found - total) > 0.1 * total:
        yield f"{total / MB:.1f} MB were allocated, and {found / MB:.1f} MB are in the profile"
    yield from check_bytes(read_folded(folded), {"alloc_by_child": truth["alloc_by_child"]}, 0, "command")


def run_programs(library, directory):
    """Programs do the same with the library as without."""
    all_words = PROGRAMS | {f"stress {compiler}": [build(directory, compiler, "heap_stress")]
                            for compiler in ("gcc", "musl-gcc") if shutil.which(compiler)}
    running = {}
    for name, words in all_words.items():
        if not shutil.which(words[0]):
            print(f"{name} is not installed")
            continue
        running[name] = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
                         for env in (os.environ, with_library(library))]
    for name, processes in running.items():
        outputs = [(process.communicate()[0], process.returncode) for process in processes]
        if outputs[0] != outputs[1] or outputs[1][1] != 0:
            yield f"{name} does something else with the library: {outputs}"


def check_programs(flamelet, library, directory):
    """All of it while the whole machine is recorded."""
    folded = os.path.join(directory, "programs.folded")
    with subprocess.Popen([flamelet, "record", "--kind", "heap", "-d", "0", "-q", "-g", "comm", "-o", folded]) as recording:
        time.sleep(2)
        yield from run_programs(library, directory)
        recording.send_signal(signal.SIGINT)
    if recording.returncode != 0:
        yield f"exit status {recording.returncode} of the recording"
    elif not read_folded(folded):
        yield "nothing was recorded of the programs"


def check_few_libraries(library, directory, program):
    """In a root directory that has no library but those of the program, as in an image made of nothing, it runs with ours."""
    root = os.path.join(directory, "root")
    words = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    libraries = [word for word in words if word.startswith("/")]
    for path in libraries:
        os.makedirs(root + os.path.dirname(path), exist_ok=True)
        shutil.copy(path, root + path)
    for path in (program, library):
        shutil.copy(path, root)
    loader = next(path for path in libraries if "/ld-linux" in path)
    ours, copied = (f"/{os.path.basename(path)}" for path in (library, program))
    done = subprocess.run(["chroot", root, loader, "--preload", ours, copied, "0"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0 or done.stderr or "alloc_kept" not in done.stdout:
        yield f"with only {libraries}: exit status {done.returncode}: {done.stdout}{done.stderr}"


def check_copy(flamelet, library, directory):
    """An equal file stays; another one takes its place, and programs that map the old one keep it."""
    place, copied = os.path.join(directory, "node"), os.path.join(directory, "node", "libflamelet-heap.so")
    os.mkdir(place)
    contents, inodes = [], []
    for source in (library, library, __file__):
        subprocess.run([flamelet, "copy-heap", "--directory", place, "--heap-library", source], stdout=subprocess.DEVNULL,
                       check=True)
        with open(source, "rb") as one, open(copied, "rb") as other:
            contents.append(one.read() == other.read())
        inodes.append(os.stat(copied).st_ino)
        os.link(copied, f"{place}.{len(inodes)}")  # as a program that maps it would keep it
    if not all(contents) or inodes[0] != inodes[1] or inodes[1] == inodes[2]:
        yield f"copy-heap: equal contents {contents}, inodes {inodes}"
    with open(f"{place}.1", "rb") as kept:
        if kept.read(4) != b"\x7fELF":
            yield "copy-heap changed a file that may be in use"
    if os.stat(copied).st_mode & 0o777 != 0o444 or os.listdir(place) != [os.path.basename(copied)]:
        yield f"copy-heap left {os.listdir(place)}"
    done = subprocess.run([flamelet, "copy-heap", "--directory", os.path.join(directory, "none")], stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 1 or "cannot" not in done.stderr:
        yield f"copy-heap without a directory: exit status {done.returncode}: {done.stderr}"


def check_doctor(flamelet, library):
    with subprocess.Popen(["sleep", "60"], env=with_library(library)) as process:
        said = subprocess.run([flamelet, "doctor"], stdout=subprocess.PIPE, text=True, check=False).stdout
        process.kill()
    lines = [line for line in said.splitlines() if "allocation probes" in line]
    if len(lines) != 1 or "that programs map" not in lines[0]:
        yield f"doctor does not see the library: {lines}"


def check_refusals(flamelet, library):
    for words, message in ((["--kind", "alloc", "--heap-library", "/bin/true"], "has no probes of allocations"),
                           (["--kind", "cpu", "--heap-library", library], "add --kind alloc or --kind heap"),
                           (["--kind", "heap", "--capture", "perf"], "need --capture=bpf")):
        done = subprocess.run([flamelet, "record", *words, "-d", "1", "-o", "/dev/null", "--format", "folded"],
                              stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0 or message not in done.stderr:
            yield f"{words}: exit status {done.returncode}: {done.stderr}"


def main(flamelet, library):
    if os.geteuid() != 0:
        print("SKIP: recording needs root")
        return host.SKIP
    with tempfile.TemporaryDirectory(prefix="flamelet-heap-", dir=os.getcwd()) as directory:
        program = build(directory, "gcc", "heap")
        problems = [*check_sums(flamelet, library, directory, program), *check_calls(flamelet, directory, program),
                    *check_command(flamelet, library, directory, program),
                    *check_programs(flamelet, library, directory), *check_refusals(flamelet, library),
                    *check_few_libraries(library, directory, program), *check_copy(flamelet, library, directory),
                    *check_doctor(flamelet, library)]
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
