# SPDX-License-Identifier: Apache-2.0
"""What happens during the chaos run, and when: a table made from a seed, and nothing else.

A group is what belongs together: a pod, two pods of the same name, a namespace with its pods. Groups
begin evenly spread over the run, in random order; while the kubelet is down few do, since all of them
would begin when it is back, and while the API server is down only static pods can."""

from dataclasses import dataclass, field
import json
import random

import chaos_pods as pods

KUBELET_DOWN, KUBELET_UP = 0.30, 0.50
API_DOWN, API_DOWN_SECONDS = 0.60, 45
AGENT_RESTART = 0.75
# The last group begins so long before the end, which it needs to come, to work, and to go.
LAST_SECONDS = 40
CREATED_WHILE_DOWN = 0.25
NAMESPACES = ("shop", "bank")
CRON = "cron"


@dataclass
class Event:
    """`group`: its events happen one after another, in this order."""
    at: float
    group: str
    action: str
    arguments: dict = field(default_factory=dict)

    def __str__(self):
        texts = [f"{key}={self.short(value)}" for key, value in self.arguments.items()]
        return f"{self.at:7.1f} {self.group:<14} {self.action:<16} {' '.join(texts)}"

    @staticmethod
    def short(value):
        if isinstance(value, dict):
            metadata = value["metadata"]
            return "/".join(filter(None, [value["kind"], metadata.get("namespace"), metadata["name"]]))
        return value if isinstance(value, str) else json.dumps(value)


class Group:
    """Collects the events of a group; times are relative to its begin."""

    def __init__(self, name, rng):
        self.name, self.rng = name, rng
        self.events = []

    def add(self, at, action, **arguments):
        self.events.append(Event(at, self.name, action, arguments))

    def create(self, at, manifest):
        self.add(at, "create", manifest=manifest)

    def delete(self, at, kind, namespace, name, grace=None, is_waiting=False):
        self.add(at, "delete", kind=kind, namespace=namespace, name=name, grace=grace,
                 is_waiting=is_waiting)

    def namespace(self):
        return self.rng.choice(NAMESPACES)

    def percent(self):
        return self.rng.randint(10, 20)

    def life(self):
        return self.rng.uniform(5, 20)

    def brief(self, name):
        """A container that lives for less than a second."""
        return pods.container(name, self.rng.randint(40, 90), self.rng.uniform(0.25, 0.6))

    def lasting(self, name):
        return pods.container(name, self.percent())


def add_brief(group):
    namespace = group.namespace()
    group.create(0, pods.pod(namespace, group.name, [group.brief("app")]))
    group.delete(group.rng.uniform(6, 12), "pod", namespace, group.name)


def add_steady(group):
    """Ends by itself, or is deleted."""
    namespace, life = group.namespace(), group.life()
    ends = group.rng.random() < 0.5
    container = pods.container("app", group.percent(), life if ends else None)
    group.create(0, pods.pod(namespace, group.name, [container]))
    group.delete(life + (6 if ends else 0), "pod", namespace, group.name)


def add_forced(group):
    namespace = group.namespace()
    group.create(0, pods.pod(namespace, group.name, [group.lasting("app")]))
    group.delete(group.life(), "pod", namespace, group.name, grace=0)


def add_crash(group):
    """Fails and is started again, 10 and 30 seconds later."""
    namespace = group.namespace()
    container = pods.container("app", 60, group.rng.uniform(0.3, 0.6), 1)
    group.create(0, pods.pod(namespace, group.name, [container], restart="Always"))
    group.delete(LAST_SECONDS - 5, "pod", namespace, group.name)


def add_init(group):
    namespace = group.namespace()
    sidecar = dict(group.lasting("sidecar"), restartPolicy="Always")
    init = [group.brief("init-1"), sidecar, group.brief("init-2")]
    group.create(0, pods.pod(namespace, group.name, [group.lasting("app")], init=init))
    group.delete(14 + group.life(), "pod", namespace, group.name)


def add_debug(group):
    namespace = group.namespace()
    group.create(0, pods.pod(namespace, group.name, [group.lasting("app")]))
    group.add(5, "debug", namespace=namespace, pod=group.name, container="debug",
              command=group.brief("debug")["command"])
    group.delete(10 + group.life(), "pod", namespace, group.name)


def add_static(group):
    namespace = group.namespace()
    group.add(0, "place", manifest=pods.pod(namespace, group.name, [group.lasting("app")]))
    group.add(8 + group.life(), "remove", name=group.name)


def add_job(group):
    namespace = group.namespace()
    template = pods.template({"job": group.name}, [group.brief("task")])
    group.create(0, pods.job(namespace, group.name, template, completions=3, parallelism=2))
    group.delete(20, "job", namespace, group.name)


def add_twin(group):
    """The same names in two namespaces at the same time."""
    for namespace in NAMESPACES:
        group.create(0, pods.pod(namespace, group.name, [group.lasting("app")]))
    life = group.life()
    for namespace in NAMESPACES:
        group.delete(life, "pod", namespace, group.name)


def add_reborn(group):
    """The same names again as soon as the first pod is gone: only the uid tells them apart."""
    namespace = group.namespace()
    life, grace = group.life(), group.rng.choice((0, 1))
    for at in (0, life):
        group.create(at, pods.pod(namespace, group.name, [group.lasting("app")]))
        group.delete(at + life, "pod", namespace, group.name, grace, is_waiting=True)


