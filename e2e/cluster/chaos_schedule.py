# SPDX-License-Identifier: Apache-2.0
"""The schedule of the chaos run: which action happens when, as a table made from a seed alone.

A group is what belongs together: a pod, two pods of the same name, a namespace with its pods. Groups
begin at random times. First the API server goes away and comes back, soon after it the kubelet: a kubelet
may take a minute to look at an API server again, but does so at once when it starts. From the
begin of the one to the end of the other, new pods do not start but for static ones and a few that are
created on purpose, to begin all together when the kubelet is back."""

from dataclasses import dataclass, field
import json
import random

import chaos_pods as pods
import manifests

KUBELET_DOWN, KUBELET_UP = 0.30, 0.50
API_DOWN_SECONDS, API_DOWN_MOST = 45, 0.1
API_UP_SECONDS = 10
AGENT_RESTART = 0.75
# The last group begins so long before the end, which it needs to come, to work, and to go.
LAST_SECONDS = 40
CREATED_WHILE_DOWN = 0.25


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

    def __init__(self, name, namespaces, rng):
        self.name, self.namespaces, self.rng = name, namespaces, rng
        self.events = []

    def add(self, at, action, **arguments):
        self.events.append(Event(at, self.name, action, arguments))

    def create(self, at, manifest):
        self.add(at, "create", manifest=manifest)

    def delete(self, at, kind, namespace, name, grace=None, is_waiting=False):
        self.add(at, "delete", kind=kind, namespace=namespace, name=name, grace=grace,
                 is_waiting=is_waiting)

    def namespace(self):
        return self.rng.choice(self.namespaces)

    def percent(self):
        return self.rng.randint(10, 20)

    def life(self):
        return self.rng.uniform(7, 20)

    def brief(self, name):
        """A container that lives for less than a second, even if the machine has other work to do."""
        return pods.container(name, self.rng.randint(40, 80), self.rng.uniform(0.15, 0.4))

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
    container = pods.container("app", 60, group.rng.uniform(0.15, 0.4), 1)
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
    group.create(0, pods.job(namespace, group.name, [group.brief("task")], 3, 2))
    group.delete(20, "job", namespace, group.name)


def add_twin(group):
    """The same names in two namespaces at the same time."""
    for namespace in group.namespaces:
        group.create(0, pods.pod(namespace, group.name, [group.lasting("app")]))
    life = group.life()
    for namespace in group.namespaces:
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
    namespace = f"{group.namespaces[0]}-{group.name}"
    group.create(0, manifests.make_namespace(namespace))
    for number in range(3):
        group.create(1, pods.pod(namespace, f"doomed-{number}", [group.lasting("app")]))
    group.add(4 + group.life(), "delete-namespace", name=namespace)


def add_deploy(group):
    """Two replicas, replaced by two others."""
    namespace = group.namespace()
    life = group.life()
    group.create(0, pods.deployment(namespace, group.name, [group.lasting("app")], 2))
    group.add(life, "restart", namespace=namespace, name=group.name)
    group.delete(life + 12, "deployment", namespace, group.name)


@dataclass
class Kind:
    """`number`: groups in ten minutes; `containers`, of them `brief`: in each; `seconds`: how long a
    group needs the kubelet and the API server."""
    add: object
    number: int
    containers: int
    brief: int
    seconds: int


KINDS = {
    "brief": Kind(add_brief, 28, 1, 1, 5),
    "steady": Kind(add_steady, 20, 1, 0, 5),
    "forced": Kind(add_forced, 12, 1, 0, 5),
    "crash": Kind(add_crash, 6, 2, 2, 15),
    "init": Kind(add_init, 10, 4, 2, 14),
    "debug": Kind(add_debug, 7, 2, 1, 10),
    "static": Kind(add_static, 8, 1, 0, 5),
    "job": Kind(add_job, 5, 3, 3, 10),
    "twin": Kind(add_twin, 8, 2, 0, 5),
    "reborn": Kind(add_reborn, 8, 2, 0, 25),
    "doomed": Kind(add_doomed, 4, 3, 0, 8),
    "deploy": Kind(add_deploy, 5, 4, 0, 25),
}
CREATED_WITHOUT_KUBELET = ("brief", "steady", "forced", "static")
CREATED_WITHOUT_API = ("static-000", "static-001")


