/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a language runtime in a process, as the agent does. */
#ifndef TESTS_ORACLE_FOUND_RUNTIME_H
#define TESTS_ORACLE_FOUND_RUNTIME_H

#include "process/maps_parser.h"
#include "runtime/runtime.h"

/* Looks for the runtime among the files that a process of this mount namespace maps, and inspects
 * it. Errors: -ENOENT it has none, or none that is ready; what reading /proc says. */
int found_runtime_read(const struct runtime_ops *ops, struct process_memory *memory,
		       const char *pid, struct runtime_found *ret) must_check;

/* Inspects the runtime in a file of the process, by one of its executable mappings. Errors: -ENOENT
 * it is none, or it is not ready. */
int found_runtime_inspect(const struct runtime_ops *ops, struct process_memory *memory,
			  const struct maps_line *line, struct runtime_found *ret) must_check;

#endif
