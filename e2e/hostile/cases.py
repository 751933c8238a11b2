# SPDX-License-Identifier: Apache-2.0
"""All cases of the trial, and which of them are its short selection."""

import os
import shutil
import signal

import cfi_bombs
import disk_cases
import dwarf_bombs
import elf_bombs
import host
import liar
import mutants
import name_bombs
import runtime_cases
import servers
from stage import HOSTILE_UID, end
from trial import Case

NR_MUTANTS = 504
BATCH = 21
PROGRAMS = None         # mutants.Programs; prepare() makes it


def prepare(tools):
    global PROGRAMS     # pylint: disable=global-statement
    PROGRAMS = mutants.Programs(tools.directory)


def run_one(write):
    """Runs a file that `write` makes, as another user."""
    def attack(stage):
        stage.run_files([write(stage.new_path())])
        return ["mapper"]
    return attack


def files(group, table):
    return [Case(name, run_one(write), group=group) for name, write in table.items()]


def run_mutants(kind, first, nr):
    def attack(stage):
        PROGRAMS.build([kind])
        if kind not in PROGRAMS.contents:
            raise host.Skip(PROGRAMS.missing[-1])
        stage.run_files([PROGRAMS.write(kind, f"{SEED} {number}", stage.new_path())
                         for number in range(first, first + nr)])
        return ["mapper"]
    return attack


def mutant_cases():
    nr = NR_MUTANTS // len(mutants.BUILDS)
    return [Case(f"{kind}, {first} to {first + BATCH - 1}", run_mutants(kind, first, BATCH), group="mutants",
                 seconds=15)
            for kind in mutants.BUILDS for first in range(0, nr, BATCH)]


def tell_lies(kind):
    def attack(stage):
        process = stage.run_script("liar.py", kind, stage.hostile_directory)
        stage.stack.callback(remove_list, process.pid)
        return ["python3"]
    return attack


def remove_list(pid):
    path = f"/tmp/perf-{pid}.map"
    if os.path.isdir(path) and not os.path.islink(path):
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)
    if os.path.lexists(path + ".new"):
        os.unlink(path + ".new")


def list_cases():
    return [Case(kind, tell_lies(kind), group="lists") for kind in [*liar.KINDS, *liar.DUMPS]]


def hold_pages(uid):
    def attack(stage):
        tool = stage.tools.build("held_pages")
        process = stage.start("held_pages", [tool, "a" * 5000, "b" * 5000], stage.hostile, uid)
        host.wait_until("pages are held", lambda: "held" in process.log() or not process.is_alive())
        if not process.is_alive():
            raise host.Skip("no userfaultfd for this user")
        return ["held_pages"]
    return attack


def victim_image(stage):
    """A program that would have names, with the loop."""
    path = f"{stage.directory}/image"
    return path, name_bombs.named_loops(["held"], 4).write(path)[1:]


def mount_fuse(stage, image, how, name="fuse"):
    mount = f"{stage.directory}/{name}"
    os.mkdir(mount)
    process = stage.start(name, [stage.tools.build("fuse_file"), image, mount, how], stage.hostile, 0)
    stage.stack.callback(host.unmount_below, stage.directory)
    stage.stack.callback(end, process, 2, signal.SIGKILL)
    host.wait_until("the file system is there", lambda: not process.is_alive() or host.is_mount(mount))
    if not process.is_alive():
        raise host.Skip("no FUSE")
    return mount


def fuse(how, is_overlaid):
    def attack(stage):
        image, loops = victim_image(stage)
        mount = mount_fuse(stage, image, how)
        if is_overlaid:
            mount = overlay(stage, mount)
        stage.run_files([(f"{mount}/file", *loops)])
        return ["mapper"]
    return attack


def overlay(stage, lower, number=0):
    disk, merged = (f"{stage.directory}/{name}{number}" for name in ("disk", "merged"))
    os.mkdir(disk)
    host.run("mount", "-t", "tmpfs", "none", disk)
    upper, work = f"{disk}/upper", f"{disk}/work"
    for directory in (upper, work, merged):
        os.mkdir(directory)
    host.run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir={lower},upperdir={upper},workdir={work}", merged)
    return merged


def hang_many(nr_files, nr_cgroups, each_has_all):
    """Files that hang, each of a file system of its own: a cgroup has one of them, or all."""
    def attack(stage):
        image, loops = victim_image(stage)
        paths = [f"{overlay(stage, mount_fuse(stage, image, 'hang', f'fuse{i}'), i)}/file" for i in range(nr_files)]
        for i in range(nr_cgroups):
            files_of_one = paths if each_has_all else [paths[i]]
            stage.run_files([(path, *loops) for path in files_of_one], cgroup=stage.add_cgroup(f"hostile/c{i}"))
        return ["mapper"]
    return attack


