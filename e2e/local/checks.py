# SPDX-License-Identifier: Apache-2.0
"""Compares samples with what the containers know about themselves. Every check returns the list of
what is wrong, empty when nothing is."""

import math
import os

TOLERANCE = 0.10
TOTAL_TOLERANCE = 0.05

# Last frames of a process's first stacks, before its code is known, and of stacks in execve(2) and
# exit(2).
NOT_WHOLE = ("[process not known yet]", "[unwind table not loaded yet]", "[stack unreadable]")
MANY_SAMPLES = 100
WHOLE_SHARE = 0.8


def samples_of(samples, workload):
    """Returns the samples in the hot function, and those of its thread whose stack is not known
    yet."""
    return [sample for sample in samples
            if workload.hot in sample.frames or sample.attributes.get("thread.name") == workload.hot]


def total(samples):
    return sum(sample.count for sample in samples)


def expected_count(workload, hz):
    return workload.cpu_us * hz / 1e6


def allowed_error(expected):
    """The number of samples is partly chance: below 900 samples, that alone
    exceeds the tolerance now and then in one of two dozen containers."""
    return max(TOLERANCE * expected, 3 * math.sqrt(expected))


def resource_faults(sample, resource):
    """Lists the differences between the sample's resource and the one it must have."""
    return [f"{key} is {sample.resource.get(key)!r}, not {value!r}"
            for key, value in resource.items() if sample.resource.get(key) != value]


def attribute_faults(sample, workload):
    attributes, faults = sample.attributes, []
    if attributes.get("thread.name") != workload.hot:
        faults.append(f"thread.name is {attributes.get('thread.name')!r}")
    if attributes.get("cpu.logical_number") not in range(os.cpu_count()):
        faults.append(f"cpu.logical_number is {attributes.get('cpu.logical_number')!r}")
    if str(attributes.get("flamelet.cgroup.id")) != str(workload.cgroup_id):
        faults.append(f"flamelet.cgroup.id is {attributes.get('flamelet.cgroup.id')!r}, "
                      f"not {workload.cgroup_id}")
    return faults


def is_whole(sample):
    return "main" in sample.frames


def stack_faults(sample, workload):
    """A stack that is not whole says so, and only a process that is new or at its end may have one. What runs before main()
    and within execve(2) and exit(2) never is in the hot function."""
    if is_whole(sample) or sample.frames[-1] in NOT_WHOLE or workload.hot not in sample.frames:
        return []
    return ["no main below the hot function"]


def check_wholeness(samples, workload):
    """A process of one second has nearly all of its stacks."""
    own = samples_of(samples, workload)
    whole = total(sample for sample in own if is_whole(sample))
    if total(own) < MANY_SAMPLES or whole >= WHOLE_SHARE * total(own):
        return []
    return [f"{workload.hot}: only {whole} of {total(own)} stacks are whole"]


def check_samples(samples, workload, resource):
    """Each distinct fault once, with the number of samples that have it."""
    counts = {}
    for sample in samples_of(samples, workload):
        for fault in (resource_faults(sample, resource) + attribute_faults(sample, workload)
                      + stack_faults(sample, workload)):
            counts[fault] = counts.get(fault, 0) + sample.count
    return [f"{workload.hot}: {fault} ({count} samples)" for fault, count in counts.items()]


def check_count(found, workload, hz):
    expected = expected_count(workload, hz)
    if found == 0:
        return [f"{workload.hot}: no samples at all"]
    if abs(found - expected) > allowed_error(expected):
        return [f"{workload.hot}: {found} samples where its CPU time makes {expected:.0f}"]
    return []


def check_all_counts(samples, workloads, hz):
    """Over all containers chance evens out."""
    found = sum(total(samples_of(samples, workload)) for workload in workloads)
    expected = sum(expected_count(workload, hz) for workload in workloads)
    if abs(found - expected) > TOTAL_TOLERANCE * expected:
        return [f"{found} samples in all where the CPU time makes {expected:.0f}"]
    return []


def check_names(samples):
    nameless = total(sample for sample in samples if "" in sample.frames)
    return [f"{nameless} samples have a location without a name"] if nameless else []


def check_attribution(samples, workloads, truth, hz):
    """The whole truth table, `truth` by hot function; prints it and returns what is wrong."""
    problems = check_names(samples) + check_all_counts(samples, workloads, hz)
    print(f"{'hot function':<16} {'where':<42} {'expected':>8} {'found':>6} {'misattributed':>13}")
    for workload in workloads:
        own, resource = samples_of(samples, workload), truth[workload.hot]
        wrong = total(sample for sample in own if resource_faults(sample, resource))
        print(f"{workload.hot:<16} {place(workload):<42} {expected_count(workload, hz):>8.0f} "
              f"{total(own):>6} {wrong:>13}")
        problems += check_samples(samples, workload, resource)
        problems += check_count(total(own), workload, hz)
        problems += check_wholeness(samples, workload)
    return problems


def place(workload):
    if not workload.pod:
        return workload.says["service.name"]
    return f"{workload.pod.namespace}/{workload.pod.name}/{workload.container}"
