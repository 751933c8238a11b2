# SPDX-License-Identifier: Apache-2.0
"""Rules for everything that the chart renders, whatever its values are. A rule is a
function that takes a Render and yields what is wrong; what a rule allows only if it was asked for,
it reads from the values."""

import collections
import re

CAPABILITIES = ["BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE", "SYSLOG"]
NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
LABEL_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
LABELS = ("app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/version",
          "app.kubernetes.io/component", "app.kubernetes.io/managed-by", "helm.sh/chart")
NAME_MAX = 63
# Of Services: DNS names, which begin with a letter.
SERVICE_NAME = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
CLUSTER_WIDE = ("ClusterRole", "ClusterRoleBinding", "SecurityContextConstraints", "MutatingAdmissionPolicy",
                "MutatingAdmissionPolicyBinding")
# All of the node that may be written, each by one mount of one container.
QUEUE, RECORD = "/var/lib/flamelet/queue", "/var/lib/flamelet/record"
PARANOID = "/proc/sys/kernel/perf_event_paranoid"
HEAP = "/host/heap"
SELECTORS = {
    "DaemonSet": lambda spec: spec["selector"]["matchLabels"],
    "NetworkPolicy": lambda spec: spec["podSelector"]["matchLabels"],
    "PodMonitor": lambda spec: spec["selector"]["matchLabels"],
    "Service": lambda spec: spec["selector"],
}
FACTORS = {"": 1, "k": 10 ** 3, "M": 10 ** 6, "G": 10 ** 9, "Ki": 2 ** 10, "Mi": 2 ** 20, "Gi": 2 ** 30}
QUANTITY = re.compile(r"([\d.]+)([A-Za-z]*)")


class Render:
    """One run of `helm template`: the objects, all values they are made of, and Kubernetes' version."""

    def __init__(self, objects, values, version):
        self.objects, self.values, self.version = objects, values, version

    def since(self, *version):
        return tuple(map(int, self.version.split("."))) >= version

    def pods(self):
        """Name and specification of all that become pods."""
        for item in self.objects:
            if item["kind"] == "DaemonSet":
                yield "DaemonSet", item["spec"]["template"]["spec"]
            elif item["kind"] == "Pod":
                yield "Pod", item["spec"]

    def containers(self):
        """Yields each container with its pod, and the place of both in words."""
        for kind, pod in self.pods():
            for container in pod.get("initContainers", []) + pod["containers"]:
                yield f"{kind}, container {container['name']}", pod, container


def byte_count(quantity):
    number, unit = QUANTITY.fullmatch(str(quantity)).groups()
    return float(number) * FACTORS[unit]


def title(item):
    return f"{item['kind']} {item['metadata']['name']}"


def wanted_capabilities(values):
    """Six, or fewer, unless the values ask for one of two more."""
    security = values["security"]
    more = (["SYS_ADMIN"] if security["perfEventParanoid"] == "sysAdmin" else []) + (
        ["SYS_RESOURCE"] if security["oldKernel"] else [])
    return security["capabilities"] + more


def capabilities(render):
    """All of it is dropped; the agent gets the six back, an init container nothing."""
    if not set(render.values["security"]["capabilities"]) <= set(CAPABILITIES):
        yield f"security.capabilities has more than {CAPABILITIES}"
    for where, _pod, container in render.containers():
        wanted = wanted_capabilities(render.values) if container["name"] == "flamelet" else []
        given = container.get("securityContext", {}).get("capabilities", {})
        if given.get("drop") != ["ALL"]:
            yield f"{where} does not drop ALL but {given.get('drop')}"
        if sorted(given.get("add", [])) != sorted(wanted):
            yield f"{where} has {given.get('add')}, not {wanted}"


def privileges(render):
    for where, pod, container in render.containers():
        context = pod.get("securityContext", {}) | container.get("securityContext", {})
        if context.get("privileged"):
            yield f"{where} is privileged"
        if context.get("allowPrivilegeEscalation") is not False:
            yield f"{where} does not forbid to gain privileges"
        if context.get("readOnlyRootFilesystem") is not True:
            yield f"{where} can write to its root filesystem"
        if context.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
            yield f"{where} has the seccomp profile {context.get('seccompProfile')}"


def namespaces(render):
    """The host's processes are seen, and nothing else of the host's namespaces is shared."""
    for kind, pod in render.pods():
        if pod.get("hostPID") is not True:
            yield f"{kind}: no hostPID"
        shared = [key for key in ("hostNetwork", "hostIPC", "shareProcessNamespace") if pod.get(key)]
        if shared:
            yield f"{kind} has {shared}"


def token_seconds(pod):
    """Returns the lifetime of each token that the pod mounts."""
    return [source["serviceAccountToken"].get("expirationSeconds") for volume in pod["volumes"]
            for source in volume.get("projected", {}).get("sources", []) if "serviceAccountToken" in source]