def page_cases():
    cases = [Case("held by userfaultfd, of root", hold_pages(0)),
             Case("held by userfaultfd, of a user", hold_pages(HOSTILE_UID))]
    for how in ("hang", "slow", "lie"):
        cases.append(Case(f"FUSE: {how}", fuse(how, False)))
        cases.append(Case(f"FUSE below an overlay: {how}", fuse(how, True)))
    cases.append(Case("FUSE below overlays: 12 cgroups hang", hang_many(12, 12, False), seconds=20))
    cases.append(Case("FUSE below overlays: 12 files of 6 cgroups hang", hang_many(12, 6, True), seconds=20))
    for case in cases:
        case.group = "pages"
    return cases


def destination(answer, scheme="http", lines="", is_silent=False):
    """One more receiver, which answers so."""
    def options(stage):
        server = servers.Server(answer, is_silent)
        stage.stack.callback(server.stop)
        path = f"{stage.directory}/hostile-{server.port}.yaml"
        with open(path, "w", encoding="ascii") as file:
            file.write(f"otlp-endpoint: {server.url(scheme)}\n{lines}")
        return ["--destination", path]
    return options


def kubelet(answer):
    def options(stage):
        server = servers.Server(answer)
        stage.stack.callback(server.stop)
        return ["--kubelet-url", server.url(), "--node-name", "node-1"]
    return options


def both(*options):
    return lambda stage: [word for make in options for word in make(stage)]


def server_cases():
    receivers = {
        "http": (servers.HTTP, lambda answer: destination(answer)),
        "push": (servers.HTTP, lambda answer: destination(answer, lines="exporter: pyroscope\n")),
        "tls": (servers.TLS, lambda answer: destination(answer, "https", is_silent=True)),
        "grpc": (servers.GRPC, lambda answer: destination(answer, lines="otlp-protocol: grpc\n", is_silent=True)),
        "kubelet": (servers.KUBELET, kubelet),
    }
    return [Case(name, options=make(answer), group=group)
            for group, (table, make) in receivers.items() for name, answer in table.items()]


def forged_cases():
    jumps = {
        "a year forward and back": A_YEAR,
        "an hour back": ((1, -3600),),
        "to 1970": ((1, -1_700_000_000),),
        "to 2262": ((1, 7_400_000_000),),
        "again and again": tuple((0.5 * i, (-1) ** i * 3600 * i) for i in range(1, 20)),
    }
    cases = [Case("forged queue", options=disk_cases.forged_queue),
             Case("forged cache", options=disk_cases.forged_cache)]
    cases += [Case(f"clock: {name}", disk_cases.jump(*steps), environment=disk_cases.clock)
              for name, steps in jumps.items()]
    for case in cases:
        case.group = "state"
    return cases


def changing(change):
    """A file that is right when it is first mapped, and then is not."""
    def attack(stage):
        path = stage.new_path()
        made = name_bombs.named_loops(["f" * 3000] * 2000, 2000).write(path)
        process = stage.run_files([made])
        host.wait_until("the file is mapped", lambda: path in host.read_text(f"/proc/{process.pid}/maps"))
        change(path, stage)
        return ["mapper"]
    return attack


def cut_short(path, _stage):
    os.truncate(path, 4096 + 2000 * 16)


def replaced_by_fifo(path, _stage):
    os.unlink(path)
    os.mkfifo(path)
    os.chmod(path, 0o666)


def replaced_by_link(path, _stage):
    os.unlink(path)
    os.symlink("/dev/zero", path)


def rewritten(path, stage):
    """The owner rewrites the file for ever."""
    shutil.copy2(path, path + ".copy")
    script = 'while :; do dd if="$1.copy" of="$1" conv=notrunc bs=1M; dd if=/dev/urandom of="$1" bs=64 count=1 conv=notrunc; done'
    os.chown(path, HOSTILE_UID, HOSTILE_UID)
    stage.start("rewrite", ["/bin/sh", "-c", script, "sh", path], stage.hostile, HOSTILE_UID)


def flood(stage):
    """Runs a new file again and again, each in a process of its own."""
    script = ('i=0; while :; do i=$((i+1)); cp "$1" "$2/f$i"; printf %08d $i | dd of="$2/f$i" bs=1 seek=5000 conv=notrunc; '
              'timeout 0.2 "$3" "$2/f$i:4096:4:16"; rm "$2/f$i"; done')
    image, _ = victim_image(stage)
    os.chmod(image, 0o755)
    for number in range(2):
        directory = f"{stage.hostile_directory}/{number}"
        os.mkdir(directory)
        os.chown(directory, HOSTILE_UID, HOSTILE_UID)
        stage.start(f"flood{number}", ["/bin/sh", "-c", script, "sh", image, directory, stage.tools.build("mapper")],
                    stage.hostile, HOSTILE_UID)


def moving_cases():
    cases = [Case("cut short", changing(cut_short)), Case("replaced by a FIFO", changing(replaced_by_fifo)),
             Case("replaced by a link to a device", changing(replaced_by_link)),
             Case("rewritten for ever", changing(rewritten)), Case("files for ever", flood, seconds=20)]
    for case in cases:
        case.group = "moving"
    return cases


