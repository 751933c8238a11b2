# SPDX-License-Identifier: Apache-2.0
"""Describes a body with one fault: the rule that it breaks, and the place where that must be
reported.

Nothing else may be wrong with it. Who breaks an index takes one that nothing needs, for else what it led to would
be unused; who adds an element uses it.
"""
import collections

from good_body import first_profile, good_body
from rules import Options

Case = collections.namedtuple("Case", "rule path body options")

PROFILE = "resource_profiles[0].scope_profiles[0].profiles[0]"
RESOURCE = "resource_profiles[0].resource.attributes"
SCOPE = "resource_profiles[0].scope_profiles[0].scope"
FAR = 99
CASES = []


def case(rule, path, **options):
    """Decorates a function that breaks the good body it is given, or returns another body altogether."""
    def add(breaks):
        request = good_body()
        body = breaks(request)
        if not isinstance(body, bytes):
            body = request.SerializeToString()
        CASES.append(Case(rule, path, body, Options(**options)))
        return breaks
    return add


def sets(rule, path, message_of, field, value):
    """A case that sets one field."""
    case(rule, path)(lambda request: setattr(message_of(request), field, value))


def clears(rule, path, message_of, field):
    case(rule, path)(lambda request: message_of(request).ClearField(field))


def appends(rule, path, message_of, field, value):
    case(rule, path)(lambda request: getattr(message_of(request), field).append(value))


def request_itself(request):
    return request


def of_resource(request):
    return request.resource_profiles[0]


def of_scope(request):
    return request.resource_profiles[0].scope_profiles[0]


def resource_attribute(request):
    return of_resource(request).resource.attributes[1]


def sample(request):
    """The one without attributes or link."""
    return first_profile(request).samples[1]


def row(table, index):
    return lambda request: getattr(request.dictionary, table)[index]
