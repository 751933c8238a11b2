#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent with the privileges that docs/kubernetes.md asks for, with each of them missing, with more, and behind
seccomp filters: what it says, what it still finds, and what it keeps.

    privileges.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import errno
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

E2E = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(E2E, "local"))

# pylint: disable=wrong-import-position
import host
import scene as scenes
from capabilities import (children, listening, mask, names_of, refuse_call, status_of,
                          with_capabilities)
from workloads import Pod, Workload

NOBODY = 65534
SIX = ("BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE", "SYSLOG")
READER = ("BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE")
# The capabilities that each thread keeps, by its name (ARCHITECTURE.md). With capture by perf, no
# thread keeps BPF.
THREADS = {
    "flamelet": READER,
    "unwind": ("BPF", "DAC_READ_SEARCH"),
    "runtimes": ("SYS_PTRACE", "DAC_READ_SEARCH"),
    "stacks": ("SYS_PTRACE", "DAC_READ_SEARCH"),
    "symbolizer": ("SYSLOG", "DAC_READ_SEARCH"),
    "pods": ("DAC_READ_SEARCH",),
    "exporter": ("DAC_READ_SEARCH",),
    "http": (),
    "signals": (),
}
# What find() does not find if a capability is missing.
LOSSES = {
    "SYS_PTRACE": {"container's code", "user's code", "deleted code"},
    "DAC_READ_SEARCH": {"pod", "deleted code"},     # both are for another user's eyes only
    "CHECKPOINT_RESTORE": {"deleted code"},
    "SYSLOG": {"kernel's code"},
}
DOCKER = ("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD",
          "NET_BIND_SERVICE", "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT")
LEAST_LOCKED = 65536    # bytes: ulimit -l of kernels before 5.16
WAIT_SECONDS = 120     # the machine may be busy
SETTLE_SECONDS = 15    # until a worker that has just started has given up its privileges
KERNEL_FUNCTION = re.compile(r"^(vfs_read|ksys_read|read_zero|clear_user|rep_stos_alternative)")

PARANOID = "/proc/sys/kernel/perf_event_paranoid"
# Shows a file in place of the sysctl to one command only.
WITH_PARANOID = ("unshare", "--mount", "--propagation", "private", "sh", "-c",
                 f'mount --bind "$1" {PARANOID} && shift && exec "$@"', "sh")


def check_thread(path, wanted, bounding):
    comm, status = host.read_text(f"{path}/comm").strip(), status_of(path)
    expected = {"CapPrm": wanted, "CapEff": wanted, "CapInh": 0, "CapAmb": 0, "CapBnd": bounding,
                "NoNewPrivs": 1}
    return [f"{comm}: {key} is {names_of(status.get(key, 0))}, not {names_of(value)}"
            for key, value in expected.items() if status.get(key) != value]


def check_processes(check_once):
    """Returns the last faults of a check that threads and workers may disturb while they start or
    end."""
    return host.last_faults(check_once, SETTLE_SECONDS)


def check_threads(pid, bounding, without=(), overriders=()):
    """Every thread has what the table says; those that use another user's files can override their modes."""
    return check_processes(lambda: thread_faults(pid, bounding, without, overriders))


def thread_faults(pid, bounding, without, overriders):
    faults, seen = [], set()
    for task in os.listdir(f"/proc/{pid}/task"):
        path = f"/proc/{pid}/task/{task}"
        comm = host.read_text(f"{path}/comm").strip()
        wanted = set(THREADS.get(comm, ())) - set(without)
        if comm in overriders:
            wanted.add("DAC_OVERRIDE")
        faults += check_thread(path, mask(wanted), bounding)
        seen.add(comm)
    if not {"flamelet", "unwind", "symbolizer", "pods", "exporter"} <= seen <= set(THREADS):
        faults.append(f"the threads are {sorted(seen)}")
    return faults


def check_workers(pid):
    """Processes that the agent starts have nothing, its environment included, and few system calls."""
    return check_processes(lambda: worker_faults(pid))


