/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/probe_argument.h"

#include "base/parse.h"
#include "bpf/shared/heap.h"

#include <string.h>

/* The names of each register for 8 and 4 bytes; its place in struct pt_regs. */
static const struct {
	const char *names[2];
	uint64_t word;
} registers[] = {
	{ { "rax", "eax" }, 10 }, { { "rbx", "ebx" }, 5 },  { { "rcx", "ecx" }, 11 },
	{ { "rdx", "edx" }, 12 }, { { "rsi", "esi" }, 13 }, { { "rdi", "edi" }, 14 },
	{ { "rbp", "ebp" }, 4 },  { { "rsp", "esp" }, 19 }, { { "r8", "r8d" }, 9 },
	{ { "r9", "r9d" }, 8 },	  { { "r10", "r10d" }, 7 }, { { "r11", "r11d" }, 6 },
	{ { "r12", "r12d" }, 3 }, { { "r13", "r13d" }, 2 }, { { "r14", "r14d" }, 1 },
	{ { "r15", "r15d" }, 0 },
};

static int find_register(const char *name, size_t len, uint64_t *ret_word)
{
	for (size_t i = 0; i < array_len(registers); i++)
		for (size_t n = 0; n < 2; n++)
			if (strlen(registers[i].names[n]) == len &&
			    memcmp(registers[i].names[n], name, len) == 0) {
				*ret_word = registers[i].word;
				return 0;
			}
	return -EOPNOTSUPP;
}

/* "%rdi", "(%rbp)", "-16(%rbp)" */
int probe_argument_parse_operand(const char *operand, uint64_t *ret_place)
{
	uint64_t place = (uint64_t)HEAP_OFFSET_BIAS << HEAP_OFFSET_SHIFT, word = 0;
	size_t len;

	if (*operand == '\0')
		return -EINVAL;
	if (*operand == '%') {
		int r = find_register(operand + 1, strlen(operand + 1), &word);
		if (r == 0)
			*ret_place = HEAP_REGISTER(word);
		return r;
	}
	if (*operand != '(' && *operand != '-' && (*operand < '0' || *operand > '9'))
		return -EOPNOTSUPP; /* a constant, or a variable */
	if (*operand != '(') {
		int r = probe_argument_parse_offset(&operand, &place);
		if (r < 0)
			return r;
	}
	len = strlen(operand);
	if (len < 4 || operand[0] != '(' || operand[1] != '%' || operand[len - 1] != ')')
		return -EINVAL;
	int r = find_register(operand + 2, len - 3, &word); /* one without an index */
	if (r == 0)
		*ret_place = HEAP_REGISTER(word) | HEAP_IN_MEMORY | place;
	return r;
}
