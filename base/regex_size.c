/* SPDX-License-Identifier: Apache-2.0 */
#include "base/regex_size.h"

#include "base/minmax.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAX_SIZE 1000
#define MAX_DEPTH 50

struct measure {
	uint64_t sizes[MAX_DEPTH + 1]; /* of what is in each open parenthesis so far */
	size_t depth;
	uint64_t last; /* size of what a repetition would repeat; it is counted once */
};

/* Returns the end of a bracket expression, "[]a-z]", which begins at `text`. */
static const char *skip_bracket(const char *text)
{
	text++;
	if (*text == '^')
		text++;
	if (*text == ']')
		text++;
	while (*text && *text != ']') {
		const char end[] = { text[1], ']', '\0' };
		bool is_class = *text == '[' && text[1] && strchr(":.=", text[1]);
		const char *inner = is_class ? strstr(text + 2, end) : NULL;

		text = inner ? inner + 2 : text + 1;
	}
	return *text ? text + 1 : text;
}

/* Reads "{2}", "{2,}" or "{2,5}"; returns how many copies that makes, 1 if it is something else. */
static uint64_t read_bound(const char **text)
{
	uint64_t numbers[2] = { 0 };
	const char *at = *text + 1;
	size_t i = 0;

	for (; isdigit((unsigned char)*at) || (*at == ',' && i == 0); at++) {
		if (*at == ',')
			i++;
		else
			numbers[i] = min_u64(numbers[i] * 10 + (uint64_t)(*at - '0'), MAX_SIZE);
	}
	if (*at != '}')
		return 1;
	*text = at;
	return max_u64(numbers[0] + 1, numbers[1]);
}

static void add(struct measure *measure, uint64_t size)
{
	measure->sizes[measure->depth] += size;
	measure->last = size;
}

static void repeat(struct measure *measure, uint64_t nr_copies)
{
	uint64_t size = measure->last * nr_copies;

	measure->sizes[measure->depth] += size - measure->last;
	measure->last = size;
}

static void close_parenthesis(struct measure *measure)
{
	if (measure->depth == 0)
		return;
	uint64_t size = measure->sizes[measure->depth--] + 1;
	add(measure, size);
}

static bool open_parenthesis(struct measure *measure)
{
	if (measure->depth == MAX_DEPTH)
		return false;
	measure->sizes[++measure->depth] = 0;
	return true;
}

/* A digit behind a backslash is a back-reference. */
static bool add_escaped(struct measure *measure, const char **at)
{
	add(measure, 1);
	if ((*at)[1])
		(*at)++;
	return !isdigit((unsigned char)**at);
}

/* Measures what begins at `*at`, which is moved to its last character. Returns whether it is
 * permitted. */
static bool measure_next(struct measure *measure, const char **at)
{
	switch (**at) {
	case '(':
		return open_parenthesis(measure);
	case ')':
		close_parenthesis(measure);
		return true;
	case '+':
		repeat(measure, 2);
		return true;
	case '{':
		repeat(measure, read_bound(at));
		return true;
	case '[':
		*at = skip_bracket(*at) - 1;
		add(measure, 1);
		return true;
	case '\\':
		return add_escaped(measure, at);
	default:
		add(measure, 1);
		return true;
	}
}

bool regex_size_is_small(const char *text)
{
	struct measure measure = { 0 };

	for (const char *at = text; *at; at++)
		if (!measure_next(&measure, &at) || measure.sizes[measure.depth] > MAX_SIZE)
			return false;
	return true;
}
