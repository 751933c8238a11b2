# SPDX-License-Identifier: Apache-2.0
"""The table of answers: what a receiver says to a request, and what must become of its samples."""

from dataclasses import dataclass
import functools

from exports import check_all_in, check_message, check_receiver, check_sum, check_waits
from fault_server import Answer, LOST, OK, RESET, TRANSPORTS, Receiver

HTTP, GRPC, PUSH = (("http",), ("grpc",), ("push",))
BY_HTTP = HTTP + PUSH
OTLP = HTTP + GRPC
RETRYABLE_HTTP = (429, 502, 503, 504)
FINAL_HTTP = (400, 403, 404, 415, 500, 501)
RETRYABLE_GRPC = ("CANCELLED", "DEADLINE_EXCEEDED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE",
                  "DATA_LOSS")
FINAL_GRPC = ("INVALID_ARGUMENT", "UNKNOWN", "INTERNAL", "UNIMPLEMENTED", "PERMISSION_DENIED",
              "NOT_FOUND", "FAILED_PRECONDITION")
SAYS = "what the test says"
# HTTP dates count in whole seconds.
DATE_S = 4


@dataclass(frozen=True)
class Row:
    name: str
    transports: tuple
    answers: tuple
    ends: str = "sent"          # where all samples end
    waits: tuple = ()           # seconds, at least, after each answer
    cut_bytes: int = None       # the first connection is reset after so many
    may_repeat: bool = False
    file: str = "small"
    options: tuple = ()
    says: str = ""              # what standard error has, where something was lost

    def nr_requests(self):
        """As the receiver counts: what is final is not repeated, all else is."""
        if self.ends != "sent":
            return 1
        return 1 + sum(answer.is_reset or not answer.takes() for answer in self.answers)


def answers(http, code="INTERNAL", **fields):
    return Answer(http, code, SAYS, **fields)


ROWS = (
    Row("ok", TRANSPORTS, (OK,)),
    Row("ok without compression", TRANSPORTS, (OK,), options=("--otlp-compression", "none")),
    # tests/conformance sees the body and checks that the pprof inside has the same samples.
    Row("ok with pprof inside", OTLP, (OK,), options=("--otlp-original-payload", "pprof")),
    Row("reset in the middle of the request", TRANSPORTS, (), cut_bytes=4000, file="large"),
    Row("reset instead of an answer", TRANSPORTS, (RESET,)),
    Row("reset after the request was taken", TRANSPORTS, (LOST,), may_repeat=True),
    Row("slow", TRANSPORTS, (answers(503, "UNAVAILABLE", delay_s=30),),
        options=("--otlp-timeout", "2s")),
    Row("not fast", TRANSPORTS, (Answer(delay_s=3),)),

    *(Row(str(status), BY_HTTP, (answers(status),)) for status in RETRYABLE_HTTP),
    Row("503 with Retry-After", BY_HTTP, (answers(503, retry_after_s=3),), waits=(3,)),
    Row("429 with Retry-After", BY_HTTP, (answers(429, retry_after_s=3),), waits=(3,)),
    Row("429 with a date in Retry-After", BY_HTTP,
        (answers(429, retry_after_s=DATE_S, is_date=True),), waits=(DATE_S - 1,)),
    *(Row(str(status), BY_HTTP, (answers(status),), "rejected", says=SAYS)
      for status in FINAL_HTTP),
    Row("413", BY_HTTP, (answers(413),), "too_large", says=SAYS),
    Row("401", BY_HTTP, (answers(401),), "rejected", says=SAYS),

    *(Row(code, GRPC, (answers(0, code),)) for code in RETRYABLE_GRPC),
    Row("UNAVAILABLE in trailers only", GRPC,
        (answers(0, "UNAVAILABLE", has_initial_metadata=False),)),
    Row("UNAVAILABLE with RetryInfo", GRPC, (answers(0, "UNAVAILABLE", retry_after_s=2.5),),
        waits=(2.5,)),
    Row("RESOURCE_EXHAUSTED with RetryInfo", GRPC,
        (answers(0, "RESOURCE_EXHAUSTED", retry_after_s=2.5),), waits=(2.5,)),
    Row("RESOURCE_EXHAUSTED with RetryInfo in trailers only", GRPC,
        (answers(0, "RESOURCE_EXHAUSTED", retry_after_s=2.5, has_initial_metadata=False),),
        waits=(2.5,)),
    Row("RESOURCE_EXHAUSTED", GRPC, (answers(0, "RESOURCE_EXHAUSTED"),), "too_large", says=SAYS),
    *(Row(code, GRPC, (answers(0, code),), "rejected", says=SAYS) for code in FINAL_GRPC),
    Row("INVALID_ARGUMENT in trailers only", GRPC,
        (answers(0, "INVALID_ARGUMENT", has_initial_metadata=False),), "rejected", says=SAYS),
    Row("UNAUTHENTICATED", GRPC, (answers(0, "UNAUTHENTICATED"),), "rejected", says=SAYS),

    Row("partial success, all rejected", OTLP, (Answer(nr_rejected=1, message=SAYS),), "partial",
        says=SAYS),
    Row("partial success, a warning", OTLP, (Answer(message=SAYS),), says=SAYS),
    Row("success from something else", HTTP, (Answer(page=b"<html>Welcome</html>"),), says="OTLP"),
)