def worker_faults(pid):
    faults, workers = [], children(pid)
    for child in workers:
        faults += check_thread(f"/proc/{child}", 0, status_of(f"/proc/{child}").get("CapBnd"))
        if status_of(f"/proc/{child}").get("Seccomp", 2) != 2:
            faults.append("a worker runs without a system call filter")
        if os.path.exists(f"/proc/{child}") and host.read_text(f"/proc/{child}/environ"):
            faults.append("a worker has an environment")
    return faults if workers else ["no worker process runs"]


class Loads:
    """The programs to find: a container, another user's program, one that was deleted, the
    kernel."""

    def __init__(self, scene):
        self.scene = scene
        self.pod = Pod("db-0", "shop", "db-0", "db")
        self.box = Workload("box", self.pod, "db", 400_000, 30, at=None)
        self.user, self.gone = f"user_{scene.tag}", f"gone_{scene.tag}"

    def start(self):
        scene = self.scene
        scene.set_up([self.box])
        os.chmod(scene.directory, 0o755)
        for name in (self.user, self.gone):
            path = f"{scene.directory}/bin/{name}"
            scenes.compile_program(path)
            process = self.run(name, "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                               path, "now", "400000", "30", "stay")
            host.wait_until(f"{name} runs", lambda process=process, path=path: os.readlink(f"/proc/{process.pid}/exe") == path)
        os.unlink(f"{scene.directory}/bin/{self.gone}")
        self.run("dd", "dd", "if=/dev/zero", "of=/dev/null", "bs=64k")
        scene.start(self.box)
        scene.wake(self.box)
        scene.write_log_names(self.box)
        give_away(scene.logs_directory)

    def run(self, name, *command):
        process = host.Process(name, command, f"{self.scene.directory}/{name}.log")
        self.scene.add(process)
        return process

    def find(self, samples):
        """Returns what the samples name of them."""
        found = set()
        for sample in samples:
            frames = sample.frames
            found |= {what for name, what in ((self.box.hot, "container's code"),
                                              (self.user, "user's code"),
                                              (self.gone, "deleted code")) if name in frames}
            if any(KERNEL_FUNCTION.match(frame) for frame in frames):
                found.add("kernel's code")
            if sample.resource.get("container.id") == self.box.container_id:
                found.add("container")
                if sample.resource.get("k8s.pod.name") == self.pod.name:
                    found.add("pod")
        return found


ALL = {"container", "pod", "container's code", "user's code", "deleted code", "kernel's code"}


def give_away(directory):
    """Gives files to the user "nobody", so that only it and readers of all files can use them."""
    for path, _, files in os.walk(directory):
        os.chown(path, NOBODY, NOBODY)
        os.chmod(path, 0o700)
        for name in files:
            os.chown(f"{path}/{name}", NOBODY, NOBODY, follow_symlinks=False)
            if not os.path.islink(f"{path}/{name}"):
                os.chmod(f"{path}/{name}", 0o700)


def agent_options(scene):
    return ["--otlp-endpoint", scene.collector.endpoint(), "--frequency", "99", "--export-interval",
            "1s", "--pod-logs", scene.logs_directory]


def start_agent(scene, prefix, options, **process):
    command = [*prefix, scene.binary, "agent", *options]
    agent = host.Process("agent", command, f"{scene.directory}/agent-{len(scene.agents)}.log", **process)
    scene.agents.append(scene.add(agent))
    return agent


def wait_until_found(scene, loads, log_path, wanted):
    """Samples that tell more than they should are as old by then as those that tell it."""
    host.wait_until("the agent samples", lambda: "sampling at" in host.read_text(log_path), WAIT_SECONDS)
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end and not loads.find(scene.collector.samples()) >= wanted:
        time.sleep(0.5)


def end_agent(scene, agent):
    status = agent.finish(20, signal.SIGTERM)
    samples = scene.collector.finish_output()
    return samples, [] if status == 0 else [f"exit status {status}: {agent.log()[-1000:]}"]


def compare(loads, samples, wanted):
    found = loads.find(samples)
    return ([f"no {what} in the profile" for what in sorted(wanted - found)]
            + [f"the profile has the {what} all the same" for what in sorted(found - wanted)])


def warnings(agent):
    return [line for line in agent.log().splitlines() if "level=info" not in line]


def with_the_six(scene, loads):
    """With the six capabilities, the agent finds everything, and others can neither inspect it nor
    connect."""
    environment = dict(os.environ, OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20s3cret")
    agent = start_agent(scene, with_capabilities(SIX), agent_options(scene), env=environment)
    wait_until_found(scene, loads, agent.log_path, ALL)
    faults = check_threads(agent.pid, mask(SIX)) + check_workers(agent.pid)
    faults += [f"it listens: {line}" for line in listening(agent.pid)]
    samples, problems = end_agent(scene, agent)
    faults += [f"it warns: {line}" for line in warnings(agent)]
    return faults + problems + compare(loads, samples, ALL)


def by_perf(scene, loads):
    """The same without BPF programs, with no more: CAP_BPF is there and given up. As little memory may be locked as anywhere,
    and at the agent's own rate that is enough to be silent."""
    options = [*agent_options(scene), "--capture=perf", "--frequency", "19"]
    agent = start_agent(scene, ["prlimit", f"--memlock={LEAST_LOCKED}", *with_capabilities(SIX)], options)
    wait_until_found(scene, loads, agent.log_path, ALL)
    faults = check_threads(agent.pid, mask(SIX), without=["BPF"]) + check_workers(agent.pid)
    samples, problems = end_agent(scene, agent)
    faults += [f"it warns: {line}" for line in warnings(agent)]
    return faults + problems + compare(loads, samples, ALL)


def short_of_memory(scene, _loads):
    """If the rings need more memory than may be locked, the recording logs one warning, with the
    remedies. The limit is that of all root's programs together: others may use it up meanwhile."""
    log = f"{scene.directory}/short.log"
    record = host.Process("record", ["prlimit", f"--memlock={LEAST_LOCKED}", *with_capabilities(SIX), scene.binary,
                                     "record", "--capture=perf", "--frequency", "999", "--duration", "2s",
                                     "--output", f"{scene.directory}/short.folded"], log)
    status, text = scene.add(record).child.wait(WAIT_SECONDS), record.log()
    remedies = ("CAP_IPC_LOCK", "kernel.perf_event_mlock_kb", "--stack-copy")
    others = [line for line in text.splitlines() if line.startswith("level=warn")
              and "other perf users use up the locked-memory limit" not in line]
    if status != 0 or len(others) != 1 or not all(remedy in others[0] for remedy in remedies):
        return [f"exit status {status}: {text}"]
    return []


def without_one(scene, loads, missing):
    """An optional one: one warning that names it, and just what it says is lost."""
    loss = LOSSES[missing]
    if missing == "SYSLOG" and int(host.read_text(PARANOID)) <= 1:
        return []   # then every process may see the kernel's addresses
    agent = start_agent(scene, with_capabilities(set(SIX) - {missing}), agent_options(scene))
    wait_until_found(scene, loads, agent.log_path, ALL - loss)
    faults = check_threads(agent.pid, mask(set(SIX) - {missing}), without=[missing])
    samples, problems = end_agent(scene, agent)
    told = [line for line in warnings(agent) if f"CAP_{missing} is missing: " in line
            and f"in a pod, add {missing} to securityContext.capabilities.add" in line]
    if len(told) != 1 or agent.log().count("CAP_") != 1:
        faults.append(f"not one warning but {warnings(agent)}")
    return faults + problems + compare(loads, samples, ALL - loss) + ask_doctor(scene, missing)


def doctor(binary, prefix, **process):
    done = subprocess.run([*prefix, binary, "doctor"], stdout=subprocess.PIPE, text=True, timeout=120,
                          stderr=subprocess.STDOUT, check=False, **process)
    return done.stdout


def ask_doctor(scene, missing):
    report = doctor(scene.binary, with_capabilities(set(SIX) - {missing}))
    if f"CAP_{missing} is missing" not in report:
        return [f"doctor does not miss it: {report}"]
    return []


def refused(scene, prefix, *patterns, options=(), **process):
    """The agent ends with status 1 and one message, which matches all patterns."""
    agent = start_agent(scene, prefix, [*agent_options(scene), *options], **process)
    status, log = agent.child.wait(WAIT_SECONDS), agent.log().strip()
    faults = [f"{pattern!r} is not in {log!r}" for pattern in patterns if not re.search(pattern, log)]
    if status != 1 or len(log.splitlines()) != 1:
        faults.append(f"exit status {status}, not 1 and one line: {log!r}")
    return faults


def without_a_required_one(scene, missing, options):
    wanted = rf"root lacks .*capabilities\.add: \[{missing}\]"
    return (refused(scene, with_capabilities(set(SIX) - {missing}), wanted, options=options)
            + ask_doctor(scene, missing))


def finds_all_by_perf(scene, loads, prefix, *patterns, **process):
    """Without BPF, perf takes its place: the same is found, the log says why, and no thread has
    CAP_BPF."""
    agent = start_agent(scene, prefix, agent_options(scene), **process)
    wait_until_found(scene, loads, agent.log_path, ALL)
    faults = check_threads(agent.pid, status_of(f"/proc/{agent.pid}")["CapBnd"], without=["BPF"])
    samples, problems = end_agent(scene, agent)
    faults += [f"{pattern!r} is not in {agent.log()!r}" for pattern in ("using the capture backend perf: ", *patterns)
               if not re.search(pattern, agent.log())]
    backends = {sample.resource.get("flamelet.capture.backend") for sample in samples}
    if backends != {"perf"}:
        faults.append(f"flamelet.capture.backend is {backends}")
    return faults + problems + compare(loads, samples, ALL)


def without_bpf(scene, loads):
    """Missing by its capability, or by a filter."""
    without = with_capabilities(set(SIX) - {"BPF"})
    faults = finds_all_by_perf(scene, loads, without, "CAP_BPF is missing: .*BPF to securityContext")
    faults += finds_all_by_perf(scene, loads, with_capabilities(SIX), "a seccomp filter blocks it",
                                preexec_fn=lambda: refuse_call("bpf", errno.EPERM))
    return faults


def without_root(scene, _loads):
    prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    copy = shutil.copy(scene.binary, f"{scene.directory}/flamelet")
    agent = host.Process("agent", [*prefix, copy, "agent", *agent_options(scene)],
                         f"{scene.directory}/nobody.log")
    status, log = agent.child.wait(WAIT_SECONDS), agent.log()
    if status != 1 or f"run: sudo {copy} agent --otlp-endpoint" not in log:
        return [f"exit status {status}: {log!r}"]
    return []


def behind_filters(scene, _loads):
    """The message names the cause of a refusal: a seccomp filter, or a kernel that wants
    CAP_SYS_ADMIN."""
    faults, six = [], with_capabilities(SIX)
    for call, capture in (("perf_event_open", "auto"), ("bpf", "bpf")):
        faults += refused(scene, six, "a seccomp filter blocks it", f"allow {call} in",
                          options=("--capture", capture),
                          preexec_fn=lambda call=call: refuse_call(call, errno.EPERM))
    value = f"{scene.directory}/paranoid"
    with open(value, "w", encoding="ascii") as file:
        file.write("4\n")
    process = {"preexec_fn": lambda: refuse_call("perf_event_open", errno.EACCES)}
    says = (r"kernel\.perf_event_paranoid", "is 4", r"sysctl kernel\.perf_event_paranoid=2",
            r"security\.perfEventParanoid does either", "CAP_SYS_ADMIN")
    prefix = [*WITH_PARANOID, value, *six]
    faults += refused(scene, prefix, *says, **process)
    report = doctor(scene.binary, prefix, **process)
    return faults + [f"doctor does not say {pattern!r}: {report}" for pattern in says
                     if not re.search(pattern, report)]


def with_namespaces(scene, name, more):
    """With the host's processes, and more namespaces of its own: ctr has no option for it, and what else it made of the options is
    kept. Returns the file."""
    spec = json.loads(scene.containerd.ctr("containers", "info", name))["Spec"]
    scene.containerd.ctr("containers", "delete", name)
    spec["linux"]["namespaces"] = [entry for entry in spec["linux"]["namespaces"]
                                   if entry["type"] != "pid"] + [{"type": kind} for kind in more]
    path = f"{scene.directory}/spec.json"
    with open(path, "w", encoding="ascii") as file:
        json.dump(spec, file)
    return path


def in_a_container(scene, loads):
    return run_in_a_container(scene, loads, "bpf")


def in_a_cgroup_namespace(scene, loads):
    """As in pods on cgroup v2: /proc tells the cgroups of others as paths out of the agent's own."""
    return run_in_a_container(scene, loads, "perf", ["cgroup"])


def run_in_a_container(scene, loads, capture, namespaces=()):
    """Under the runtime's default seccomp profile, in a root directory of its own that cannot be written to."""
    root, name = f"{scene.directory}/root-{capture}", f"{capture}-{scene.tag}"
    places = {"/usr": "/usr", "/lib": "/lib", "/lib64": "/lib64", "/agent": os.path.dirname(scene.binary),
              "/host/cgroup": host.cgroup_mounts()[1], "/host/log": scene.logs_directory}
    options = [f"--cap-drop=CAP_{name}" for name in DOCKER] + [f"--cap-add=CAP_{name}" for name in SIX]
    for directory in (*places, "/proc", "/sys", "/dev", "/run", "/etc"):
        os.makedirs(root + directory)
    for place, source in places.items():
        if os.path.exists(source):
            options += ["--mount", f"type=bind,src={source},dst={place},options=rbind:ro"]
    scene.containerd.ctr(
        "containers", "create", "--read-only", "--seccomp", "--net-host", *options, "--rootfs", root, name,
        f"/agent/{os.path.basename(scene.binary)}", "agent", "--otlp-endpoint",
        scene.collector.endpoint(), "--frequency", "99", "--export-interval", "1s", "--cgroup-root",
        "/host/cgroup", "--pod-logs", "/host/log", f"--capture={capture}")
    spec = with_namespaces(scene, name, namespaces)
    log_path = f"{scene.directory}/{name}.log"
    scene.containerd.ctr("run", "--detach", "--log-uri", f"file://{log_path}",
                         "--config", spec, "--rootfs", name)
    wait_until_found(scene, loads, log_path, ALL)
    tasks = scene.containerd.ctr("tasks", "list")
    pid = re.search(rf"^{name}\s+(\d+)", tasks, re.MULTILINE)[1]
    faults = check_threads(pid, mask(SIX), without=["BPF"] if capture == "perf" else [])
    if status_of(f"/proc/{pid}").get("Seccomp") != 2:
        faults.append("it runs without a seccomp filter")
    scene.containerd.signal(name, "SIGTERM")
    host.wait_until("the agent in the container ends", lambda: not host.read_text(f"/proc/{pid}/maps"),
                    WAIT_SECONDS)
    log = host.read_text(log_path)
    faults += [f"it warns: {line}" for line in log.splitlines() if "level=info" not in line]
    return faults + compare(loads, scene.collector.finish_output(), ALL)


def of_another_user(scene, loads):
    """A user that was given the six: what shows that others cannot look into the process is that its files in /proc are
    root's."""
    added = "-all" + "".join(f",+{name.lower()}" for name in SIX)
    agent = start_agent(scene, ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                                f"--inh-caps={added}", f"--ambient-caps={added}",
                                f"--bounding-set={added}"], agent_options(scene))
    wait_until_found(scene, loads, agent.log_path, ALL)
    faults = check_threads(agent.pid, mask(SIX)) + check_workers(agent.pid)
    if os.stat(f"/proc/{agent.pid}/environ").st_uid != 0:
        faults.append("its environment can be read by its user")
    samples, problems = end_agent(scene, agent)
    return faults + problems + compare(loads, samples, ALL)


def free_low_port():
    for port in range(1023, 600, -1):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise host.Skip("no port below 1024 is free")


def metric(port, name):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
        text = answer.read().decode()
    return int(re.search(rf"^{re.escape(name)} (\d+)", text, re.MULTILINE)[1])


def as_plain_root(scene, _loads):
    """The agent still does what root may do: it runs another user's program, reads that user's
    token, listens below port 1024. A queue that another user could change is refused."""
    port, directory = free_low_port(), f"{scene.directory}/nobodys"
    os.makedirs(f"{directory}/queue")
    program = shutil.copy(scene.binary, f"{directory}/flamelet")
    with open(f"{directory}/token", "w", encoding="ascii") as token:
        token.write("s3cret\n")
    give_away(directory)
    command = [program, "agent", "--otlp-endpoint", "http://127.0.0.1:1", "--export-interval", "1s",
               "--frequency", "99", "--otlp-token-file", f"{directory}/token", "--listen", f"127.0.0.1:{port}"]
    return (run_as_root(scene, [*command, "--queue-dir", f"{scene.directory}/queue"], port)
            + refuse_queue(scene, [*command, "--queue-dir", f"{directory}/queue"]))


def run_as_root(scene, command, port):
    agent = scene.add(host.Process("agent", command, f"{scene.directory}/root.log"))
    scene.agents.append(agent)
    host.wait_until("profiles wait in the queue", lambda: files_below(f"{scene.directory}/queue"),
                    WAIT_SECONDS)
    host.wait_until("functions have names", lambda: metric(port, 'flamelet_frames_total{named="yes"}'),
                    WAIT_SECONDS)
    faults = check_threads(agent.pid, 0, overriders={"symbolizer", "exporter", "runtimes"}) + check_workers(agent.pid)
    if (status := agent.finish(20, signal.SIGTERM)) != 0:
        faults.append(f"exit status {status}: {agent.log()[-1000:]}")
    return faults


def refuse_queue(scene, command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)
    if done.returncode != 1 or f"belongs to uid {NOBODY}" not in done.stderr:
        return [f"another user's queue: exit status {done.returncode}, {done.stderr[-1000:]!r}"]
    return []


def files_below(directory):
    return [name for _, _, names in os.walk(directory) for name in names]


def leaves_no_core(scene, _loads):
    """Secrets are in memory: where a control process leaves a core file, the agent leaves none."""
    directory = f"{scene.directory}/core"
    os.makedirs(directory)
    process = {"cwd": directory, "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))}
    control = host.Process("control", ["sleep", "60"], f"{scene.directory}/control.log", **process)
    time.sleep(0.2)
    control.finish(10, signal.SIGABRT)
    if not os.listdir(directory):
        print("SKIP core files: a process that aborts leaves none here", flush=True)
        return []
    shutil.rmtree(directory)
    os.makedirs(directory)
    agent = start_agent(scene, [], agent_options(scene), **process)
    host.wait_until("the agent samples", lambda: "sampling at" in agent.log(), WAIT_SECONDS)
    agent.finish(10, signal.SIGABRT)
    scene.collector.finish_output()
    return [f"it leaves {name}" for name in os.listdir(directory)]


CASES = (with_the_six, by_perf, in_a_container, in_a_cgroup_namespace, short_of_memory, of_another_user,
         as_plain_root, without_root, behind_filters, without_bpf, leaves_no_core)


def run_cases(scene, loads):
    cases = [(case.__name__, lambda case=case: case(scene, loads)) for case in CASES]
    cases += [(f"without {name}", lambda name=name: without_one(scene, loads, name)) for name in LOSSES]
    cases += [(f"without {name}", lambda name=name, capture=capture: without_a_required_one(
        scene, name, ("--capture", capture))) for name, capture in (("PERFMON", "auto"), ("BPF", "bpf"))]
    faults = []
    for name, run in cases:
        try:
            found = run()
        except host.Failure as failure:
            found = [str(failure)]
        print(f"{name}: {'wrong' if found else 'ok'}", flush=True)
        faults += [f"{name}: {fault}" for fault in found]
    return faults


def check(binary):
    host.require_containers("gcc", "protoc", "setpriv", "unshare")
    if status_of("/proc/self")["CapBnd"] & mask(SIX) != mask(SIX):
        raise host.Skip("root here lacks capabilities")
    host.adopt_orphans()
    with scenes.Scene(binary, False) as scene:
        loads = Loads(scene)
        loads.start()
        return run_cases(scene, loads)


def main():
    return host.judge(check, os.path.abspath(sys.argv[1]))


if __name__ == "__main__":
    sys.exit(main())
