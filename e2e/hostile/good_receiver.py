# SPDX-License-Identifier: Apache-2.0
"""A receiver of OTLP over HTTP that takes everything at once and notes whose functions came when."""

import collections
import gzip
import http.server
import os
import re
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../../tests/conformance"))

# pylint: disable=wrong-import-position
import messages
import request_log

VICTIM = re.compile(r"victim_\d{4}")
UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f]")
CALLERS = {"middle", "main"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.server.owner.take(body)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args):  # pylint: disable=arguments-differ
        pass


def threads_of(request):
    """The name of the thread of each sample."""
    tables = request.dictionary
    names = {index: entry.value.string_value for index, entry in enumerate(tables.attribute_table)
             if tables.string_table[entry.key_strindex] == "thread.name"}
    for part in request.resource_profiles:
        for scope in part.scope_profiles:
            for profile in scope.profiles:
                for sample in profile.samples:
                    for index in sample.attribute_indices:
                        if index in names:
                            yield names[index]


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    owner = None

    def handle_error(self, *_args):  # pylint: disable=arguments-differ
        """An agent that is killed is no event here."""


class GoodReceiver:
    def __init__(self):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.owner = self
        self.log = request_log.RequestLog("hostile")
        self.lock = threading.Lock()
        self.arrivals = []          # (when, {victim's functions with their callers})
        self.nr_by_thread = collections.Counter()   # samples
        self.unprintable = set()
        self.faults = []
        self.nr_samples = 0
        threading.Thread(target=self.server.serve_forever, args=(0.1,), daemon=True).start()

    def endpoint(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def take(self, body):
        now = time.monotonic()
        if not body:
            return
        self.log.add(body)
        try:
            request = messages.otlp.ExportProfilesServiceRequest.FromString(body)
        except Exception as error:  # pylint: disable=broad-except
            self.faults.append(f"a request cannot be read: {error}")
            return
        victims = self.read(request.dictionary)
        with self.lock:
            self.nr_by_thread.update(threads_of(request))
            self.arrivals.append((now, victims))
            self.nr_samples += messages.count_otlp(body)

    def read(self, tables):
        strings = tables.string_table
        self.unprintable.update(text for text in strings if UNPRINTABLE.search(text))
        names = [strings[function.name_strindex] for function in tables.function_table]
        found = {name for name in names if VICTIM.fullmatch(name)}
        return {name for name in found if any(self.is_whole(stack, tables, names, name)
                                              for stack in tables.stack_table)}

    @staticmethod
    def is_whole(stack, tables, names, name):
        """The function with those that called it."""
        frames = {names[line.function_index] for index in stack.location_indices
                  for line in tables.location_table[index].lines}
        return name in frames and CALLERS <= frames

    def gap(self, name, begin, end):
        """The longest time without that function, from `begin` on."""
        with self.lock:
            times = [begin] + [when for when, names in self.arrivals if name in names and begin < when < end] + [end]
        return max(later - earlier for earlier, later in zip(times, times[1:]))

    def has(self, name):
        with self.lock:
            return any(name in names for _, names in self.arrivals)
