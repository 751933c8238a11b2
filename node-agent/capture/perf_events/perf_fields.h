/* SPDX-License-Identifier: Apache-2.0 */
/* What perf's records begin with behind their header, as perf_event_open(2) has it. */
#ifndef CAPTURE_PERF_EVENTS_PERF_FIELDS_H
#define CAPTURE_PERF_EVENTS_PERF_FIELDS_H

#include <stdint.h>

/* PERF_RECORD_COMM; the name follows. */
struct comm_fields {
	uint32_t pid, tid;
};

/* PERF_RECORD_FORK, PERF_RECORD_EXIT */
struct task_fields {
	uint32_t pid, ppid;
	uint32_t tid, ptid;
	uint64_t time;
};

/* PERF_RECORD_LOST */
struct lost_fields {
	uint64_t id, lost;
};

#endif
