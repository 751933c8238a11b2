# SPDX-License-Identifier: Apache-2.0
"""Measures the local record: bytes, the writer's CPU time and memory, and queries, on what this machine does and on
a made node, beside pprof and folded text of the same samples.

A real load is recorded at as many samples a second as a node of 128 busy CPUs has at 20 Hz, and then written again. Of
the made node, "light" and "hard" have the numbers of functions, stacks and distinct samples of a recording of builds,
browsers, servers and scripts (store_model.h)."""

import contextlib
import glob
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

import loads
import measure
import mixed_loads

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../..")
sys.path.extend((os.path.join(TOP, "e2e"), os.path.join(TOP, "e2e/local")))

# pylint: disable=wrong-import-position
import page_client

SAMPLES_A_SECOND = 128 * 20
RECORD_S = 180
DAY_S = 86400
NO_LIMIT = "0"
PER_DAY = str(100 * 1000 * 1000)
# Kind, percent of CPU time, hours, limit of a day.
MADE = (("light", 40, 24, NO_LIMIT), ("light", 100, 1, NO_LIMIT), ("hard", 40, 1, NO_LIMIT), ("hard", 100, 1, NO_LIMIT),
        ("light", 40, 4, PER_DAY), ("hard", 40, 4, PER_DAY))
# Name, seconds, and how long before the end they end: in the middle of the last minute or of the last hour.
RANGES = (("1 s", 1, 1830), ("last 1 s", 1, 30), ("5 min", 300, 30), ("1 h", 3600, 0), ("24 h", DAY_S, 0))
HEAD = (f"{'load':18} {'samples':>10} | {'blocks':>6} {'dict.':>6} {'files':>6} | {'blocks':>6} {'dict.':>6} {'files':>6} | "
        f"{'folded %':>8} {'CPU %':>6} {'MB':>5} | {'pprof 60 s':>10} {'pprof 1 s':>9} {'folded':>6}")
QUERY_HEAD = f"{'query':18} {'range':>8} {'samples':>10} {'CPU ms':>8} {'again':>8} {'MB':>6} | {'CPU ms':>8} {'again':>8}  with all labels"

PAGE_HEAD = f"{'page':18} {'question':28} {'CPU ms':>8} {'CPU ms':>8} {'KB':>8}"
PAGE_RUNS = 5


