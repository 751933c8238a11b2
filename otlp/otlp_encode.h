/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as the body of an OTLP profiles request (ExportProfilesServiceRequest, opentelemetry-proto
 * 1.10): one ResourceProfiles for each resource, one dictionary for all. */
#ifndef OTLP_OTLP_ENCODE_H
#define OTLP_OTLP_ENCODE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile.h"

/* Appends the encoded request. A profile without samples appends nothing.
 * Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int otlp_encode(const struct profile *profile, struct strbuf *out) must_check;

#endif
