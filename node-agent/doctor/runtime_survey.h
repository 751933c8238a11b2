/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at all processes of the host for language runtimes, as the agent does for those that it
 * samples. */
#ifndef DOCTOR_RUNTIME_SURVEY_H
#define DOCTOR_RUNTIME_SURVEY_H

#include "base/err.h"
#include "runtime/client/runtimes.h"

#include <stddef.h>
#include <stdint.h>

#define RUNTIME_SURVEY_MAX_GROUPS 32

/* Processes with the same runtime and the same result. */
struct runtime_group {
	enum runtime_kind kind;
	uint32_t version; /* as in struct runtime_file */
	enum runtime_state state;
	char reason[RUNTIME_REASON_BYTES];
	size_t nr_processes;
};

struct runtime_survey {
	struct runtime_group groups[RUNTIME_SURVEY_MAX_GROUPS]; /* further ones are left out */
	size_t nr_groups;
};

/* Surveys the processes below `proc_dir`, for runtimes of these kinds (1 << enum runtime_kind).
 * Takes two seconds at most, or a few more if there are very many processes. Errors: those of
 * open(2) and runtimes_new(). */
int runtime_survey_take(const char *proc_dir, uint32_t kinds, struct runtime_survey *ret_survey)
	must_check;

#endif
