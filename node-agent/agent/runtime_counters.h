/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of counter_list.c about language runtimes: families with one row for each runtime. */
#ifndef AGENT_RUNTIME_COUNTERS_H
#define AGENT_RUNTIME_COUNTERS_H

#include "agent/counter_list.h"
#include "bpf/shared/runtime.h"

#include <stddef.h>

#define OF_RUNTIME(NAME, value, name_, family_, type_, help_, field)                               \
	{ .name = "runtime_" #value "_" name_,                                                     \
	  .family = "flamelet_runtime_" family_,                                                   \
	  .help = help_,                                                                           \
	  .type = METRIC_##type_,                                                                  \
	  .label = "runtime",                                                                      \
	  .label_value = #value,                                                                   \
	  .offset = offsetof(struct counters, agent.pipeline.runtimes.kinds) +                     \
		    sizeof(struct runtimes_kind_stats) * (RUNTIME_##NAME - 1) +                    \
		    offsetof(struct runtimes_kind_stats, field) },
#define OF_RUNTIME_FILES(NAME, value)                                                              \
	OF_RUNTIME(NAME, value, "files", "files", GAUGE, "Files that are language runtimes.",      \
		   nr_files)
#define OF_RUNTIME_READY(NAME, value)                                                              \
	OF_RUNTIME(NAME, value, "ready", "processes", GAUGE,                                       \
		   "Processes with a language runtime whose frames are shown by name.", nr_ready)
#define OF_RUNTIME_PENDING(NAME, value)                                                            \
	OF_RUNTIME(NAME, value, "pending", "processes_pending", GAUGE,                             \
		   "Processes with a language runtime that has not started yet.", nr_pending)
#define OF_RUNTIME_UNSUPPORTED(NAME, value)                                                        \
	OF_RUNTIME(NAME, value, "unsupported", "processes_unsupported", GAUGE,                     \
		   "Processes with a language runtime that cannot be read, or of an unknown "      \
		   "version: their frames are native ones.",                                       \
		   nr_unsupported)
#define OF_RUNTIME_NAMED(NAME, value)                                                              \
	OF_RUNTIME(NAME, value, "named", "frames_named_total", COUNTER,                            \
		   "Distinct frames of language runtimes that got their names.", nr_named)
#define OF_RUNTIME_UNNAMED(NAME, value)                                                            \
	OF_RUNTIME(NAME, value, "unnamed", "frames_unnamed_total", COUNTER,                        \
		   "Attempts to read the name of a frame of a language runtime that failed: the "  \
		   "process had ended, or its memory had changed.",                                \
		   nr_unnamed)

#define OF_ALL_RUNTIMES                                                                            \
	RUNTIME_KINDS(OF_RUNTIME_FILES)                                                            \
	RUNTIME_KINDS(OF_RUNTIME_READY)                                                            \
	RUNTIME_KINDS(OF_RUNTIME_PENDING)                                                          \
	RUNTIME_KINDS(OF_RUNTIME_UNSUPPORTED)                                                      \
	RUNTIME_KINDS(OF_RUNTIME_NAMED)                                                            \
	RUNTIME_KINDS(OF_RUNTIME_UNNAMED)

#endif
