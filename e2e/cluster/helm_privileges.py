#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The chart on a real cluster: what privileges the agent has with default values, that they are enough, and
what it says and loses without each of them. README.md in this directory tells more.

    helm_privileges.py path/to/flamelet [--chart DIRECTORY] [--part NAME]... [--kubernetes VERSION] [--keep]

HELM=/path/to/helm is the program. Exit status 0: all is right; 1: something is wrong, listed last; 77: it
cannot run here."""

import glob
import os
import sys
import time

import conduct
import helm_scene
import release

# pylint: disable=wrong-import-order
import host

# capabilities(7), and what is lost without it; None: the agent cannot start.
CAPABILITIES = {
    "BPF": (39, ()),        # the perf backend takes over
    "PERFMON": (38, None),
    "SYS_PTRACE": (19, ("functions of root", "functions of another user",
                        "functions of a deleted program", "functions of the host")),
    "DAC_READ_SEARCH": (2, ("functions of another user",)),
    "CHECKPOINT_RESTORE": (40, ("functions of a deleted program",)),
    "SYSLOG": (34, ("functions of the kernel",)),
}
ALL_SIX = sum(1 << bit for bit, _ in CAPABILITIES.values())
# A machine's own limit is not the chart's fault.
MACHINE_WARNINGS = ("open files",)
RUN_SECONDS = 1500
DOCTOR = ("/usr/bin/flamelet", "doctor", "-c", "/etc/flamelet/flamelet.yaml")
# Time to wait for what the agent can find out.
SETTLE_SECONDS = 15


def status_faults(status, expected):
    return [f"{name} is {status.get(name)}, not {value}" for name, value in expected.items()
            if status.get(name) != value]


def hexadecimal(mask):
    return f"{mask:016x}"


def check_process(scene):
    """Each thread has some of the six, or none. Once names were asked for, there is a worker process as well."""
    pid = scene.release.pid()
    threads = helm_scene.thread_statuses(pid)
    for status in threads:
        helm_scene.print_status(status, "Pid", "Name", *helm_scene.CAPABILITY_SETS, "Seccomp", "NoNewPrivs")
    faults = [f"{status['Name']}: {fault}" for status in threads for fault in status_faults(
        status, {"CapBnd": hexadecimal(ALL_SIX), "Seccomp": "2", "NoNewPrivs": "1"})]
    held = 0
    for status in threads:
        faults += [f"{status['Name']}: {key} {status[key]} has more than the six"
                   for key in helm_scene.CAPABILITY_SETS if int(status[key], 16) & ~ALL_SIX]
        held |= int(status["CapEff"], 16)
    if held != ALL_SIX:
        faults.append(f"all threads together have {hexadecimal(held)}")
    return faults + place_faults(pid)


def place_faults(pid):
    """Of what is around the process."""
    root = next(line for line in host.read_text(f"/proc/{pid}/mountinfo").splitlines()
                if line.split()[4] == "/")
    faults = [] if "ro" in root.split()[5].split(",") else [f"/ can be written to: {root}"]
    faults += [f"listens at {socket}" for socket in helm_scene.listening_sockets(pid)]
    if os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net"):
        faults.append("it is in the host's network")
    return faults


def print_known(what, missing, samples):
    print(f"{what:<28} {len(samples):>5} stacks; lost: {', '.join(missing) or 'nothing'}", flush=True)


def check_profiles(scene):
    """Default values but for the receiver's address: the interval is the chart's, too."""
    begin = time.time()
    scene.release.install(scene.values())
    scene.release.wait_ready()
    print(f"ready {time.time() - begin:.1f} s after helm install", flush=True)
    _, samples = scene.wait_for_everything()
    print(f"everything is known {time.time() - begin:.1f} s after helm install", flush=True)
    places = scene.pods.pods_with_samples(samples)
    system = {sample.resource.get("service.name") for sample in samples
              if "k8s.pod.uid" not in sample.resource}
    print(f"{len(places)} pods, and of the host: {', '.join(sorted(map(str, system)))[:300]}", flush=True)
    return [] if len(places) == 4 else [f"of four pods these have samples: {places}"]


def check_doctor(scene):
    report = scene.release.exec(*DOCTOR)
    print(report, end="", flush=True)
    lines = [line for line in report.splitlines() if line.startswith(("warn ", "fail "))]
    return [line for line in lines if not line.split(maxsplit=1)[1].startswith(MACHINE_WARNINGS)]


def check_helm_test(scene):
    """Its pod's log has what doctor said."""
    try:
        report = scene.release.test()
    except host.Failure as failure:
        return [f"{str(failure)[:100]} … {str(failure)[-200:]}"]
    return [] if "Succeeded" in report and "failures: 0" in report else [f"helm test: {report[-500:]}"]


