/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks.h"

#include "profile/builder.h"

#include "unit.h"

#include <string.h>

#define MAX_BYTES (64 << 20)
#define MAX_FRAMES 512
#define MAX_NAME 4096

/* Strips the mark of its kind from a frame's name. */
static enum frame_kind take_kind(char *name)
{
	size_t len = strlen(name);

	if (len > 4 && strcmp(name + len - 4, "_[k]") == 0) {
		name[len - 4] = '\0';
		return FRAME_KERNEL;
	}
	return name[0] == '[' ? FRAME_STOP : FRAME_NATIVE;
}

static uint32_t add_frame(struct builder *builder, const char *text, size_t len)
{
	struct profile_function function = { 0 };
	struct profile_location location = { .address = builder_peek(builder)->nr_locations };
	char name[MAX_NAME];
	uint32_t id;

	assert_true(len < sizeof(name));
	memcpy(name, text, len);
	name[len] = '\0';
	location.kind = take_kind(name);
	assert_int_equal(builder_add_string(builder, name, &function.name), 0);
	function.system_name = function.name;
	assert_int_equal(builder_add_function(builder, &function, &location.function), 0);
	assert_int_equal(builder_add_location(builder, &location, &id), 0);
	return id;
}

static uint32_t add_stack(struct builder *builder, const char *frames)
{
	uint32_t locations[MAX_FRAMES], id;
	size_t first = MAX_FRAMES;

	for (const char *end; *frames; frames = *end ? end + 1 : end) {
		end = strchrnul(frames, ';');
		assert_true(first > 0);
		locations[--first] = add_frame(builder, frames, (size_t)(end - frames));
	}
	assert_int_equal(builder_add_stack(builder, locations + first, MAX_FRAMES - first, &id), 0);
	return id;
}

struct profile *profile_of_stacks(const struct stack_line *lines, size_t nr)
{
	struct builder *builder = NULL;

	assert_int_equal(builder_new(MAX_BYTES, &builder), 0);
	for (size_t i = 0; i < nr; i++) {
		struct profile_sample sample = {
			.stack = add_stack(builder, lines[i].frames),
			.pid = (uint32_t)i,
			.count = lines[i].count,
		};

		assert_int_equal(builder_add_string(builder, lines[i].comm, &sample.process_comm),
				 0);
		assert_int_equal(builder_add_sample(builder, &sample), 0);
	}
	builder_set_time(builder, 1, 1000000000, 10000000);
	return builder_seal(builder);
}
