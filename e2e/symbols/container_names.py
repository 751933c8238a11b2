#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of functions in containers: code made at run time, files that are replaced, processes that are gone, files that
mean harm. README.md in this directory tells more.

    container_names.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import contextlib
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../local"), os.path.join(HERE, "..")]

# pylint: disable=wrong-import-position
import debug_forms
import elf_names
import hostile_files
import host
import judge
import loads
import pods
import profiles
import recordings
import robustness

HZ = 499
PROGRAMS = debug_forms.PROGRAMS
RECEIVER = f"{HERE}/../local/receiver.py"
OTLP_PROTO = f"{HERE}/../../tests/proto/otlp_profiles.proto"
VERSIONS = (1, 2, 3)
LEAST_NAMED = 0.95
LEAST_NAMED_BY_AGENT = 0.5      # a window is sent before its slower names are there
MOST_ANONYMOUS = 0.05
SHORT_MS = 300
MEMORY_MAX = 64 << 20
HELPER_MAX = 512 << 20   # with the files that it maps
HOSTILE_SECONDS = 25
WHOLE_SECONDS = 160


class Scene:
    """What the cases share, taken down at the end."""

    def __init__(self, binary, directory):
        self.binary, self.directory = binary, directory
        self.stack = contextlib.ExitStack()
        self.tag = "/flamelet-" + os.path.basename(directory)
        self.cgroup = host.cgroup_mounts()[1] + self.tag
        self.stack.callback(self.remove_cgroups)
        self.reader = recordings.compile_proto(directory)
        self.pods = pods.Pods(f"{directory}/containerd", self.tag)
        self.stack.callback(self.pods.stop)

    def set_up(self):
        os.makedirs(self.cgroup)
        self.pods.start_daemon()
        host.require("gcc")
        for version in VERSIONS:
            path = self.version_path(version)
            host.run("gcc", "-O2", "-static", f"-DVERSION={version}", f"{PROGRAMS}/version.c", "-o", path)
            programs = {"bin/app": path, "bin/work.js": f"{PROGRAMS}/work.js"}
            if version == 1 and shutil.which("javac"):
                host.run("javac", "-d", self.directory, f"{PROGRAMS}/Work.java", seconds=60)
                programs["bin/Work.class"] = f"{self.directory}/Work.class"
            self.pods.import_version(version, programs)

    def version_path(self, version):
        return f"{self.directory}/version-{version}"

    def start_on_host(self, name, *command):
        """Returns the number of the cgroup that it runs in."""
        cgroup = f"{self.cgroup}/{name}"
        os.makedirs(cgroup)

        def enter_cgroup():
            with open(f"{cgroup}/cgroup.procs", "w", encoding="ascii") as procs:
                procs.write("0")

        process = host.Process(name, command, f"{self.directory}/{name}.log", preexec_fn=enter_cgroup)
        self.stack.callback(process.finish, first=signal.SIGKILL)
        return os.stat(cgroup).st_ino

    @contextlib.contextmanager
    def recording(self, name, seconds, *options):
        """Something happens while it is made; `with` yields an object that has the samples then."""
        path = f"{self.directory}/{name}.pb.gz"
        command = recordings.command(self.binary, path, seconds, HZ, *options)
        command.remove("-q")
        made = host.Process(name, command, f"{self.directory}/{name}.log")
        self.stack.callback(made.finish, first=signal.SIGKILL)
        made.samples = []
        host.wait_until("the recording begins", lambda: "profiling" in made.log(), 10)
        yield made
        status = made.child.wait(seconds + recordings.END_SECONDS)
        if status != 0:
            raise host.Failure(f"record: exit status {status}: {made.log()}")
        made.samples = recordings.read(path, self.reader)

    def remove_cgroups(self):
        for mount in host.all_cgroup_mounts():
            host.kill_cgroup(mount + self.tag)
            host.remove_cgroup(mount + self.tag)


def total(samples):
    return sum(sample.count for sample in samples)


