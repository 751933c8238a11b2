# SPDX-License-Identifier: Apache-2.0
"""Bodies with something wrong in their resources, scopes, profiles, samples or in the pprof that rides along."""
from broken_case import (FAR, PROFILE, RESOURCE, SCOPE, appends, case, clears, of_resource, of_scope, sample, sets)
from good_body import (DURATION_NS, PERIOD_NS, TIME_NS, add_attribute, add_payload, first_profile,
                       good_body, good_pprof, text)

PAYLOAD = PROFILE + ".original_payload"


def profile_cases():
    @case("not-empty", "resource_profiles")
    def _no_resources(_request):
        """A dictionary that holds nothing but its zero elements."""
        return bytes.fromhex("120e0a0012001a0022002a0032003a00")

    @case("not-empty", "resource_profiles[1].scope_profiles")
    def _no_scopes(request):
        request.resource_profiles.add(schema_url="x")

    @case("not-empty", "resource_profiles[0].scope_profiles[1].profiles")
    def _no_profiles(request):
        of_resource(request).scope_profiles.add().scope.CopyFrom(of_scope(request).scope)

    @case("not-empty", "resource_profiles[0].scope_profiles[0].profiles[1].samples")
    def _no_samples(request):
        profile = of_scope(request).profiles.add()
        profile.CopyFrom(first_profile(request))
        profile.ClearField("samples")
        profile.ClearField("profile_id")

    clears("scope", SCOPE, of_scope, "scope")
    sets("scope", SCOPE, lambda request: of_scope(request).scope, "version", "")
    clears("schema-url", "resource_profiles[0].schema_url", of_resource, "schema_url")
    for field in ("time_unix_nano", "duration_nano"):
        clears("time", f"{PROFILE}.{field}", first_profile, field)
    for profile_id in (b"short", bytes(16), bytes(range(17))):
        sets("profile-id", PROFILE + ".profile_id", first_profile, "profile_id", profile_id)

    @case("profile-id", "resource_profiles[0].scope_profiles[0].profiles[1].profile_id")
    def _twice(request):
        of_scope(request).profiles.add().CopyFrom(first_profile(request))

    type_cases()


def type_cases():
    def set_type(request, field, name, unit):
        value_type = getattr(first_profile(request), field)
        others = [text(request, word) for word in ("samples", "count", "cpu", "nanoseconds")]
        value_type.type_strindex, value_type.unit_strindex = text(request, name), text(request, unit)
        # The words of before are still used.
        for key, unit_index in enumerate(others):
            attribute = add_attribute(request, f"key {key}", "")
            request.dictionary.attribute_table[attribute].unit_strindex = unit_index
            sample(request).attribute_indices.append(attribute)

    @case("types", PROFILE + ".sample_type")
    def _not_known(request):
        set_type(request, "sample_type", "page-faults", "count")

    @case("types", PROFILE + ".period_type")
    def _of_another(request):
        set_type(request, "period_type", "wall", "nanoseconds")

    @case("types", PROFILE + ".period_type")
    def _off_cpu_with_a_period(request):
        set_type(request, "sample_type", "off_cpu", "nanoseconds")

    clears("period", PROFILE + ".period", first_profile, "period")
    sets("period", PROFILE + ".period", first_profile, "period", -PERIOD_NS)

    @case("period", PROFILE + ".period")
    def _of_nothing(request):
        set_type(request, "sample_type", "off_cpu", "nanoseconds")
        first_profile(request).ClearField("period_type")


def sample_cases():
    @case("identity", PROFILE + ".samples[2]")
    def _twice(request):
        first_profile(request).samples.add().CopyFrom(sample(request))

    @case("identity", PROFILE + ".samples[3]")
    def _in_another_order(request):
        for keys in (("a", "b"), ("b", "a")):
            again = [add_once(request, key) for key in keys]
            first_profile(request).samples.add(stack_index=2, values=[1], attribute_indices=again)

    clears("entries", PROFILE + ".samples[1]", sample, "values")
    appends("one-value", PROFILE + ".samples[1]", sample, "values", 1)
    appends("values-or-times", PROFILE + ".samples[1]", sample, "timestamps_unix_nano", TIME_NS)

    @case("entries", PROFILE + ".samples[0]", values_or_times=False)
    def _of_different_length(request):
        for one in first_profile(request).samples:
            one.timestamps_unix_nano.append(TIME_NS)
        first_profile(request).samples[0].timestamps_unix_nano.append(TIME_NS)

    @case("one-shape", PROFILE + ".samples[1]", values_or_times=False)
    def _one_with_time_stamps(request):
        sample(request).timestamps_unix_nano.append(TIME_NS)

    for time in (TIME_NS - 1, TIME_NS + DURATION_NS):
        @case("window", PROFILE + ".samples[1].timestamps_unix_nano[1]", values_or_times=False)
        def _outside(request, time=time):
            for one in first_profile(request).samples:
                one.ClearField("values")
                one.timestamps_unix_nano.append(TIME_NS)
            sample(request).timestamps_unix_nano.append(time)

    for value in (0, -1):
        @case("positive", PROFILE + ".samples[1].values[0]")
        def _not_positive(request, value=value):
            sample(request).values[0] = value

    limit_cases()


def add_once(request, key):
    for i, attribute in enumerate(request.dictionary.attribute_table):
        if request.dictionary.string_table[attribute.key_strindex] == key:
            return i
    return add_attribute(request, key, "")


