# SPDX-License-Identifier: Apache-2.0
"""Programs that are busy for as long as they are recorded, each in a cgroup of its own, which tells its
samples."""

import contextlib
import os
import signal

import debug_forms
import host

PROGRAMS = debug_forms.PROGRAMS
HOT_QUERY = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000000)
SELECT count(*), sum(i % 7), max(length(printf('%x', i))) FROM n WHERE i * 31 % 17 <> 3 ORDER BY 1;"""
NGINX = """daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log {directory}/nginx.err;
events {{}}
http {{ access_log off; gzip on; gzip_types *; keepalive_requests 1000000;
client_body_temp_path {directory}/n1; proxy_temp_path {directory}/n2; fastcgi_temp_path {directory}/n3;
uwsgi_temp_path {directory}/n4; scgi_temp_path {directory}/n5;
server {{ listen 127.0.0.1:{port}; root {directory}/www; }} }}
"""


def repeat(*command):
    return ["/bin/sh", "-c", 'while :; do "$@"; done', "sh", *command]


def gcc(_directory):
    host.require("g++")
    return repeat("g++", "-O2", "-std=c++17", "-S", "-o", "/dev/null", f"{PROGRAMS}/templates.cpp")


def python3(_directory):
    return ["/usr/bin/python3", f"{PROGRAMS}/work.py"]


def node(_directory):
    host.require("node")
    return ["node", f"{PROGRAMS}/work.js"]


def java(directory):
    host.require("java", "javac")
    host.run("javac", "-d", directory, f"{PROGRAMS}/Work.java", seconds=60)
    return ["java", "-XX:+PreserveFramePointer", "-Xmx256m", "-cp", directory, "Work"]


def openssl(_directory):
    host.require("openssl")
    return repeat("openssl", "speed", "-seconds", "1", "rsa2048", "sha256", "aes-256-cbc")


def sqlite3(_directory):
    host.require("sqlite3")
    return repeat("sqlite3", ":memory:", HOT_QUERY)


def nginx(directory):
    """Compresses a text for curl, again and again."""
    host.require("nginx", "curl")
    port = host.free_port()
    os.mkdir(f"{directory}/www", 0o755)
    with open(f"{directory}/www/text", "w", encoding="ascii") as file:
        file.write("".join(f"{i * i % 9973} bottles\n" for i in range(50000)))
    with open(f"{directory}/nginx.conf", "w", encoding="ascii") as file:
        file.write(NGINX.format(directory=directory, port=port))
    ask = f"http://127.0.0.1:{port}/text?[1-100000]"
    script = 'nginx -c "$1" & while :; do curl -s --compressed -o /dev/null "$2"; sleep 0.1; done'
    return ["/bin/sh", "-c", script, "sh", f"{directory}/nginx.conf", ask]


# Programs of other people, and forms of our own one. Groups run together: the machine may have two CPUs.
GROUPS = (
    (gcc, python3, openssl, debug_forms.plain),
    (node, java, sqlite3, debug_forms.mini_debug_info, debug_forms.rust),
    (nginx, debug_forms.by_server, debug_forms.rust_stripped, debug_forms.rust_v0, debug_forms.go),
    (debug_forms.cpp_templates, debug_forms.rust_generics, debug_forms.go_collector),
    (debug_forms.go_stripped, debug_forms.musl, debug_forms.by_build_id, debug_forms.by_link),
)


def start_in_cgroup(name, command, cgroup, log_path):
    def enter_cgroup():
        with open(f"{cgroup}/cgroup.procs", "w", encoding="ascii") as procs:
            procs.write("0")

    return host.Process(name, command, log_path, preexec_fn=enter_cgroup)


class Load:
    """A program at work; `program` tells more of it when it is one of ours."""

    def __init__(self, form, directory, cgroup):
        """Builds what it takes, or raises host.Skip."""
        self.name, self.cgroup = form.__name__, f"{cgroup}/{form.__name__}"
        self.process = None
        self.directory = directory
        made = form(directory)
        self.program = made if isinstance(made, debug_forms.Program) else None
        self.command = [made.path] if self.program else made
        os.makedirs(self.cgroup)
        self.cgroup_id = os.stat(self.cgroup).st_ino

    def start(self):
        self.process = start_in_cgroup(self.name, self.command, self.cgroup,
                                       f"{self.directory}/{self.name}.log")

    def is_busy(self):
        """Whether it has started and does its work, or has ended."""
        path = self.cgroup.removeprefix(host.cgroup_mounts()[1])
        return host.cgroup_cpu_seconds(path) >= host.START_CPU_SECONDS or not self.process.is_alive()

    def stop(self):
        host.kill_cgroup(self.cgroup)
        if self.process:
            self.process.finish(first=signal.SIGKILL)
        host.remove_cgroup(self.cgroup)


@contextlib.contextmanager
def running(group):
    """A group at work; what ends by itself fails the test."""
    with contextlib.ExitStack() as stack:
        for load in group:
            stack.callback(load.stop)
            load.start()
        yield
        ended = [load for load in group if not load.process.is_alive()]
        if ended:
            raise host.Failure(f"{ended[0].name} ended: {ended[0].process.log()[-2000:]}")
