# SPDX-License-Identifier: Apache-2.0
"""Reads what is sent and writes what is answered, with the official protobuf runtime."""

import gzip
import importlib
import os
import sys
import tempfile

import host

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOS = os.path.join(HERE, "../../tests/proto")
RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"


def load():
    """Compiles the .proto texts; returns the modules otlp, pprof and messages."""
    with tempfile.TemporaryDirectory() as output:
        host.run("protoc", f"-I{PROTOS}", f"-I{HERE}", f"--python_out={output}",
                 "otlp_profiles.proto", "profile.proto", "messages.proto")
        sys.path.insert(0, output)
        try:
            return [importlib.import_module(f"{name}_pb2")
                    for name in ("otlp_profiles", "profile", "messages")]
        finally:
            sys.path.remove(output)


otlp, pprof, messages = load()


def count_values(values, unit, period):
    """Values that are no counts are multiples of the period."""
    total = sum(values)
    return total if unit == "count" else total // period


def count_otlp(body):
    """Samples of a request."""
    request = otlp.ExportProfilesServiceRequest.FromString(body)
    strings = request.dictionary.string_table
    profiles = [profile for resource in request.resource_profiles
                for scope in resource.scope_profiles for profile in scope.profiles]
    return sum(count_values((value for sample in profile.samples for value in sample.values),
                            strings[profile.sample_type.unit_strindex], profile.period)
               for profile in profiles)


def read_pprof(data):
    return pprof.Profile.FromString(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def count_pprof(data):
    profile = read_pprof(data)
    unit = profile.string_table[profile.sample_type[0].unit]
    return count_values((sample.value[0] for sample in profile.sample), unit, profile.period)


def count_push(body):
    """Samples of a request to Pyroscope's own interface."""
    request = messages.PushRequest.FromString(body)
    return sum(count_pprof(sample.raw_profile)
               for series in request.series for sample in series.samples)


def partial_success(nr_rejected, message):
    answer = otlp.ExportProfilesServiceResponse()
    if nr_rejected or message:
        answer.partial_success.rejected_profiles = nr_rejected
        answer.partial_success.error_message = message
    return answer.SerializeToString()


def rpc_status(code, message, retry_s=None):
    """google.rpc.Status, with RetryInfo where a wait is given."""
    status = messages.Status(code=code, message=message)
    if retry_s is not None:
        delay = messages.Duration(seconds=int(retry_s), nanos=int(retry_s % 1 * 1e9))
        info = messages.RetryInfo(retry_delay=delay)
        status.details.add(type_url=RETRY_INFO, value=info.SerializeToString())
    return status.SerializeToString()
