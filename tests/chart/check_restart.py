#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`helm upgrade` replaces pods only if it must: values that the agent reads by itself change the
ConfigMap and nothing of the pods; everything else that changes the ConfigMap changes the pods as
well.

    check_restart.py [--chart DIRECTORY]"""

import os
import re
import sys

import chart
import host

OPTIONS = os.path.join(chart.ROOT, "node-agent/config/option_table.c")
OPTION = re.compile(r'(?:OPTION|DESTINATION)\("([\w-]+)".*?\n\s*(?=(?:OPTION|DESTINATION)\(|};)', re.DOTALL)
RELOADED = [
    {"select": {"namespaces": ["shop"]}},
    {"select": {"pods": ["shop/web-0"]}},
    {"select": {"containers": ["app"]}},
    {"select": {"selectors": ["app=web"]}},
    {"select": {"excludeNamespaces": ["kube-system"]}},
    {"select": {"excludeContainers": ["istio-proxy"]}},
    {"select": {"excludeSelectors": ["app in (a,b)"]}},
    {"attributes": {"podLabels": ["team"]}},
    {"attributes": {"podAnnotations": ["team"]}},
    {"extraConfig": {"cgroup": ["/kubepods.slice"]}},
]
RESTARTED = [
    {"otlp": {"endpoint": "http://other.example:4318"}},
    {"otlp": {"headers": {"X-Team": "a"}}},
    {"destinations": [{"name": "x", "endpoint": "http://x.example:1"}]},
    {"exportInterval": "30s"},
    {"queue": {"size": "128Mi"}},
    {"profiling": {"frequency": 97}},
    {"profiling": {"kinds": ["cpu", "offcpu"]}},
    {"attributes": {"resource": {"k8s.cluster.name": "a"}}},
    {"attributes": {"exclude": ["host.name"]}},
    {"symbols": {"demangle": "full"}},
    {"symbols": {"inlines": False}},
    {"logLevel": "debug"},
    {"extraConfig": {"comm": ["nginx"]}},
]
# A destination's own file.
BEFORE, AFTER = ({"destinations": [{"name": "x", "endpoint": f"http://{name}.example:1"}]} for name in "ab")


def parts(subject, changes):
    """The configuration and the pods."""
    objects = subject.objects(chart.merged(chart.ENDPOINT, changes))
    return chart.find(objects, "ConfigMap")["data"], chart.find(objects, "DaemonSet")["spec"]["template"]


def reloadable_options():
    return {match[1] for match in OPTION.finditer(host.read_text(OPTIONS))
            if "is_reloadable = true" in match[0]}


def check_case(before, subject, changes, is_reloaded):
    config, pods = parts(subject, changes)
    faults = [f"{changes} changes nothing of the configuration"] if config == before[0] else []
    if (pods == before[1]) != is_reloaded:
        faults.append(f"{changes} {'replaces' if is_reloaded else 'does not replace'} the pods")
    return faults


def config_options(subject, changes):
    return set(chart.load_all(parts(subject, changes)[0]["flamelet.yaml"])[0])


def check_options(subject):
    """The agent's own table says what it reads by itself; each of it has a case."""
    known = set().union(*(config_options(subject, changes) for changes in RELOADED))
    known, options = known - config_options(subject, {}), reloadable_options()
    if known == options and options:
        return []
    return [f"the agent reads {sorted(options)} by itself, the cases have {sorted(known)}"]


def check(directory):
    subject = chart.Chart(directory)
    nothing, before = parts(subject, {}), parts(subject, BEFORE)
    work = [(nothing, subject, changes, True) for changes in RELOADED]
    work += [(nothing, subject, changes, False) for changes in RESTARTED] + [(before, subject, AFTER, False)]
    faults = chart.in_parallel(lambda item: check_case(*item), work)
    print(f"check_restart: {len(work)} changes")
    return sum(faults, check_options(subject))


def main():
    return chart.judge(check, chart.parser(__doc__).parse_args().chart)


if __name__ == "__main__":
    sys.exit(main())
