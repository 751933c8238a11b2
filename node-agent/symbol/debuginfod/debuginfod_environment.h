/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the worker, in which libdebuginfod finds its settings. Of the agent's own
 * environment, only the variables for proxies and certificates are passed on. */
#ifndef SYMBOL_DEBUGINFOD_DEBUGINFOD_ENVIRONMENT_H
#define SYMBOL_DEBUGINFOD_DEBUGINFOD_ENVIRONMENT_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define DEBUGINFOD_ENVIRONMENT_MAX 32

/* The settings of the library; strings are borrowed. */
struct debuginfod_settings {
	const char *urls; /* separated by spaces */
	const char *cache_dir;
	uint64_t max_file_bytes;
	uint64_t timeout_ns; /* per file */
};

struct debuginfod_environment {
	char *variables[DEBUGINFOD_ENVIRONMENT_MAX + 1]; /* owned; NULL behind the last one */
	size_t nr_variables;
};

/* Copies the settings. Errors: -ENOMEM. */
int debuginfod_environment_init(struct debuginfod_environment *environment,
				const struct debuginfod_settings *settings) must_check;
void debuginfod_environment_done(struct debuginfod_environment *environment);

#endif