def may_ask(render):
    """Returns whether the agent queries the kubelet, whoever permits that."""
    access = render.values["rbac"]["kubeletAccess"]
    return render.values["kubelet"]["enabled"] and (
        access in ("pods", "proxy") or access == "auto" and render.since(1, 33))


def token(render):
    """In a pod only if it is for the kubelet, and for an hour: one that Kubernetes mounts lives for a year."""
    asks = may_ask(render)
    for where, pod, container in render.containers():
        if pod.get("automountServiceAccountToken") is not False:
            yield f"{where}: a token is mounted by itself"
        has_address = any(variable["name"] == "HOST_IP" for variable in container.get("env", []))
        if container["name"] == "flamelet" and token_seconds(pod) != ([3600] if asks else []):
            yield f"{where}: tokens for {token_seconds(pod)} s, it may ask the kubelet: {asks}"
        if container["name"] == "flamelet" and has_address != asks:
            yield f"{where}: HOST_IP is there: {has_address}, it may ask the kubelet: {asks}"
    for item in render.objects:
        if item["kind"] == "ServiceAccount" and item.get("automountServiceAccountToken") is not False:
            yield "other pods with the ServiceAccount would get its token"


def rights(render):
    """`get` on one resource, or none; nodes/proxy is nearly everything, so only by its name."""
    access = render.values["rbac"]["kubeletAccess"]
    resources = {"pods": "nodes/pods", "proxy": "nodes/proxy"}
    if render.since(1, 33):
        resources["auto"] = "nodes/pods"
    wanted = {"apiGroups": [""], "resources": [resources.get(access)], "verbs": ["get"]}
    for item in render.objects:
        if item["kind"] in ("ClusterRole", "Role") and item["rules"] != [wanted]:
            yield f"{title(item)} grants {item['rules']}"


def host_mounts(render):
    """Directories of the node are mounted read-only, except the queue, the record, the one file that
    allow-perf writes, and the directory of the one file that copy-heap writes."""
    extra = {volume["name"] for volume in render.values["extraVolumes"]}
    for where, pod, container in render.containers():
        paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]
                 if "hostPath" in volume}
        for mount in container.get("volumeMounts", []):
            path = paths.get(mount["name"])
            if path is None or mount["name"] in extra:
                continue
            may_write = mount["mountPath"] in (QUEUE, RECORD) or (path, container["name"]) == (PARANOID, "allow-perf") or (
                mount["mountPath"], container["name"]) == (HEAP, "copy-heap")
            if not mount.get("readOnly") and not may_write:
                yield f"{where} can write to the node's {path}"
            if mount.get("mountPropagation", "None") == "Bidirectional":
                yield f"{where}: mounts below {mount['mountPath']} reach the node"


def mounts(render):
    """Each mount has its volume, each volume is mounted, and no two are at one place."""
    for kind, pod in render.pods():
        volumes = [volume["name"] for volume in pod["volumes"]]
        all_mounts = [mount for container in pod.get("initContainers", []) + pod["containers"]
                      for mount in container.get("volumeMounts", [])]
        used = {mount["name"] for mount in all_mounts}
        if len(volumes) != len(set(volumes)) or used != set(volumes):
            yield f"{kind} has volumes {volumes}, and mounts of {sorted(used)}"
    for where, _pod, container in render.containers():
        places = [mount["mountPath"] for mount in container.get("volumeMounts", [])]
        if len(places) != len(set(places)):
            yield f"{where} mounts twice at one place: {sorted(places)}"


def names(render):
    """Kubernetes' own rules, which no schema has; what is longer than 63 characters is no label and no host."""
    places = [f"{title(item)} in {item['metadata'].get('namespace')}" for item in render.objects]
    yield from (f"there are {count} of {place}" for place, count in collections.Counter(places).items()
                if count > 1)
    for item in render.objects:
        metadata = item["metadata"]
        pattern = SERVICE_NAME if item["kind"] == "Service" else NAME
        if len(metadata["name"]) > NAME_MAX or not pattern.fullmatch(metadata["name"]):
            yield f"{title(item)}: not a name"
        if (item["kind"] in CLUSTER_WIDE) == ("namespace" in metadata):
            yield f"{title(item)} is{'' if 'namespace' in metadata else ' not'} in a namespace"


def is_label_name(text):
    return isinstance(text, str) and len(text) <= NAME_MAX and LABEL_NAME.fullmatch(text)


def label_faults(where, given):
    for key, value in given.items():
        prefix, _, name = key.rpartition("/")
        if not is_label_name(name) or (prefix and not NAME.fullmatch(prefix)):
            yield f"{where}: {key!r} is not the key of a label"
        if value != "" and not is_label_name(value):
            yield f"{where}: {value!r} is not the value of a label"