def upgrade(scene, *values):
    """Returns what helm said."""
    told = scene.release.upgrade(scene.values(helm_scene.BASE, *values))
    scene.release.wait_ready()
    return told


def check_capabilities(scene):
    """Each in turn."""
    upgrade(scene)
    print_known("all six", *scene.wait_for_everything(settle=SETTLE_SECONDS))
    faults = []
    for name, (_, loss) in CAPABILITIES.items():
        left = {"security": {"capabilities": [other for other in CAPABILITIES if other != name]}}
        faults += without_required(scene, name, left) if loss is None else without(scene, name, left, loss)
    return faults


def without(scene, name, values, loss):
    upgrade(scene, values)
    missing, samples = scene.wait_for_everything(but=loss, settle=SETTLE_SECONDS)
    print_known(f"without {name}", missing, samples)
    faults = [] if missing == list(loss) else [f"without {name} these are lost: {missing}"]
    return faults + message_faults(name, scene.release.logs())


def message_faults(name, text):
    """The agent names what is missing, what is lost, and what to do."""
    lines = [line for line in text.splitlines() if name in line and "capabilities.add" in line]
    print(f"    {lines[0] if lines else 'nothing in the log'}", flush=True)
    return [] if lines else [f"without {name} the agent does not say what to add: {text[-300:]}"]


def without_required(scene, name, values):
    """The container ends with a message."""
    scene.release.upgrade(scene.values(helm_scene.BASE, values))
    status, text = helm_scene.wait_for_end(scene.release)
    print(f"without {name:<20} exit status {status}", flush=True)
    return [f"without {name} the exit status is {status}"] * (status != 1) + message_faults(name, text)


def check_unconfined(scene):
    """No filter of system calls makes no difference to what is known."""
    upgrade(scene, {"security": {"seccompProfile": {"type": "Unconfined"}}})
    missing, samples = scene.wait_for_everything()
    print_known("seccomp Unconfined", missing, samples)
    mode = scene.release.process_status()["Seccomp"]
    return [f"Seccomp is {mode}"] * (mode != "0")


def check_no_kubelet(scene):
    """Names come from log directories, and the agent says so."""
    told = upgrade(scene, {"rbac": {"kubeletAccess": "none"}})
    print_known("kubeletAccess none", *scene.wait_for_everything(identity="logs"))
    print("\n".join(line for line in told.splitlines() if "kubelet" in line.lower()), flush=True)
    faults = []
    if "kubelet" not in told.split("NOTES:")[-1].lower():
        faults.append("the notes do not mention the kubelet")
    sources = [source for volume in scene.release.pod_object()["spec"]["volumes"]
               for source in volume.get("projected", {}).get("sources", [])]
    has_token = any("serviceAccountToken" in source for source in sources)
    return faults + ["the pod has a token for nobody"] * has_token


def check_pinned(scene):
    """The kubelet signs its certificate itself, as it does on most clusters. The API server cannot ask such
    a kubelet here, so nothing after this check can use `kubectl exec` or logs."""
    scene.set_kubelet(tlsCertFile=None, tlsPrivateKeyFile=None)
    certificate = "/var/lib/kubelet/pki/kubelet.crt"
    # Refused first: that is what the default mode is for.
    values = {"kubelet": {"verify": "pinned", "hostCAFile": certificate}}
    scene.release.upgrade(scene.values(helm_scene.BASE))
    host.wait_until("the agent does not trust the kubelet", lambda: "certificate" in node_log(scene), 60, 0.5)
    scene.release.upgrade(scene.values(helm_scene.BASE, values))
    scene.release.wait_ready()
    print_known("pinned certificate", *scene.wait_for_everything())
    return []


def node_log(scene):
    """The newest one of the agent, from the node itself."""
    paths = glob.glob(f"{scene.node.directory}/var/log/pods/{scene.release.namespace}_*/*/*.log")
    return host.read_text(max(paths, key=os.path.getmtime)) if paths else ""


CHECKS = (check_profiles, check_process, check_doctor, check_helm_test, check_capabilities, check_unconfined,
          check_no_kubelet, check_pinned)


def run_tests(args):
    return helm_scene.run_on_node(args, CHECKS)


if __name__ == "__main__":
    sys.exit(conduct.conduct(helm_scene.make_parser(__doc__, helm_scene.names_of(CHECKS)).parse_args(),
                             run_tests, RUN_SECONDS, release.helm_program))
