/* SPDX-License-Identifier: Apache-2.0 */
/* The dialogue with a worker about source lines. Which file the lines come from is asked once a
 * file, and each unit of it once: what is known already is looked up here. For the loader. */
#ifndef SYMBOL_LINES_REQUEST_H
#define SYMBOL_LINES_REQUEST_H

#include "base/err.h"
#include "symbol/name_store.h"
#include "symbol/symbol_jobs.h"

#include <stddef.h>
#include <stdint.h>

/* Asks which file the lines of the job's table come from; `seed` is that of fingerprints. Errors:
 * as worker_client_send(). */
int lines_request_send_key(struct symbol_jobs *jobs, struct symbol_job *job, uint64_t seed)
	must_check;

/* Remembers the answer, or that there is none. */
void lines_request_take_key(struct symbol_jobs *jobs, struct name_store *store,
			    struct symbol_job *job, int error, const void *bytes, size_t len);

/* Asks for the lines that the job's table wants and that are not known. Where none are left the
 * job has ended. Errors: as above. */
int lines_request_send(struct symbol_jobs *jobs, struct name_store *store, struct symbol_job *job)
	must_check;

/* Remembers the answer, or that there is none. */
void lines_request_take(struct symbol_jobs *jobs, struct name_store *store, struct symbol_job *job,
			int error, const void *bytes, size_t len);

#endif
