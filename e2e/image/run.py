#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the image by its Dockerfile, judges what is in it, and runs it as a pod would.

    run.py [--image ARCHIVE] [--keep] [--twice]

--image runs one that is built already (buildah push IMAGE oci-archive:ARCHIVE), --twice builds it once more without the
cache and says which files differ. Exit status 0: all is right; 1: something
is wrong, listed last; 77: it cannot run here."""

import argparse
import os
import re
import signal
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for directory in ("..", "../local", "../export"):
    sys.path.insert(0, os.path.join(HERE, directory))

# pylint: disable=wrong-import-position
import builder
import capabilities
import container
import contents
import dns
import fault_server
import host
import scene as scenes
from workloads import Pod, Workload

COLLECTOR_NAME = "collector.flamelet.test"      # in /etc/hosts
RECEIVER_NAME = "receiver.flamelet.test"        # told by a name server
CA_FILE = "/etc/flamelet/secrets/ca/ca.crt"
NR_STARTS = 5
LABELS = ("title", "description", "source", "licenses", "version", "revision", "created")


def check_config(image):
    config = image.config["config"]
    labels = {name.removeprefix("org.opencontainers.image."): value
              for name, value in config["Labels"].items()}
    faults = [f"the image has no label {name}" for name in LABELS if not labels.get(name)]
    if config["Entrypoint"] != [contents.PROGRAM] or config["Cmd"] != ["agent"] or config.get("User"):
        faults.append(f"the image runs {config}")
    if os.path.exists(f"{builder.TREE}/.git"):
        commit, date = host.run("git", "-C", builder.TREE, "log", "-1", "--format=%H %ct").split()
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(date)))
        if (labels["revision"], labels["created"]) != (commit, created):
            faults.append(f"its labels say {labels['revision']} of {labels['created']}, not {commit} of {created}")
    return faults


def check_program(image, directory):
    path = f"{directory}/program"
    with open(path, "wb") as file:
        file.write(image.program().content)
    return contents.check_sections(path)


def check_version(agents, image):
    version = image.config["config"]["Labels"]["org.opencontainers.image.version"]
    status, output = agents.once(contents.PROGRAM, "version")
    if status != 0 or not output.startswith(f"flamelet {version} ("):
        return [f"version: exit {status}, {output!r} is not {version}"]
    return []


def check_libraries(agents, image):
    """All that the loader looks for is there, and is in the image."""
    status, output = agents.once(image.loader(), "--list", contents.PROGRAM)
    found = re.findall(r"=> (\S+)", output)
    faults = [f"{path} is no file of the image" for path in found if path not in image.files()]
    if status != 0 or "not found" in output or not found:
        faults.append(f"ldd: exit {status}, {output!r}")
    return faults


def check_doctor(agents):
    """All that this machine can give is there: nothing is lacking for want of a capability or a file of the image."""
    status, output = agents.once(contents.PROGRAM, "doctor", "--cgroup-root", "/host/cgroup")
    print(output, end="")
    return [] if status == 0 else [f"doctor: exit {status}"]


def check_unwritable(agents):
    """Without --read-only as well: root without CAP_DAC_OVERRIDE is bound by the modes of what is in the image. (The
    root directory itself is the runtime's.)"""
    faults = []
    for directory in ("/usr/bin", "/etc", "/usr/share/sbom"):
        path = os.path.join(directory, "flamelet.svg")
        status, output = agents.once(contents.PROGRAM, "record", "-d", "0.2", "-o", path, is_read_only=False)
        if status == 0 or "Permission denied" not in output:
            faults.append(f"record -o {path}: exit {status}, {output!r}")
    return faults


def check_privileges(pid):
    """Each thread has given up what it does not need."""
    wanted, held = capabilities.mask(container.CAPABILITIES), 0
    status = capabilities.status_of(f"/proc/{pid}")
    for task in os.listdir(f"/proc/{pid}/task"):
        held |= capabilities.status_of(f"/proc/{pid}/task/{task}").get("CapEff", 0)
    expected = {"CapBnd": wanted, "NoNewPrivs": 1, "Seccomp": 2}
    faults = [f"{key} is {status[key]:x}" for key, value in expected.items() if status[key] != value]
    return faults + ([] if held == wanted else [f"its threads have {capabilities.names_of(held)}"])


def check_mapped(pid, image):
    """All files that it has loaded in the end, also by dlopen(), belong to the image."""
    paths = set(re.findall(r"r-xp .* (/\S+)$", host.read_text(f"/proc/{pid}/maps"), re.MULTILINE))
    faults = [f"it has mapped {path}" for path in paths if path not in image.files()]
    return faults if len(paths) > 10 else [f"it has mapped but {paths}"]


def profile_busy(scene, agents, image, busy):
    """The agent in its container names the functions of another one and whose they are. Its endpoint's name is in
    /etc/hosts."""
    agent = agents.start(contents.PROGRAM, "agent", "--cgroup-root", "/host/cgroup", "--frequency", "99",
                         "--export-interval", "1s", "--otlp-endpoint",
                         f"http://{COLLECTOR_NAME}:{scene.collector.port}")

    def samples():
        return [sample for sample in scene.collector.samples() if busy.hot in sample.frames]

    agents.wait_for(agent, "samples of the busy container arrive", samples)
    time.sleep(3)
    faults = check_privileges(agents.pid(agent)) + check_mapped(agents.pid(agent), image)
    log = agents.log(agent)
    if not agents.end(agent):
        faults.append("SIGTERM did not end the agent")
    print(f"agent: {sum(sample.count for sample in samples())} samples in {busy.hot}()")
    expected = {"container.id": busy.container_id, "k8s.pod.uid": busy.pod.uid}
    faults += [f"a sample has {key} {sample.resource.get(key)!r}, not {value!r}" for sample in samples()
               for key, value in expected.items() if sample.resource.get(key) != value][:3]
    return faults + [f"the agent says {line}" for line in log.splitlines() if "level=error" in line]


def make_certificates(directory):
    """A CA, and what it signed for the receiver's name."""
    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    host.run("openssl", "req", "-x509", *new_key, "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.crt",
             cwd=directory)
    host.run("openssl", "req", "-x509", *new_key, "-subj", "/CN=receiver", "-CA", "ca.crt", "-CAkey",
             "ca.key", "-addext", f"subjectAltName=DNS:{RECEIVER_NAME}", "-addext",
             "basicConstraints=critical,CA:FALSE", "-keyout", "tls.key", "-out", "tls.crt", cwd=directory)
    return fault_server.Tls(f"{directory}/tls.crt", f"{directory}/tls.key")


def start_once(agents, receiver, *options):
    """Seconds from the request for the container to the first samples that are taken, and to its program's start."""
    nr_before = len(receiver.requests)

    def first():
        return next((request for request in receiver.requests[nr_before:] if request.nr_samples), None)

    began = time.monotonic()
    agent = agents.start(contents.PROGRAM, "agent", "--cgroup-root", "/host/cgroup", "--export-interval", "1s",
                         "--otlp-endpoint", f"https://{RECEIVER_NAME}:{receiver.gate.port}", *options)
    started = time.monotonic()
    request = agents.wait_for(agent, "samples arrive over TLS", first)
    if not agents.end(agent):
        raise host.Failure("SIGTERM did not end the agent")
    return request.began - began, started - began


def check_starts(agents, directory, name_server):
    """Over TLS, with a CA of its own and a name that only the name server knows."""
    tls = fault_server.Tls(f"{directory}/tls.crt", f"{directory}/tls.key")
    with fault_server.Receiver("http").open(tls) as receiver:
        times = [start_once(agents, receiver, "--otlp-ca-file", CA_FILE) for _ in range(NR_STARTS)]
        nr_taken = len(receiver.requests)
        agent = agents.start(contents.PROGRAM, "agent", "--cgroup-root", "/host/cgroup", "--export-interval",
                             "1s", "--otlp-endpoint", f"https://{RECEIVER_NAME}:{receiver.gate.port}")
        agents.wait_for(agent, "the system's CAs refuse the receiver", lambda: "certificate" in agents.log(agent))
        agents.end(agent)
        faults = ["requests came without its CA"] if len(receiver.requests) > nr_taken else []
    firsts, containers = zip(*times)
    print(f"from the request for a container to its first samples at the receiver, exporting every second: median "
          f"{statistics.median(firsts):.2f} s of {', '.join(f'{one:.2f}' for one in firsts)}; "
          f"of that until it runs: {statistics.median(containers):.2f} s; load {os.getloadavg()[0]:.0f}")
    return faults + ([] if RECEIVER_NAME in name_server.asked else ["the name server was not asked"])


def run_image(scene, archive, image):
    """All that is seen when it runs."""
    directory = f"{scene.directory}/image"
    os.makedirs(directory)
    make_certificates(directory)
    name_server = scene.add(dns.NameServer(RECEIVER_NAME))
    for name, text in (("hosts", f"127.0.0.1 localhost {COLLECTOR_NAME}\n"),
                       ("resolv.conf", f"nameserver {name_server.address}\n")):
        with open(f"{directory}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    busy = Workload("busy", Pod("web-d7c696699-dk5fr", "shop", "web", "web", "burstable"), "spin", 600000, 50)
    scene.set_up([busy])
    agents = scene.add(container.Agents(scene.containerd, busy.pod.cgroup(), {
        "/etc/hosts": f"{directory}/hosts", "/etc/resolv.conf": f"{directory}/resolv.conf",
        CA_FILE: f"{directory}/ca.crt"}))
    agents.import_archive(archive)
    scene.start(busy)
    return (check_version(agents, image) + check_libraries(agents, image) + check_doctor(agents)
            + check_unwritable(agents) + profile_busy(scene, agents, image, busy)
            + check_starts(agents, directory, name_server))


def build(archive):
    """Returns the image, as built now or as its layers were kept."""
    with builder.Builder() as one:
        seconds = one.build()
        one.write_archive(archive, container.TAG)
    image = contents.read_archive(archive)
    print(f"built in {seconds:.0f} s: {len(image.files())} files, {image.size() / 1e6:.1f} MB, "
          f"{image.packed_bytes / 1e6:.1f} MB packed", flush=True)
    return image


def compare_builds(directory, image):
    with builder.Builder() as one:
        seconds = one.build("--no-cache")
        one.write_archive(f"{directory}/again.tar", container.TAG)
    again = contents.read_archive(f"{directory}/again.tar")
    differing = [path for path in {**image.entries, **again.entries}
                 if image.entries.get(path) != again.entries.get(path)]
    is_same_layer = image.config["rootfs"] == again.config["rootfs"]
    print(f"built again in {seconds:.0f} s; what differs: {', '.join(differing) or 'nothing'}; "
          f"the layer is {'the same' if is_same_layer else 'another'}")
    return [f"{path} differs from one build to the next" for path in differing]


def test(args):
    host.require("buildah", "containerd", "ctr", "runc", "gcc", "openssl", "protoc", "readelf")
    if not host.is_mount("/") or host.cgroup_mounts()[1] is None:
        raise host.Skip("containers need / to be a mount point, and a cgroup2 file system")
    with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory:
        archive = args.image or f"{directory}/image.tar"
        image = contents.read_archive(archive) if args.image else build(archive)
        faults = contents.check_files(image) + check_config(image) + check_program(image, directory)
        if args.twice:
            faults += compare_builds(directory, image)
        with scenes.Scene(None, args.keep) as scene:
            faults += run_image(scene, archive, image)
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--image", metavar="ARCHIVE", help="an OCI archive, instead of building one")
    parser.add_argument("--keep", action="store_true", help="leave the temporary directory")
    parser.add_argument("--twice", action="store_true", help="build it twice, without the cache")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    host.adopt_orphans()
    return host.judge(test, args)


if __name__ == "__main__":
    sys.exit(main())
