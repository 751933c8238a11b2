/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for the Firefox Profiler (https://profiler.firefox.com): JSON of its "processed profile
 * format", version 60, which every later version reads.
 *
 * Each process, or each value of the first label of a grouped profile (view.h), is a thread, the
 * largest first. The time axis of a thread is its CPU time: samples have no time of their own and
 * stand side by side, the most frequent stack first. */
#ifndef PROFILE_FIREFOX_H
#define PROFILE_FIREFOX_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/caption.h"
#include "profile/profile.h"

/* Errors: -ENOSPC, -ENOMEM, kept in `out` as well. */
int firefox_encode(const struct profile *profile, const struct caption *caption, struct strbuf *out)
	must_check;

#endif
