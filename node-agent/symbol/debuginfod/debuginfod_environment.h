/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of the worker: libdebuginfod has its settings there. Nothing of ours is passed
 * on but what says how servers are reached: proxies, certificates. */
#ifndef SYMBOL_DEBUGINFOD_DEBUGINFOD_ENVIRONMENT_H
#define SYMBOL_DEBUGINFOD_DEBUGINFOD_ENVIRONMENT_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define DEBUGINFOD_ENVIRONMENT_MAX 32

/* What the library is told; all borrowed. */
struct debuginfod_settings {
	const char *urls; /* separated by spaces */
	const char *cache_dir;
	uint64_t max_file_bytes;
	uint64_t timeout_ns; /* for a file */
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
