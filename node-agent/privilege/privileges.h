/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether this process may profile the machine, and says what to do if it may not. */
#ifndef PRIVILEGE_PRIVILEGES_H
#define PRIVILEGE_PRIVILEGES_H

#include "base/err.h"
#include "base/strbuf.h"
#include "privilege/backend_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capability {
	const char *name; /* without CAP_, as Kubernetes writes it */
	uint64_t set; /* a set with this capability alone */
	enum backend_set needed_by; /* BACKENDS_NONE: all backends work without it */
	const char *loss; /* a sentence: what does not work without it */
};

extern const struct capability privileges_table[];
extern const size_t nr_privileges;

/* Checks that this process has the privileges that one of the wanted capture backends needs. On
 * failure `reterr_msg` has one message with the remedy: for a user the line to run with sudo, for
 * root the capabilities to add. Errors: -EPERM. */
int privileges_check(enum backend_set wanted, struct strbuf *message) must_check;

/* The same check for a given process. */
struct privileges_process {
	enum backend_set wanted;
	uint64_t capabilities; /* in force */
	bool is_root;
	const char *program; /* absolute path */
	const char
		*args; /* nr_args strings, each with its NUL; the first one is the program's name */
	size_t args_len;
};
int privileges_check_process(const struct privileges_process *process, struct strbuf *message)
	must_check;

#endif
