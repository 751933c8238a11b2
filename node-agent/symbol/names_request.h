/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a worker to demangle names (worker/names_block.h). Each request has as many names as
 * fit. Only the symbolizer uses it. */
#ifndef SYMBOL_NAMES_REQUEST_H
#define SYMBOL_NAMES_REQUEST_H

#include "base/err.h"
#include "symbol/place_names.h"
#include "symbol/symbol_jobs.h"

#include <stddef.h>

/* Sends names that the job's table wants. Errors: -ENOENT it wants none; those of
 * worker_client_send(). */
int names_request_send(struct symbol_jobs *jobs, struct place_names *names, struct symbol_job *job)
	must_check;

/* Handles the reply, or a negative error. */
void names_request_take(struct symbol_jobs *jobs, struct place_names *names, struct symbol_job *job,
			int error, const void *bytes, size_t len);

#endif
