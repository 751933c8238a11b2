#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dashboards are well-formed, all metrics in them are documented, and a real Prometheus that
scrapes a real agent has data for every query of the dashboard of agents. run.py asks Pyroscope those
of the other one.

    check_dashboards.py path/to/flamelet

Prometheus is the one in PATH, or Debian's package, unpacked into the cache: installed, it would be a
daemon that listens. Exit status 0: all is right; 1: something is wrong, listed last; 77: no
Prometheus, or not root."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[1:1] = [os.path.join(HERE, ".."), os.path.join(HERE, "../local")]

# pylint: disable=wrong-import-position
import dashboards
import host
import metrics
import standin as standins

OPERATIONS = os.path.join(HERE, "../../docs/operations.md")
METRIC = re.compile(r"\b(?:flamelet|process)_[a-z_]+\b")
RATE_INTERVAL = "10s"
CONFIG = """global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: flamelet
  static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""
# Values that the panels show for one healthy agent.
WELL = {"Agents": "1", "Gone": "0", "Not sampling": "0", "Lost samples": "0"}


def find_prometheus():
    cache = os.environ.get("FLAMELET_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "flamelet")
    unpacked = f"{cache}/prometheus"
    program = shutil.which("prometheus") or f"{unpacked}/usr/bin/prometheus"
    if os.path.exists(program):
        return program
    os.makedirs(cache, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as directory:
        try:
            host.run("apt-get", "download", "prometheus", cwd=directory, seconds=120)
            host.run("dpkg", "-x", *os.listdir(directory), "x", cwd=directory)
        except (host.Failure, OSError, subprocess.TimeoutExpired) as error:
            raise host.Skip(f"no Prometheus: {error}") from error
        os.rename(f"{directory}/x", unpacked)
    return program


def check_names(dashboard):
    """Every metric is in the table of the documentation."""
    documented = set(METRIC.findall(host.read_text(OPERATIONS)))
    used = {name for _panel, target in dashboards.targets(dashboard)
            for name in METRIC.findall(target["expr"])}
    return [f"docs/operations.md knows no {name}" for name in sorted(used - documented)]


class Prometheus:
    def __init__(self, program, directory, agent_port):
        self.port = host.free_port()
        with open(f"{directory}/prometheus.yml", "w", encoding="ascii") as config:
            config.write(CONFIG.format(port=agent_port))
        self.process = host.Process("prometheus", [
            program, f"--config.file={directory}/prometheus.yml",
            f"--storage.tsdb.path={directory}/tsdb",
            f"--web.listen-address=127.0.0.1:{self.port}"], f"{directory}/prometheus.log")

    def get(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]

    def query(self, expression):
        """The values of all series."""
        return [series["value"][1] for series in self.get("query", query=expression)["result"]]

    def has_samples(self):
        """Enough for rates."""
        if not self.process.is_alive():
            raise host.Failure("Prometheus ended: " + self.process.log()[-2000:])
        try:
            return self.query("count_over_time(flamelet_build_info[1m]) >= 10")
        except OSError:
            return None

    def stop(self):
        self.process.finish()


def fill_in(expression):
    values = {"job": ".+", "instance": ".+"}
    return re.sub(r"\$(job|instance)\b", lambda match: values[match[1]],
                  expression.replace("$__rate_interval", RATE_INTERVAL))


def check_queries(prometheus, dashboard):
    faults = []
    for panel, target in dashboards.targets(dashboard):
        found = prometheus.query(fill_in(target["expr"]))
        if not found:
            faults.append(f"{panel['title']}: nothing for {target['expr']}")
        elif found != [WELL.get(panel["title"], found[0])] and panel["title"] in WELL:
            faults.append(f"{panel['title']} says {found}")
    return faults


def check_variables(prometheus, dashboard):
    """label_values(metric, label) is a request for the label's values."""
    faults = []
    for variable in dashboards.query_variables(dashboard):
        query = variable["query"]["query"]
        series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
        if not prometheus.get(f"label/{label}/values", **{"match[]": fill_in(series)}):
            faults.append(f"variable {variable['name']}: nothing for {query}")
    return faults


def check_agents(binary, program, directory):
    """With an agent that is well: a kubelet answers it, a receiver takes its profiles."""
    port = host.free_port()
    metrics.Kubelet.may_answer.set()
    dashboard = dashboards.load(dashboards.AGENT)
    with standins.Standin() as receiver, host.busy_program():
        agent = host.Process("agent", [
            binary, "agent", "--otlp-endpoint", receiver.url("http"), "--export-interval", "2s",
            "--kubelet-url", f"http://127.0.0.1:{metrics.start_kubelet()}",
            "--metrics-listen", f"*:{port}"], f"{directory}/agent.log")
        prometheus = Prometheus(program, directory, port)
        try:
            host.wait_until("Prometheus has scraped", prometheus.has_samples)
            return host.last_faults(lambda: check_queries(prometheus, dashboard)
                                    + check_variables(prometheus, dashboard))
        finally:
            prometheus.stop()
            agent.finish()
            print(agent.log(), flush=True)


def main():
    faults = [fault for name in (dashboards.AGENT, dashboards.NODE)
              for fault in dashboards.check_form(dashboards.load(name))]
    faults += check_names(dashboards.load(dashboards.AGENT))
    try:
        if os.geteuid() != 0:
            raise host.Skip("needs root")
        program = find_prometheus()
        with tempfile.TemporaryDirectory(prefix="flamelet-e2e-") as directory:
            faults += check_agents(os.path.abspath(sys.argv[1]), program, directory)
    except host.Skip as skip:
        print(f"SKIP: {skip}")
        if not faults:
            return host.SKIP
    except host.Failure as failure:
        faults.append(str(failure))
    for fault in faults:
        print(f"FAIL: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
