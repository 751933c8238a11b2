#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program whose every name is an attack on who reads it: process, thread, function, file and cgroup. None of what
Flamelet writes or sends about it controls a terminal, breaks a line or turns text around; all of it is UTF-8.

    odd_names.py path/to/flamelet

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import contextlib
import gzip
import http.server
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "local"), os.path.join(HERE, "../tests/conformance")]

# pylint: disable=wrong-import-position
import host
import otlp_check
import request_log
import schema
import text_rules

# Of at most 15 bytes: ESC; a newline; C1 as a byte and as UTF-8; a byte that is no UTF-8; U+202E.
PROCESS = b"\x1b[2J\n\x9b\xc2\x9b\xff\xe2\x80\xae"
PROCESS_SHOWN = r"\x1b[2J\x0a\x9b\xc2\x9b\xff\xe2\x80\xae"
THREAD, THREAD_SHOWN = b"t\r\x9b2J\xe2\x81\xa6", r"t\x0d\x9b2J\xe2\x81\xa6"
FUNCTION, FUNCTION_SHOWN = b"f\x1b[31m\n\xc2\x85\xfe", r"f\x1b[31m\x0a\xc2\x85\xfe"
FILE, FILE_SHOWN = b"file\x1b[31m\x9b\xe2\x80\xa8", r"file\x1b[31m\x9b\xe2\x80\xa8"
CGROUP, CGROUP_SHOWN = b"odd\x1b[31m\x9b\xff", r"odd\x1b[31m\x9b\xff"

PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>

static volatile unsigned long nr;

__attribute__((noinline)) void odd_function(void)
{
	for (;;)
		nr++;
}

static void *run(void *name)
{
	prctl(PR_SET_NAME, name);
	odd_function();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	prctl(PR_SET_NAME, argv[1]);
	return argc < 3 || pthread_create(&thread, NULL, run, argv[2]) || pthread_join(thread, NULL);
}
"""


def build(directory):
    """The program, in a file of that name."""
    path = os.fsencode(directory) + b"/" + FILE
    subprocess.run(["cc", "-g0", "-O1", "-pthread", "-x", "c", "-", "-o", path], check=True,
                   input=PROGRAM.encode())
    subprocess.run([b"objcopy", b"--redefine-sym", b"odd_function=" + FUNCTION, path], check=True)
    return path


@contextlib.contextmanager
def load(directory):
    """The program in a cgroup of that name; yields the path of the one above it."""
    program = build(directory)
    mount = host.cgroup_mounts()[1]
    if not mount:
        raise host.Skip("there are no cgroups of version 2")
    parent = f"/flamelet-odd-{os.getpid()}"
    cgroup = os.fsencode(mount + parent) + b"/" + CGROUP
    os.makedirs(cgroup)
    process = subprocess.Popen([program, PROCESS, THREAD], stdin=subprocess.DEVNULL)
    try:
        with open(cgroup + b"/cgroup.procs", "w", encoding="ascii") as procs:
            procs.write(str(process.pid))
        yield parent
    finally:
        process.kill()
        process.wait()
        host.remove_cgroup(mount + parent)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.log.add(body)
        self.server.bodies.append(body)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        """Nothing to say."""


@contextlib.contextmanager
def receiver():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.log, server.bodies = request_log.RequestLog("odd-names"), []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def judge_text(what, text, wanted):
    """Faults of bytes that are to be harmless lines, with the format's own newlines, and to have some names."""
    try:
        shown = text.decode()
    except UnicodeDecodeError as error:
        return [f"{what} is not UTF-8: {error}"]
    found = text_rules.HARMFUL.search(shown.replace("\n", ""))
    faults = [f"{what} has {found.group()!r}"] if found else []
    return faults + [f"{what} does not name {name}" for name in wanted if name not in shown]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def record(binary, directory, cgroup):
    """Checks the files and the summary of a recording."""
    files = [part for end in ("folded", "svg", "pb.gz") for part in ("-o", f"{directory}/x.{end}")]
    done = subprocess.run([binary, "record", "-d", "2", "-F", "99", "--cgroup", cgroup, *files],
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    faults = [] if done.returncode == 0 else [f"record ends with {done.returncode}"]
    faults += judge_text("the summary", done.stdout + done.stderr, [PROCESS_SHOWN, FUNCTION_SHOWN])
    faults += judge_text("folded text", read(f"{directory}/x.folded"),
                         [PROCESS_SHOWN, FUNCTION_SHOWN])
    picture = read(f"{directory}/x.svg")
    frames = picture[picture.index(b'<svg id="frames"'):picture.index(b"<script>")]
    faults += judge_text("the flame graph", frames, [PROCESS_SHOWN, FUNCTION_SHOWN])
    profile = schema.pprof().Profile.FromString(gzip.decompress(read(f"{directory}/x.pb.gz")))
    strings = "\0".join(profile.string_table)
    faults += [f"pprof has {text!r}" for text in profile.string_table
               if text_rules.HARMFUL.search(text)]
    return faults + [f"pprof does not name {name}" for name in
                     (PROCESS_SHOWN, THREAD_SHOWN, FUNCTION_SHOWN, FILE_SHOWN, CGROUP_SHOWN)
                     if name not in strings]


def texts(body):
    """All texts of a request, and its violations."""
    request = schema.otlp().ExportProfilesServiceRequest.FromString(body)
    found = list(request.dictionary.string_table)
    found += [row.value.string_value for row in request.dictionary.attribute_table]
    for of_resource in request.resource_profiles:
        found += [pair.value.string_value for pair in of_resource.resource.attributes]
    return found, otlp_check.report_lines(otlp_check.check(body))


def export(binary, directory, cgroup):
    """Checks the requests and the log of an agent."""
    with receiver() as server:
        agent = host.Process("agent", [
            binary, "agent", "--otlp-endpoint", f"http://127.0.0.1:{server.server_port}", "-F",
            "99", "--export-interval", "2s", "--cgroup", cgroup], f"{directory}/log")
        try:
            host.wait_until("two requests arrive", lambda: len(server.bodies) > 1)
        finally:
            status = agent.finish(20, signal.SIGTERM)
        bodies = list(server.bodies)
    faults = [] if status == 0 else [f"the agent ended with {status}"]
    faults += judge_text("the log", read(f"{directory}/log"), [])
    named = ""
    for body in bodies:
        found, violations = texts(body)
        faults += violations
        named += "\0".join(found)
    return faults + [f"no request names {name}" for name in
                     (THREAD_SHOWN, FUNCTION_SHOWN, CGROUP_SHOWN) if name not in named]


def check(binary):
    host.require("cc", "objcopy", "protoc")
    schema.skip_unless_available()
    directory = tempfile.mkdtemp(prefix="flamelet-e2e-")
    try:
        with load(directory) as cgroup:
            return record(binary, directory, cgroup) + export(binary, directory, cgroup)
    finally:
        shutil.rmtree(directory)


if __name__ == "__main__":
    sys.exit(host.judge(check, os.path.abspath(sys.argv[1])))
