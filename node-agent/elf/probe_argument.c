/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/probe_argument.h"

#include "base/parse.h"
#include "bpf/shared/heap.h"

#include <stdbool.h>
#include <string.h>

#define OPERAND_MAX_BYTES 32

int probe_argument_parse_offset(const char **text, uint64_t *ret_place)
{
	bool is_negative = **text == '-';
	const char *cursor = *text + is_negative, *end = cursor + strlen(cursor);
	uint64_t value;

	int r = parse_digits(&cursor, end, 10, &value);
	if (r < 0)
		return r == -ERANGE ? -EOPNOTSUPP : -EINVAL;
	if (value >= HEAP_OFFSET_BIAS)
		return -EOPNOTSUPP;
	value = is_negative ? HEAP_OFFSET_BIAS - value : HEAP_OFFSET_BIAS + value;
	*ret_place = value << HEAP_OFFSET_SHIFT;
	*text = cursor;
	return 0;
}

/* "8@" or "4@". Signs are not important: these arguments are never negative. */
static int parse_size(const char **text, uint64_t *ret_flag)
{
	const char *cursor = *text + (**text == '-');

	if (cursor[0] == '\0' || cursor[1] != '@')
		return -EINVAL;
	if (cursor[0] != '8' && cursor[0] != '4')
		return -EOPNOTSUPP;
	*ret_flag = cursor[0] == '4' ? HEAP_IS_SHORT : 0;
	*text = cursor + 2;
	return 0;
}

/* An operand ends at a blank outside brackets. */
static int take_operand(const char **text, char ret_operand[static OPERAND_MAX_BYTES])
{
	const char *cursor = *text;
	bool is_inside = false;
	size_t len;

	while (*cursor != '\0' && (is_inside || *cursor != ' ')) {
		is_inside = *cursor == '[' || (is_inside && *cursor != ']');
		cursor++;
	}
	len = (size_t)(cursor - *text);
	if (len >= OPERAND_MAX_BYTES)
		return -EOPNOTSUPP;
	memcpy(ret_operand, *text, len);
	ret_operand[len] = '\0';
	*text = cursor;
	return 0;
}

int probe_argument_parse_all(const char *text, int nr_wanted, uint64_t *ret_arguments)
{
	char operand[OPERAND_MAX_BYTES];
	uint64_t arguments = 0, place = 0, flag = 0;

	for (int i = 0; i < nr_wanted; i++) {
		text += strspn(text, " ");
		int r = parse_size(&text, &flag);
		if (r == 0)
			r = take_operand(&text, operand);
		if (r == 0)
			r = probe_argument_parse_operand(operand, &place);
		if (r < 0)
			return r;
		arguments |= HEAP_ARGUMENT(i, place | flag);
	}
	*ret_arguments = arguments;
	return 0;
}
