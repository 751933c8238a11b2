#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A gRPC server (of the gRPC project) that answers the profiles service as a request's X-Answer says.

    grpc_server.py DIR

Writes DIR/cert.pem and DIR/key.pem, prints "PORT TLS_PORT MTLS_PORT" and serves until its standard input is
closed, as http_server.py does. The status of told_answer.py is gRPC's here. Besides:

    message=…       grpc-message
    compressed=1    the message of the answer is gzip'ed
    padding=N       a trailer of N bytes

Without X-Answer the answer is full success. Messages of more than 4 MiB are refused by the server itself.
"""
import concurrent.futures
import sys

import grpc

import http_server
import told_answer

SERVICE = "opentelemetry.proto.collector.profiles.v1development.ProfilesService"
CODES = {code.value[0]: code for code in grpc.StatusCode}
UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED.value[0]
HOST = "127.0.0.1"


def metadata_value(name, value):
    return value.encode("latin-1") if name.endswith("-bin") else value


def export(request, context):
    metadata = dict(context.invocation_metadata())
    told = told_answer.parse(metadata.get("x-answer", "0"), metadata, request, UNAUTHENTICATED)
    trailers = dict(told.headers)
    message = trailers.pop("message", "")
    if trailers.pop("compressed", ""):
        context.set_compression(grpc.Compression.Gzip)
    trailers["x-padding"] = "x" * int(trailers.pop("padding", 0))
    context.set_trailing_metadata([(name, metadata_value(name, value)) for name, value in trailers.items()])
    if told.status:
        context.abort(CODES[told.status], told.body.decode("latin-1") or message)
    return told.body


def credentials(directory, is_mutual):
    with open(directory + "/cert.pem", "rb") as file:
        cert = file.read()
    with open(directory + "/key.pem", "rb") as file:
        key = file.read()
    return grpc.ssl_server_credentials([(key, cert)], cert if is_mutual else None, is_mutual)


def main():
    directory = sys.argv[1]
    http_server.make_certificate(directory)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
    method = grpc.unary_unary_rpc_method_handler(export)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Export": method}),))
    ports = [server.add_insecure_port(f"{HOST}:0")]
    for is_mutual in (False, True):
        ports.append(server.add_secure_port(f"{HOST}:0", credentials(directory, is_mutual)))
    server.start()
    print(*ports, flush=True)
    sys.stdin.read()
    server.stop(None)


main()
