/* SPDX-License-Identifier: Apache-2.0 */
/* Reads members of JSON in tests; fails the test if one is missing or has another type. */
#ifndef TESTS_UNIT_JSON_MEMBERS_H
#define TESTS_UNIT_JSON_MEMBERS_H

#include "base/json.h"
#include "unit.h"

#include <stddef.h>

#define JSON_MEMBERS_MAX_BYTES ((size_t)64 << 20)

static inline struct json_value *parse_json(const char *text, size_t len)
{
	struct json_value *root = NULL;

	assert_int_equal(json_parse(text, len, JSON_MEMBERS_MAX_BYTES, &root), 0);
	return root;
}

static inline const struct json_value *member(const struct json_value *object, const char *name)
{
	const struct json_value *found = json_find(object, name);

	if (!found)
		fail_msg("no member \"%s\"", name);
	return found;
}

static inline const char *text_of(const struct json_value *object, const char *name)
{
	const char *text = json_text(member(object, name));

	assert_non_null(text);
	return text;
}

static inline double number_of(const struct json_value *object, const char *name)
{
	double number = 0;

	assert_true(json_number(member(object, name), &number));
	return number;
}

static inline const struct json_value *element(const struct json_value *array, size_t index)
{
	const struct json_value *found = json_first_child(array);

	for (; found && index > 0; index--)
		found = json_next_sibling(found);
	assert_non_null(found);
	return found;
}

/* The number at an index of an array. */
static inline size_t index_at(const struct json_value *array, size_t index)
{
	double number = -1;

	assert_true(json_number(element(array, index), &number));
	assert_true(number >= 0);
	return (size_t)number;
}

#endif
