# SPDX-License-Identifier: Apache-2.0
"""The dashboards in charts/flamelet/dashboards/ and their queries, as Grafana's data sources send them."""

import json
import os
import re

DASHBOARDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../charts/flamelet/dashboards")
AGENT, NODE = "flamelet-agent", "flamelet-node"
EXPORT = os.path.join(DASHBOARDS, "../../../docs/export.md")
# Types of profiles that an agent sends: each has its graph and its flame graph.
SENT = ("process_cpu:cpu:nanoseconds:cpu:nanoseconds", "off_cpu:off_cpu:nanoseconds::",
        "mutex:delay:nanoseconds:mutex:count", "mutex:contentions:count:mutex:count",
        "memory:rss_growth:bytes:memory:bytes")
PROFILE_TYPE = re.compile(r"`(\w+(?::\w*){4})`")
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
    return faults + check_types(dashboard) + check_places(dashboard)


def check_types(dashboard):
    """A flame graph of one type beside a graph of another one would mislead, and Pyroscope has nothing for an unknown
    one."""
    used = {(panel["type"], target["profileTypeId"]) for panel, target in targets(dashboard) if "profileTypeId" in target}
    if not used:
        return []
    with open(EXPORT, encoding="utf-8") as file:
        documented = set(PROFILE_TYPE.findall(file.read()))
    faults = [f"docs/export.md knows no {name}" for name in sorted({name for _type, name in used} - documented)]
    return faults + [f"{dashboard['title']}: no {sort} of {name}" for name in SENT for sort in ("timeseries", "flamegraph")
                     if (sort, name) not in used]


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
        return pyroscope.flame_graph(selector, target["profileTypeId"])[0] > 0
    return bool(pyroscope.series(selector, target["groupBy"], profileTypeID=target["profileTypeId"],
                                 limit=target["limit"]))


def check_profiles(pyroscope, chosen):
    """All queries of the dashboard of nodes of the types that Pyroscope has: with one value of each variable chosen, and
    with all."""
    dashboard, types = load(NODE), pyroscope.profile_types()
    asked = [(panel, target) for panel, target in targets(dashboard) if target["profileTypeId"] in types]
    faults = check_variables(pyroscope, dashboard, chosen)
    faults += [f"{panel['title']}: nothing for {values}" for panel, target in asked
               for values in (chosen, dict.fromkeys(chosen, ALL))
               if not has_data(pyroscope, target, values)]
    print(f"grafana/{NODE}.json: {len(asked)} of {len(targets(dashboard))} panels, {len(faults)} problems", flush=True)
    return faults
