/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte says in how large pieces the file comes. */
#include "symbol/jit_names.h"
#include "symbol/perf_map.h"

#include <string.h>

#define MAX_BYTES ((size_t)4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name)
{
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(64 << 10);
	struct jit_name v8 = jit_names_read_v8(name, &scratch);

	if (strlen(v8.name) + strlen(v8.filename) > 2 * PERF_MAP_MAX_LINE_BYTES)
		abort();
	if (strlen(jit_names_read_java(name, &scratch).name) > PERF_MAP_MAX_LINE_BYTES + 2)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = NULL;
	struct perf_map_reader reader = { 0 };
	struct jit_found found;

	if (size == 0 || jit_functions_new(MAX_BYTES, &functions) < 0)
		return 0;
	size_t piece = PERF_MAP_MAX_LINE_BYTES + 16 * (size_t)data[0];
	for (size_t at = 1; at < size;) {
		size_t len = size - at < piece ? size - at : piece;
		int64_t done = perf_map_feed(&reader, (const char *)data + at, len, functions);

		if (done > (int64_t)len || (done == 0 && len == piece))
			abort();
		if (done <= 0)
			break;
		at += (size_t)done;
	}
	if (jit_functions_settle(functions) < 0)
		return 0;
	for (uint64_t address = 0; address < 0x4000; address += 0x10)
		if (jit_functions_find(functions, address, &found))
			check_name(found.name);
	return 0;
}
