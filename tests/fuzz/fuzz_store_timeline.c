/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are refused or give rows whose numbers are valid. */
#include "store/timeline_codec.h"

#include "profile/slots.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NR_LABELS 1000

static bool wants(const struct track_key *key, void *data)
{
	(void)data;
	if (key->kind >= TRACK_NR_KINDS || key->type >= PROFILE_NR_TYPES)
		abort();
	return key->period % 3 != 2;
}

static int visit(const struct track_key *key, const struct block_row *row, void *data)
{
	bool is_labels = key->kind == TRACK_GROUPS || key->kind == TRACK_THROTTLED ||
			 key->kind == TRACK_GPU_USE || key->kind == TRACK_GPU_USE_MEMORY;

	(void)data;
	if (key->period % 3 == 2 || row->node != 0 || (is_labels && row->labels >= NR_LABELS) ||
	    (key->kind == TRACK_SLOTS && row->labels >= SLOTS_NR) ||
	    (key->kind == TRACK_CPUS && row->labels >= TRACK_MAX_CPUS))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct track_visitor visitor = { wants, visit, NULL };

	int r = timeline_decode(data, size, NR_LABELS, &visitor);
	if (r < 0 && r != -EBADMSG)
		abort();
	return 0;
}
