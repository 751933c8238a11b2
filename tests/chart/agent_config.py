# SPDX-License-Identifier: Apache-2.0
"""Does the agent itself take the configuration that the chart writes for it?

The files of the ConfigMaps are written below a directory, byte by byte but for the paths in them:
these and those in the arguments are moved there, and what they name is made. Then the container's own
command is run by a user who may not profile anything: the agent reads all of its configuration, and
ends as it lacks the rights."""

import os
import re
import subprocess

import chart
import host

NOBODY = 65534
SECONDS = 60
ENVIRONMENT = {"NODE_NAME": "node", "HOST_IP": "127.0.0.1", "PATH": "/usr/bin:/bin"}
FAILED = 1
PATH = re.compile(r"(?P<before>^|unix:)(?P<path>/[\w./-]+)$")
# In the text of a configuration: after a key or in a list, quoted or not.
WRITTEN_PATH = re.compile(r"""^(?P<before>(?:[\w-]+: |- )['"]?(?:unix:)?)(?P<path>/[\w./-]+)(?=['"]?$)""",
                          re.MULTILINE)
DIRECTORIES = ("cgroup-root", "debug-dir", "debuginfod-cache", "pod-logs", "queue-dir", "store", "unwind-cache")
# Files that the agent reads before it finds that it lacks rights; all others may be empty.
CONTENTS = {"trigger-webhook-file": "https://alerts.example/hook\n"}
# Paths, but not of files.
OTHERS = ("cgroup",)
# The agent's message about an option that it ignores. An unknown option is wrong usage: exit status
# 2.
COMPLAINTS = re.compile(r"is ignored")


def config_maps(objects):
    return {item["metadata"]["name"]: item["data"] for item in objects if item["kind"] == "ConfigMap"}


def mounted_files(objects, pod, container):
    """Path in the container and content of all that comes from the chart's own ConfigMaps."""
    known, files = config_maps(objects), {}
    places = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    for volume in pod["volumes"]:
        sources = volume.get("projected", {}).get("sources", [volume])
        for source in sources:
            for name, content in known.get(source.get("configMap", {}).get("name"), {}).items():
                files[f"{places[volume['name']]}/{name}"] = content
    return files


def paths_in(content):
    """Option and path of all options of a configuration that name one."""
    for key, value in (chart.load_all(content) or [{}])[0].items():
        for text in value if isinstance(value, list) else [value]:
            match = PATH.search(str(text))
            if match and key not in OTHERS:
                yield key, match["path"]


def is_below(path, directory):
    return f"{path}/".startswith(f"{directory}/")


def unmounted(files, container):
    """Paths in the configuration that are in no mount: they cannot be there, the image has none of them.
    Without the kubelet's log directories the agent is told of them all the same, and does without."""
    places = [mount["mountPath"] for mount in container["volumeMounts"]]
    has_logs = any(place.startswith("/host/log") for place in places)
    for name, content in files.items():
        for key, path in paths_in(content):
            if key == "pod-logs" and not has_logs:
                continue
            if not any(is_below(path, place) or is_below(place, path) for place in places):
                yield f"{name}: {key} is {path}, where nothing is mounted"


def moved(text, directory, pattern=PATH):
    return pattern.sub(rf"\g<before>{directory}\g<path>", text)


def make_place(directory, option, path):
    """A file or an empty directory, as the option wants it."""
    place = directory + path
    os.makedirs(place if option in DIRECTORIES else os.path.dirname(place), exist_ok=True)
    if option not in DIRECTORIES and option != "listen" and not os.path.exists(place):
        with open(place, "w", encoding="ascii") as file:
            file.write(CONTENTS.get(option, ""))


def lay_out(files, directory):
    for name, content in files.items():
        for option, path in paths_in(content):
            make_place(directory, option, path)
        os.makedirs(os.path.dirname(directory + name), exist_ok=True)
        with open(directory + name, "w", encoding="utf-8") as file:
            file.write(moved(content, directory, WRITTEN_PATH))


def expand(argument):
    """As the kubelet does with references to the container's environment."""
    return re.sub(r"\$\((\w+)\)", lambda match: ENVIRONMENT.get(match[1], match[0]), argument)


def run(command):
    user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=SECONDS, check=False, env=ENVIRONMENT, **user)
    return done.returncode, done.stdout.strip()


def commands(pod):
    """Arguments of all that runs in the agent's pod."""
    for container in pod.get("initContainers", []) + pod["containers"]:
        yield container["args"]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            if probe in container:
                yield container[probe]["exec"]["command"][1:]


def faults_of(binary, objects, directory):
    """`directory` is empty, and everybody may read it."""
    daemon_set = chart.find(objects, "DaemonSet")
    pod = daemon_set["spec"]["template"]["spec"]
    container = pod["containers"][0]
    files = mounted_files(objects, pod, container)
    if not files:
        raise host.Failure("the agent's container mounts no configuration")
    lay_out(files, directory)
    faults = list(unmounted(files, container))
    for arguments in commands(pod):
        status, said = run([binary] + [expand(moved(word, directory)) for word in arguments])
        if status != FAILED or COMPLAINTS.search(said):
            faults.append(f"flamelet {' '.join(arguments)}: exit {status}: {said.replace(directory, '')}")
    return faults


def readable_copy(binary, directory):
    """Copies the program to where all users may run it: a build directory may be in a home
    directory."""
    os.chmod(directory, 0o755)
    copy = f"{directory}/flamelet"
    host.run("install", "-m", "755", binary, copy)
    return copy
