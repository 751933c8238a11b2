/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as JSON for scripts. docs/formats.md describes the members. */
#ifndef PROFILE_JSON_PROFILE_H
#define PROFILE_JSON_PROFILE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/profile.h"

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int json_profile_encode(const struct profile *profile, const struct caption *caption,
			struct strbuf *out) must_check;

#endif
