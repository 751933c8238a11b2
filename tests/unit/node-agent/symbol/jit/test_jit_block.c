/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks as workers write them, and as a compromised worker may write them. */
#include "symbol/jit/jit_block.h"

#include "jit_fixture.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <string.h>

#include "unit.h"

#define MAX_BYTES ((size_t)1 << 20)

/* An answer with three functions, of which one is moved, their lines, and one waiting line. */
struct sample {
	struct jit_request request;
	struct strbuf bytes;
};

static int setup(void **state)
{
	struct sample *sample = calloc(1, sizeof(*sample));
	const struct jit_answer answer = { .nr_read = 1000, .place = { .offset = 1000 } };
	_cleanup_(jit_writer_done) struct jit_writer writer;
	static const struct jit_code codes[] = {
		{ .address = 0x1000, .nr_bytes = 0x10, .name = "JS:*f /a.js:1:1" },
		{ .address = 0x2000, .nr_bytes = 0x20, .name = "g", .has_index = true, .index = 5 },
	};

	jit_writer_init(&writer, MAX_BYTES, false);
	jit_writer_add_line(&writer, 0, 1, "a.js");
	jit_writer_add_line(&writer, 8, 2, "a.js");
	jit_writer_add_line(&writer, 12, 3, "b.js");
	for (size_t i = 0; i < array_len(codes); i++) {
		struct jit_code code = codes[i];

		code.parts = jit_names_split(code.name, false);
		jit_writer_add(&writer, &code);
	}
	jit_writer_drop_lines(&writer);
	jit_writer_move(&writer, 5, 0x3000, 0x20);
	jit_writer_add_line(&writer, 4, 4, "c.js");
	sample->request = (struct jit_request){
		.source = JIT_SOURCE_MAP,
		.size = 2000,
		.max_read = 2000,
	};
	sample->bytes = strbuf_with_max(MAX_BYTES);
	strbuf_append(&sample->bytes, &answer, sizeof(answer));
	assert_int_equal(jit_writer_finish(&writer, &sample->bytes), 0);
	*state = sample;
	return 0;
}

static int teardown(void **state)
{
	struct sample *sample = *state;

	strbuf_done(&sample->bytes);
	free(sample);
	return 0;
}

/* Checks the answer and adds it as the agent does. */
static int take(const struct sample *sample, struct jit_functions *functions,
		struct jit_block_counts *counts)
{
	struct jit_answer answer;
	struct jit_block_view view;

	int r = jit_answer_open(&sample->request, sample->bytes.data, sample->bytes.len, &answer,
				&view);
	if (r == 0)
		r = jit_block_add_to(&view, functions, counts);
	return r == 0 ? jit_functions_settle(functions) : r;
}

static struct jit_functions *new_functions(size_t max_bytes)
{
	struct jit_functions *functions = NULL;

	assert_int_equal(jit_functions_new(max_bytes, &functions), 0);
	return functions;
}

static void a_block_says_what_was_written(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = new_functions(MAX_BYTES);
	const struct jit_code last = { .address = 0x4000, .nr_bytes = 8, .name = "h" };
	struct jit_block_counts counts = { 0 };
	struct jit_found found;

	assert_int_equal(take(*state, functions, &counts), 0);
	assert_int_equal(counts.nr_bad + counts.nr_lines_dropped, 0);
	assert_true(jit_functions_find(functions, 0x1009, &found));
	assert_string_equal(found.name, "JS:*f /a.js:1:1");
	assert_int_equal(found.parts.shape, JIT_NAME_SOURCE);
	assert_string_equal(found.filename, "a.js");
	assert_int_equal(found.line, 2);
	assert_true(jit_functions_find(functions, 0x100f, &found));
	assert_string_equal(found.filename, "b.js");
	assert_true(jit_functions_find(functions, 0x301f, &found));
	assert_string_equal(found.name, "g");
	assert_int_equal(found.line, 0);

	/* The waiting line belongs to the next function. */
	assert_int_equal(jit_functions_add(functions, &last), 0);
	assert_int_equal(jit_functions_settle(functions), 0);
	assert_true(jit_functions_find(functions, 0x4004, &found));
	assert_string_equal(found.filename, "c.js");
}

static void a_move_of_an_unknown_function_is_bad(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = new_functions(MAX_BYTES);
	_cleanup_(jit_writer_done) struct jit_writer writer;
	(void)state;

	jit_writer_init(&writer, MAX_BYTES, false);
	jit_writer_move(&writer, 5, 0x3000, 0x20);
	jit_fixture_add(&writer, functions);
	assert_int_equal(writer.nr_bad, 1);
}