@dataclass
class Schedule:
    namespaces: tuple
    seconds: float
    api_down: tuple
    kubelet_down: tuple
    agent_restart: float
    events: list = field(default_factory=list)
    nr_containers: int = 0
    nr_brief: int = 0

    def is_api_down(self, at):
        return self.api_down[0] <= at < self.api_down[1]

    def is_blind(self, begin, end):
        """New pods do not start, or not for long."""
        return begin < self.kubelet_down[1] and end > self.api_down[0]

    def print(self):
        for event in self.events:
            print(event)
        print(f"{self.nr_containers} containers are due, {self.nr_brief} of them under a second")


def group_names(minutes):
    for name, kind in KINDS.items():
        for index in range(max(1, round(kind.number * minutes / 10))):
            yield f"{name}-{index:03}"


def kind_of(group_name):
    return group_name.split("-", maxsplit=1)[0]


def draw_begin(schedule, group_name, rng):
    if group_name in CREATED_WITHOUT_API:
        return rng.uniform(schedule.api_down[0] + 1, schedule.api_down[1] - 5)
    kind = kind_of(group_name)
    while True:
        at = rng.uniform(2, schedule.seconds - LAST_SECONDS)
        if not schedule.is_blind(at, at + KINDS[kind].seconds):
            return at
        is_possible = kind in CREATED_WITHOUT_KUBELET and at > schedule.api_down[1]
        if is_possible and rng.random() < CREATED_WHILE_DOWN:
            return at


def put_group(schedule, name, rng):
    """An action that needs the API server waits until it is there, and an action on a pod until it
    can have begun; so does all that comes later in the group."""
    group, begin = Group(name, schedule.namespaces, rng), draw_begin(schedule, name, rng)
    KINDS[kind_of(name)].add(group)
    earliest, later = begin, schedule.api_down[1] + rng.uniform(2, 8)
    is_blind = schedule.api_down[1] < begin < schedule.kubelet_down[1]
    for number, event in enumerate(group.events):
        from_begin = schedule.kubelet_down[1] if is_blind and number else begin
        event.at = max(earliest, min(from_begin + event.at, schedule.seconds))
        if schedule.is_api_down(event.at) and event.action not in ("place", "remove"):
            event.at = later
        earliest = event.at
    schedule.events += group.events


def put_groups(schedule, minutes, rng):
    for name in group_names(minutes):
        put_group(schedule, name, rng)
        schedule.nr_containers += KINDS[kind_of(name)].containers
        schedule.nr_brief += KINDS[kind_of(name)].brief


def put_cron(schedule, rng):
    """Once a minute, as far as what that needs is there."""
    group, namespace = Group("cron", schedule.namespaces, rng), schedule.namespaces[0]
    group.create(1, pods.cron_job(namespace, group.name, [group.brief("task")]))
    group.delete(schedule.seconds - 10, "cronjob", namespace, group.name)
    schedule.events += group.events


def put_faults(schedule):
    faults = ((schedule.kubelet_down[0], "stop-kubelet"), (schedule.kubelet_down[1], "start-kubelet"),
              (schedule.api_down[0], "stop-api"), (schedule.api_down[1], "start-api"),
              (schedule.agent_restart, "restart-agent"))
    schedule.events += [Event(at, "fault", action) for at, action in faults]


def make_schedule(seed, minutes, namespaces, agent_restart=AGENT_RESTART):
    """The same for the same arguments. `namespaces`: two, nowhere else on the machine;
    `agent_restart` is a share of the run."""
    rng = random.Random(seed)
    seconds = minutes * 60
    api_up = KUBELET_DOWN * seconds - API_UP_SECONDS
    api_down = api_up - min(API_DOWN_SECONDS, API_DOWN_MOST * seconds)
    schedule = Schedule(namespaces, seconds, (api_down, api_up),
                        (KUBELET_DOWN * seconds, KUBELET_UP * seconds), agent_restart * seconds)
    put_groups(schedule, minutes, rng)
    put_cron(schedule, rng)
    put_faults(schedule)
    # Stable: what a group does at the same time stays in its order.
    schedule.events.sort(key=lambda event: event.at)
    return schedule
