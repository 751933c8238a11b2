/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of the files below /proc that vitals are in. They take the kernel's values as they are:
 * counters since boot. A line that is malformed gives no value. */
#ifndef VITALS_VITAL_FILES_H
#define VITALS_VITAL_FILES_H

#include "vitals/vitals.h"

#include <stddef.h>

struct vital_file_kind {
	const char *path; /* below /proc */
	bool is_costly; /* takes the kernel long to write when there are many CPUs */
	void (*parse)(const char *text, size_t len, struct vitals *values);
};

/* Adds what /proc/stat has. */
void vital_files_parse_stat(const char *text, size_t len, struct vitals *values);

/* Adds what /proc/schedstat has: the sum of all CPUs. */
void vital_files_parse_schedstat(const char *text, size_t len, struct vitals *values);

/* Adds what /proc/meminfo has. */
void vital_files_parse_meminfo(const char *text, size_t len, struct vitals *values);

/* Adds what /proc/vmstat has. */
void vital_files_parse_vmstat(const char *text, size_t len, struct vitals *values);

/* Add what /proc/pressure/cpu, memory and io have: the time of "some". */
void vital_files_parse_psi_cpu(const char *text, size_t len, struct vitals *values);
void vital_files_parse_psi_memory(const char *text, size_t len, struct vitals *values);
void vital_files_parse_psi_io(const char *text, size_t len, struct vitals *values);

/* All files. */
extern const struct vital_file_kind vital_files[VITALS_NR_FILES];

#endif
