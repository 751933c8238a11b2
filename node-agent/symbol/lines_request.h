/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a worker for source lines. A worker is asked once for the key of the file that they
 * come from, and once for each compile unit. Lines that are known already come from the line store.
 * Only the symbolizer uses it. */
#ifndef SYMBOL_LINES_REQUEST_H
#define SYMBOL_LINES_REQUEST_H

#include "base/err.h"
#include "symbol/name_store.h"
#include "symbol/symbol_jobs.h"

#include <stddef.h>
#include <stdint.h>

/* Requests the key of the file that the lines of the job's table come from. `seed` is the seed of
 * fingerprints. Errors: as worker_client_send(). */
int lines_request_send_key(struct symbol_jobs *jobs, struct symbol_job *job, uint64_t seed)
	must_check;

/* Handles the reply, or a negative error. */
void lines_request_take_key(struct symbol_jobs *jobs, struct name_store *store,
			    struct symbol_job *job, int error, const void *bytes, size_t len);

/* Requests the lines that the job's table wants and does not have. Ends the job if there are none.
 * Errors: as above. */
int lines_request_send(struct symbol_jobs *jobs, struct name_store *store, struct symbol_job *job)
	must_check;

/* Handles the reply, or a negative error. */
void lines_request_take(struct symbol_jobs *jobs, struct name_store *store, struct symbol_job *job,
			int error, const void *bytes, size_t len);

#endif
