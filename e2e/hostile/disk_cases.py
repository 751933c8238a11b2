# SPDX-License-Identifier: Apache-2.0
"""Directories and files that another user has prepared: queue, cache of unwind tables, outputs."""

import os
import random
import signal
import subprocess
import threading
import time

import host
from stage import HOSTILE_UID

YEAR_S = 365 * 24 * 3600
LONGEST_RECORD_S = 15
MANY_FILES = "import bz2, ctypes, lzma, sqlite3, ssl, zlib\nwhile True:\n    pass"     # a busy program that maps many


def plant(directory, names, random_):
    """One of each that a reader must not trust."""
    kinds = {
        "garbage": lambda path: write(path, random_.randbytes(100_000)),
        "empty": lambda path: write(path, b""),
        "zeros": lambda path: write(path, bytes(4096)),
        "ones": lambda path: write(path, b"\xff" * 4096),
        "sparse": lambda path: write(path, b"", 100 << 30),
        "fifo": os.mkfifo,
        "device": lambda path: os.symlink("/dev/zero", path),
        "secret": lambda path: os.symlink("/etc/shadow", path),
        "loop": lambda path: os.symlink(path, path),
        "directory": os.mkdir,
        "socket": lambda path: os.mknod(path, 0o140600),
    }
    for name, kind in zip(names, list(kinds.values()) * (len(names) // len(kinds) + 1)):
        kind(f"{directory}/{name}")


def write(path, content, size=None):
    with open(path, "wb") as file:
        file.write(content)
        if size:
            file.truncate(size)


def run_first_agent(stage, options, name, is_there):
    """An agent samples a busy program, because the machine may run no other, until what it writes is there."""
    busy = stage.start("busy", ["/usr/bin/python3", "-c", MANY_FILES], stage.victims, 0)
    command = [stage.binary, "agent", "--otlp-endpoint", "http://127.0.0.1:1", "--export-interval", "1s", *options]
    first = stage.start("first", command, stage.victims, 0)
    host.wait_until(name, is_there)
    first.finish()
    busy.finish()


def forged_queue(stage):
    """The queue of a destination that is down, full of what no agent has written."""
    queue = f"{stage.directory}/queue"
    run_first_agent(stage, ["--queue-dir", queue], "a queue is there", lambda: list(queues(queue)))
    random_ = random.Random(16)
    for directory in queues(queue):
        now = time.time_ns()
        plant(directory, [f"{now + 60 * 10 ** 9 * i:020}.spool" for i in range(-100, 100)], random_)
        plant(directory, [f"{now + i:020}.spool-temp" for i in range(1000, 1022)], random_)
        plant(directory, ["9" * 20 + ".spool", "9" * 200 + ".spool", "-1.spool", ".spool", "x", "lock.x"], random_)
        damage(directory, random_)
    destination = f"{stage.directory}/down.yaml"
    write(destination, b"otlp-endpoint: http://127.0.0.1:1\n")
    return ["--queue-dir", queue, "--destination", destination]


def queues(directory):
    return [path for path, _, files in os.walk(directory) if any(name.endswith(".spool") for name in files)]


def damage(directory, random_):
    """Requests that were whole have bytes changed."""
    for name in os.listdir(directory):
        path = f"{directory}/{name}"
        if os.path.isfile(path) and not os.path.islink(path) and 100 < os.path.getsize(path) < 1 << 20:
            with open(path, "r+b") as file:
                file.seek(random_.randrange(os.path.getsize(path)))
                file.write(random_.randbytes(8))


def forge(directory, random_):
    names = [name for name in os.listdir(directory) if os.path.isfile(f"{directory}/{name}")]
    if not names:
        return
    damage(directory, random_)
    suffix = names[0].rpartition(".")[2]
    plant(directory, [f"{i:04x}-{i:032x}.{suffix}" for i in range(200)], random_)
    plant(directory, [f"{names[0]}.{i}" for i in range(22)], random_)
    for name in names[:11]:
        os.unlink(f"{directory}/{name}")
    plant(directory, names[:11], random_)


def forged_cache(stage):
    """Unwind tables of the files that one program maps, damaged, among much else."""
    cache = f"{stage.directory}/cache"
    run_first_agent(stage, ["--unwind-cache", cache], "a cache is there",
                    lambda: os.path.isdir(cache) and len(os.listdir(cache)) > 5)
    random_ = random.Random(16)
    forge(cache, random_)
    if os.path.isdir(f"{cache}/lines"):
        forge(f"{cache}/lines", random_)
    return ["--unwind-cache", cache]


def refuses(option, prepare):
    """The agent reports a directory that others can change, and writes nothing to it."""
    def special(binary, stage):
        directory = prepare(stage)
        before = set(everything(directory))
        command = [binary, "agent", "--otlp-endpoint", "http://127.0.0.1:1", "--export-interval", "1s", option, directory]
        agent = stage.start("agent", command, stage.victims, 0)
        stage.start_victim(0)
        with_end = time.monotonic() + 6
        while agent.is_alive() and time.monotonic() < with_end:
            time.sleep(0.1)
        status = agent.finish(10, signal.SIGTERM)
        log = agent.log()
        faults = [f"it wrote {sorted(new)[0]}" for new in [set(everything(directory)) - before] if new]
        if directory not in log.replace(f"{option} {directory}", "") and status == 0:
            faults.append("it says nothing of the directory")
        return faults + ([f"status {status}"] if status < 0 else [])
    return special


def everything(directory):
    return [os.path.join(path, name) for path, directories, files in os.walk(os.path.realpath(directory))
            for name in directories + files]


def owned_by_other(stage):
    path = f"{stage.directory}/theirs"
    os.mkdir(path, 0o700)
    os.chown(path, HOSTILE_UID, HOSTILE_UID)
    return path


def writable_by_all(stage):
    path = f"{stage.directory}/all"
    os.mkdir(path)
    os.chmod(path, 0o777)
    return path


def through_link(stage):
    os.mkdir(f"{stage.directory}/elsewhere", 0o700)
    path = f"{stage.directory}/link"
    os.symlink(f"{stage.directory}/elsewhere", path)
    os.lchown(path, HOSTILE_UID, HOSTILE_UID)
    return path


def planted_below(stage):
    """The directory that the queue will use below it belongs to another user."""
    path = f"{stage.directory}/below"
    os.mkdir(path, 0o700)
    run_first_agent(stage, ["--queue-dir", path], "its directory is there", lambda: next(os.walk(path))[1])
    for directory, _, files in os.walk(path):
        for name in files:
            os.unlink(f"{directory}/{name}")
        if directory != path:
            os.chmod(directory, 0o777)
            os.chown(directory, HOSTILE_UID, HOSTILE_UID)
    return path


def record_to(plant_at):
    """`record -o` in a directory like /tmp, where another user has made the file first."""
    def special(binary, stage):
        directory = f"{stage.directory}/sticky"
        os.mkdir(directory)
        os.chmod(directory, 0o1777)
        path = f"{directory}/out.folded"
        target = plant_at(path)
        os.lchown(path, HOSTILE_UID, HOSTILE_UID)
        faults = []
        begin = time.monotonic()
        record = subprocess.Popen([binary, "record", "-d", "1", "-o", path], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            record.wait(LONGEST_RECORD_S)
        except subprocess.TimeoutExpired:
            faults.append(f"it runs for more than {time.monotonic() - begin:.0f} s")
            record.send_signal(signal.SIGTERM)
            faults += end(record)
        if target and os.path.getsize(target):
            faults.append(f"it wrote to {target}")
        return faults
    return special


def end(process):
    try:
        process.wait(8)
        return []
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return ["the first SIGTERM does nothing"]


def to_fifo(path):
    os.mkfifo(path, 0o666)


def to_device(path):
    os.symlink("/dev/full", path)


def to_file(path):
    target = os.path.dirname(path) + "/target"
    write(target, b"")
    os.symlink(target, path)
    return target


def jump(*steps):
    """The agent's clock is set, (after seconds, to seconds from now) each."""
    def attack(stage):
        for after, seconds in steps:
            timer = threading.Timer(after, write, (f"{stage.directory}/clock", str(seconds).encode()))
            timer.daemon = True
            timer.start()
            stage.stack.callback(timer.cancel)
    return attack


def clock(stage):
    with open(stage.binary, "rb") as file:
        if b"__asan_init" in file.read():
            raise host.Skip("nothing can be preloaded before a sanitizer")
    write(f"{stage.directory}/clock", b"0")
    return {"LD_PRELOAD": stage.tools.build("shifted_clock", "-shared", "-fPIC"),
            "SHIFTED_CLOCK": f"{stage.directory}/clock"}
