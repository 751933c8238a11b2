#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records services on Django, Express and Spring Boot under load. Their handlers must be in the profile, by name.

    services.py path/to/flamelet [SERVICE]... [--keep DIRECTORY]

The packages come from the registries and are kept in the directory that tests/runtime/fetch.py uses. With --keep, the
recordings and, if Chromium is installed, pictures of them are written there.

Exit status 0: all is right; 1: something is wrong, listed last; 77: it cannot run here."""

import argparse
import contextlib
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass

E2E = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HERE = os.path.join(E2E, "runtimes")
sys.path[:0] = [os.path.join(E2E, folder) for folder in ("local", "symbols", "../tests/conformance",
                                                         "../tests/runtime")]

# pylint: disable=wrong-import-position
import fetch
import host
import recorder
import recordings
import schema

HZ = 199
CPU_SECONDS = 4
MIN_SHARE = 50      # per cent of the service's samples, in one of its handlers
MAX_LOST = 1        # per cent of the samples, without their root
NOT_YET = ("[unwind table not loaded yet]", "[process not known yet]")
NR_CLIENTS = 2
PATHS = ("/items", "/search/7", "/buy/500")
DJANGO = "django==4.2.16"
EXPRESS = "express@4.21.1"
PICTURE = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,900")


@dataclass(frozen=True)
class Service:
    """A source file, and its functions that a profile must show, with the names that the runtime gives them."""
    source: str
    functions: tuple
    busy: tuple     # one of the functions, and how many per cent of the samples it must have itself
    start: callable

    def lines_of(self, sample):
        return [line for location in sample.locations for line in location.lines
                if os.path.basename(line.filename) == self.source]


def start_django(port):
    directory = fetch.installed("django", sys.executable, "-m", "pip", "install", "--quiet", "--root-user-action=ignore",
                                DJANGO, "--target")
    return [sys.executable, f"{HERE}/django_shop/shop.py", str(port)], {"PYTHONPATH": directory}


def start_express(port):
    host.require("node", "npm")
    directory = fetch.installed("express", "npm", "install", "--silent", "--no-audit", "--no-fund", EXPRESS, "--prefix")
    return ["node", f"{HERE}/express_shop/shop.js", str(port)], {"NODE_PATH": f"{directory}/node_modules"}


def start_spring(port):
    """Maven builds it outside the tree."""
    host.require("java", "mvn")
    directory = os.path.join(fetch.cache_directory(), "spring")
    shutil.copytree(f"{HERE}/spring_shop", directory, dirs_exist_ok=True)
    try:
        host.run("mvn", "-q", "-B", "package", cwd=directory, seconds=fetch.SECONDS)
    except (host.Failure, subprocess.TimeoutExpired) as failure:
        raise host.Skip(f"Spring Boot cannot be had: {str(failure)[-300:]}") from failure
    return ["java", "-XX:+UseG1GC", "-Xmx256m", "-jar", f"{directory}/target/shop-1.jar", f"--server.port={port}",
            "--server.address=127.0.0.1"], {}


SERVICES = {
    "django": Service("shop.py", ("list_items", "Catalogue.by_price", "search_items", "Catalogue.search", "check_out",
                                  "price_basket"), ("price_basket", 5), start_django),
    "express": Service("shop.js", ("listItems", "comparePrices", "search", "checkOut", "priceBasket"), ("priceBasket", 20),
                       start_express),
    "spring": Service("Shop.java", ("shop.Shop.listItems", "shop.Shop.searchItems", "shop.Shop.isMatch",
                                    "shop.Shop.checkOut", "shop.Shop.priceBasket"), ("shop.Shop.priceBasket", 15), start_spring),
}


def same_function(wanted, found):
    """A class before a function in JavaScript, and parameters behind one in Java, do not matter."""
    found = found.partition("(")[0]
    return found == wanted or found.endswith("." + wanted)


def ask(port, is_over):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while not is_over.is_set():
        for path in PATHS:
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise host.Failure(f"{path}: status {answer.status}")
    connection.close()


@contextlib.contextmanager
def clients(port):
    is_over = threading.Event()
    threads = [threading.Thread(target=ask, args=(port, is_over)) for _ in range(NR_CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def record(binary, name, service, directory):
    """Once the service answers, and its code has become hot."""
    port = host.free_port()
    command, environment = service.start(port)
    process = host.Process(name, command, f"{directory}/{name}.log", env=dict(os.environ, **environment))
    try:
        host.wait_until(f"{name} answers", lambda: host.accepts_connections(port) or not process.is_alive(), 120)
        if not process.is_alive():
            raise host.Failure(f"{name} ended: {process.log()[-1000:]}")
        with clients(port):
            warm = host.cpu_seconds(process.pid) + CPU_SECONDS
            host.wait_until(f"{name} is warm", lambda: host.cpu_seconds(process.pid) >= warm, 120)
            outputs = [word for extension in ("pb.gz", "svg") for word in ("-o", f"{directory}/{name}.{extension}")]
            recorder.record_work([binary, "record", "-F", str(HZ), *outputs], process.pid, CPU_SECONDS,
                                 f"{directory}/{name}.record.log")
    finally:
        process.stop()
    return recordings.read(f"{directory}/{name}.pb.gz", schema.pprof().Profile)


def is_lost(sample):
    """Its stack ends before its root, and not because the recording has just begun."""
    return sample.locations and not sample.locations[-1].file and sample.locations[-1].lines[-1].name not in NOT_YET


def check_service(binary, name, directory):
    service = SERVICES[name]
    samples = record(binary, name, service, directory)
    total = sum(sample.count for sample in samples)
    inside = sum(sample.count for sample in samples if service.lines_of(sample))
    seen = {(line.name, line.line > 0) for sample in samples for line in service.lines_of(sample)}
    print(f"{name}: {inside} of {total} samples are in its handlers: {sorted(word for word, _ in seen)}", flush=True)
    faults = [f"{name}: no frame with a line is in {function}" for function in service.functions
              if not any(has_line and same_function(function, found) for found, has_line in seen)]
    lost = sum(sample.count for sample in samples if is_lost(sample))
    if lost * 100 > MAX_LOST * total:
        faults.append(f"{name}: {lost} of {total} samples have lost their root")
    function, min_share = service.busy
    busy = sum(sample.count for sample in samples if any(same_function(function, line.name)
                                                         for line in service.lines_of(sample)[:1]))
    if busy * 100 < min_share * total:
        faults.append(f"{name}: only {busy} of {total} samples are in {function} itself")
    if inside * 100 < MIN_SHARE * total:
        faults.append(f"{name}: only {inside} of {total} samples are in its handlers")
    return faults


def check_and_draw(options, name, directory):
    """Returns None if the service cannot be had."""
    try:
        faults = check_service(options.binary, name, directory)
    except host.Skip as skip:
        print(f"SKIP {name}: {skip}", flush=True)
        return None
    if options.keep:
        draw(directory, name)
    return faults


def draw(directory, name):
    chromium = shutil.which("chromium")
    if chromium:
        host.run(chromium, *PICTURE, f"--screenshot={directory}/{name}.png", f"file://{directory}/{name}.svg",
                 stderr=subprocess.DEVNULL)


def check(options):
    schema.skip_unless_available()
    with tempfile.TemporaryDirectory(prefix="flamelet-services-") as directory:
        results = [check_and_draw(options, name, options.keep or directory) for name in options.services]
    if all(result is None for result in results):
        raise host.Skip("no service can be had")
    return [fault for result in results for fault in result or []]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=os.path.abspath)
    parser.add_argument("services", nargs="*", default=list(SERVICES))
    parser.add_argument("--keep", type=os.path.abspath)
    return host.judge(check, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
