/* SPDX-License-Identifier: Apache-2.0 */
#include "idle_capture.h"

#include "capture/sample_source_ops.h"

#include "unit.h"

#define UNWIND_MAX_BYTES ((size_t)16 << 20)

struct idle_source {
	struct sample_source base;
	uint64_t slots[CGROUP_SLOTS]; /* of verdicts, as the next */
	uint32_t cgroup_default;
};

static void close_idle(struct sample_source *source)
{
	unwind_memory_free(source->unwind_memory);
	test_free(source);
}

/* The pipeline asks its source for nothing else. */
static const struct sample_source_ops ops = { .close = close_idle };

static struct sample_source *new_source(void)
{
	struct idle_source *source = test_calloc(1, sizeof(*source));

	source->base.ops = &ops;
	source->base.verdicts.slots = source->slots;
	source->base.cgroup_default = &source->cgroup_default;
	assert_int_equal(unwind_memory_local_new(UNWIND_MAX_BYTES, &source->base.unwind_memory), 0);
	return &source->base;
}

void idle_capture_start(struct idle_capture *capture)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);
	const struct selection_rules rules = { 0 };

	capture->source = new_source();
	const struct unwind_tables_opts opts = {
		.memory = sample_source_unwind_memory(capture->source),
		.max_bytes = UNWIND_MAX_BYTES,
	};
	assert_int_equal(unwind_tables_start(&opts, &capture->tables), 0);
	assert_int_equal(selection_new(&rules, &message, &capture->selection), 0);
}

void idle_capture_stop(struct idle_capture *capture)
{
	selection_free(capture->selection);
	unwind_tables_stop(capture->tables);
	sample_source_close(capture->source);
}
