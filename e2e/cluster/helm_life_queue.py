# SPDX-License-Identifier: Apache-2.0
"""The part of helm_life.py about profiles that wait: through a crash of the agent, an update, a node that is
switched off, while the receiver is away. All of them must arrive in the end, and once."""

import os
import signal
import time

import helm_node
import helm_scene
import helm_sink

# pylint: disable=wrong-import-order
import host

# Marks the samples of an agent by an attribute of all resources, which only a restart changes.
MARK = "e2e.revision"
# Samples are taken in windows of so long; no window that was taken may be missing.
WINDOW_SECONDS = 1
# An agent that is killed loses what it is merging.
INTERVAL_SECONDS = helm_scene.EXPORT_SECONDS
OUTAGE_SECONDS = 15
HOST_PATH = {"queue": {"type": "hostPath"}}
DELIVERY_SECONDS = 180


def mark(name):
    return {"attributes": {"resource": {MARK: name}}}


def with_mark(samples, name):
    return [sample for sample in samples if sample.resource.get(MARK) == name]


def has_mark(name):
    return lambda samples: bool(with_mark(samples, name))


def duplicates(sink, since):
    """Profiles that came more than once."""
    ids = [one for request in sink.requests() if request.at >= since for one in request.ids]
    return [f"{len(ids) - len(set(ids))} of {len(ids)} profiles came twice"] if len(set(ids)) < len(ids) else []


def conservation_faults(scene, name, log):
    """All that an agent handed to its exporter has come, by its own last words."""
    counters = helm_scene.log_counters(log)
    received = helm_sink.total(with_mark(scene.sink.samples(), name))
    told = {key: counters.get(f"export_samples_{key}", 0) for key in ("pushed", "restored", "sent")}
    print(f"{name}: {received} samples received; {told}, samples read {counters.get('samples')}", flush=True)
    is_right = counters and received == told["sent"] == told["pushed"] + told["restored"]
    return [] if is_right else [f"{name}: {received} samples were received of {told}"]


def gaps(samples):
    """Seconds that no profile covers, of one agent: [(begin, length)]."""
    found, end = [], None
    for begin, next_end in helm_sink.spans(samples):
        if end is not None and begin > end:
            found.append((end, begin - end))
        end = max(end or 0, next_end)
    return found


def gap_faults(scene, old, new):
    """The time between two agents is printed; within each of them no window is missing."""
    samples = scene.sink.samples()
    first, second = (with_mark(samples, name) for name in (old, new))
    gap = helm_sink.spans(second)[0][0] - max(end for _, end in helm_sink.spans(first))
    print(f"no agent sampled for {gap:.2f} s", flush=True)
    return inner_gap_faults(old, first) + inner_gap_faults(new, second)


def inner_gap_faults(name, samples):
    long = [length for _, length in gaps(samples) if length > WINDOW_SECONDS / 2]
    return [f"{name}: {len(long)} gaps of up to {max(long):.1f} s"] if long else []


def make_wait(scene, seconds=OUTAGE_SECONDS):
    """Stops the receiver; returns when so many seconds of profiles wait on disk."""
    scene.sink.stop()
    begin = time.time()
    host.wait_until("profiles wait on disk", lambda: helm_node.waiting_files(scene.release) and
                    time.time() > begin + seconds, helm_scene.WAIT_SECONDS, 0.5)
    return begin


def deliver(scene):
    """The receiver is back; returns when nothing waits any more."""
    begin = time.time()
    scene.sink.start()
    host.wait_until("all profiles are delivered", lambda: not helm_node.waiting_files(scene.release),
                    DELIVERY_SECONDS, 0.5)
    scene.wait_for_samples("new profiles", lambda samples: True)
    print(f"delivered {time.time() - begin:.1f} s after the receiver came back", flush=True)


def check_crash(scene):
    """The agent is killed while the receiver is down: the queue is in the emptyDir."""
    scene.release.upgrade(scene.values(mark("crash")))
    scene.release.wait_ready()
    scene.wait_for_samples("samples", has_mark("crash"))
    start = time.time()
    uid, container = helm_scene.containers_of(scene.release)
    pid, objects = scene.release.pid(), helm_node.bpf_objects(scene.release.pid())
    children = helm_node.children_of(pid)
    make_wait(scene)
    waited = len(helm_node.waiting_files(scene.release))
    killed = time.time()
    os.kill(pid, signal.SIGKILL)
    wait_for_restart(scene, container)
    back = time.time()
    print(f"{waited} files waited; ready again {back - killed:.1f} s after kill -9", flush=True)
    faults = ["it is another pod"] * (helm_scene.containers_of(scene.release)[0] != uid)
    faults += [f"process {child} of the old agent lives" for child in children if os.path.exists(f"/proc/{child}")]
    faults += helm_node.wait_until_gone(objects) + object_faults(scene, objects)
    deliver(scene)
    scene.wait_for_everything()
    return faults + duplicates(scene.sink, start) + loss_faults(scene, "crash", start, killed)


