/* SPDX-License-Identifier: Apache-2.0 */
/* A text is refused or cut into items, the same ones in whatever pieces it comes. */
#include "k8s/json_items.h"

#include "base/cleanup.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ITEM_MAX_BYTES 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct reading {
	int result;
	size_t nr_oversized;
	struct strbuf items; /* with a NUL behind each */
};

static int take(const char *text, size_t len, void *data)
{
	struct reading *reading = data;

	if (len == 0 || len > ITEM_MAX_BYTES || text[len] != '\0')
		abort();
	strbuf_append(&reading->items, text, len + 1);
	return 0;
}

static void read_text(const char *text, size_t len, size_t step, struct reading *ret_reading)
{
	_cleanup_(json_items_done) struct json_items items;
	const struct json_items_opts opts = {
		.item_max_bytes = ITEM_MAX_BYTES,
		.on_item = take,
		.data = ret_reading,
	};
	int r = 0;

	*ret_reading = (struct reading){ .items = strbuf_with_max(SIZE_MAX / 2) };
	json_items_init(&items, &opts);
	for (size_t at = 0; at < len && r == 0; at += step)
		r = json_items_feed(&items, text + at, len - at < step ? len - at : step);
	ret_reading->result = json_items_finish(&items);
	ret_reading->nr_oversized = items.nr_oversized;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct reading whole, pieces;

	read_text((const char *)data, len, SIZE_MAX / 2, &whole);
	for (size_t step = 1; step <= 3; step += 2) {
		read_text((const char *)data, len, step, &pieces);
		if (pieces.result != whole.result || pieces.nr_oversized != whole.nr_oversized ||
		    pieces.items.len != whole.items.len ||
		    (whole.items.len > 0 &&
		     memcmp(pieces.items.data, whole.items.data, whole.items.len) != 0))
			abort();
		strbuf_done(&pieces.items);
	}
	strbuf_done(&whole.items);
	return 0;
}
