# SPDX-License-Identifier: Apache-2.0
"""What waits for a receiver survives: its absence, a bad certificate, kill -9, a damaged file; and what does
not fit is counted."""

import os
import time

import host
from exports import check_all_in, check_message, check_receiver, check_sum
from fault_server import Answer, Receiver, TRANSPORTS, Tls

OTLP = ("http", "grpc")
SHORT = ("--wait", "3s")
SILENCE_S = 30      # much longer than the program waits, even on a busy machine
STILL_S = 2
SPLIT = ("--otlp-request-max", "64K")
TINY_DISK = "128k"
SMALL_QUEUE = "1M"


def queue_files(directory):
    """Returns the files of queued requests, oldest first."""
    return sorted(os.path.join(parent, name) for parent, _, names in os.walk(directory)
                  for name in names if name.endswith(".spool"))


def wait_until_written(directory):
    """Waits until files are there, and no more have come for a while."""
    host.wait_until("the queue is on disk", lambda: queue_files(directory))
    before = None
    while before != (before := queue_files(directory)):
        time.sleep(STILL_S)


def refused(context, transport):
    """The receiver is down at first, and up for the second run."""
    nr = context.recordings.nr_samples("large")
    with Receiver(transport) as receiver:
        receiver.start()
        first = context.export(["large"], receiver, *context.queue, *SPLIT, *SHORT).finish()
        faults = check_all_in(first, "queued", nr)
        faults += check_message(first, str(receiver.gate.port))
        receiver.gate.open()
        second = context.export(["small"], receiver, *context.queue).finish()
        faults += check_all_in(second, "sent", context.recordings.nr_samples("small"))
        if second["restored"] != nr:
            faults.append(f"{nr} samples were queued: {second}")
        return faults + check_receiver([second], receiver)


def comes_back(context, transport):
    """The receiver is up before the wait is over."""
    with Receiver(transport) as receiver:
        receiver.start()
        export = context.export(["small"], receiver)
        time.sleep(3)
        receiver.gate.open()
        report = export.finish()
        return (check_all_in(report, "sent", context.recordings.nr_samples("small"))
                + check_receiver([report], receiver))


def never_answers(context, transport):
    """The end does not wait for an answer: the request in progress is abandoned and kept."""
    with Receiver(transport) as receiver:
        receiver.open()
        receiver.script.append(Answer(delay_s=SILENCE_S))
        begin = time.monotonic()
        report = context.export(["small"], receiver, *context.queue, *SHORT, "--otlp-timeout",
                                "40s").finish()
        seconds = time.monotonic() - begin
        faults = check_all_in(report, "queued", context.recordings.nr_samples("small"))
        faults += check_message(report, "abandoned", str(receiver.gate.port))
        if seconds > SILENCE_S - 10:
            faults.append(f"it ended after {seconds:.1f} s")
        return faults + ([] if queue_files(context.queue_directory) else ["nothing is on disk"])


def without_directory(context, transport):
    """Requests that wait in memory only are counted when the program ends. The file still has them."""
    with Receiver(transport) as receiver:
        receiver.start()
        report = context.export(["small"], receiver, *SHORT).finish()
        return (check_all_in(report, "shutdown", context.recordings.nr_samples("small"))
                + check_message(report, "not accepted within --wait", "the file still has them")
                + check_message(report, "flamelet export ", context.recordings.path("small"))
                + ([f"nothing is lost: {report}"] if "lost" in report.stderr else []))


def bad_certificate(context, transport, server, ca, options=()):
    """Nothing is sent to whom we do not trust, or who does not trust us; all of it once that is put right."""
    certificates = context.certificates
    nr = context.recordings.nr_samples("small")
    client_ca = certificates.certificate("ca") if options else None
    ca_option = ("--otlp-ca-file", certificates.certificate(ca))
    with Receiver(transport) as receiver:
        receiver.open(Tls(certificates.certificate(server), certificates.key(server), client_ca))
        first = context.export(["small"], receiver, *context.queue, *SHORT, *ca_option).finish()
        faults = check_all_in(first, "queued", nr) + check_message(first, str(receiver.gate.port))
        if receiver.requests:
            faults.append(f"{len(receiver.requests)} requests came all the same")
        receiver.stop()
        receiver.start(Tls(certificates.certificate("server"), certificates.key("server"), client_ca))
        second = context.export(["pods"], receiver, *context.queue, "--otlp-ca-file",
                                certificates.certificate("ca"), *options).finish()
        faults += check_all_in(second, "sent", context.recordings.nr_samples("pods"))
        if second["restored"] != nr:
            faults.append(f"{nr} samples were queued: {second}")
        return faults + check_receiver([second], receiver)


def wrong_authority(context, transport):
    return bad_certificate(context, transport, "server", "other-ca")


def expired(context, transport):
    return bad_certificate(context, transport, "expired", "ca")


def wrong_host(context, transport):
    return bad_certificate(context, transport, "elsewhere", "ca")


def no_client_certificate(context, transport):
    certificates = context.certificates
    return bad_certificate(context, transport, "server", "ca", (
        "--otlp-client-cert", certificates.certificate("client"),
        "--otlp-client-key", certificates.key("client")))