def seen_cases():
    """Attacks that stopped, stalled or swelled the agent before."""
    names, cfi = name_bombs.files(), cfi_bombs.CFI
    made = [
        Case("1 JSON with a 503, beside a kubelet", seconds=8, options=both(
            destination(servers.HTTP["JSON with a 503"]), kubelet(servers.good_pods))),
        Case("1 JSON with a 503 to a push, beside a kubelet", seconds=8, options=both(
            destination(servers.HTTP["JSON with a 503"], lines="exporter: pyroscope\n"), kubelet(servers.good_pods))),
        Case("2 a Rust name", run_one(name_bombs.write_names([name_bombs.RUST_FOR]))),
        Case("2 a C++ name", run_one(names["C++: a pack in 2^50 types"])),
        Case("3 65530 sections", run_one(elf_bombs.FILES["65530 sections, 16 MB of names"])),
        Case("4 overlapping CIEs", run_one(cfi["2^18 CIEs in 12 sections at one place"])),
        Case("4 a sparse file", run_one(cfi["16 KB, sparse: 250 MB of nothing"])),
        Case("4 compressed CIEs", run_one(cfi["248 KB, compressed: 250 MB of CIEs"])),
        Case("5 record to a FIFO", special=disk_cases.record_to(disk_cases.to_fifo)),
        Case("5 record to a link to a device", special=disk_cases.record_to(disk_cases.to_device)),
        Case("5 record to a link to a file", special=disk_cases.record_to(disk_cases.to_file)),
        Case("7 names with controls", run_one(names["controls"]), seconds=8),
        Case("7 a header without end", options=destination(servers.HTTP["a header without end"]), seconds=8,
             check=lambda _stage, log: ["it says: out of memory"] if "ut of memory" in log else []),
    ]
    planted = {"of another owner": disk_cases.owned_by_other, "that all may write": disk_cases.writable_by_all,
               "behind a link": disk_cases.through_link}
    for option in ("--queue-dir", "--unwind-cache"):
        made += [Case(f"6 {option} {what}", special=disk_cases.refuses(option, prepare))
                 for what, prepare in planted.items()]
    made.append(Case("6 --queue-dir with another's directory in it", special=disk_cases.refuses(
        "--queue-dir", disk_cases.planted_below)))
    for case in made:
        case.group, case.is_short = "seen", case.name in SHORT
    return made


SHORT = ("1 JSON with a 503, beside a kubelet", "3 65530 sections", "4 overlapping CIEs", "4 compressed CIEs",
         "5 record to a FIFO", "5 record to a link to a file", "7 names with controls", "7 a header without end",
         "6 --queue-dir of another owner", "6 --queue-dir that all may write", "6 --queue-dir behind a link",
         "6 --queue-dir with another's directory in it")
A_YEAR = ((1, disk_cases.YEAR_S), (5, -disk_cases.YEAR_S), (8, 0))
SEED = 16


def together(*attacks):
    return lambda stage: sorted({name for attack in attacks for name in attack(stage) or []})


def mixed_cases():
    """A few of each class at once: the short selection of what --all tries one by one."""
    names = name_bombs.files()
    made = [
        Case("Rust's and C++'s names", together(run_one(names["Rust: a for of 62^10 lifetimes"]),
                                                run_one(names["C++: a pack in 2^50 types"]))),
        Case("files, lists and pages", together(
            run_mutants("C++", 0, BATCH), run_mutants("Go", 0, 5), run_one(cfi_bombs.GO["100000 functions of 600000 sizes"]),
            run_one(elf_bombs.FILES["MiniDebugInfo of a gigabyte of zeros"]),
            run_one(dwarf_bombs.FILES["60 million lines, compressed"]), tell_lies("swapped"), tell_lies("jitdump-growing"),
            hold_pages(0), fuse("hang", True)), seconds=20),
        Case("receivers and a kubelet", options=both(
            destination(servers.HTTP["gzip bomb, 503"]),
            destination(servers.GRPC["trailers of a megabyte"], lines="otlp-protocol: grpc\n", is_silent=True),
            kubelet(servers.KUBELET["items without end"]))),
        Case("queue, cache and clock", disk_cases.jump(*A_YEAR), environment=disk_cases.clock,
             options=both(disk_cases.forged_queue, disk_cases.forged_cache)),
    ]
    for case in made:
        case.group, case.is_short = "mixed", True
    return made


def all_cases(seed=SEED):
    global SEED         # pylint: disable=global-statement
    SEED = seed
    return [Case("nobody attacks", group="calm", seconds=6, is_short=True), *seen_cases(), *mixed_cases(),
            *files("names", name_bombs.files()), *files("elf", elf_bombs.FILES), *files("cfi", cfi_bombs.CFI),
            *files("go", cfi_bombs.GO), *files("dwarf", dwarf_bombs.FILES), *mutant_cases(), *moving_cases(),
            *list_cases(), *runtime_cases.runtime_cases(mount_fuse), *page_cases(), *server_cases(), *forged_cases()]