static void impossible_code_is_not_written(void **state)
{
	static const struct jit_code codes[] = {
		{ .address = 0x1000, .nr_bytes = 0, .name = "f" },
		{ .address = 0x1000,
		  .nr_bytes = (uint64_t)JIT_FUNCTION_MAX_BYTES + 1,
		  .name = "f" },
		{ .address = UINT64_MAX - 4, .nr_bytes = 10, .name = "f" },
	};
	_cleanup_(jit_functions_freep) struct jit_functions *functions = new_functions(MAX_BYTES);
	_cleanup_(jit_writer_done) struct jit_writer writer;
	(void)state;

	jit_writer_init(&writer, MAX_BYTES, false);
	for (size_t i = 0; i < array_len(codes); i++) {
		jit_writer_add(&writer, &codes[i]);
		jit_writer_move(&writer, 1, codes[i].address, codes[i].nr_bytes);
	}
	assert_int_equal(writer.nr_bad, 6);
	jit_fixture_add(&writer, functions);
	assert_int_equal(jit_functions_settle(functions), 0);
	assert_int_equal(jit_functions_count(functions), 0);
}

#define ANSWER(field) offsetof(struct jit_answer, field)
#define BLOCK(field) (sizeof(struct jit_answer) + offsetof(struct jit_block, field))
#define CODE(nr, field)                                                                            \
	(sizeof(struct jit_answer) + sizeof(struct jit_block) +                                    \
	 (nr) * sizeof(struct jit_block_code) + offsetof(struct jit_block_code, field))
#define PART(nr, field) (CODE(nr, parts) + offsetof(struct jit_name_parts, field))
#define LINE(nr, field)                                                                            \
	(CODE(3, address) + (nr) * sizeof(struct jit_block_line) +                                 \
	 offsetof(struct jit_block_line, field))

/* A changed number, and whether the answer is still valid. */
static const struct {
	size_t at;
	size_t len;
	uint64_t value;
	bool is_fine;
} changes[] = {
	{ ANSWER(place.offset), 8, 2000, true },
	{ ANSWER(place.offset), 8, 2001, false }, /* after the end of the file */
	{ ANSWER(place.offset), 8, UINT64_MAX, false },
	{ ANSWER(place.offset), 8, 1, false }, /* more functions than bytes */
	{ ANSWER(place.tail_len), 4, JIT_TAIL_BYTES, true },
	{ ANSWER(place.tail_len), 4, JIT_TAIL_BYTES + 1, false },
	{ ANSWER(place.dump.nr_record_bytes), 8, UINT64_MAX, true }, /* for the worker to check */
	{ ANSWER(is_rewritten), 1, 1, false }, /* not requested */
	{ ANSWER(is_rewritten), 1, 2, false },
	{ ANSWER(is_damaged), 1, 1, true },
	{ ANSWER(is_damaged), 1, 2, false },
	{ ANSWER(has_more), 1, 1, true },
	{ ANSWER(has_more), 1, 2, false },
	{ ANSWER(nr_read), 8, 2000 + JIT_PIECE_BYTES, true },
	{ ANSWER(nr_read), 8, 2001 + JIT_PIECE_BYTES, false },
	{ ANSWER(nr_bad), 8, 1001, true },
	{ ANSWER(nr_bad), 8, 1002, false },
	{ BLOCK(nr_codes), 4, 2, false },
	{ BLOCK(nr_codes), 4, 4, false },
	{ BLOCK(nr_codes), 4, UINT32_MAX, false },
	{ BLOCK(nr_lines), 4, 3, false },
	{ BLOCK(nr_lines), 4, UINT32_MAX, false },
	{ BLOCK(nr_string_bytes), 4, 0, false },
	{ BLOCK(nr_string_bytes), 4, UINT32_MAX, false },
	{ BLOCK(drops_lines), 4, 1, true },
	{ BLOCK(drops_lines), 4, 2, false },
	{ CODE(0, address), 8, UINT64_MAX, false },
	{ CODE(0, nr_bytes), 4, 0, false },
	{ CODE(0, nr_bytes), 4, JIT_FUNCTION_MAX_BYTES + 1, false },
	{ CODE(0, name), 4, UINT32_MAX, false },
	{ CODE(1, name), 4, 0, false }, /* before the end of the first name */
	{ CODE(0, nr_lines), 4, 4, true },
	{ CODE(0, nr_lines), 4, 5, false },
	{ CODE(1, nr_lines), 4, UINT32_MAX, false },
	{ CODE(0, line_shift), 2, JIT_BLOCK_MAX_SHIFT + 1, false },
	{ CODE(0, kind), 1, JIT_BLOCK_ADD_WITH_INDEX, true },
	{ CODE(0, kind), 1, JIT_BLOCK_MOVE, false }, /* with lines */
	{ CODE(0, kind), 1, JIT_BLOCK_KINDS, false },
	{ CODE(0, drops_lines), 1, 2, false },
	{ CODE(2, name), 4, 1, false }, /* a move has no name */
	{ CODE(2, nr_lines), 4, 1, false },
	{ PART(0, first), 2, UINT16_MAX, false },
	{ PART(0, second_len), 2, 100, false },
	{ PART(0, base), 2, 0, false },
	{ PART(0, shape), 1, JIT_NAME_SHAPES, false },
	{ PART(1, language), 1, 200, false },
	{ LINE(0, offset), 4, UINT32_MAX, false },
	{ LINE(0, line), 4, 0, false },
	{ LINE(0, line), 4, (uint64_t)INT32_MAX + 1, false },
	{ LINE(0, filename), 4, JIT_BLOCK_SAME_FILE, true },
	{ LINE(0, filename), 4, JIT_BLOCK_SAME_FILE - 1, false },
	{ LINE(2, filename), 4, 0, false }, /* before the end of the first filename */
};

