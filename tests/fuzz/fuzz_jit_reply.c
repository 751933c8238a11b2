/* SPDX-License-Identifier: Apache-2.0 */
/* The reply of a JIT worker that a list of functions has taken over. First comes the request,
 * whose numbers the agent knows. */
#include "symbol/jit/jit_worker.h"

#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(const struct jit_functions *functions)
{
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(64 << 10);
	struct jit_found found;

	for (uint64_t address = 0; address < 0x4000; address += 0x10) {
		if (!jit_functions_find(functions, address, &found))
			continue;
		struct jit_name name = jit_names_join(found.name, &found.parts, &scratch);

		if (strlen(name.name) > 2 * JIT_NAME_MAX_BYTES + 64 ||
		    strlen(name.filename) > JIT_NAME_MAX_BYTES ||
		    strlen(found.filename) > JIT_NAME_MAX_BYTES)
			abort();
	}
}

static void check_answer(const struct jit_request *request, const void *bytes, size_t len)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = NULL;
	struct jit_block_counts counts = { 0 };
	struct jit_answer answer;
	struct jit_block_view view;

	if (jit_answer_open(request, bytes, len, &answer, &view) < 0)
		return;
	if (answer.place.offset < request->place.offset || answer.place.offset > request->size ||
	    answer.place.tail_len > JIT_TAIL_BYTES)
		abort();
	if (jit_functions_new(MAX_BYTES, &functions) < 0)
		return;
	int r = jit_block_add_to(&view, functions, &counts);
	if (r < 0 && r != -ENOSPC && r != -ENOMEM)
		abort();
	if (jit_functions_settle(functions) == 0)
		check_names(functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_request request = { .max_read = 1 << 20 };

	if (size < 3)
		return 0;
	request.place.offset = data[0];
	request.size = (uint64_t)data[0] + ((uint64_t)data[1] << 8);
	request.compares_tail = data[2] & 1;

	/* Aligned as what the agent has. */
	size_t len = size - 3;
	_cleanup_free_ void *bytes = malloc(len > 0 ? len : 1);
	if (!bytes)
		return 0;
	memcpy(bytes, data + 3, len);
	check_answer(&request, bytes, len);
	return 0;
}
