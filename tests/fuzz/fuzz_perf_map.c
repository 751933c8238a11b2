/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte says in how large pieces the file comes. */
#include "symbol/jit/jit_block.h"
#include "symbol/jit/perf_map.h"

#include <string.h>

#define MAX_BYTES ((size_t)4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name, bool is_java)
{
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(64 << 10);
	struct jit_name_parts parts = jit_names_split(name, is_java);

	if (!jit_names_can_have(&parts, strlen(name)))
		abort();
	struct jit_name read = jit_names_join(name, &parts, &scratch);
	if (strlen(read.name) + strlen(read.filename) > 2 * PERF_MAP_MAX_LINE_BYTES)
		abort();
}

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
	struct perf_map_reader reader = { 0 };
	struct jit_found found;

	jit_writer_init(&writer, MAX_BYTES, size > 0 && data[0] & 1);
	if (size == 0 || jit_functions_new(MAX_BYTES, &functions) < 0)
		return 0;
	size_t piece = PERF_MAP_MAX_LINE_BYTES + 16 * (size_t)data[0];
	for (size_t at = 1; at < size;) {
		size_t len = size - at < piece ? size - at : piece;
		size_t done = perf_map_feed(&reader, (const char *)data + at, len, &writer);

		if (done > len || (done == 0 && len == piece && !jit_writer_is_full(&writer)))
			abort();
		if (done == 0)
			break;
		at += done;
	}
	check_written(&writer, functions);
	if (jit_functions_settle(functions) < 0)
		return 0;
	for (uint64_t address = 0; address < 0x4000; address += 0x10)
		if (jit_functions_find(functions, address, &found))
			check_name(found.name, writer.is_java);
	return 0;
}
