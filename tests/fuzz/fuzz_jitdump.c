/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte says in how large pieces the file comes. */
#include "symbol/jit/jit_block.h"
#include "symbol/jit/jitdump.h"

#include <string.h>

#define MAX_BYTES ((size_t)4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was written must be a valid reply. */
static void check_written(const struct jit_writer *writer, struct jit_functions *functions)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(2 * MAX_BYTES);
	struct jit_block_counts counts = { 0 };
	struct jit_block_view view;

	if (jit_writer_finish(writer, &bytes) < 0)
		return;
	if (jit_block_open(bytes.data, bytes.len, &view) < 0)
		abort();
	if (jit_block_add_to(&view, functions, &counts) < 0)
		return;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = NULL;
	_cleanup_(jit_writer_done) struct jit_writer writer;
	struct jitdump_reader reader = { 0 };
	struct jit_found found;

	jit_writer_init(&writer, MAX_BYTES, false);
	if (size == 0 || jit_functions_new(MAX_BYTES, &functions) < 0)
		return 0;
	size_t piece = JITDUMP_MIN_PIECE_BYTES + 16 * (size_t)data[0];
	for (size_t at = 1; at < size;) {
		size_t left = size - at;
		size_t len = left < piece ? left : piece;
		int64_t done = jitdump_feed(&reader, (const char *)data + at, len, left, &writer);

		if (done > (int64_t)left)
			abort();
		if (done <= 0)
			break;
		at += (size_t)done;
	}
	check_written(&writer, functions);
	if (jit_functions_settle(functions) < 0)
		return 0;
	for (uint64_t address = 0; address < 0x4000; address += 0x10)
		if (jit_functions_find(functions, address, &found) &&
		    (strlen(found.name) > JITDUMP_MAX_NAME_BYTES ||
		     strlen(found.filename) > JITDUMP_MAX_NAME_BYTES))
			abort();
	return 0;
}
