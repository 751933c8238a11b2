/* SPDX-License-Identifier: Apache-2.0 */
/* A pprof file from any source. What is read of it can be written, and read again with the same
 * counts. */
#include "profile/pprof.h"
#include "profile/pprof_reader.h"

#include <stdlib.h>

#define MAX_BYTES ((size_t)1 << 20)
#define PLENTY_BYTES ((size_t)1 << 28)
#define REASON_MAX_BYTES 1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_again(const struct profile *profile)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(REASON_MAX_BYTES);
	_cleanup_(pprof_profiles_done) struct pprof_profiles again = { 0 };
	uint64_t total = profile_total(profile);

	if (pprof_encode(profile, NULL, NULL, &out) < 0)
		abort();
	if (pprof_read(out.data, out.len, PLENTY_BYTES, &again, &reason) < 0)
		abort();
	if (!again.of[profile->type])
		abort();
	/* Counts that were added up may be too large for the format, which has signed ones. */
	if (total <= INT64_MAX && profile_total(again.of[profile->type]) != total)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(REASON_MAX_BYTES);
	_cleanup_(pprof_profiles_done) struct pprof_profiles profiles = { 0 };

	int r = pprof_read(data, len, MAX_BYTES, &profiles, &reason);
	if ((r < 0) != (reason.len > 0))
		abort();
	for (size_t i = 0; i < PROFILE_NR_TYPES; i++)
		if (profiles.of[i])
			check_again(profiles.of[i]);
	return 0;
}
