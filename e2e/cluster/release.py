# SPDX-License-Identifier: Apache-2.0
"""The chart as a release on a node, by helm as users run it.

    with node.Node() as one:
        release.load_image(one, "build/flamelet")
        agent = release.Release(one)
        agent.install({"otlp": {"endpoint": "http://10.99.0.2:4318"}})
        agent.wait_ready()
        print(agent.exec("/usr/bin/flamelet", "doctor"))

HELM=/path/to/helm is the program, in place of the one that tests/chart/tools builds; CHART=/path the chart,
in place of the tree's own. What fails raises host.Failure with what helm said."""

import importlib.util
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "../local"))

# pylint: disable=wrong-import-position
import host
import image
import settings

CHART = os.environ.get("CHART") or os.path.join(ROOT, "charts/flamelet")
TOOLS = os.path.join(ROOT, "tests/chart/tools/build.py")
# As the chart's values have it; the tag is its appVersion.
REPOSITORY = "ghcr.io/flamelet/flamelet"
APP_VERSION = re.compile(r'^appVersion: "?([^"\n]+)"?', re.MULTILINE)
CONTAINER = "flamelet"
# Of process_fields().
PARENT, BEGAN = 1, 19
HELM_SECONDS = 120
READY_SECONDS = 120


def helm_program():
    """The path of helm 3, built now if need be."""
    if os.environ.get("HELM"):
        return os.path.abspath(os.environ["HELM"])
    if not os.path.exists(TOOLS):
        raise host.Skip("no helm: give one with HELM=/path/to/helm")
    # Not imported by its name: a module of this directory has the same.
    spec = importlib.util.spec_from_file_location("chart_tools", TOOLS)
    tools = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tools)
    return tools.tool("helm3")


def app_version(chart=CHART):
    """Returns the image tag that the chart uses by default."""
    found = APP_VERSION.search(host.read_text(f"{chart}/Chart.yaml"))
    if not found:
        raise host.Failure(f"{chart}/Chart.yaml has no appVersion")
    return found[1]


def files_below(root):
    """{path in the image: file here}"""
    return {os.path.relpath(os.path.join(directory, name), root): os.path.join(directory, name)
            for directory, _, names in os.walk(root) for name in names}


def write_image(path, binary, reference, directory):
    """Writes the archive of an image with what the Dockerfile's has; `directory` is for what is in between."""
    root = f"{directory}/image-{os.urandom(4).hex()}"
    host.run(f"{ROOT}/cmake/image-root.sh", os.path.abspath(binary), root, seconds=300)
    image.write_image(path, reference, files_below(root), ["agent"], ["/usr/bin/flamelet"])


def load_image(node, binary, tag=None):
    """Makes the agent's image and gives it to the node's containerd: by default under the name that the
    chart asks for. Returns the name."""
    reference = f"{REPOSITORY}:{tag or app_version()}"
    archive = f"{node.directory}/agent-{tag or 'default'}.tar"
    write_image(archive, binary, reference, node.directory)
    node.ctr("images", "import", archive)
    return reference


def process_fields(pid):
    """/proc/PID/stat from its third field on; nothing when the process is gone."""
    return host.read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()


def began(pid):
    """When a process was started, by the monotonic clock."""
    return int(process_fields(pid)[BEGAN]) / os.sysconf("SC_CLK_TCK")


def helm_places(node):
    """The environment by which helm keeps what it keeps in the node's directory."""
    return {f"HELM_{kind}_HOME": f"{node.directory}/helm/{kind.lower()}"
            for kind in ("CACHE", "CONFIG", "DATA")}


