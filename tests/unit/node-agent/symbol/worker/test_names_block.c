/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/worker/names_block.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "symbol/demangle/demangle.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NAMES 4
#define MAX_DETAIL 2

/* Parses a copy of exactly that size, so that a sanitizer sees every byte too many. */
static int parse(uint32_t nr_names, uint32_t detail, const char *names, size_t len,
		 struct names_block *ret_block, char **ret_bytes)
{
	const struct names_header header = { nr_names, detail };
	char *bytes = malloc(sizeof(header) + len);

	assert_non_null(bytes);
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), names, len);
	*ret_bytes = bytes;
	return names_block_parse(bytes, sizeof(header) + len, MAX_NAMES, MAX_DETAIL, ret_block);
}

static void names_are_found_one_behind_the_other(void **state)
{
	static const char names[] = "one\0\0three"; /* and a NUL */
	_cleanup_free_ char *bytes = NULL;
	struct names_block block;
	(void)state;

	assert_int_equal(parse(3, 1, names, sizeof(names), &block, &bytes), 0);
	assert_int_equal(block.nr_names, 3);
	assert_int_equal(block.detail, 1);
	assert_string_equal(block.first, "one");
	assert_string_equal(names_block_next(block.first), "");
	assert_string_equal(names_block_next(names_block_next(block.first)), "three");
}

static void what_does_not_add_up_is_refused(void **state)
{
	static const struct {
		uint32_t nr_names;
		uint32_t detail;
		const char *names;
		size_t len;
	} cases[] = {
		{ 0, 0, "", 0 }, /* no name */
		{ 0, 0, "a", 2 }, /* and yet one */
		{ 1, 0, "", 0 }, /* none of one */
		{ 1, 0, "a", 1 }, /* no end */
		{ 1, 0, "a\0b", 4 }, /* one too many */
		{ 1, 0, "a\0", 3 }, /* an empty one too many */
		{ 2, 0, "a", 2 }, /* one too few */
		{ 2, 0, "a\0b", 3 }, /* no end of the last one */
		{ MAX_NAMES + 1, 0, "a\0b\0c\0d\0e", 10 },
		{ UINT32_MAX, 0, "a", 2 },
		{ 1, MAX_DETAIL + 1, "a", 2 },
		{ 1, UINT32_MAX, "a", 2 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_free_ char *bytes = NULL;
		struct names_block block = { .nr_names = 7 };

		assert_int_equal(parse(cases[i].nr_names, cases[i].detail, cases[i].names,
				       cases[i].len, &block, &bytes),
				 -EBADMSG);
		assert_int_equal(block.nr_names, 7);
	}
}

static void half_a_header_is_refused(void **state)
{
	const struct names_header header = { 1, 0 };
	struct names_block block;
	(void)state;

	for (size_t len = 0; len <= sizeof(header); len++)
		assert_int_equal(names_block_parse(&header, len, MAX_NAMES, MAX_DETAIL, &block),
				 -EBADMSG);
}

static void a_name_has_a_longest_length(void **state)
{
	static char name[DEMANGLE_MAX_BYTES + 2];
	struct names_block block;
	(void)state;

	memset(name, 'n', sizeof(name) - 1);
	for (size_t len = DEMANGLE_MAX_BYTES - 1; len <= DEMANGLE_MAX_BYTES + 1; len++) {
		const char *end = name + sizeof(name) - len - 1;
		_cleanup_free_ char *bytes = NULL;

		assert_int_equal(parse(1, 0, end, len + 1, &block, &bytes),
				 len <= DEMANGLE_MAX_BYTES ? 0 : -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found_one_behind_the_other),
		cmocka_unit_test(what_does_not_add_up_is_refused),
		cmocka_unit_test(half_a_header_is_refused),
		cmocka_unit_test(a_name_has_a_longest_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
