/* SPDX-License-Identifier: Apache-2.0 */
/* Folded text from any source. What is read of it can be written, and read again with the same
 * sum. */
#include "profile/folded.h"
#include "profile/folded_reader.h"

#include <stdlib.h>

#define MAX_BYTES ((size_t)1 << 26)
#define REASON_MAX_BYTES 1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_again(const struct profile *profile)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(REASON_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(profile_unrefp) struct profile *again = NULL;

	if (folded_encode(profile, &text) < 0)
		abort();
	/* Escaped names are longer, and can be too long. */
	if (folded_read(strbuf_str(&text), text.len, MAX_BYTES, &again, &reason) < 0)
		return;
	if (profile_total(again) != profile_total(profile))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(REASON_MAX_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = NULL;

	int r = folded_read((const char *)data, len, MAX_BYTES, &profile, &reason);
	if ((r < 0) != (reason.len > 0))
		abort();
	if (r == 0)
		check_again(profile);
	return 0;
}
