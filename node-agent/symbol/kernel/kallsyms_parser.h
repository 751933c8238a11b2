/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of /proc/kallsyms. */
#ifndef SYMBOL_KERNEL_KALLSYMS_PARSER_H
#define SYMBOL_KERNEL_KALLSYMS_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kallsyms_line {
	uint64_t address;
	char type; /* as nm(1) has it */
	const char *name; /* not NUL-terminated, as is `module` */
	size_t name_len;
	const char *module; /* without brackets */
	size_t module_len; /* 0: the kernel itself */
};

/* Reads one line, without its newline; false when it is malformed. */
bool kallsyms_parse_line(const char *line, size_t len, struct kallsyms_line *ret_line);

#endif
