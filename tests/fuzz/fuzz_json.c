/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is refused or gives a tree that can be walked, within the limit of its memory. */
#include "base/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TREE_MAX_BYTES ((size_t)64 << 10)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static size_t walk(const struct json_value *value)
{
	const struct json_value *child;
	size_t nr = 1;
	double number;

	if (json_text(value))
		nr += strlen(json_text(value)) > TREE_MAX_BYTES;
	if (json_text(value) && (json_number(value, &number) || json_is_true(value)))
		abort();
	json_for_each(child, value) {
		if (json_key(child) && !json_find(value, json_key(child)))
			abort();
		nr += walk(child);
	}
	return nr;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_(json_freep) struct json_value *root = NULL;

	if (json_parse((const char *)data, len, TREE_MAX_BYTES, &root) < 0) {
		if (root)
			abort();
		return 0;
	}
	if (walk(root) > TREE_MAX_BYTES)
		abort();
	return 0;
}
