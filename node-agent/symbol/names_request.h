/* SPDX-License-Identifier: Apache-2.0 */
/* The dialogue with a worker about names that are to be demangled (worker/names_block.h): as many
 * at a time as fit into a request. Only the loader uses it. */
#ifndef SYMBOL_NAMES_REQUEST_H
#define SYMBOL_NAMES_REQUEST_H

#include "base/err.h"
#include "symbol/place_names.h"
#include "symbol/symbol_jobs.h"

#include <stddef.h>

/* Asks for names that the job's table wants. Errors: -ENOENT it wants none, as
 * worker_client_send(). */
int names_request_send(struct symbol_jobs *jobs, struct place_names *names, struct symbol_job *job)
	must_check;

/* Handles the answer, or a negative error. */
void names_request_take(struct symbol_jobs *jobs, struct place_names *names, struct symbol_job *job,
			int error, const void *bytes, size_t len);

#endif
