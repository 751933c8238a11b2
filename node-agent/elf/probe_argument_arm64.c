/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/probe_argument.h"

#include "base/parse.h"
#include "bpf/shared/heap.h"

#include <string.h>

#define WORD_OF_SP 31 /* of struct user_pt_regs */

/* "x0", "w30", "sp". Moves *text behind it. */
static int take_register(const char **text, uint64_t *ret_word)
{
	const char *cursor = *text;
	uint64_t number;

	if (strncmp(cursor, "sp", 2) == 0) {
		*ret_word = WORD_OF_SP;
		*text = cursor + 2;
		return 0;
	}
	if (*cursor != 'x' && *cursor != 'w')
		return -EOPNOTSUPP;
	cursor++;
	int r = parse_digits(&cursor, cursor + strlen(cursor), 10, &number);
	if (r < 0 || number >= WORD_OF_SP)
		return -EINVAL;
	*ret_word = number;
	*text = cursor;
	return 0;
}

/* "x0", "[sp]", "[sp, 16]" */
int probe_argument_parse_operand(const char *operand, uint64_t *ret_place)
{
	uint64_t place = (uint64_t)HEAP_OFFSET_BIAS << HEAP_OFFSET_SHIFT, word = 0;
	bool is_memory = *operand == '[';
	int r;

	if (*operand == '\0')
		return -EINVAL;
	operand += is_memory;
	r = take_register(&operand, &word);
	if (r < 0)
		return r;
	if (is_memory && *operand == ',') {
		operand += 1 + strspn(operand + 1, " ");
		r = probe_argument_parse_offset(&operand, &place);
		if (r < 0)
			return r;
	}
	if (strcmp(operand, is_memory ? "]" : "") != 0)
		return -EINVAL;
	*ret_place = HEAP_REGISTER(word) | (is_memory ? HEAP_IN_MEMORY | place : 0);
	return 0;
}