def of_cgroup(samples, cgroup_id):
    """Without those of runc, which begins as a part of the container."""
    return [sample for sample in samples if sample.labels.get("cgroup_id") == cgroup_id
            and not sample.labels["thread"].startswith("runc")]


def frame_names(sample):
    return [line.name for place in sample.locations for line in place.lines]


def share_with(samples, text):
    """Of the samples, that have a frame with this in its name."""
    return total(s for s in samples if any(text in name for name in frame_names(s))) / max(1, total(samples))


def host_program(name):
    host.require(name)
    path = os.path.realpath(shutil.which(name))
    if not path.startswith("/usr/"):
        raise host.Skip(f"{name} is not below /usr, which containers see")
    return path


def start_node(scene, name, option):
    return scene.pods.run(name, 1, host_program("node"), option, "/bin/work.js",
                          options=(*pods.host_software(), "--cwd", "/tmp"))


def start_java(scene):
    """Its names are asked for by its own tool, in the container, when it is warm."""
    java = host_program("java")
    cgroup_id = scene.pods.run("java", 1, java, "-XX:+PreserveFramePointer", "-Xmx128m", "-cp", "/bin",
                               "Work", options=(*pods.host_software(), "--cwd", "/tmp"))
    time.sleep(4)
    answer = scene.pods.execute("java", os.path.dirname(java) + "/jcmd", "1", "Compiler.perfmap")
    if "succe" not in answer:
        raise host.Failure(f"jcmd: {answer}")
    return cgroup_id


JITS = (("node-perf-map", lambda scene: start_node(scene, "node-perf-map", "--perf-basic-prof")),
        ("node-jitdump", lambda scene: start_node(scene, "node-jitdump", "--perf-prof")),
        ("java-perf-map", start_java))


def start_jits(scene):
    started, faults = {}, []
    for name, start in JITS:
        try:
            started[name] = start(scene)
        except host.Skip as skip:
            print(f"SKIP {name}: {skip}", flush=True)
        except (host.Failure, subprocess.TimeoutExpired) as failure:
            faults.append(f"{name}: {failure}")
    return started, faults


def check_jit(name, samples):
    places = [(place, sample.count) for sample in samples for place in sample.locations if place.is_user()]
    anonymous = sum(count for place, count in places if place.lines[-1].name == "[anon]")
    nr_frames = sum(count for _, count in places)
    hot = share_with(samples, "hotLeaf")
    print(f"{name:16} {total(samples):6} samples, {100 * hot:.1f} % in hotLeaf, "
          f"{anonymous} of {nr_frames} frames in memory without a name", flush=True)
    if total(samples) < judge.LEAST_SAMPLES or hot < 0.5 or anonymous > MOST_ANONYMOUS * nr_frames:
        return [f"{name}: {total(samples)} samples, {100 * hot:.1f} % in hotLeaf, {anonymous} without a name"]
    return []


def jits_in_containers(scene):
    """By the names that they write to their own /tmp, under the process's own idea of its number: 1."""
    started, faults = start_jits(scene)
    time.sleep(2)
    with scene.recording("jits", 5) as made:
        pass
    for name, cgroup_id in started.items():
        faults += check_jit(name, of_cgroup(made.samples, cgroup_id))
    return faults


class Agent:
    """The agent, sending to a receiver of its own."""

    def __init__(self, scene):
        self.output, port = f"{scene.directory}/otlp.json", host.free_port()
        receiver = host.Process("receiver", [sys.executable, RECEIVER, str(port), OTLP_PROTO, self.output],
                                f"{scene.directory}/receiver.log")
        scene.stack.callback(receiver.stop)
        host.wait_until("the receiver listens", lambda: host.accepts_connections(port))
        self.process = host.Process("agent", [
            scene.binary, "agent", "-F", str(HZ), "--export-interval", "1s",
            "--otlp-endpoint", f"http://127.0.0.1:{port}"], f"{scene.directory}/agent.log")
        scene.stack.callback(self.process.finish, first=signal.SIGKILL)

    def samples(self):
        """Of the whole of its life, as recordings have them."""
        if self.process.finish() != 0:
            raise host.Failure("the agent failed: " + self.process.log()[-2000:])
        return [recordings.Sample({"cgroup_id": int(sample.attributes["flamelet.cgroup.id"]),
                                   "thread": sample.attributes["thread.name"]}, sample.count,
                                  [recordings.Location("", 0, (recordings.Line(name, "", "", 0, 0),))
                                   for name in sample.frames])
                for sample in profiles.read_samples(host.read_text(self.output))
                if {"flamelet.cgroup.id", "thread.name"} <= sample.attributes.keys()]


