# SPDX-License-Identifier: Apache-2.0
"""Names of code that is made at run time, which its processes write into a /tmp that is their own."""

import os
import shutil
import subprocess
import time

import host
import judge
import pods
from container_scene import of_cgroup, share_with, total

MOST_ANONYMOUS = {"node-jitdump": 0.2}  # node writes its dump in pieces of 2 MB: the latest code is not in it
USUALLY_ANONYMOUS = 0.05
LEAST_HOT = 0.5         # the rest collects garbage
WARM_CPU_SECONDS = 5    # until Java has compiled what is hot


def host_program(name):
    host.require(name)
    path = os.path.realpath(shutil.which(name))
    if not path.startswith("/usr/"):
        raise host.Skip(f"{name} is not below /usr, which containers see")
    return path


def start_node(scene, name, option):
    return scene.pods.run(name, 1, host_program("node"), option, "--max-inlined-bytecode-size=0",
                          "/bin/work.js", options=(*pods.host_software(), "--cwd", "/tmp"))


def start_java(scene):
    """Its names are asked for by its own tool, in the container, when it is warm."""
    java = host_program("java")
    cgroup_id = scene.pods.run("java", 1, java, "-XX:+PreserveFramePointer", "-Xmx128m",
                               "-XX:CompileCommand=dontinline,Work::hot*", "-cp", "/bin", "Work",
                               options=(*pods.host_software(), "--cwd", "/tmp"))
    scene.wait_for_work("java", WARM_CPU_SECONDS)
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
    places = [(place, sample.count) for sample in samples for place in sample.locations
              if place.is_user()]
    anonymous = sum(count for place, count in places if place.lines[-1].name == "[anon]")
    nr_frames = sum(count for _, count in places)
    hot = share_with(samples, "hotLeaf")
    most = MOST_ANONYMOUS.get(name, USUALLY_ANONYMOUS)
    print(f"{name:16} {total(samples):6} samples, {100 * hot:.1f} % in hotLeaf, "
          f"{anonymous} of {nr_frames} frames in memory without a name", flush=True)
    if total(samples) < judge.LEAST_SAMPLES or hot < LEAST_HOT or anonymous > most * nr_frames:
        return [f"{name}: too few samples, or too few of them by name"]
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
