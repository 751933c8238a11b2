/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the next request of a lane (runtime_jobs.h). */
#ifndef RUNTIME_CLIENT_RUNTIME_SEARCH_H
#define RUNTIME_CLIENT_RUNTIME_SEARCH_H

#include "runtime/client/runtime_jobs.h"

struct runtime_search {
	struct runtime_registry *registry;
	const struct worker_lanes *lanes;
	enum worker_lane lane;
	uint64_t now_ns;
	bool takes_late; /* also requests of owners with the lowest rank */
	struct runtime_job *job;
	struct strbuf *request;
};

/* Return whether a request may be of an owner, or about a process. */
bool runtime_search_is_turn_of(const struct runtime_search *search, uint64_t owner, bool is_slow);
bool runtime_search_is_turn_of_process(const struct runtime_search *search,
				       const struct runtime_known_process *process);

/* Makes the request one about the memory of a process. */
void runtime_search_begin(const struct runtime_search *search,
			  struct runtime_known_process *process, enum runtime_request_kind kind);

#endif
