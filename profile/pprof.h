/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in pprof's format: https://github.com/google/pprof/tree/main/proto */
#ifndef PROFILE_PPROF_H
#define PROFILE_PPROF_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/output.h"
#include "profile/profile.h"

/* Appends the message, not compressed. What `info` says becomes the profile's comments; it may
 * be NULL. Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int pprof_encode(const struct profile *profile, const struct output_info *info, struct strbuf *out)
	must_check;

/* The same as it is stored in files: gzip'ed. */
int pprof_encode_gzip(const struct profile *profile, const struct output_info *info,
		      struct strbuf *out) must_check;

#endif
