# SPDX-License-Identifier: Apache-2.0
"""The reports of the containers of a chaos run: the name of their function, when they began and
ended, and the CPU time they took, all of it from their own logs; and, where a log went before it
could be opened, what Kubernetes' watch told. Where both speak they must agree."""

import contextlib
import datetime
import os
import re
import threading

import chaos_judge
import host
import spin
import truth

# The time has as many digits as it needs.
LOG_LINE = re.compile(r"([^.]+)(\.\d+)?Z stdout F (.*)")
POLL_SECONDS = 0.1
BY_CONTAINER = {"init-1": "init", "init-2": "init", "sidecar": "sidecar", "debug": "ephemeral"}


def uid_of(text):
    return text.replace("-", "")


def kind_of(pod, container):
    return BY_CONTAINER.get(container) or pod.split("-", maxsplit=1)[0]


def unix_time(seconds, fraction):
    return datetime.datetime.fromisoformat(seconds + "+00:00").timestamp() + float(fraction or 0)


class Log:
    """A container's log, held open: it is read at the end, when its name may long be gone."""

    def __init__(self, directory, path):
        self.namespace, self.pod, self.uid = directory.split("_")
        self.container = os.path.basename(os.path.dirname(path))
        self.file = open(path, encoding="utf-8", errors="replace")

    def read_run(self, container_id):
        """None when it does not even say its name. In a private cgroup namespace it knows nothing of its
        uid and ID: `container_id`, what the name of the log's link says, takes its place."""
        run = None
        with self.file:
            lines = list(filter(None, map(LOG_LINE.match, self.file)))
        for seconds, fraction, said in (line.groups() for line in lines):
            at, name = unix_time(seconds, fraction), spin.NAME.fullmatch(said)
            if name:
                run = self.make_run(spin.Identity(*name.groups()), container_id)
                run.begun = at
            elif run and said.startswith("cpu_us="):
                run.ended, run.cpu_s = at, int(said.removeprefix("cpu_us=")) / 1e6
        return run

    def make_run(self, own, container_id):
        run = chaos_judge.Run(kind_of(self.pod, self.container), self.namespace, self.pod,
                              self.container, uid_of(self.uid), container_id)
        if own.container_id != spin.UNKNOWN_ID:
            run.uid, run.container_id = own.uid, own.container_id
        if own.digest != run.digest() or run.uid != uid_of(self.uid):
            raise host.Failure(f"{run.place()} calls itself {own}")
        return run


class Logs:
    """A thread that opens every container's log as soon as it is there."""

    def __init__(self, node):
        self.directory = f"{node.directory}/var/log/pods"
        self.links = f"{node.directory}/var/log/containers"
        self.logs, self.ids, self.uids = {}, {}, set()
        self.is_stopping = threading.Event()
        self.thread = threading.Thread(target=self.follow, daemon=True)

    def start(self):
        self.thread.start()

    def follow(self):
        while not self.is_stopping.wait(POLL_SECONDS):
            self.look()

    def look(self):
        for directory in list_directory(self.directory):
            self.uids.add(uid_of(directory.split("_")[-1]))
            for container in list_directory(f"{self.directory}/{directory}"):
                path = f"{self.directory}/{directory}/{container}"
                for name in list_directory(path):
                    self.open(directory, f"{path}/{name}")
        for name in list_directory(self.links):
            self.note_link(name)

    def note_link(self, name):
        """<pod>_<namespace>_<container>-<ID>.log leads to the log."""
        with contextlib.suppress(FileNotFoundError):
            log = "/".join(os.readlink(f"{self.links}/{name}").split("/")[-3:])
            self.ids[log] = name.removesuffix(".log")[-64:][:16]

    def open(self, directory, path):
        """By inode: a restarted container's log has another one, and may get an old one's name."""
        with contextlib.suppress(FileNotFoundError):
            key = (path, os.stat(path).st_ino)
            if key not in self.logs:
                self.logs[key] = Log(directory, path)

    def runs(self):
        self.is_stopping.set()
        self.thread.join()
        runs = [log.read_run(self.id_of(path)) for (path, _), log in self.logs.items()]
        return [run for run in runs if run and run.container_id]

    def id_of(self, path):
        return self.ids.get(os.path.relpath(path, self.directory))


def list_directory(path):
    try:
        return os.listdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return []


def watched_runs(watch):
    """Returns the runs that Kubernetes reported, without times: {(uid, container's ID): Run}."""
    runs = {}
    for item in watch.pods():
        metadata = item["metadata"]
        uid = uid_of(metadata.get("annotations", {}).get(truth.MANIFEST_HASH, metadata["uid"]))
        for key in truth.STATUSES:
            for status in item["status"].get(key, []):
                for container_id in truth.container_ids(status):
                    runs[uid, container_id[:16]] = chaos_judge.Run(
                        kind_of(metadata["name"], status["name"]), metadata["namespace"],
                        metadata["name"], status["name"], uid, container_id[:16])
    return runs


def all_runs(logs, watch):
    """Returns the runs of both sources, and how many only one of them has."""
    own = {(run.uid, run.container_id): run for run in logs.runs()}
    watched = watched_runs(watch)
    for key, run in own.items():
        if key in watched and watched[key].place() != run.place():
            raise host.Failure(f"{run.place()} is {watched[key].place()} to Kubernetes")
    only_own, only_watched = len(own.keys() - watched.keys()), len(watched.keys() - own.keys())
    return list({**watched, **own}.values()), only_own, only_watched
