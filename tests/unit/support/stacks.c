/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks.h"

#include "profile/builder.h"

#include "unit.h"

#include <stdbool.h>
#include <string.h>

#define MAX_BYTES (64 << 20)
#define MAX_FRAMES 512
#define MAX_LINES 16
#define MAX_NAME 4096

static const struct {
	const char *mark;
	enum frame_kind kind;
} marks[] = {
	{ "_[k]", FRAME_KERNEL },
	{ "_[g]", FRAME_GO },
	{ "_[r]", FRAME_RUST },
	/* the outermost function tells its kind */
	{ "_[j]", FRAME_JIT },
	{ "_[p]", FRAME_CPYTHON },
	{ "_[i]", FRAME_NATIVE },
};

/* Strips the mark of its kind from a frame's name. */
static enum frame_kind take_kind(char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < array_len(marks) && len > 4; i++) {
		if (strcmp(name + len - 4, marks[i].mark) == 0) {
			name[len - 4] = '\0';
			return marks[i].kind;
		}
	}
	return name[0] == '[' ? FRAME_STOP : FRAME_NATIVE;
}

/* The line of a function of that name, and its kind. */
static struct profile_line add_line(struct builder *builder, const char *text, size_t len,
				    enum frame_kind *ret_kind)
{
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	char name[MAX_NAME];

	assert_true(len < sizeof(name));
	memcpy(name, text, len);
	name[len] = '\0';
	*ret_kind = take_kind(name);
	assert_int_equal(builder_add_string(builder, name, &function.name), 0);
	function.system_name = function.name;
	assert_int_equal(builder_add_function(builder, &function, &line.function), 0);
	return line;
}

static bool is_inlined(const char *text, size_t len)
{
	return len > 4 && strncmp(text + len - 4, "_[i]", 4) == 0;
}

/* Adds the frame at the beginning of the text and what is inlined there;
 * returns the text behind them. */
static const char *add_frame(struct builder *builder, const char *text, uint32_t *ret_id)
{
	struct profile_location location = { .address = builder_peek(builder)->nr_locations };
	struct profile_line lines[MAX_LINES];
	size_t first = MAX_LINES, len;

	do {
		enum frame_kind kind;

		len = strcspn(text, ";");
		assert_true(first > 0);
		lines[--first] = add_line(builder, text, len, &kind);
		if (first == MAX_LINES - 1)
			location.kind = kind;
		text += text[len] ? len + 1 : len;
	} while (is_inlined(text, strcspn(text, ";")));
	assert_int_equal(builder_add_named_location(builder, &location, lines + first,
						    MAX_LINES - first, ret_id),
			 0);
	return text;
}

static uint32_t add_stack(struct builder *builder, const char *frames)
{
	uint32_t locations[MAX_FRAMES], id;
	size_t first = MAX_FRAMES;

	while (*frames) {
		assert_true(first > 0);
		frames = add_frame(builder, frames, &locations[--first]);
	}
	assert_int_equal(builder_add_stack(builder, locations + first, MAX_FRAMES - first, &id), 0);
	return id;
}

static void add_sample(struct builder *builder, const char *frames, const char *comm,
		       struct profile_sample sample)
{
	sample.stack = add_stack(builder, frames);
	assert_int_equal(builder_add_string(builder, comm, &sample.process_comm), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
}

struct profile *profile_of_stacks(const struct stack_line *lines, size_t nr)
{
	struct builder *builder = NULL;

	assert_int_equal(builder_new(MAX_BYTES, &builder), 0);
	for (size_t i = 0; i < nr; i++)
		add_sample(builder, lines[i].frames, lines[i].comm,
			   (struct profile_sample){ .pid = (uint32_t)i, .count = lines[i].count });
	builder_set_time(builder, 1, 1000000000, 10000000);
	return builder_seal(builder);
}

struct profile *profile_of_waits(const struct wait_line *lines, size_t nr)
{
	struct builder *builder = NULL;

	assert_int_equal(builder_new(MAX_BYTES, &builder), 0);
	builder_set_type(builder, PROFILE_OFF_CPU);
	for (size_t i = 0; i < nr; i++)
		add_sample(builder, lines[i].frames, lines[i].comm,
			   (struct profile_sample){ .pid = (uint32_t)i,
						    .count = lines[i].time_ns,
						    .reason = lines[i].reason });
	builder_set_time(builder, 1, 1000000000, 1);
	return builder_seal(builder);
}
