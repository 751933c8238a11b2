/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of the symbol workers: one in each lane (worker/worker_lanes.h). A job has limits of
 * time and CPU time. When it exceeds them, the next step depends on the lane:
 *
 *	fast lane, first try	a file of which nothing was read yet waits again, behind others;
 *				any other job moves to the slow lane
 *	fast lane, full time	the job moves to the slow lane, and its owners are punished
 *	slow lane		the job has failed
 *
 * Requests for names and lines are not charged to their owners and have no first try, as no file
 * waits behind them. Only the symbolizer uses jobs. */
#ifndef SYMBOL_SYMBOL_JOBS_H
#define SYMBOL_SYMBOL_JOBS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "symbol/elf_cache_opts.h"
#include "symbol/file_registry.h"
#include "symbol/name_store.h"
#include "symbol/name_table.h"
#include "symbol/opener/debug_files.h"
#include "worker/worker_lanes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum symbol_job_kind {
	JOB_NONE,
	JOB_FINGERPRINT, /* of a file that waited */
	JOB_TABLE, /* its own symbols */
	JOB_CRC, /* of a file that may be its debug file */
	JOB_DEBUG_TABLE, /* symbols of its debug file */
	JOB_NAMES, /* names of a table that are to be demangled */
	JOB_LINES_KEY, /* key of the file that a table's source lines come from */
	JOB_LINES, /* source lines of a table */
};

struct symbol_job {
	enum symbol_job_kind kind;
	enum worker_lane lane;
	struct file_to_read file; /* owned; taken from the registry */
	struct elf_fingerprint print;
	bool has_print;
	struct name_table *table; /* borrowed; NULL until symbol_job_set_table() */
	struct debug_file debug; /* fd -EBADF: no candidate is being examined */
	size_t nth_debug; /* number of candidates so far */
	bool is_shared; /* other files may have the table, too */
	bool is_downloaded; /* the debug file comes from debuginfod */
	bool is_try; /* the request has little time (worker/worker_lanes.h) */
	bool is_late; /* the request is about a file whose owners come last */
	uint64_t cpu_ns; /* CPU time of the lane's workers when the request was sent */
	size_t nr_sent; /* number of addresses (JOB_LINES) or names (JOB_NAMES) in the request */
	uint64_t names_age; /* JOB_NAMES: place_names_age() at that time */
};

struct symbol_jobs;

/* Starts no worker yet; `registry` and `store` are borrowed. Errors: -ENOMEM. */
int symbol_jobs_new(const struct elf_cache_opts *opts, struct file_registry *registry,
		    struct name_store *store, struct symbol_jobs **ret_jobs) must_check;

/* Abandons all jobs. */
void symbol_jobs_free(struct symbol_jobs *jobs);
DEFINE_FREEP(struct symbol_jobs, symbol_jobs_free)

/* Returns the workers; borrowed. */
struct worker_lanes *symbol_jobs_lanes(struct symbol_jobs *jobs);

/* Returns the job of a lane. It is never NULL, but its kind may be JOB_NONE. */
struct symbol_job *symbol_jobs_get(struct symbol_jobs *jobs, enum worker_lane lane);

/* Assigns a table to a job. The table keeps its names and files until the job has ended. */
void symbol_job_set_table(struct symbol_job *job, struct name_table *table);

/* Ends a job, which frees its lane, and keeps the budget. */
void symbol_jobs_end(struct symbol_jobs *jobs, struct symbol_job *job);

/* Resumes a job that moved to the slow lane. Returns false in the fast lane, or if there is
 * none. */
bool symbol_jobs_resume(struct symbol_jobs *jobs, struct symbol_job *job);

/* Sends a request of a job to the worker of its lane. Errors: as worker_client_send(). */
int symbol_jobs_send(struct symbol_jobs *jobs, struct symbol_job *job,
		     const struct worker_request *request, const struct worker_payload *payload)
	must_check;

/* Ends the worker of a job's lane after a malformed answer, as it may have been taken over, and
 * punishes the owners. */
void symbol_jobs_distrust(struct symbol_jobs *jobs, const struct symbol_job *job);

/* Sends later requests of the job's owners to the slow lane for a while, and those about its table
 * always. */
void symbol_jobs_punish(struct symbol_jobs *jobs, const struct symbol_job *job);

/* Charges the owners for the time that the answer took; this decides on their rank. */
void symbol_jobs_charge(struct symbol_jobs *jobs, const struct symbol_job *job);

/* Arranges for the job to be done again if more time or memory may avoid the error. Returns whether
 * it did; then the lane is free. */
bool symbol_jobs_repeat(struct symbol_jobs *jobs, struct symbol_job *job, int error);

/* The first function returns whether a lane has CPU time left for reading lines. The second one
 * charges the time of a JOB_LINES. */
bool symbol_jobs_may_read_lines(struct symbol_jobs *jobs, const struct symbol_job *job);
void symbol_jobs_charge_lines(struct symbol_jobs *jobs, const struct symbol_job *job);

/* Makes a table of functions from an answer, and takes `bytes` over. Distrusts the worker if it is
 * malformed. Errors: as elf_symbols_from_block(). */
int symbol_jobs_take_symbols(struct symbol_jobs *jobs, const struct symbol_job *job, void *bytes,
			     size_t len, struct elf_symbols **ret_symbols) must_check;

#endif
