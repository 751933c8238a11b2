# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes of one node on this machine, and its end.

    with node.Node() as one:
        one.apply(yaml)
        one.wait_for_rollout("deployment/web", "shop")
        agent = one.start_in_node("agent", [flamelet, "agent", "--node-name", one.node_name, ...])
        one.stop_kubelet()
        one.start_kubelet()

Everything runs in mount and network namespaces of its own, in a temporary directory of its own, below a
cgroup of its own; the process ids are the host's. Any number of nodes may run on one machine. Methods may
be called from several threads, though not two that start or stop the same part at once. All that fails
raises host.Failure with the reason; host.Skip where something is missing."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../local"))

# pylint: disable=wrong-import-position
import build
import host
import pki
import settings
import spin

# A machine with much else to do needs long; what is waited for is asked for all the time.
LONG_SECONDS = 120
END_SECONDS = 60
CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


def require_host():
    if os.geteuid() != 0:
        raise host.Skip("not root")
    host.require_containers("gcc", "openssl", "ip", "nsenter", "unshare", "mount")


class Node:
    """A context: at its end nothing is left, which close() checks. What it has for its users:

    node_name       what Kubernetes calls the node
    kubelet_url     https://…, to be had inside the node's network namespace only
    ca_file         verifies the kubelet's and the API server's certificates
    cgroup_root     parent of all pods' cgroups, a path in every hierarchy
    directory       for the test's own files as well; removed at the end
    programs        {name: host.Process}: etcd, containerd, kube-…, kubelet, those of start_in_node()
    """

    def __init__(self, kubernetes=build.VERSION, is_kept=False):
        require_host()
        self.kubernetes = build.build(kubernetes)
        self.is_kept = is_kept
        tag = os.urandom(4).hex()
        self.node_name = f"e2e-{tag}"
        self.cgroup_root = f"/flamelet-e2e-{tag}"
        self.kubelet_url = settings.KUBELET
        self.directory = self.keeper = self.holder = self.pki = None
        self.ca_file = self.admin = None
        self.programs = {}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.show_logs()
            self.close()
            raise
        return self

    def __exit__(self, kind, *_error):
        if kind:
            self.show_logs()
        self.close()

    # Commands.

    def enter(self, command):
        """The command line that runs a command in the node's namespaces."""
        return ["nsenter", f"--target={self.holder}", "--mount", "--net", f"--wd={self.directory}",
                "--", *command]

    def run_in_node(self, command, seconds=60, **options):
        """Runs a command to its end and returns its output."""
        return host.run(*self.enter(command), seconds=seconds, **options)

    def start_in_node(self, name, command, **options):
        """Starts a program beside the node's own, with its output in log_path(name)."""
        self.programs[name] = host.Process(name, self.enter(command), self.log_path(name), **options)
        return self.programs[name]

    def kubectl(self, *arguments, input=None, seconds=LONG_SECONDS):
        # pylint: disable=redefined-builtin
        """Runs kubectl as an administrator and returns its output. `input` is text."""
        command = [self.tool("kubectl"), f"--kubeconfig={self.admin}", *arguments]
        options = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
        return self.run_in_node(command, seconds, **options)

    def kubectl_json(self, *arguments, seconds=LONG_SECONDS):
        """Returns the parsed output of `kubectl … --output=json`."""
        return json.loads(self.kubectl(*arguments, "--output=json", seconds=seconds))

    def apply(self, text):
        """Applies manifests, YAML or JSON."""
        return self.kubectl("apply", "--filename=-", input=text)

    # Waiting.

    def wait_for(self, resource, namespace, condition="condition=Ready", seconds=LONG_SECONDS):
        """As `kubectl wait --for`; the resource, such as pod/web, need not be there yet."""
        host.wait_until(f"{resource} exists", lambda: self.exists(resource, namespace), seconds, 0.2)
        self.kubectl("--namespace", namespace, "wait", f"--for={condition}", resource,
                     f"--timeout={seconds}s", seconds=seconds + 10)

    def wait_for_rollout(self, resource, namespace, seconds=LONG_SECONDS):
        """Until all pods of a Deployment, DaemonSet or StatefulSet are ready."""
        self.kubectl("--namespace", namespace, "rollout", "status", resource,
                     f"--timeout={seconds}s", seconds=seconds + 10)

    def exists(self, resource, namespace):
        found = self.kubectl("--namespace", namespace, "get", resource, "--ignore-not-found",
                             "--output=name")
        return bool(found.strip())

    # For the agent.

    def token(self, account=settings.READER, namespace=settings.NAMESPACE):
        """A token of a service account: settings.READER may get nodes/pods, settings.NOBODY nothing."""
        return self.kubectl("--namespace", namespace, "create", "token", account).strip()

    def agent_options(self, token_file):
        """Returns the options of `flamelet agent` that say where the kubelet is."""
        return ["--node-name", self.node_name, "--kubelet-url", self.kubelet_url,
                "--kubelet-ca-file", self.ca_file, "--kubelet-token-file", token_file,
                "--pod-logs", f"{self.directory}/var/log"]

    def add_static_pod(self, name, text):
        """Puts a manifest where the kubelet finds it without the API server."""
        path = f"{self.directory}/var/lib/kubelet/manifests/{name}.yaml"
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".new", path)

    def start_kubelet(self):
        self.start_program("kubelet", [
            f"--config={self.directory}/kubelet.json", f"--kubeconfig={self.pki.path('node.conf')}",
            f"--hostname-override={self.node_name}", f"--node-ip={settings.NODE_IP}", "--v=2"])

    def stop_kubelet(self):
        """Containers run on."""
        self.programs["kubelet"].finish(first=9)

    def start_apiserver(self):
        """Returns when it serves."""
        self.start_program("kube-apiserver", settings.api_server(self.pki))
        host.wait_until("the API server is ready", self.is_ready, LONG_SECONDS, 0.1)

    def stop_apiserver(self):
        self.programs["kube-apiserver"].finish(first=9)

    # The start, step by step.

    def start(self):
        self.directory = tempfile.mkdtemp(prefix="flamelet-e2e-")
        os.makedirs(f"{self.directory}/logs")
        self.start_keeper()
        self.make_cgroups()
        self.run_in_node([f"{HERE}/prepare.sh", self.directory, settings.NODE_IP,
                          settings.SERVICE_IP])
        self.make_certificates()
        self.write_configurations()
        self.start_control_plane()
        self.start_containers()
        self.apply(json.dumps(settings.accounts()))
        self.start_kubelet()
        self.wait_until_ready()

    def start_keeper(self):
        """From here on, what was started ends when this process does."""
        self.keeper = subprocess.Popen(
            [sys.executable, f"{HERE}/keeper.py", self.directory, self.cgroup_root],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        answer = self.keeper.stdout.readline().strip()
        if not answer:
            raise host.Failure("keeper.py could not make namespaces")
        self.holder = int(answer)

    def make_cgroups(self):
        for mount in host.all_cgroup_mounts():
            os.mkdir(mount + self.cgroup_root)
            for name in ("cpuset.cpus", "cpuset.mems"):
                value = host.read_text(f"{mount}/{name}")
                if value:
                    with open(f"{mount}{self.cgroup_root}/{name}", "w", encoding="ascii") as file:
                        file.write(value)

    def make_certificates(self):
        self.pki = pki.Pki(f"{self.directory}/pki")
        self.ca_file = self.pki.path("ca.crt")
        node = f"/O=system:nodes/CN=system:node:{self.node_name}"
        self.pki.make_server("server", "/CN=kube-apiserver", (
            "DNS:kubernetes.default.svc", f"IP:{settings.NODE_IP}", f"IP:{settings.SERVICE_IP}"))
        self.pki.make_server("kubelet-server", node, (
            f"DNS:{self.node_name}", f"IP:{settings.NODE_IP}"))
        self.pki.make_client("accounts", "/CN=accounts")
        self.pki.make_client("kubelet-client", "/CN=e2e-api-server")
        for name, subject in (("node", node), ("scheduler", "/CN=system:kube-scheduler"),
                              ("manager", "/CN=system:kube-controller-manager")):
            self.pki.make_login(name, subject, settings.SERVER)
        self.admin = self.pki.make_login("admin", "/O=system:masters/CN=admin", settings.SERVER)

    def write_configurations(self):
        os.makedirs(f"{self.directory}/cni")
        files = {"containerd.toml": settings.containerd(self.directory, f"{self.kubernetes}/cni"),
                 "cni/pods.conf": json.dumps(settings.POD_NETWORK),
                 "kubelet.json": json.dumps(settings.kubelet(self.pki, self.cgroup_root))}
        for name, text in files.items():
            with open(f"{self.directory}/{name}", "w", encoding="utf-8") as file:
                file.write(text)

    def start_control_plane(self):
        """containerd comes up at the side: the API server takes the longest of all."""
        self.start_in_node("containerd", ["containerd", "--config",
                                          f"{self.directory}/containerd.toml"])
        self.start_program("etcd", settings.etcd(self.directory))
        self.start_apiserver()
        self.start_program("kube-controller-manager", settings.controller_manager(
            self.pki, self.pki.path("manager.conf")))
        self.start_program("kube-scheduler",
                           settings.client_options(self.pki.path("scheduler.conf")))

    def start_containers(self):
        archive = f"{self.directory}/image.tar"
        spin.write_archive(archive, self.tool("busybox"), self.directory)
        host.wait_until("containerd answers",
                        lambda: self.program_lives("containerd") and self.has_runtime(), 30)
        self.ctr("images", "import", archive)

    def wait_until_ready(self):
        host.wait_until("the node exists", lambda: self.program_lives("kubelet") and self.exists(
            f"node/{self.node_name}", "default"), LONG_SECONDS, 0.2)
        self.wait_for(f"node/{self.node_name}", "default")
        host.wait_until("service accounts exist",
                        lambda: self.exists("serviceaccount/default", "default"), LONG_SECONDS, 0.2)

    # Parts.

    def tool(self, name):
        return f"{self.kubernetes}/bin/{name}"

    def start_program(self, name, options):
        self.start_in_node(name, [self.tool(name), *options])

    def program_lives(self, name):
        if not self.programs[name].is_alive():
            raise host.Failure(f"{name} ended: {self.programs[name].log()[-1000:]}")
        return True

    def is_ready(self):
        self.program_lives("etcd")
        self.program_lives("kube-apiserver")
        try:
            return self.kubectl("get", "--raw", "/readyz", seconds=20)
        except (host.Failure, subprocess.TimeoutExpired):
            return None

    def ctr(self, *arguments):
        return self.run_in_node(["ctr", "--address", settings.RUNTIME, "--namespace", "k8s.io",
                                 *arguments])

    def has_runtime(self):
        try:
            return self.ctr("version")
        except host.Failure:
            return None

    def log_path(self, name):
        return f"{self.directory}/logs/{name}.log"

    def show_logs(self):
        """Prints the end of what each program said."""
        for name, program in self.programs.items():
            print(f"--- {name}\n{program.log()[-1500:]}", flush=True)

    # The end.

    def close(self):
        """Ends everything and fails when anything is left. A second call does nothing."""
        if self.keeper is None:
            return
        if self.is_kept:
            kept = tempfile.mkdtemp(prefix="flamelet-e2e-logs-")
            shutil.copytree(f"{self.directory}/logs", kept, dirs_exist_ok=True)
            print(f"logs are in {kept}", flush=True)
        keeper, self.keeper = self.keeper, None
        left, _ = keeper.communicate(timeout=END_SECONDS)
        for program in self.programs.values():
            program.finish()
        if left.strip():
            raise host.Failure("left behind: " + ", ".join(left.split("\n")[:-1]))
