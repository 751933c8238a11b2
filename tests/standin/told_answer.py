# SPDX-License-Identifier: Apache-2.0
"""Answers that a test orders with its request: the X-Answer header of the HTTP and gRPC stand-ins.

    X-Answer: STATUS?name=value&name=value…     as in a URL, with %XX

    body=…          the body of the answer
    hex=…           the same in hexadecimal
    repeat=N        the body N times
    echo=a,b        the body is "a=…; b=…" of the request's headers; "body" is its body (uncompressed)
    sleep=S         after S seconds
    token=T&renew=F if the request does not carry "Bearer T": T is written to the file F, and the
                    status is 401 (16 with gRPC)
    authorization=A&renew=F
                    the same with all of that header, of which F gets a line: "Authorization: A"
    anything else   a header (trailer with gRPC) of the answer
"""
import time
import urllib.parse
from dataclasses import dataclass

OPTIONS = ("body", "hex", "repeat", "echo", "sleep", "token", "authorization", "renew")


@dataclass
class ToldAnswer:
    status: int
    body: bytes
    headers: list       # of (name, value)


def echo(names, request):
    return "; ".join(f"{name}={request.get(name, '')}" for name in names.split(",")).encode("latin-1")


def is_known(request, options):
    """Returns whether the request carries the credentials. If not, they are in the file from now
    on."""
    token = options.get("token")
    wanted = options.get("authorization", f"Bearer {token}")
    if request.get("authorization") == wanted:
        return True
    with open(options["renew"], "w", encoding="utf-8") as file:
        file.write((token or f"Authorization: {wanted}") + "\n")
    return False


def parse(text, request_headers, request_body, unknown_status=401):
    """Does as `text` says, up to the answer itself."""
    status, _, query = text.partition("?")
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True, encoding="latin-1")
    options = {name: value for name, value in pairs if name in OPTIONS}
    request = {name.lower(): value for name, value in request_headers.items()}
    request["body"] = request_body.decode("latin-1")
    request["body-bytes"] = str(len(request_body))

    body = options.get("body", "").encode("latin-1") + bytes.fromhex(options.get("hex", ""))
    if "echo" in options:
        body = echo(options["echo"], request)
    time.sleep(float(options.get("sleep", 0)))
    if "renew" in options and not is_known(request, options):
        status = unknown_status
    return ToldAnswer(int(status), body * int(options.get("repeat", 1)),
                      [(name, value) for name, value in pairs if name not in OPTIONS])
