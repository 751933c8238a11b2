/* SPDX-License-Identifier: Apache-2.0 */
/* Summarizes a recording in at most 12 lines on standard output. */
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
	uint64_t nr_lost; /* samples, for whatever reason */
	uint64_t elapsed_ns;
	uint32_t nr_cpus;
	const char *perf_reason; /* why the capture backend perf was used; NULL: it was not */
	char *const *files; /* files that were written; "-" is skipped */
	size_t nr_files;
	const char
		*ssh_connection; /* $SSH_CONNECTION, for a line that fetches the files; or NULL */
	const char *user; /* the user who logged in, or NULL */
	unsigned int columns;
};

/* Errors: -ENOSPC, -ENOMEM. */
int summary_append(const struct summary *summary, struct strbuf *out) must_check;

/* Takes ssh_connection, user and columns from the environment and prints on standard output.
 * Errors: as above, and what write(2) says. */
int summary_print(const struct summary *summary) must_check;

#endif
