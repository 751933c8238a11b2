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

FREQUENCY_HZ = 99
SPIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spin.c")
# Static: the image holds nothing else. Frame pointers: the plainest way to unwind.
COMPILE = ["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-fno-omit-frame-pointer", "-fno-inline",
           "-static"]


class Scene:
    """Used as a context: at its end all is taken down, the last part first, whatever fails."""

    def __init__(self, binary, is_kept, capture="auto"):
        self.binary, self.is_kept, self.capture = binary, is_kept, capture
        self.tag = os.urandom(3).hex()
        self.workloads = []
        self.agents, self.kubelets = [], []
        self.stack = contextlib.ExitStack()
        self.directory = tempfile.mkdtemp(prefix="flamelet-e2e-")
        self.logs_directory = f"{self.directory}/var-log"
        self.stack.callback(self.remove_directory)
        self.stack.callback(host.reap_orphans)
        self.shared_cgroups = host.SharedCgroups()
        self.stack.callback(self.remove_cgroups)
        self.collector = self.add(collector.Collector(f"{self.directory}/collector"))
        self.containerd = self.add(containers.Containerd(f"{self.directory}/containerd"))
        self.pod_list = self.add(kubelet.PodList())

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

    def add_node(self, node_name):
        """A kubelet that tells of all pods as its own, with names and certificates of this node."""
        node = self.add(kubelet.Kubelet(f"{self.directory}/{node_name}", node_name))
        self.kubelets.append(node)
        self.pod_list.add_node(node_name, node.pods_path)
        node.start()
        return node

    def compile_programs(self):
        os.makedirs(f"{self.directory}/bin")
        programs = {f"bin/{workload.hot}": f"{self.directory}/bin/{workload.hot}"
                    for workload in self.workloads}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_program, programs.values()))
        return programs

    def write_log_names(self, workload):
        kubelet.write_log_names(self.logs_directory, workload)

    def launch_agent(self, node, *options):
        command = [self.binary, "agent", "--otlp-endpoint", self.collector.endpoint(),
                   "--frequency", str(FREQUENCY_HZ), "--capture", self.capture, *options]
        if "--kubelet-url" not in options:
            command += node.agent_options()
        if "--pod-logs" not in options:
            command += ["--pod-logs", f"{self.directory}/no-logs"]
        log_path = f"{self.directory}/agent-{node.node_name}-{len(self.agents)}.log"
        agent = self.add(host.Process(f"agent {node.node_name}", command, log_path))
        self.agents.append(agent)
        return agent

    def wait_for_profile(self, agent, node):
        host.wait_until(f"the first profile of the agent on {node.node_name} arrives",
                        lambda: self.must_live(agent) and self.has_profile(node), 60)

    def has_profile(self, node):
        return any(sample.resource.get("k8s.node.name") == node.node_name
                   for sample in self.collector.samples())

    def start_agent(self, node, *options):
        """Waits for the first profile, which needs a busy program: the containers may be idle
        still."""
        agent = self.launch_agent(node, *options)
        with host.busy_program():
            self.wait_for_profile(agent, node)
        return agent

    @staticmethod
    def must_live(agent):
        if not agent.is_alive():
            raise host.Failure(f"the agent ended with status {agent.child.returncode}")
        return True

    def start(self, workload):
        if workload.has_runtime():
            self.containerd.start(workload.container_id, workload.cgroup,
                                  workload.command(f"/bin/{workload.hot}"))
        else:
            self.start_process(workload)
        workload.started = time.monotonic()
        workload.cgroup_id = os.stat(host.cgroup_mounts()[1] + workload.cgroup).st_ino

    def start_process(self, workload):
        cgroup = host.cgroup_mounts()[1] + workload.cgroup
        os.makedirs(cgroup, exist_ok=True)

        def enter_cgroup():
            with open(cgroup + "/cgroup.procs", "w", encoding="ascii") as procs:
                procs.write("0")

        command = workload.command(f"{self.directory}/bin/{workload.hot}")
        self.add(host.Process(workload.hot, command, self.output_path(workload),
                              preexec_fn=enter_cgroup))

    def output_path(self, workload):
        if workload.has_runtime():
            return self.containerd.output_path(workload.container_id)
        return f"{self.directory}/{workload.hot}.out"

    def wake(self, workload):
        self.containerd.signal(workload.container_id, "SIGUSR1")
        workload.woken = True

    def look_at(self, workload):
        """Notes the end of the work; a container that ends is removed at once, as by a kubelet."""
        if workload.cpu_us or workload.started is None:
            return
        match = re.search(r"cpu_us=(\d+)\n", host.read_text(self.output_path(workload)))
        if not match:
            return
        workload.cpu_us = int(match.group(1))
        if workload.is_exiting and workload.has_runtime():
            self.containerd.ctr("tasks", "delete", "--force", workload.container_id)
            workload.ended = time.monotonic()

    def play(self, workloads, seconds=180):
        """Runs the table: wakes who is there, starts each when it is due, until all are done."""
        begin = time.monotonic()
        host.wait_until("the containers' work is done",
                        lambda: self.step(workloads, time.monotonic() - begin), seconds)

    def step(self, workloads, elapsed):
        for workload in workloads:
            if workload.at is None:
                if not workload.woken and elapsed >= workload.wakes_at:
                    self.wake(workload)
            elif (workload.started is None and elapsed >= workload.at
                  and not self.has_unfinished_run(workload, workloads)):
                self.start(workload)
            self.look_at(workload)
            self.delete_pod(workload)
        return all(workload.cpu_us for workload in workloads)

    @staticmethod
    def delete_pod(workload):
        if workload.ended and workload.pod.deleted_after_s is not None:
            workload.pod.is_listed = time.monotonic() < workload.ended + workload.pod.deleted_after_s

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
               for workload in self.workloads if workload.started}
        for directory in (mount + path for mount in host.all_cgroup_mounts()
                          for path in own):
            host.kill_cgroup(directory)
            host.remove_cgroup(directory)
        self.shared_cgroups.release({os.path.dirname(path) for path in own})

    def show_logs(self):
        """Prints the ends of all logs."""
        parts = [self.containerd.daemon, self.collector.process]
        parts += [node.process for node in self.kubelets]
        for process in filter(None, parts + self.agents):
            print(f"--- {process.name}\n{process.log()[-3000:]}")


def compile_program(path):
    host.run(*COMPILE, f"-DHOT={os.path.basename(path)}", SPIN, "-o", path)


def end_agent(agent):
    """SIGTERM must end the agent by itself, with everything sent. A request to a kubelet that hangs takes ten
    seconds."""
    status = agent.finish(20, signal.SIGTERM)
    return [] if status == 0 else [f"the exit status of {agent.name} is {status}, not 0"]


def counters(agent):
    """Returns the counters of the agent's last log line."""
    return {name: int(value)
            for name, value in re.findall(r"(\w+)=(\d+)", agent.log().split("stopped: ")[-1])}
