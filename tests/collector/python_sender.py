# SPDX-License-Identifier: Apache-2.0
"""Sends a body with other people's code, over HTTP and gRPC: what that gets tells the Collector's part from ours."""
import gzip
import http.client
import os
import ssl

PATH = "/v1development/profiles"
METHOD = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
TIMEOUT_S = 60


def send(collector, protocol, body, credentials=None):
    """The answer: "200", "UNAVAILABLE", …; or None where no connection was made. `credentials`: a directory and whether
    we have a certificate ourselves."""
    if protocol == "grpc":
        return send_grpc(collector, body, credentials)
    return send_http(collector, body, credentials)


def send_http(collector, body, credentials):
    address = "127.0.0.1", collector.port("http")
    if credentials:
        directory, is_known = credentials
        context = ssl.create_default_context(cafile=os.path.join(directory, "ca.crt"))
        if is_known:
            context.load_cert_chain(f"{directory}/client.crt", f"{directory}/client.key")
        connection = http.client.HTTPSConnection(*address, timeout=TIMEOUT_S, context=context)
    else:
        connection = http.client.HTTPConnection(*address, timeout=TIMEOUT_S)
    headers = {"Content-Type": "application/x-protobuf", "Content-Encoding": "gzip"}
    try:
        connection.request("POST", PATH, gzip.compress(body), headers)
        return str(connection.getresponse().status)
    except (ssl.SSLError, ConnectionError):
        return None
    finally:
        connection.close()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def grpc_channel(grpc, collector, credentials):
    address = f"127.0.0.1:{collector.port('grpc')}"
    if not credentials:
        return grpc.insecure_channel(address)
    directory, is_known = credentials
    own = [read(f"{directory}/client.key"), read(f"{directory}/client.crt")] if is_known else []
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(
        read(f"{directory}/ca.crt"), *own))


def send_grpc(collector, body, credentials):
    import grpc

    with grpc_channel(grpc, collector, credentials) as channel:
        export = channel.unary_unary(METHOD)
        try:
            export(body, timeout=TIMEOUT_S, compression=grpc.Compression.Gzip)
            return "200"
        except grpc.RpcError as error:
            # A handshake that fails is an address that is not available.
            is_connected = "failed to connect" not in error.details()
            return error.code().name if is_connected else None
