# SPDX-License-Identifier: Apache-2.0
"""Checks names beside a container whose files attack their readers."""

import glob
import os
import threading
import time

import debug_forms
import elf_names
import host
import hostile_files
import judge
import loads
import pods
import robustness
from container_scene import of_cgroup

MEMORY_MAX = 64 << 20
HELPER_MAX = 512 << 20      # with the files that it maps
LATE_SECONDS = 20           # from the last sample to the file


def peak_bytes(pid):
    """Returns the peak of a process's resident memory, or 0 if the process has ended."""
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
    paths = hostile_files.write_run_files(directory)
    libraries = hostile_files.write_libraries(directory)
    options = (*pods.host_software(), "--mount",
               f"type=bind,src={directory},dst=/hostile,options=rbind:rw")
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
    seconds = time.monotonic() - begin
    names = elf_names.Names(scene.directory, ["/usr/lib/debug"], [good])
    return (check_hostile(made, of_cgroup(made.samples, cgroup_id), calm, seconds)
            + judge.check(good, of_cgroup(made.samples, good.cgroup_id), names))


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
    if seconds > made.seconds + LATE_SECONDS:
        faults.append(f"with hostile files a recording took {seconds:.1f} s")
    if helper > HELPER_MAX:
        faults.append(f"a helper process took {helper >> 20} MB")
    if peak > before + MEMORY_MAX:
        faults.append(f"with hostile files the peak is {peak >> 20} MB, {before >> 20} MB without")
    return faults
