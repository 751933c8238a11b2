/* SPDX-License-Identifier: Apache-2.0 */
/* Summarizes a recording in at most 12 lines. */
#ifndef COMMANDS_SUMMARY_H
#define COMMANDS_SUMMARY_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

#define SUMMARY_LINES_MAX 12

/* The input of the summary; all members are borrowed. */
struct summary {
	const struct profile *profile; /* sealed */
	uint64_t nr_lost; /* samples, for any reason */
	uint64_t elapsed_ns;
	uint32_t nr_cpus; /* 0: not known */
	const char *perf_reason; /* why the capture backend perf was used; NULL: it was not */
	char *const *files; /* files that were written; "-" is skipped */
	size_t nr_files;
	/* $SSH_CONNECTION, for a line that says how to fetch the files; or NULL. */
	const char *ssh_connection;
	const char *user; /* the user who logged in, or NULL */
	unsigned int columns; /* of the terminal */
};

/* Appends the summary. Errors: -ENOSPC, -ENOMEM. */
int summary_append(const struct summary *summary, struct strbuf *out) must_check;

/* Appends who ended whose waits, in at most ten lines; nothing if no wakers were recorded. Errors:
 * as above. */
int summary_append_wakers(const struct summary *summary, struct strbuf *out) must_check;

#endif