def run_row(row, context, transport):
    with Receiver(transport) as receiver:
        receiver.script.extend(row.answers)
        if row.cut_bytes:
            receiver.gate.cuts.append(row.cut_bytes)
        receiver.open()
        report = context.export([row.file], receiver, *row.options).finish()
        faults = check_all_in(report, row.ends, context.recordings.nr_samples(row.file))
        faults += check_receiver([report], receiver, row.may_repeat)
        faults += check_waits(receiver, row.waits)
        if len(receiver.requests) != row.nr_requests():
            faults.append(f"{len(receiver.requests)} requests, not {row.nr_requests()}: {report}")
        if row.says:
            faults += check_message(report, row.says, str(receiver.gate.port))
        return faults


def backoff_grows(context, transport):
    """Without a wish of the receiver each wait is longer than the one before the last, whatever the jitter."""
    with Receiver(transport) as receiver:
        receiver.script.extend([answers(503, "UNAVAILABLE")] * 4)
        receiver.open()
        report = context.export(["small"], receiver).finish()
        faults = check_all_in(report, "sent", context.recordings.nr_samples("small"))
        gaps = receiver.gaps()
        if len(gaps) != 4 or gaps[2] <= gaps[0] or gaps[3] <= gaps[1]:
            faults.append(f"waits of {', '.join(f'{gap:.2f}' for gap in gaps)} s")
        return faults + check_receiver([report], receiver)


def some_rejected(context, transport):
    """Partial success names a number of profiles, and no samples: those are an estimate."""
    with Receiver(transport) as receiver:
        receiver.script.append(Answer(nr_rejected=1, message=SAYS))
        receiver.open()
        report = context.export(["pods"], receiver).finish()
        faults = check_sum(report) + check_receiver([report], receiver)
        if not 0 < report["dropped"]["partial"] < report["pushed"] or report.status != 1:
            faults.append(f"not some of the samples are rejected: {report}")
        return faults + check_message(report, SAYS, str(receiver.gate.port))


def poison(context, transport):
    """A receiver that never takes one of the requests, and says that it will, gets all the others."""
    with Receiver(transport) as receiver:
        receiver.poison = True
        receiver.poison_answer = answers(429, "UNAVAILABLE")
        receiver.open()
        report = context.export(["large"], receiver, "--otlp-request-max", "64K", "--wait",
                                "80s").finish()
        faults = check_sum(report) + check_receiver([report], receiver)
        nr_poison = next(request.nr_samples for request in receiver.requests
                         if request.digest == receiver.poison)
        others = context.recordings.nr_samples("large") - nr_poison
        if report["sent"] != others or len(receiver.taken()) < 2:
            faults.append(f"not all of the other {others} samples are sent: {report}")
        return faults


# Name, what runs it, transports. The longest first.
CASES = [
    ("poison", poison, TRANSPORTS),
    ("backoff grows", backoff_grows, TRANSPORTS),
    ("partial success, some rejected", some_rejected, OTLP),
    *((row.name, functools.partial(run_row, row), row.transports) for row in ROWS),
]