class Release:
    """One release of the chart; the node has one agent of it."""

    def __init__(self, node, name="flamelet", namespace="flamelet", chart=CHART):
        self.node, self.name, self.namespace, self.chart = node, name, namespace, chart
        self.program = helm_program()
        # As the chart's template "fullname" has it.
        self.fullname = name if "flamelet" in name else f"{name}-flamelet"

    # Helm.

    def command(self, *arguments):
        """A command line of helm's."""
        places = [f"{name}={path}" for name, path in helm_places(self.node).items()]
        return ["env", *places, self.program, f"--kubeconfig={self.node.admin}",
                f"--namespace={self.namespace}", *arguments]

    def helm(self, *arguments, values=None, seconds=HELM_SECONDS, **options):
        """Runs helm as an administrator and returns its output. `values` come by its standard input."""
        if values is None:
            options["stdin"] = subprocess.DEVNULL
        else:
            options["input"] = json.dumps(values)
            arguments = (*arguments, "--values=-")
        return self.node.run_in_node(self.command(*arguments), seconds, **options)

    def install(self, values, *arguments):
        return self.helm("install", self.name, self.chart, "--create-namespace", *arguments, values=values)

    def upgrade(self, values, *arguments):
        """Values that are not given are the chart's again."""
        return self.helm("upgrade", self.name, self.chart, *arguments, values=values)

    def template(self, values, *arguments):
        """Only the manifests; warnings go to standard error."""
        return self.helm("template", self.name, self.chart, *arguments, values=values, stderr=None)

    def uninstall(self, *arguments):
        return self.helm("uninstall", self.name, "--wait", *arguments)

    def test(self, *arguments):
        """With what the test's pod said."""
        return self.helm("test", self.name, "--logs", *arguments)

    # The agent.

    def kubectl(self, *arguments, **options):
        return self.node.kubectl("--namespace", self.namespace, *arguments, **options)

    def wait_ready(self, seconds=READY_SECONDS):
        """Until the agent's pod is ready, of the release's last revision, and no other is left."""
        self.node.wait_for_rollout(f"daemonset/{self.fullname}", self.namespace, seconds)
        host.wait_until("one agent's pod", lambda: len(self.pods()) == 1, seconds, 0.2)

    def pods(self):
        """The agent's pods on this node, as objects."""
        found = self.node.kubectl_json("--namespace", self.namespace, "get", "pods",
                                       f"--selector=app.kubernetes.io/instance={self.name}",
                                       f"--field-selector=spec.nodeName={self.node.node_name}")["items"]
        return [pod for pod in found
                if any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", []))]

    def pod_object(self):
        """The only one."""
        pods = self.pods()
        if len(pods) != 1:
            raise host.Failure(f"{len(pods)} pods of {self.fullname}: "
                               f"{[pod['metadata']['name'] for pod in pods]}")
        return pods[0]

    def pod(self):
        """Its name."""
        return self.pod_object()["metadata"]["name"]

    def status(self):
        """Returns Kubernetes' status of the agent's container: containerID, ready, restartCount,
        state …"""
        containers = self.pod_object()["status"].get("containerStatuses", [])
        return next((one for one in containers if one["name"] == CONTAINER), {})

    def exec(self, *command, **options):
        return self.kubectl("exec", self.pod(), f"--container={CONTAINER}", "--", *command, **options)

    def logs(self, *arguments):
        return self.kubectl("logs", self.pod(), f"--container={CONTAINER}", *arguments)

    # What the machine shows of the agent.

    def cgroups(self):
        """The container's directories in all hierarchies that have it, version 2 last."""
        identity = self.status().get("containerID", "").rpartition("/")[2]
        return [directory for mount in host.all_cgroup_mounts() if mount
                for directory, _, _ in os.walk(mount + self.node.cgroup_root)
                if identity and os.path.basename(directory) == identity]

    def pids(self):
        """The agent's process and its children, by the host's numbers: not what is run beside it in the container."""
        found = {int(pid) for directory in self.cgroups()
                 for pid in host.read_text(f"{directory}/cgroup.procs").split()}
        alive = {pid: fields for pid in found if (fields := process_fields(pid))}
        if not alive:
            raise host.Failure("the agent's container has no process")
        agent = min(alive, key=lambda pid: int(alive[pid][BEGAN]))
        return [agent] + [pid for pid in alive if int(alive[pid][PARENT]) == agent]

    def pid(self):
        """The agent's process."""
        return self.pids()[0]

    def process_status(self, pid=None):
        """/proc/PID/status of the agent, or of another process, {name: value}."""
        lines = host.read_text(f"/proc/{pid or self.pid()}/status").splitlines()
        return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def collector_endpoint(port=4318):
    """Returns the address at which a pod reaches servers beside the node, in its network
    namespace."""
    return f"http://{settings.NODE_IP}:{port}"