def wait_for_restart(scene, container):
    """Until another container of the pod is ready."""
    def is_ready():
        status = scene.release.status()
        return status.get("ready") and status.get("containerID") != container

    host.wait_until("the agent's container is ready again", is_ready, helm_scene.WAIT_SECONDS, 0.5)


def object_faults(scene, objects):
    """The new agent has as many as the old one had."""
    before, after = helm_node.count(objects), helm_node.count(helm_node.bpf_objects(scene.release.pid()))
    print(f"BPF objects before {before}, after {after}", flush=True)
    # Maps for unwind data come as they are needed.
    return [] if before["prog"] == after["prog"] and before["link"] == after["link"] else [
        f"BPF objects: {before} before, {after} after"]


def loss_faults(scene, name, start, killed):
    """At most an interval before it was killed is missing, and nothing else."""
    samples = with_mark(scene.sink.samples(start - 2 * INTERVAL_SECONDS), name)
    last = max(end for _, end in helm_sink.spans(samples) if end <= killed + WINDOW_SECONDS)
    first = min(begin for begin, _ in helm_sink.spans(samples) if begin >= killed)
    print(f"lost {killed - last:.2f} s before the kill; none sampled for {first - killed:.2f} s after it",
          flush=True)
    others = [length for begin, length in gaps(samples) if length > WINDOW_SECONDS / 2 and
              not begin <= killed <= begin + length]
    faults = [f"{killed - last:.1f} s are lost"] * (killed - last > INTERVAL_SECONDS + 2 * WINDOW_SECONDS)
    return faults + [f"gaps of {others} s besides"] * bool(others)


def check_update(scene):
    """The release is upgraded while the receiver is down; the queue is on the node."""
    told = scene.release.upgrade(scene.values(HOST_PATH, mark("before")))
    scene.release.wait_ready()
    scene.wait_for_samples("samples", has_mark("before"))
    log = helm_scene.LogFollower(scene.release)
    start = make_wait(scene)
    scene.release.upgrade(scene.values(HOST_PATH, mark("after")))
    scene.release.wait_ready()
    counters = helm_scene.log_counters(log.finish())
    print(f"{len(helm_node.waiting_files(scene.release))} files wait", flush=True)
    deliver(scene)
    scene.wait_for_samples("samples of the new agent", has_mark("after"), start)
    received = helm_sink.total(with_mark(scene.sink.samples(), "before"))
    pushed = counters.get("export_samples_pushed")
    print(f"the old agent had {pushed} samples for the exporter, {received} came", flush=True)
    faults = [] if received == pushed else [f"of {pushed} samples of the old agent {received} came"]
    faults += [] if "/var/lib/flamelet" in told else ["the notes do not name the queue's directory"]
    return faults + duplicates(scene.sink, start) + gap_faults(scene, "before", "after")


def check_reboot(scene):
    """The node goes down without warning while the receiver is down."""
    scene.release.upgrade(scene.values(mark("reboot")))
    scene.release.wait_ready()
    scene.wait_for_samples("samples", has_mark("reboot"))
    start = time.time()
    uid, container = helm_scene.containers_of(scene.release)
    objects = helm_node.bpf_objects(scene.release.pid())
    make_wait(scene)
    killed = time.time()
    helm_node.lose_power(scene.node)
    faults = helm_node.wait_until_gone(objects)
    helm_node.start_again(scene.node)
    wait_for_restart(scene, container)
    print(f"ready again {time.time() - killed:.1f} s after the node went down", flush=True)
    faults += ["it is another pod"] * (helm_scene.containers_of(scene.release)[0] != uid)
    deliver(scene)
    faults += duplicates(scene.sink, start) + loss_faults(scene, "reboot", start, killed)
    scene.wait_for_everything()
    return faults


def check_host_path(scene):
    """Queued requests outlive even the release, and the notes of the release say so."""
    told = scene.release.install(scene.values(HOST_PATH))
    scene.release.wait_ready()
    scene.wait_for_samples("samples", lambda samples: True)
    uid = helm_scene.containers_of(scene.release)[0]
    make_wait(scene, 0)
    scene.release.uninstall()
    host.wait_until("the pod's cgroups go", lambda: not helm_node.cgroups_of(scene.node, uid), 60, 0.2)
    left = helm_node.host_files(scene.node)
    print(f"left: {left}", flush=True)
    directory = f"/var/lib/flamelet/{scene.release.namespace}-{scene.release.name}"
    faults = [] if directory in told else [f"the notes do not name {directory}"]
    faults += [] if any(path.endswith(".spool") for path in left) else ["nothing waits"]
    return faults + [f"{path} is left" for path in left if not (path + "/").startswith(directory) and
                     path != "/var/lib/flamelet"]


CHECKS = (check_crash, check_update, check_reboot)
