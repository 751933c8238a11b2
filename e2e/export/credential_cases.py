# SPDX-License-Identifier: Apache-2.0
"""Credentials in files that are replaced, invalid or missing while the program runs."""

import functools
import os
import time

from exports import check_all_in, check_receiver
from fault_server import TRANSPORTS, Receiver

# Grafana Cloud's form: the instance and a token, in base64.
OLD = "Basic MTIzNDU2OmdsY19vbGQ="
NEW = "Basic MTIzNDU2OmdsY19uZXc="
OPTIONS = {"token": "--otlp-token-file", "header": "--otlp-header-file"}


class Secret:
    """A file that is replaced as the kubelet does it: at once."""

    def __init__(self, context, kind):
        self.path, self.kind = f"{context.directory}/{kind}", kind
        self.options = (OPTIONS[kind], self.path)

    def text(self, authorization):
        if self.kind == "token":
            return authorization.removeprefix("Bearer ") + "\n"
        return f"# of the receiver\n\nAuthorization: {authorization}\nX-Scope-OrgID: blue\n"

    def write(self, authorization):
        self.write_text(self.text(authorization))

    def write_text(self, text):
        with open(self.path + ".new", "w", encoding="ascii") as file:
            file.write(text)
        os.rename(self.path + ".new", self.path)


def check_silence(report):
    """The log does not have what is secret."""
    words = [word.split()[1] for word in (OLD, NEW) if word.split()[1] in report.stderr]
    return [f"{words} in the log: {report}"] if words else []


def renewed(kind, old, new, context, transport):
    """They expire; their file has new ones when the refusal comes."""
    secret = Secret(context, kind)
    with Receiver(transport) as receiver:
        secret.write(old)
        receiver.authorization, receiver.on_denial = new, lambda: secret.write(new)
        receiver.open()
        report = context.export(["small"], receiver, *secret.options).finish()
        faults = check_all_in(report, "sent", context.recordings.nr_samples("small"))
        if len(receiver.requests) != 2:
            faults.append(f"{len(receiver.requests)} requests, not 2")
        return faults + check_receiver([report], receiver) + check_silence(report)


def known_at_once(context, transport):
    secret = Secret(context, "header")
    with Receiver(transport) as receiver:
        secret.write(NEW)
        receiver.authorization = NEW
        receiver.open()
        report = context.export(["small"], receiver, *secret.options).finish()
        faults = check_all_in(report, "sent", context.recordings.nr_samples("small"))
        if len(receiver.requests) != 1:
            faults.append(f"{len(receiver.requests)} requests, not 1")
        return faults + check_receiver([report], receiver) + check_silence(report)


def away(spoil, context, transport):
    """Without its headers no request leaves; it waits until they are there."""
    secret = Secret(context, "header")
    with Receiver(transport) as receiver:
        secret.write(OLD)
        receiver.authorization = NEW
        export = context.export(["small"], receiver, *secret.options)
        time.sleep(2)
        spoil(secret)
        receiver.open()
        time.sleep(3)
        nr_without = len(receiver.requests)
        secret.write(NEW)
        report = export.finish()
        faults = check_all_in(report, "sent", context.recordings.nr_samples("small"))
        if nr_without or len(receiver.requests) != 1:
            faults.append(f"{nr_without} requests without headers, {len(receiver.requests)} in all")
        return faults + check_receiver([report], receiver) + check_silence(report)


def broken_at_start(context, transport):
    """The program reports the line at once, and sends nothing."""
    secret = Secret(context, "header")
    with Receiver(transport) as receiver:
        secret.write_text(f"X-Scope-OrgID: blue\n{NEW}\n")
        receiver.open()
        export = context.export(["small"], receiver, *secret.options)
        _, stderr = export.process.communicate(timeout=60)
        faults = []
        if export.process.returncode != 1 or receiver.requests:
            faults.append(f"exit {export.process.returncode}, {len(receiver.requests)} requests")
        if f"{secret.path}:2: this header cannot be set" not in stderr or NEW.split()[1] in stderr:
            faults.append(f"it says {stderr.strip()!r}")
        return faults


# Name, what runs it, transports.
CASES = [
    ("token renewed", functools.partial(renewed, "token", "Bearer old", "Bearer new"), TRANSPORTS),
    ("headers renewed", functools.partial(renewed, "header", OLD, NEW), TRANSPORTS),
    ("headers of a file", known_at_once, TRANSPORTS),
    ("header file away", functools.partial(away, lambda secret: os.unlink(secret.path)),
     TRANSPORTS),
    ("header file empty", functools.partial(away, lambda secret: secret.write_text("\n")),
     TRANSPORTS),
    ("header file broken at the start", broken_at_start, ("http",)),
]
