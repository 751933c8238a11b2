# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium that reaches no other host, and what a page shows after its scripts."""
import contextlib
import html
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SKIP = 77
# They only bound a hang: a busy machine takes a minute for a page.
START_TIMEOUT_S = 120
TIMEOUT_S = 180
WINDOW = "1200,600"


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIP)


def find():
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        skip("no chromium")
    return chromium


def command(chromium, user_dir, url, *options):
    return [
        chromium, "--headless", "--no-sandbox", "--no-first-run", "--disable-background-networking",
        "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        f"--window-size={WINDOW}", "--hide-scrollbars", f"--user-data-dir={user_dir}", *options, url,
    ]


def kill(process):
    """Ends all of the browser, of which one process may be in a loop."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def dump_dom(chromium, url, *options, timeout_s=TIMEOUT_S):
    """The page as its scripts leave it, or None and why not."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as user_dir:
        with subprocess.Popen(command(chromium, user_dir, url, *options, "--dump-dom"), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, start_new_session=True) as process:
            try:
                dom, _ = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                kill(process)
                return None, f"no answer in {timeout_s} s"
    if process.returncode != 0:
        return None, f"exit status {process.returncode}"
    return dom.decode(), None


@contextlib.contextmanager
def open_page(chromium, url, *options):
    """Keeps a page open, whose scripts report what they see to a server of the test."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as user_dir:
        with subprocess.Popen([*command(chromium, user_dir, url, *options), "--remote-debugging-port=0"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            try:
                yield
            finally:
                kill(process)


def until(timeout_s, notes):
    """The elements of a queue, until none comes any more or the time is over."""
    deadline = time.monotonic() + timeout_s
    with contextlib.suppress(queue.Empty):
        while time.monotonic() < deadline:
            yield notes.get(timeout=timeout_s)


def check_start(chromium, work_dir, *options):
    """A browser that fails with an empty page is not a fault of the page."""
    page = pathlib.Path(work_dir, "nothing.svg").resolve()
    page.write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    _, error = dump_dom(chromium, page.as_uri(), *options, timeout_s=START_TIMEOUT_S)
    if error:
        skip(f"chromium does not start here: {error}")


def notes_of(dom, what):
    """What a script wrote as JSON into the element #notes."""
    notes = re.search(r'<(\w+) id="notes"[^>]*>(.*?)</\1>', dom, re.DOTALL)
    assert notes, f"{what} did not come to its end"
    return json.loads(html.unescape(notes.group(2)))