def add_doomed(group):
    """A namespace that is deleted with all that runs in it."""
    group.create(0, pods.namespace(group.name))
    for number in range(3):
        name = f"doomed-{group.name.rsplit('-', maxsplit=1)[-1]}-{number}"
        group.create(1, pods.pod(group.name, name, [group.lasting("app")]))
    group.add(4 + group.life(), "delete-namespace", name=group.name)


def add_deploy(group):
    """Two replicas, replaced by two others."""
    namespace = group.namespace()
    template = pods.template({"app": group.name}, [group.lasting("app")], restart="Always")
    group.create(0, pods.deployment(namespace, group.name, template, replicas=2))
    group.add(group.life(), "restart", namespace=namespace, name=group.name)
    group.delete(12 + group.life(), "deployment", namespace, group.name)


# For each kind: how many groups in ten minutes, containers and those under a second in each.
KINDS = {
    "brief": (add_brief, 26, 1, 1),
    "steady": (add_steady, 20, 1, 0),
    "forced": (add_forced, 12, 1, 0),
    "crash": (add_crash, 5, 2, 2),
    "init": (add_init, 10, 4, 2),
    "debug": (add_debug, 7, 2, 1),
    "static": (add_static, 8, 1, 0),
    "job": (add_job, 5, 3, 3),
    "twin": (add_twin, 8, 2, 0),
    "reborn": (add_reborn, 8, 2, 0),
    "doomed": (add_doomed, 4, 3, 0),
    "deploy": (add_deploy, 5, 4, 0),
}
CREATED_ANYWHERE = ("brief", "steady", "forced", "static")


@dataclass
class Schedule:
    seconds: float
    events: list
    nr_containers: int
    nr_brief: int
    kubelet_down: tuple
    api_down: tuple
    agent_restart: float

    def is_kubelet_down(self, at):
        return self.kubelet_down[0] <= at < self.kubelet_down[1]

    def is_api_down(self, at):
        return self.api_down[0] <= at < self.api_down[1]

    def print(self):
        for event in self.events:
            print(event)
        print(f"{self.nr_containers} containers are due, {self.nr_brief} of them under a second")


def group_names(minutes):
    for kind, (_, number, _, _) in KINDS.items():
        for index in range(max(1, round(number * minutes / 10))):
            yield f"{kind}-{index:03}"


def kind_of(group_name):
    return group_name.split("-", maxsplit=1)[0]


def draw_begin(schedule, kind, rng):
    """A time at which a group of that kind can begin."""
    while True:
        at = rng.uniform(2, schedule.seconds - LAST_SECONDS)
        if schedule.is_api_down(at) and kind != "static":
            continue
        if schedule.is_kubelet_down(at):
            if kind not in CREATED_ANYWHERE or rng.random() > CREATED_WHILE_DOWN:
                continue
        return at


def put_group(schedule, name, begin, rng):
    """What needs the API server waits until it is there; so does all that comes later in the group."""
    group, later = Group(name, rng), schedule.api_down[1] + rng.uniform(2, 8)
    KINDS[kind_of(name)][0](group)
    earliest = begin
    for event in group.events:
        event.at = max(earliest, min(begin + event.at, schedule.seconds))
        if schedule.is_api_down(event.at) and event.action not in ("place", "remove"):
            event.at = later
        earliest = event.at
    schedule.events += group.events


def put_groups(schedule, minutes, rng):
    names = list(group_names(minutes))
    for name in names:
        kind = kind_of(name)
        # Two of the static pods begin while nothing else can.
        if name in ("static-000", "static-001"):
            begin = rng.uniform(schedule.api_down[0] + 1, schedule.api_down[1] - 5)
        else:
            begin = draw_begin(schedule, kind, rng)
        put_group(schedule, name, begin, rng)
        schedule.nr_containers += KINDS[kind][2]
        schedule.nr_brief += KINDS[kind][3]


def put_cron(schedule, rng):
    """Once a minute, but not in the first one, and not while a part is missing."""
    group = Group(CRON, rng)
    template = pods.template({"app": CRON}, [group.brief("task")])
    group.create(1, pods.cron_job(NAMESPACES[0], CRON, template))
    group.delete(schedule.seconds - 10, "cronjob", NAMESPACES[0], CRON)
    schedule.events += group.events


def put_faults(schedule):
    faults = ((schedule.kubelet_down[0], "stop-kubelet"), (schedule.kubelet_down[1], "start-kubelet"),
              (schedule.api_down[0], "stop-api"), (schedule.api_down[1], "start-api"),
              (schedule.agent_restart, "restart-agent"))
    schedule.events += [Event(at, "fault", action) for at, action in faults]


def make_schedule(seed, minutes, agent_restart=AGENT_RESTART):
    """The same for the same arguments. `agent_restart` is a share of the run."""
    rng = random.Random(seed)
    seconds = minutes * 60
    api_up = API_DOWN * seconds + min(API_DOWN_SECONDS, 0.1 * seconds)
    schedule = Schedule(seconds, [], 0, 0, (KUBELET_DOWN * seconds, KUBELET_UP * seconds),
                        (API_DOWN * seconds, api_up), agent_restart * seconds)
    put_groups(schedule, minutes, rng)
    put_cron(schedule, rng)
    put_faults(schedule)
    # Stable: what a group does at the same time stays in its order.
    schedule.events.sort(key=lambda event: event.at)
    return schedule