def replace_on_host(scene):
    """A file that another one is moved to while it runs, and one that is deleted; returns {cgroup: version}."""
    path, gone = f"{scene.directory}/app", f"{scene.directory}/gone"
    shutil.copy2(scene.version_path(1), path)
    shutil.copy2(scene.version_path(1), gone)
    expected = {scene.start_on_host("moved-old", path): 1, scene.start_on_host("gone", gone): 1}
    time.sleep(0.2)
    os.unlink(gone)
    shutil.copy2(scene.version_path(2), path + ".new")
    os.rename(path + ".new", path)
    expected[scene.start_on_host("moved-new", path)] = 2
    return expected


def roll_out(scene):
    """Version 1 in a container, then 2 at the same path, and a container that lives for a moment."""
    expected = {scene.pods.run("roll-1", 1, "/bin/app", "0"): 1}
    time.sleep(2)
    scene.pods.delete("roll-1")
    expected[scene.pods.run("roll-2", 2, "/bin/app", "0")] = 2
    expected[scene.start_on_host("short", scene.version_path(3), str(SHORT_MS))] = 3
    expected[scene.pods.run("short-pod", 3, "/bin/app", str(SHORT_MS))] = 3
    time.sleep(2)
    return expected


def check_versions(by, samples, expected, least):
    """Only names of its own version, and that nearly everywhere."""
    faults = []
    for cgroup_id, version in expected.items():
        own = of_cgroup(samples, cgroup_id)
        share = share_with(own, f"hot_v{version}")
        foreign = sum(share_with(own, f"_v{other}") for other in VERSIONS if other != version)
        said = f"{by}: version {version}: {total(own)} samples, {100 * share:.1f} % named, {100 * foreign:g} % wrongly"
        print(said, flush=True)
        if not own or share < least or foreign > 0:
            faults.append(said)
    return faults


def files_that_are_replaced(scene):
    agent = Agent(scene)
    with scene.recording("replaced", 9) as made:
        expected = replace_on_host(scene)
        time.sleep(1)
        expected |= roll_out(scene)
    faults = check_versions("record", made.samples, expected, LEAST_NAMED)
    return faults + check_versions("agent", agent.samples(), expected, LEAST_NAMED_BY_AGENT)


def peak_bytes(pid):
    """What a process ever took, or 0 when it is gone."""
    for line in host.read_text(f"/proc/{pid}/status").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    return 0


class PeakWatch(threading.Thread):
    """Looks at a process's peak, and at its helpers', until it ends."""

    def __init__(self, process):
        super().__init__()
        self.process, self.bytes, self.helper_bytes = process, 0, 0
        self.start()

    def run(self):
        pid = self.process.pid
        while self.process.is_alive():
            self.bytes = max(self.bytes, peak_bytes(pid))
            helpers = [int(child) for thread in glob.glob(f"/proc/{pid}/task/*/children")
                       for child in host.read_text(thread).split()]
            self.helper_bytes = max([self.helper_bytes, *map(peak_bytes, helpers)])
            time.sleep(0.02)


