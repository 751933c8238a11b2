# SPDX-License-Identifier: Apache-2.0
"""The chart under test, and what the checks have in common: Helm's output as text and as objects,
and how a check ends."""

import argparse
import concurrent.futures
import functools
import glob
import os
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[1:1] = [os.path.join(HERE, "tools"), os.path.join(ROOT, "e2e/local")]

# pylint: disable=wrong-import-position
import build
import host

CHART = os.path.join(ROOT, "charts/flamelet")
HELMS = ("helm3", "helm4")
# The oldest that the chart takes, and the newest.
VERSIONS = ("1.28.0", "1.36.0")
# Of the release, and its namespace: but for values files about just that.
NAME = "flamelet"
NAMES = {"numeric-names-values.yaml": "123"}
# The least that the chart wants to be told.
ENDPOINT = {"otlp": {"endpoint": "http://collector.example:4318"}}
SECONDS = 60
tool = functools.cache(build.tool)
# libyaml's loader is ten times as fast as the one in Python.
class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """Takes no mapping that has a key twice: Kubernetes would not, either."""

    def construct_mapping(self, node, deep=False):
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise host.Failure(f"line {node.start_mark.line + 1}: {key} is twice in one mapping")
        return super().construct_mapping(node, deep)


def load_all(text):
    """The documents that are not empty."""
    return [document for document in yaml.load_all(text, Loader=Loader) if document]


def load_file(path):
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=Loader) or {}


def merged(values, changes):
    """As Helm merges a values file into the chart's own values."""
    if not isinstance(values, dict) or not isinstance(changes, dict):
        return changes
    return values | {key: merged(values.get(key), value) for key, value in changes.items()}


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))


class Chart:
    def __init__(self, directory):
        self.directory = os.path.abspath(directory)

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def values(self):
        return load_file(self.path("values.yaml"))

    def cases(self):
        """The values files for checks, by name: ci/NAME-values.yaml."""
        paths = sorted(glob.glob(self.path("ci", "*-values.yaml")))
        if not paths:
            raise host.Failure(f"{self.path('ci')}: there is no NAME-values.yaml")
        return {os.path.basename(path).removesuffix("-values.yaml"): path for path in paths}

    def render(self, values_file, helm=HELMS[0], version=VERSIONS[-1]):
        """Helm's exit status and what it said: the objects as YAML, or its errors."""
        name = NAMES.get(os.path.basename(values_file), NAME)
        return run_helm(helm, "template", name, self.directory, "--namespace", name,
                        "--kube-version", version, "--values", values_file)

    def render_values(self, values, **options):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            yaml.safe_dump(values, file)
            file.flush()
            return self.render(file.name, **options)

    def objects(self, values, **options):
        status, text = self.render_values(values, **options)
        if status != 0:
            raise host.Failure(f"helm template says: {text}")
        return load_all(text)


def run_helm(helm, *arguments):
    """Runs Helm without a cluster and without the user's settings."""
    environment = {"PATH": os.environ["PATH"], "KUBECONFIG": "/dev/null", "HOME": "/nonexistent"}
    done = subprocess.run([tool(helm), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=SECONDS, check=False, env=environment)
    return done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr


def without_blank_lines(text):
    return "".join(line.rstrip() + "\n" for line in text.splitlines() if line.strip())


def find(objects, kind, name=None):
    """The one object of that kind and name; None when there is none."""
    found = [item for item in objects if item["kind"] == kind and name in (None, item["metadata"]["name"])]
    if len(found) > 1:
        raise host.Failure(f"{len(found)} objects are {kind} {name or ''}")
    return found[0] if found else None


def parser(description):
    options = argparse.ArgumentParser(description=description.splitlines()[0])
    options.add_argument("--chart", default=CHART, metavar="DIRECTORY",
                         help="another chart than charts/flamelet")
    return options


judge = host.judge_anyone
