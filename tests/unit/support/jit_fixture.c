/* SPDX-License-Identifier: Apache-2.0 */
#include "jit_fixture.h"

#include "base/cleanup.h"
#include "unit.h"

#define MAX_BLOCK_BYTES ((size_t)64 << 20)

void jit_fixture_add(struct jit_writer *writer, struct jit_functions *functions)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BLOCK_BYTES);
	struct jit_block_counts counts = { 0 };
	uint64_t nr_bad = writer->nr_bad;
	struct jit_block_view view;

	assert_int_equal(jit_writer_finish(writer, &bytes), 0);
	assert_int_equal(jit_block_open(bytes.data, bytes.len, &view), 0);
	assert_int_equal(jit_block_add_to(&view, functions, &counts), 0);
	jit_writer_done(writer);
	jit_writer_init(writer, writer->max_bytes, writer->is_java);
	writer->nr_bad = nr_bad + counts.nr_bad;
}

int jit_fixture_answer(const struct jit_request *request, int fd, struct strbuf *reply)
{
	struct worker_call call = {
		.request = {
			.kind = JIT_REQUEST_READ,
			.nr_bytes = sizeof(*request),
			.max_bytes = reply->max,
		},
		.bytes = (char *)request,
		.nr_fds = 1,
		.fds = { fd },
	};

	return jit_worker_read(&call, reply, NULL);
}