static void impossible_numbers_are_refused(void **state)
{
	struct sample *sample = *state;

	for (size_t i = 0; i < array_len(changes); i++) {
		_cleanup_(jit_functions_freep) struct jit_functions *functions = new_functions(
			MAX_BYTES);
		struct jit_block_counts counts = { 0 };
		uint64_t before = 0;

		memcpy(&before, sample->bytes.data + changes[i].at, changes[i].len);
		memcpy(sample->bytes.data + changes[i].at, &changes[i].value, changes[i].len);
		int r = take(sample, functions, &counts);
		memcpy(sample->bytes.data + changes[i].at, &before, changes[i].len);
		if (r != (changes[i].is_fine ? 0 : -EBADMSG))
			fail_msg("row %zu: %d", i, r);
		if (r < 0)
			assert_int_equal(jit_functions_count(functions), 0);
	}
}

static void truncated_answers_are_refused(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = new_functions(MAX_BYTES);
	struct jit_block_counts counts = { 0 };
	struct sample *sample = *state;
	size_t whole = sample->bytes.len;

	for (sample->bytes.len = 0; sample->bytes.len < whole; sample->bytes.len++)
		assert_int_equal(take(sample, functions, &counts), -EBADMSG);
	sample->bytes.data[whole - 1] = 'x'; /* the last string is not terminated */
	assert_int_equal(take(sample, functions, &counts), -EBADMSG);
	strbuf_append_char(&sample->bytes, '\0');
	assert_int_equal(take(sample, functions, &counts), -EBADMSG);
}

static void flip_bit(char *byte)
{
	*byte = (char)((unsigned char)*byte ^ 1U << rand() % 8);
}

/* An answer with random changes is refused or has only valid functions. */
static void changed_answers_do_no_harm(void **state)
{
	struct sample *sample = *state;
	_cleanup_free_ char *good = malloc(sample->bytes.len);
	unsigned int nr_refused = 0;

	memcpy(good, sample->bytes.data, sample->bytes.len);
	srand(1);
	for (unsigned int i = 0; i < 20000; i++) {
		_cleanup_(jit_functions_freep) struct jit_functions *functions = new_functions(
			64 << 10);
		struct jit_block_counts counts = { 0 };

		memcpy(sample->bytes.data, good, sample->bytes.len);
		for (int n = 1 + rand() % 4; n > 0; n--)
			flip_bit(&sample->bytes.data[(size_t)rand() % sample->bytes.len]);
		nr_refused += take(sample, functions, &counts) == -EBADMSG;
		for (uint64_t address = 0; address < 0x4000; address += 8) {
			struct jit_found found;

			if (jit_functions_find(functions, address, &found))
				assert_true(jit_names_can_have(&found.parts, strlen(found.name)));
		}
	}
	assert_in_range(nr_refused, 1000, 19999);
}

static void a_limit_keeps_the_functions_before_it(void **state)
{
	enum { NR = 4000 };
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
	_cleanup_(jit_functions_freep) struct jit_functions *functions = new_functions(100 << 10);
	_cleanup_(jit_writer_done) struct jit_writer writer;
	struct jit_block_counts counts = { 0 };
	struct jit_code code = {
		.nr_bytes = 16,
		.name = "f",
		.parts = jit_names_split("f", false),
	};
	struct jit_block_view view;
	struct jit_found found;
	(void)state;

	jit_writer_init(&writer, MAX_BYTES, false);
	for (code.address = 0x10; code.address <= NR * 16; code.address += 16)
		jit_writer_add(&writer, &code);
	assert_int_equal(jit_writer_finish(&writer, &bytes), 0);
	assert_int_equal(jit_block_open(bytes.data, bytes.len, &view), 0);
	assert_int_equal(jit_block_add_to(&view, functions, &counts), -ENOSPC);
	assert_int_equal(jit_functions_settle(functions), 0);
	assert_true(jit_functions_find(functions, 0x10, &found));
	assert_false(jit_functions_find(functions, NR * 16, &found));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_block_says_what_was_written),
		cmocka_unit_test(a_move_of_an_unknown_function_is_bad),
		cmocka_unit_test(impossible_code_is_not_written),
		TEST(impossible_numbers_are_refused),
		TEST(truncated_answers_are_refused),
		TEST(changed_answers_do_no_harm),
		cmocka_unit_test(a_limit_keeps_the_functions_before_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