def run_bench(folder, *arguments):
    made = subprocess.run([f"{folder}/store_bench", *arguments], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise SystemExit(f"bench: store_bench {' '.join(arguments)}: {made.stderr}")
    return {name: float(value) for name, value in (line.split() for line in made.stdout.splitlines())}


def read_sizes(record):
    """Bytes of blocks, of dictionaries, of files."""
    blocks = dictionaries = files = 0
    for path in glob.glob(f"{record}/*.db"):
        with contextlib.closing(sqlite3.connect(path)) as database:
            blocks += database.execute("SELECT total(length(data)) FROM block").fetchone()[0]
            dictionaries += database.execute("SELECT total(length(data)) FROM dict").fetchone()[0]
        files += os.path.getsize(path)
    return blocks, dictionaries, files


def print_written(name, written, record):
    sizes = read_sizes(record)
    samples = written["samples"]
    columns = " ".join(f"{size / samples:6.2f}" for size in sizes) + " | "
    columns += " ".join(f"{size / written['seconds'] * DAY_S / 1e6:6.0f}" for size in sizes)
    line = (f"{name:18} {samples:10.0f} | {columns} | {100 * written['folded'] / samples:8.1f} "
            f"{written['writer_cpu_us'] / written['seconds'] / 1e4:6.2f} {written['memory_kb'] / 1e3:5.0f} | ")
    minute = written.get("minute_samples", 0)
    if minute:
        line += (f"{written['pprof_minute_bytes'] / minute:10.2f} {written['pprof_seconds_bytes'] / minute:9.2f} "
                 f"{written['folded_zstd_bytes'] / minute:6.2f}")
    print(line.rstrip(" |"), flush=True)
    if written["written"] != samples:
        print(f"  NOT WRITTEN {samples - written['written']:.0f}", flush=True)


def print_queries(name, folder, record, seconds):
    for label, length, back in RANGES:
        if length > seconds:
            continue
        asked = run_bench(folder, "query", record, str(length), str(back))
        print(f"{name:18} {label:>8} {asked['samples']:10.0f} {asked['cpu_us'] / 1e3:8.1f} {asked['cpu_us_again'] / 1e3:8.1f} "
              f"{asked['memory_kb'] / 1e3:6.0f} | {asked['cpu_us_labels'] / 1e3:8.1f} {asked['cpu_us_labels_again'] / 1e3:8.1f}",
              flush=True)


def ask_page(page, path):
    """Returns the server's CPU time in ms, and the size of the compressed answer in KB."""
    cpu = measure.own_cpu_seconds(page.process.pid)
    status, _, body = page.ask(f"/{page.token}/api/v1/{path}", headers={"Accept-Encoding": "gzip"})
    if status != 200:
        raise SystemExit(f"bench: flamelet ui: {path}: {status} {body[:200]}")
    return (measure.own_cpu_seconds(page.process.pid) - cpu) * 1e3, len(body) / 1e3


def print_pages(name, flamelet, record):
    """The questions of the page of `flamelet ui` on an hour, each of another time of it."""
    questions = (("flame graph, 1 s", "flame", 1, ""), ("flame graph, 1 min", "flame", 60, ""),
                 ("changes, 1 s against 1 min", "flame", 1, "&base_from={before}&base_to={first}"),
                 ("timeline by pod, 1 h", "timeline", 3600, "&by=pod&step=10&max=10"),
                 ("heat map of CPUs, 1 h", "timeline", 3600, "&by=cpu&step=10"),
                 ("top, 1 min", "top", 60, ""), ("findings, 1 min", "findings", 60, ""))
    with tempfile.TemporaryDirectory() as scratch, page_client.Page(flamelet, scratch, record) as page:
        begin = page.json("info")["first"]
        for label, what, length, more in questions:
            firsts = [begin + (600 + 70 * i if length < 3600 else 0) for i in range(PAGE_RUNS)]
            asked = [ask_page(page, f"{what}?from={first}&to={first + length}" +
                              more.format(before=first - 60, first=first)) for first in firsts]
            print(f"{name:18} {label:28} {min(ms for ms, _ in asked):8.1f} {max(ms for ms, _ in asked):8.1f} "
                  f"{asked[0][1]:8.0f}", flush=True)


def compile_until(is_over, folder):
    """The C files of this project, one after the other."""
    sources = sorted(glob.glob(f"{TOP}/base/*.c") + glob.glob(f"{TOP}/profile/*.c"))
    while not is_over.is_set():
        for source in sources:
            if is_over.is_set():
                return
            subprocess.run(["gcc", "-O2", "-g", "-I", TOP, "-D_GNU_SOURCE", "-c", source, "-o", f"{folder}/object"],
                           stderr=subprocess.DEVNULL, check=False)


def compile_python_until(is_over, folder):
    while not is_over.is_set():
        subprocess.run([sys.executable, "-m", "compileall", "-q", "-f", folder], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)


@contextlib.contextmanager
def builds():
    is_over = threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.dirname(os.__file__), f"{folder}/library", symlinks=True, ignore_dangling_symlinks=True,
                        ignore=shutil.ignore_patterns("site-packages", "dist-packages", "test", "__pycache__"))
        threads = [threading.Thread(target=compile_until, args=(is_over, folder)),
                   threading.Thread(target=compile_python_until, args=(is_over, f"{folder}/library"))]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            is_over.set()
            for thread in threads:
                thread.join()


def record_real(flamelet, folder, record):
    hz = SAMPLES_A_SECOND // os.cpu_count()
    with builds(), mixed_loads.five(folder):
        agent = subprocess.Popen([flamelet, "agent", "--store", record, "--store-per-day", "off", "--frequency", str(hz)],
                                 stderr=subprocess.PIPE, text=True)
        time.sleep(RECORD_S)
        loads.stop_agent(agent)


def print_real(flamelet, folder, scratch):
    record_real(flamelet, folder, f"{scratch}/real")
    for share in (100, 40):
        name, record = f"real, {share} %", f"{scratch}/real-{share}"
        print_written(name, run_bench(folder, "replay", record, f"{scratch}/real", str(share), NO_LIMIT), record)


def print_made(folder, scratch):
    """Returns the records that can be asked: name, folder, seconds."""
    records = []
    for kind, busy, hours, per_day in MADE:
        name = f"{kind}, {busy} %, {hours} h" + ("" if per_day == NO_LIMIT else " *")
        record = f"{scratch}/{kind}-{busy}-{per_day}"
        print_written(name, run_bench(folder, "make", record, kind, str(busy), str(hours), per_day), record)
        records.append((name, record, hours * 3600))
    return records


def print_record(flamelet, folder):
    print("\nThe local record: bytes a sample, MB a day; the writer's CPU time in percent of one core, and its memory; in bytes a "
          "sample\nof the same minute, as baselines: pprof.gz of 60 s and of every second, folded text of every second with "
          f"zstd -9.\n* at most {int(PER_DAY) / 1e6:.0f} MB a day\n" + HEAD, flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        print_real(flamelet, folder, scratch)
        records = print_made(folder, scratch)
        print(f"\nQueries of these records, and the same ones again by the same reader:\n{QUERY_HEAD}", flush=True)
        for name, record, seconds in records:
            print_queries(name, folder, record, seconds)
        print(f"\nThe page of these records, {PAGE_RUNS} times each: CPU time of the server, smallest and largest, and the "
              f"answer's size\n{PAGE_HEAD}", flush=True)
        for name, record, seconds in records:
            if seconds == 3600:
                print_pages(name, flamelet, record)
