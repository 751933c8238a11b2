# SPDX-License-Identifier: Apache-2.0
"""Everything that runs during the test, and its end: whatever was started is taken down again."""

import concurrent.futures
import contextlib
import os
import re
import shutil
import signal
import tempfile
import time

import collector
import containers
import host
import kubelet
import workloads as tables

NODE_NAME = "e2e-node"
SPIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spin.c")
# Static: the image holds nothing else. Frame pointers: the plainest way to unwind.
COMPILE = ["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-fno-omit-frame-pointer", "-fno-inline",
           "-static"]
DELETED_AFTER_S = 4.0


class Scene:
    """Used as a context: at its end all is taken down, the last part first, whatever fails."""

    def __init__(self, binary, frequency_hz, is_kept):
        self.binary, self.frequency_hz = binary, frequency_hz
        self.is_kept = is_kept
        self.tag = os.urandom(3).hex()
        self.workloads = []
        self.agents = []
        self.stack = contextlib.ExitStack()
        self.directory = tempfile.mkdtemp(prefix="flamelet-e2e-")
        self.stack.callback(self.remove_directory)
        self.stack.callback(host.reap_orphans)
        self.shared_cgroups = host.SharedCgroups()
        self.stack.callback(self.remove_cgroups)
        self.collector = self.add(collector.Collector(f"{self.directory}/collector"))
        self.containerd = self.add(containers.Containerd(f"{self.directory}/containerd"))
        pods_path = f"{self.directory}/pods.json"
        self.kubelet = self.add(kubelet.Kubelet(f"{self.directory}/kubelet", NODE_NAME, pods_path))
        self.pod_list = self.add(kubelet.PodList(pods_path, NODE_NAME))

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.stack.close()

    def add(self, part):
        """Registers a part before it starts: its stop() is called whatever becomes of it."""
        self.stack.callback(part.stop)
        return part

    def set_up(self, workloads):
        self.workloads = tables.name_programs(workloads, self.tag)
        self.collector.start()
        programs = self.compile_programs()
        self.containerd.start_daemon()
        self.containerd.import_programs(programs)
        self.pod_list.start(self.workloads)
        self.kubelet.start()

    def compile_programs(self):
        os.makedirs(f"{self.directory}/bin")
        programs = {f"bin/{workload.hot}": f"{self.directory}/bin/{workload.hot}"
                    for workload in self.workloads}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_program, programs.values()))
        return programs

    def start_agent(self, *options):
        command = [self.binary, "agent", "--otlp-endpoint", self.collector.endpoint(),
                   "--frequency", str(self.frequency_hz), "--node-name", NODE_NAME,
                   *self.kubelet.agent_options(), *options]
        log_path = f"{self.directory}/agent-{len(self.agents)}.log"
        agent = self.add(host.Process("agent", command, log_path))
        self.agents.append(agent)
        seen = len(self.collector.samples())
        host.wait_until("the agent's first profile arrives",
                        lambda: self.must_live(agent) and len(self.collector.samples()) > seen, 20)
        return agent

    @staticmethod
    def must_live(agent):
        if not agent.is_alive():
            raise host.Failure(f"the agent ended with status {agent.child.returncode}")
        return True

    def start(self, workload):
        if workload.pod:
            self.containerd.start(workload.container_id, workload.cgroup,
                                  workload.command(f"/bin/{workload.hot}"))
        else:
            self.start_on_host(workload)
        workload.started = time.monotonic()
        workload.cgroup_id = os.stat(host.cgroup_mounts()[1] + workload.cgroup).st_ino

    def start_on_host(self, workload):
        cgroup = host.cgroup_mounts()[1] + workload.cgroup
        os.makedirs(cgroup)

        def enter_cgroup():
            with open(cgroup + "/cgroup.procs", "w", encoding="ascii") as procs:
                procs.write("0")

        command = workload.command(f"{self.directory}/bin/{workload.hot}")
        self.add(host.Process(workload.hot, command, self.output_path(workload),
                              preexec_fn=enter_cgroup))

    def output_path(self, workload):
        if workload.pod:
            return self.containerd.output_path(workload.container_id)
        return f"{self.directory}/{workload.hot}.out"

    def wake(self, workload):
        self.containerd.signal(workload.container_id, "SIGUSR1")

    def look_at(self, workload):
        """Notes the end of the work; a container that ends is removed at once, as by a kubelet."""
        if workload.cpu_us or workload.started is None:
            return
        match = re.search(r"cpu_us=(\d+)\n", host.read_text(self.output_path(workload)))
        if not match:
            return
        workload.cpu_us = int(match.group(1))
        if workload.is_exiting and workload.pod:
            self.containerd.ctr("tasks", "delete", "--force", workload.container_id)
            workload.ended = time.monotonic()

    def run_one(self, workload):
        """Runs one short container to its end."""
        self.start(workload)
        host.wait_until(f"{workload.hot} ends", lambda: self.look_at(workload) or workload.cpu_us)

    def play(self, workloads, seconds=60):
        """Runs the table: wakes who is there, starts each when it is due, until all are done."""
        begin = time.monotonic()
        for workload in workloads:
            if workload.at is None:
                self.wake(workload)
        host.wait_until("the containers' work is done",
                        lambda: self.step(workloads, time.monotonic() - begin), seconds)

    def step(self, workloads, elapsed):
        for workload in workloads:
            is_due = workload.started is None and elapsed >= workload.at
            if is_due and not self.has_unfinished_run(workload, workloads):
                self.start(workload)
            self.look_at(workload)
            if workload.label == "tick" and workload.ended:
                workload.pod.is_listed = time.monotonic() < workload.ended + DELETED_AFTER_S
        return all(workload.cpu_us for workload in workloads)

    @staticmethod
    def has_unfinished_run(workload, workloads):
        """A container is restarted only after its earlier run has ended."""
        return any(other is not workload and other.pod is workload.pod and workload.pod
                   and other.container == workload.container and other.started
                   and not other.cpu_us for other in workloads)

    def remove_directory(self):
        if not self.is_kept:
            shutil.rmtree(self.directory, ignore_errors=True)

    def remove_cgroups(self):
        own = {workload.pod.cgroup() if workload.pod else workload.cgroup
               for workload in self.workloads}
        for directory in (mount + path for mount in host.all_cgroup_mounts()
                          for path in own):
            host.kill_cgroup(directory)
            host.remove_cgroup(directory)
        self.shared_cgroups.release({os.path.dirname(path) for path in own})

    def show_logs(self):
        """The ends of all logs, for whoever has to find out what went wrong."""
        parts = [self.containerd.daemon, self.kubelet.process, self.collector.process]
        for process in filter(None, parts + self.agents):
            print(f"--- {process.name}\n{process.log()[-3000:]}")


def compile_program(path):
    host.run(*COMPILE, f"-DHOT={os.path.basename(path)}", SPIN, "-o", path)


def end_agent(agent):
    """SIGTERM must end the agent by itself, with everything sent."""
    status = agent.finish(10, signal.SIGTERM)
    return [] if status == 0 else [f"the agent's exit status is {status}, not 0"]
