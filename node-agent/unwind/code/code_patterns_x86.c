/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code/code_patterns.h"

#include <string.h>

#define FUNCTION_ALIGNMENT 16

struct pattern {
	const char *bytes;
	size_t len;
};

/* Returns the length of the pattern that the code begins with; 0: none. */
static size_t find_pattern(const uint8_t *code, size_t len, const struct pattern *patterns)
{
	for (; patterns->bytes; patterns++)
		if (patterns->len <= len && memcmp(code, patterns->bytes, patterns->len) == 0)
			return patterns->len;
	return 0;
}

/* mov $__NR_rt_sigreturn, %rax (or %eax); syscall. */
size_t code_find_sigreturn(const uint8_t *code, size_t len)
{
	static const struct pattern patterns[] = {
		{ "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9 },
		{ "\xb8\x0f\0\0\0\x0f\x05", 7 },
		{ NULL, 0 },
	};

	return find_pattern(code, len, patterns);
}

/* mov %eax,%edi or %rax,%rdi; call, or the system call exit. */
bool code_ends_thread(const uint8_t *code, size_t len)
{
	static const struct pattern patterns[] = {
		{ "\x89\xc7\xe8", 3 },
		{ "\x48\x89\xc7\xe8", 4 },
		{ "\x89\xc7\x31\xc0\xb0\x3c\x0f\x05", 8 },
		{ NULL, 0 },
	};

	return find_pattern(code, len, patterns) > 0;
}

enum code_start code_find_start(const struct code_insn *insn, uint64_t address,
				enum code_place place)
{
	(void)insn;
	return place != CODE_BEHIND_CALL && address % FUNCTION_ALIGNMENT == 0 ? CODE_POSSIBLE_START
									      : CODE_NO_START;
}