def hostile_container(scene):
    """Files that harm who reads them: others' names are complete, in time and within the memory allowed."""
    directory = f"{scene.directory}/hostile"
    os.makedirs(directory)
    paths, libraries = hostile_files.write_run_files(directory), hostile_files.write_libraries(directory)
    options = (*pods.host_software(), "--mount", f"type=bind,src={directory},dst=/hostile,options=rbind:rw")
    inside = [path.replace(directory, "/hostile") for path in paths + libraries]
    good = loads.Load(debug_forms.plain, scene.directory, scene.cgroup)
    with loads.running([good]):
        calm = record_watched(scene, "calm", lambda: None)
        cgroup_id = scene.pods.run("run-files", 1, "/usr/bin/python3", "-c", robustness.RUN_FILES,
                                   *inside[:len(paths)], options=options)
        scene.pods.run("run-libraries", 1, "/usr/bin/python3", "-c", hostile_files.RUN_LIBRARIES,
                       *inside[len(paths):], options=options)
        time.sleep(1)
        begin = time.monotonic()
        made = record_watched(scene, "hostile", lambda: hostile_files.turn_hostile(directory))
    return (check_hostile(made, of_cgroup(made.samples, cgroup_id), calm, time.monotonic() - begin)
            + judge.check(good, of_cgroup(made.samples, good.cgroup_id),
                          elf_names.Names(scene.directory, ["/usr/lib/debug"], [good])))


def record_watched(scene, name, action):
    with scene.recording(name, 5, "--symbol-memory-max", str(MEMORY_MAX)) as made:
        made.watch = PeakWatch(made)
        time.sleep(1.5)
        action()
    made.watch.join()
    return made


def check_hostile(made, samples, calm, seconds):
    mapped = {os.path.basename(place.file) for sample in samples for place in sample.locations}
    peak, before = made.watch.bytes, calm.watch.bytes
    helper = made.watch.helper_bytes
    print(f"hostile files: {seconds:.1f} s, peak {peak >> 20} MB, without them {before >> 20} MB, "
          f"of a helper process {helper >> 20} MB", flush=True)
    faults = [f"{name} is in no stack" for name in ("fifo", "truncated", "sparse", "bomb")
              if not any(file.startswith(name) for file in mapped)]
    if seconds > HOSTILE_SECONDS:
        faults.append(f"with hostile files a recording took {seconds:.1f} s")
    if helper > HELPER_MAX:
        faults.append(f"a helper process took {helper >> 20} MB")
    if peak > before + MEMORY_MAX:
        faults.append(f"with hostile files the peak is {peak >> 20} MB, {before >> 20} MB without")
    return faults


CASES = (files_that_are_replaced, jits_in_containers, hostile_container)


def run_cases(scene):
    problems = []
    for case in CASES:
        try:
            found = case(scene)
        except (host.Failure, OSError, subprocess.TimeoutExpired) as failure:
            found = [str(failure)]
        host.kill_cgroup(scene.cgroup)
        print(f"{'FAIL' if found else 'ok':<5} {case.__name__}", flush=True)
        problems += [f"{case.__name__}: {problem}" for problem in found]
    return problems


def give_up(*_args):
    raise host.Failure(f"not done after {WHOLE_SECONDS} s")


def require_host():
    if os.geteuid() != 0:
        raise host.Skip("not root")
    host.require("containerd", "ctr", "runc", "gcc", "g++", "protoc", "readelf", "objcopy", "strip")
    if not host.is_mount("/"):
        raise host.Skip("/ is no mount point (a chroot): runc cannot start containers in it")
    if host.cgroup_mounts()[1] is None:
        raise host.Skip("no cgroup2 file system is mounted")


def run_test(binary, directory):
    scene = Scene(binary, directory)
    with scene.stack:
        try:
            scene.set_up()
            return run_cases(scene)
        except host.Failure as failure:
            return [str(failure)]


def main():
    signal.signal(signal.SIGALRM, give_up)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.alarm(WHOLE_SECONDS)
    host.adopt_orphans()
    try:
        require_host()
    except host.Skip as skip:
        print(f"SKIP: {skip}")
        return host.SKIP
    with tempfile.TemporaryDirectory(prefix="symbols-") as directory:
        os.chmod(directory, 0o755)
        problems = run_test(os.path.abspath(sys.argv[1]), directory)
        host.reap_orphans()
    for problem in problems:
        print(f"FAIL: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
