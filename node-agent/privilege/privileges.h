/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this process may profile the machine, and what to do when it may not. */
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
	uint64_t set; /* with nothing else in it */
	enum backend_set needed_by; /* BACKENDS_NONE: all work without it */
	const char *loss; /* what is missing without it */
};

extern const struct capability privileges_table[];
extern const size_t nr_privileges;

/* 0 when one of the capture backends that are wanted can do with what there is, or -EPERM and
 * one message with the remedy: the sudo line for a user, the capabilities to add for a root that
 * lacks them. */
int privileges_check(enum backend_set wanted, struct strbuf *message) must_check;

/* The same for a given process: its capabilities, effective user, program and arguments. */
struct privileges_process {
	enum backend_set wanted;
	uint64_t capabilities; /* in force */
	bool is_root;
	const char *program; /* absolute path */
	const char *args; /* nr_args strings, each with its NUL; the first is the program's name */
	size_t args_len;
};
int privileges_check_process(const struct privileges_process *process, struct strbuf *message)
	must_check;

#endif
