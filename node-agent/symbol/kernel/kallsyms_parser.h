/* SPDX-License-Identifier: Apache-2.0 */
/* Parser for the lines of /proc/kallsyms. */
#ifndef SYMBOL_KERNEL_KALLSYMS_PARSER_H
#define SYMBOL_KERNEL_KALLSYMS_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kallsyms_line {
	uint64_t address;
	char type; /* as in nm(1) */
	const char *name; /* not NUL-terminated; neither is `module` */
	size_t name_len;
	const char *module; /* without brackets */
	size_t module_len; /* 0: the kernel itself */
};

/* Parses one line without its newline. Returns false if it is malformed. */
bool kallsyms_parse_line(const char *line, size_t len, struct kallsyms_line *ret_line);

#endif