def labels(render):
    for item in render.objects:
        own = item["metadata"].get("labels", {})
        yield from label_faults(title(item), own)
        missing = (set(LABELS) | set(render.values["commonLabels"])) - set(own)
        if missing:
            yield f"{title(item)} lacks the labels {sorted(missing)}"
        for value in item["metadata"].get("annotations", {}).values():
            if not isinstance(value, str):
                yield f"{title(item)}: annotation {value!r} is not text"
        if item["kind"] == "DaemonSet":
            pod_labels = item["spec"]["template"]["metadata"]["labels"]
            yield from label_faults("pods of the " + title(item), pod_labels)


def selects(selector, pod_labels):
    return selector and selector.items() <= pod_labels.items()


def selectors(render):
    """Selectors of pods match the agent's pods and, except the NetworkPolicy's, not the pod of
    `helm test`."""
    agents = [item["spec"]["template"]["metadata"]["labels"] for item in render.objects
              if item["kind"] == "DaemonSet"]
    tests = [item["metadata"]["labels"] for item in render.objects if item["kind"] == "Pod"]
    for item in render.objects:
        if item["kind"] not in SELECTORS:
            continue
        selector = SELECTORS[item["kind"]](item["spec"])
        if not all(selects(selector, pod) for pod in agents):
            yield f"{title(item)} does not select the agent's pods"
        if item["kind"] != "NetworkPolicy" and any(selects(selector, pod) for pod in tests):
            yield f"{title(item)} selects the pod of helm test"


def images(render):
    for where, _pod, container in render.containers():
        image = container["image"]
        if not re.search(r"(:[^/]+|@sha256:[0-9a-f]{64})$", image) or image.endswith(":latest"):
            yield f"{where}: {image} says no version"


def memory_bounds(values):
    """Yields how much memory the agent (elf_cache.c, unwind tables, exporter.c) and its workers
    (elf_cache.c, rows_client.h, jit_worker.h, debuginfod.c) may take."""
    names = values["symbols"]["memoryMax"]
    yield from ("56Mi", values["tablesMemoryMax"], f"{byte_count(names) // 4:.0f}")
    yield from ("64Mi", "48Mi", "16Mi", "16Mi")
    if values["symbols"]["debuginfod"]["urls"]:
        yield "256Mi"
    if "heap" in values["profiling"]["kinds"]:
        yield "96Mi"
    for _ in range(bool(values["otlp"]["endpoint"]) + len(values["destinations"])):
        yield "48Mi"
        if values["queue"]["type"] == "memory":
            yield "16Mi"


def memory(render):
    """A container that may need more than its limit is killed one day."""
    bounds = list(memory_bounds(render.values))
    needed = sum(map(byte_count, bounds))
    for where, _pod, container in render.containers():
        limit = container.get("resources", {}).get("limits", {}).get("memory")
        if limit is None:
            yield f"{where} has no limit of memory"
        elif container["name"] == "flamelet" and byte_count(limit) < needed:
            yield f"{where} may have {limit} of memory, and need {' + '.join(bounds)}"


def ports(render):
    """None, but for metrics where they are asked for; probes need none."""
    wanted = [render.values["metrics"]["port"]] if render.values["metrics"]["enabled"] else []
    for where, _pod, container in render.containers():
        opened = container.get("ports", [])
        is_agent = where.startswith("DaemonSet") and container["name"] == "flamelet"
        if [port["containerPort"] for port in opened] != (wanted if is_agent else []):
            yield f"{where} has the ports {opened}"
        if any("hostPort" in port for port in opened):
            yield f"{where} has a port of the node"
        for key in ("livenessProbe", "readinessProbe", "startupProbe"):
            if set(container.get(key, {})) & {"httpGet", "tcpSocket", "grpc"}:
                yield f"{where}: the {key} needs a port"


def update_strategy(render):
    """Kubernetes wants one of the two."""
    for item in render.objects:
        rolling = item["spec"]["updateStrategy"].get("rollingUpdate", {}) if item["kind"] == "DaemonSet" else None
        if rolling and sum(rolling.get(key, 0) not in (0, "0%") for key in ("maxSurge", "maxUnavailable")) != 1:
            yield f"{title(item)} is updated by {rolling}"


def app_armor(render):
    """Its annotation is gone from Kubernetes 1.30 on, where the field came."""
    has_field = render.since(1, 30)
    profile = render.values["security"]["appArmorProfile"]
    for item in render.objects:
        template = {"DaemonSet": item.get("spec", {}).get("template"), "Pod": item}.get(item["kind"])
        if not template or not profile:
            continue
        annotations = [key for key in template["metadata"].get("annotations", {}) if "apparmor" in key]
        context = template["spec"].get("securityContext", {})
        if (context.get("appArmorProfile") == profile) != has_field or bool(annotations) == has_field:
            yield f"{title(item)} says of AppArmor {context.get('appArmorProfile')} and {annotations}"


RULES = (capabilities, privileges, namespaces, token, rights, host_mounts, mounts, names, labels,
         selectors, images, memory, ports, update_strategy, app_armor)


def faults_of(render):
    return [fault for rule in RULES for fault in rule(render)]
