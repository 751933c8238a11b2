# SPDX-License-Identifier: Apache-2.0
"""The dashboards in charts/flamelet/dashboards/ and their queries, as Grafana's data sources send them."""

import json
import os
import re

DASHBOARDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../charts/flamelet/dashboards")
AGENT, NODE = "flamelet-agent", "flamelet-node"
ALL = ".*"
VARIABLE = re.compile(r"\$\{(\w+):regex\}|\$(\w+)")
# Characters that Grafana escapes in a regular expression.
SPECIAL = re.compile(r"[\\^$*+?.()|\[\]{}/]")


def load(name):
    with open(os.path.join(DASHBOARDS, f"{name}.json"), encoding="utf-8") as file:
        return json.load(file)


def query_variables(dashboard):
    return [variable for variable in dashboard["templating"]["list"] if variable["type"] == "query"]


def targets(dashboard):
    return [(panel, target) for panel in dashboard["panels"] for target in panel.get("targets", [])]


def interpolate(text, values):
    """A query with its variables filled in; the value for all is not escaped."""
    def value_of(match):
        value = values[match[1] or match[2]]
        return value if value == ALL else SPECIAL.sub(r"\\\g<0>", value)
    return VARIABLE.sub(value_of, text)


def check_form(dashboard):
    """Finds faults that Grafana does not report, or shows only to a person who looks."""
    name, faults = dashboard["title"], []
    numbers = [panel["id"] for panel in dashboard["panels"]]
    if len(numbers) != len(set(numbers)):
        faults.append(f"{name}: panels have the same id")
    known = {variable["name"] for variable in dashboard["templating"]["list"]}
    used = {match[1] or match[2] for match in VARIABLE.finditer(
        json.dumps([panel.get("targets") for panel in dashboard["panels"]])
        + json.dumps([variable["query"] for variable in query_variables(dashboard)]))}
    if used - known - {"__rate_interval"}:
        faults.append(f"{name}: no variables {used - known}")
    for panel in dashboard["panels"]:
        if panel["type"] != "row" and not all(panel[key] for key in ("title", "description", "targets")):
            faults.append(f"{name}: panel {panel['id']} lacks something")
        refs = [target["refId"] for target in panel.get("targets", [])]
        if len(refs) != len(set(refs)):
            faults.append(f"{name}: {panel['title']}: queries have the same refId")
    return faults + check_places(dashboard)


def check_places(dashboard):
    """Panels fit into Grafana's 24 columns, and none lies on another."""
    taken, faults = set(), []
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        if taken & cells or place["x"] + place["w"] > 24:
            faults.append(f"{dashboard['title']}: {panel['title']} has no place")
        taken |= cells
    return faults


def variable_values(pyroscope, query, values):
    """Returns the values that the plugin of Grafana 11 and later offers for a variable."""
    matcher = '{__profile_type__="' + interpolate(query["profileTypeId"], values) + '"}'
    return pyroscope.label_values(query["labelName"], matcher)


def check_variables(pyroscope, dashboard, chosen):
    """Each offers what is chosen, and less than with nothing chosen before it."""
    faults = []
    for variable in query_variables(dashboard):
        name = variable["name"]
        offered = variable_values(pyroscope, variable["query"], chosen)
        everything = variable_values(pyroscope, variable["query"], dict.fromkeys(chosen, ALL))
        if chosen[name] not in offered or not offered <= everything:
            faults.append(f"{name} offers {offered} of {everything}")
        if name == "pod" and offered == everything:
            faults.append(f"{name} does not depend on what was chosen before: {offered}")
    return faults


def has_data(pyroscope, target, values):
    selector = interpolate(target["labelSelector"], values)
    if target["queryType"] == "profile":
        return pyroscope.flame_graph(selector)[0] > 0
    return bool(pyroscope.series(selector, target["groupBy"], limit=target["limit"]))


def check_profiles(pyroscope, chosen):
    """All queries of the dashboard of nodes: with one value of each variable chosen, and with all."""
    dashboard = load(NODE)
    faults = check_variables(pyroscope, dashboard, chosen)
    faults += [f"{panel['title']}: nothing for {values}" for panel, target in targets(dashboard)
               for values in (chosen, dict.fromkeys(chosen, ALL))
               if not has_data(pyroscope, target, values)]
    print(f"grafana/{NODE}.json: {len(targets(dashboard))} panels, {len(faults)} problems", flush=True)
    return faults