def limit_cases():
    @case("depth", PROFILE + ".samples[1]")
    def _too_deep(request):
        request.dictionary.stack_table[2].location_indices.extend([2] * 1000)

    @case("depth", PROFILE + ".samples[2]")
    def _no_frames(request):
        first_profile(request).samples.add(values=[1])

    @case("sample-count", PROFILE)
    def _too_many_samples(request):
        first = len(request.dictionary.attribute_table)
        key = text(request, "thread.id")
        for i in range(15999):
            request.dictionary.attribute_table.add(key_strindex=key).value.int_value = i + 1
            first_profile(request).samples.add(stack_index=1, values=[1],
                                               attribute_indices=[first + i])

    @case("label-count", PROFILE + ".samples[1]")
    def _too_many_labels(request):
        for i in range(24):
            attribute = add_attribute(request, f"key {i}", "")
            sample(request).attribute_indices.append(attribute)

    @case("label-count", PROFILE + ".samples[0]")
    def _too_many_with_the_resource(request):
        for i in range(23):
            of_resource(request).resource.attributes.add(key=f"key {i}").value.string_value = "x"


def attribute_cases():
    for rule, key, value in (
            ("attribute-type", "process.executable.name", 7),
            ("attribute-type", "process.pid", "7"),
            ("attribute-place", "thread.name", "a"),
            ("container-id", "container.id", "/kubepods/c1"),
            ("pod-uid", "k8s.pod.uid", "pod/1"),
            ("process-pid", "process.pid", 0),
            ("process-executable", "process.executable.name", "/bin/sh"),
            ("process-executable", "process.executable.path", "/bin/"),
            ("process-creation-time", "process.creation.time", "yesterday"),
            ("identity-state", "flamelet.identity", "somebody")):
        @case(rule, RESOURCE + "[2]")
        def _of_a_resource(request, key=key, value=value):
            add_to_resource(request, key, value)

    for rule, others in (
            ("process-executable", {"process.executable.name": "sh",
                                    "process.executable.path": "/bin/bash"}),
            ("short-names", {"pod": "web-1"}),
            ("one-process", {"process": "sh", "process.pid": 7})):
        @case(rule, RESOURCE)
        def _together(request, others=others):
            for key, value in others.items():
                add_to_resource(request, key, value)

    for rule, key, value in (
            ("thread-id", "thread.id", 0),
            ("cpu", "cpu.logical_number", -1),
            ("cgroup-id", "flamelet.cgroup.id", 0),
            ("attribute-place", "service.name", "web")):
        @case(rule, PROFILE + ".samples[1].attribute_indices[0]")
        def _of_a_sample(request, key=key, value=value):
            sample(request).attribute_indices.append(add_attribute(request, key, value))

    @case("frame-type", "dictionary.location_table[2].attribute_indices[0]")
    def _of_a_location(request):
        attribute = add_attribute(request, "profile.frame.type", "cobol")
        request.dictionary.location_table[2].attribute_indices.append(attribute)

    for of, value in (("htlhash", "0123"), ("go", "a b")):
        @case("build-id-form", "dictionary.mapping_table[1].attribute_indices[1]")
        def _of_a_mapping(request, of=of, value=value):
            attribute = add_attribute(request, f"process.executable.build_id.{of}", value)
            request.dictionary.mapping_table[1].attribute_indices.append(attribute)


def add_to_resource(request, key, value):
    attribute = of_resource(request).resource.attributes.add(key=key)
    if isinstance(value, int):
        attribute.value.int_value = value
    else:
        attribute.value.string_value = value


def payload_cases():
    def pprof_case(rule, path=PAYLOAD):
        """Decorates a function that breaks the pprof of a good body."""
        def add(breaks):
            @case(rule, path)
            def _with_payload(request):
                pprof = good_pprof()
                breaks(pprof)
                add_payload(request, pprof)
        return add

    sets("payload-pair", PROFILE, first_profile, "original_payload_format", "pprof")
    sets("payload-pair", PROFILE, first_profile, "original_payload", b"x")

    @case("payload-format", PROFILE + ".original_payload_format")
    def _format(request):
        first_profile(request).original_payload = b"x"
        first_profile(request).original_payload_format = "gprof"

    for payload in (b"\x1f\x8b, but not gzip", good_pprof().SerializeToString()):
        @case("payload-decodes", PAYLOAD)
        def _not_gzip(request, payload=payload):
            first_profile(request).original_payload_format = "pprof"
            first_profile(request).original_payload = payload

    @case("payload-decodes", PAYLOAD)
    def _not_pprof(request):
        add_payload(request, good_body())

    @pprof_case("payload-decodes")
    def _no_such_location(pprof):
        pprof.sample[0].location_id.append(FAR)

    @pprof_case("payload-decodes")
    def _no_such_type(pprof):
        pprof.sample_type[0].unit = 1

    @pprof_case("payload-decodes")
    def _no_value(pprof):
        pprof.sample[0].ClearField("value")

    @pprof_case("printable", PAYLOAD + ".string_table[5]")
    def _control_character(pprof):
        pprof.string_table.append("a\x1b[2J")
        pprof.function[0].filename = 5

    @pprof_case("payload-time")
    def _later(pprof):
        pprof.time_nanos += 1

    @pprof_case("payload-total")
    def _more(pprof):
        pprof.sample[0].value[0] += 1

    @pprof_case("payload-stacks")
    def _another_stack(pprof):
        pprof.sample[1].location_id[0] = 2


def add_cases():
    for add in (profile_cases, sample_cases, attribute_cases, payload_cases):
        add()