def disk_full(context, transport):
    disk = f"{context.directory}/disk"
    os.mkdir(disk)
    host.run("mount", "-t", "tmpfs", "-o", f"size={TINY_DISK}", "flamelet-e2e", disk)
    queue = ("--queue-dir", f"{disk}/queue")
    with Receiver(transport) as receiver:
        receiver.start()
        first = context.export(["large"], receiver, *queue, *SPLIT, *SHORT).finish()
        faults = check_sum(first) + check_message(first, "No space left")
        if first["queued"] == 0 or set(first.dropped()) != {"shutdown"} or first.status != 1:
            faults.append(f"not one part is queued, the other lost at the end: {first}")
        receiver.gate.open()
        second = context.export(["small"], receiver, *queue).finish()
        faults += check_all_in(second, "sent", context.recordings.nr_samples("small"))
        if second["restored"] != first["queued"]:
            faults.append(f"{first['queued']} samples were queued: {second}")
        return faults + check_receiver([second], receiver)


def queue_bound(context, transport):
    """The oldest goes first."""
    with Receiver(transport) as receiver:
        receiver.start()
        report = context.export(["huge"], receiver, *context.queue, *SPLIT, *SHORT, "--queue-max",
                                SMALL_QUEUE).finish()
        faults = check_sum(report)
        if report["queued"] == 0 or set(report.dropped()) != {"evicted"}:
            faults.append(f"not one part is queued, the other evicted: {report}")
        return faults


def damage(path):
    """One bit of it."""
    with open(path, "r+b") as file:
        file.seek(-100, os.SEEK_END)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


def damaged(context, transport):
    """Files whose content is not what was written are dropped, with what they held; the others are sent."""
    with Receiver(transport) as receiver:
        receiver.start()
        first = context.export(["large"], receiver, *context.queue, *SPLIT, *SHORT).finish()
        short, wrong, *_ = queue_files(context.queue_directory)
        os.truncate(short, os.path.getsize(short) // 2)
        damage(wrong)
        receiver.gate.open()
        second = context.export(["small"], receiver, *context.queue).finish()
        faults = check_sum(second) + check_receiver([second], receiver)
        if not 0 < second["dropped"]["damaged"] < first["queued"] or second.status != 1:
            faults.append(f"not a part of {first['queued']} samples is damaged: {second}")
        return faults + check_message(second, "damaged")


def kill_while_down(context, transport):
    nr = context.recordings.nr_samples("large")
    with Receiver(transport) as receiver:
        receiver.start()
        export = context.export(["large"], receiver, *context.queue, *SPLIT)
        wait_until_written(context.queue_directory)
        export.kill()
        receiver.gate.open()
        report = context.export(["small"], receiver, *context.queue).finish()
        faults = check_all_in(report, "sent", context.recordings.nr_samples("small"))
        if report["restored"] != nr:
            faults.append(f"{nr} samples were queued: {report}")
        return faults + check_receiver([report], receiver)


def kill_while_sending(context, transport):
    """Only the request whose answer was not read arrives twice. Samples that were not queued yet
    may be lost."""
    large, pods, small = (context.recordings.nr_samples(name) for name in ("large", "pods", "small"))
    with Receiver(transport) as receiver:
        receiver.start()
        context.export(["large"], receiver, *context.queue, *SPLIT, *SHORT).finish()
        receiver.script.extend([Answer(delay_s=0.3)] * 100)
        receiver.gate.open()
        export = context.export(["pods"], receiver, *context.queue)
        host.wait_until("some requests", lambda: len(receiver.requests) >= 2)
        export.kill()
        receiver.script.clear()
        report = context.export(["small"], receiver, *context.queue).finish()
        faults = check_all_in(report, "sent", small)
        nr_taken, nr_repeated = receiver.nr_samples()
        if not large + small <= nr_taken - nr_repeated <= large + pods + small:
            faults.append(f"{nr_taken} samples taken, {nr_repeated} of them twice: {report}")
        if len(receiver.repeated()) > 1:
            faults.append(f"{len(receiver.repeated())} requests came twice")
        return faults


def one_of_two_down(context, transport):
    with Receiver(transport) as there, Receiver("http") as absent:
        there.open()
        absent.start()
        destination = f"{context.directory}/destination.yaml"
        with open(destination, "w", encoding="ascii") as file:
            file.write(f"otlp-endpoint: {absent.endpoint()}\n")
        report = context.export(["large"], there, *context.queue, *SHORT, "--destination",
                                destination).finish()
        nr = context.recordings.nr_samples("large")
        faults = check_sum(report) + check_receiver([report], there)
        if (report["pushed"], report["sent"], report["queued"]) != (2 * nr, nr, nr):
            faults.append(f"not {nr} samples sent to one, queued for the other: {report}")
        return faults + check_message(report, str(absent.gate.port))


CASES = [
    ("refused, later taken", refused, TRANSPORTS),
    ("comes back", comes_back, TRANSPORTS),
    ("never answers", never_answers, TRANSPORTS),
    ("no directory", without_directory, ("http",)),
    ("wrong authority", wrong_authority, TRANSPORTS),
    ("expired certificate", expired, OTLP),
    ("wrong host name", wrong_host, OTLP),
    ("no client certificate", no_client_certificate, TRANSPORTS),
    ("disk full", disk_full, ("http",)),
    ("queue bound", queue_bound, ("http",)),
    ("damaged file", damaged, ("http",)),
    ("killed while nobody is there", kill_while_down, TRANSPORTS),
    ("killed while sending", kill_while_sending, TRANSPORTS),
    ("one of two destinations down", one_of_two_down, TRANSPORTS),
]
