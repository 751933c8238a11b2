/* SPDX-License-Identifier: Apache-2.0 */
/* A cgroup's limit of CPU time (cpu.max, or cpu.cfs_quota_us of cgroup v1), and how long it has
 * held up the cgroup's threads. */
#ifndef VITALS_CPU_LIMIT_H
#define VITALS_CPU_LIMIT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What cpu.stat counts since the cgroup was made. */
struct cpu_throttling {
	uint64_t throttled_ns; /* sum of all CPUs */
	uint64_t nr_throttled; /* scheduler periods */
};

/* The nearest cgroup with a limit: the cgroup itself, or one above it. */
struct cpu_limit {
	int stat_fd; /* owned; its cpu.stat; negative: there is no limit */
	dev_t device; /* of its directory; with the inode, what tells limits apart */
	ino_t inode;
};

/* Reads the text of cpu.stat. A text without these counters gives zeros. */
void cpu_limit_parse_stat(const char *text, size_t len, struct cpu_throttling *ret_throttling);

/* Returns whether the text of cpu.max, or of cpu.cfs_quota_us, is a limit. */
bool cpu_limit_is_set(const char *text, size_t len);

/* Finds the limit of a cgroup by its path below the mount point of a hierarchy. Errors: -ENOENT the
 * hierarchy has no such cgroup or no CPU limits, -ENAMETOOLONG. */
int cpu_limit_find(int root_fd, const char *path, struct cpu_limit *ret_limit) must_check;

/* Reads how long the limit has held up threads. Errors: what pread(2) says, -ENODEV the cgroup is
 * gone. */
int cpu_limit_read(const struct cpu_limit *limit, struct cpu_throttling *ret_throttling) must_check;
void cpu_limit_close(struct cpu_limit *limit);

#endif
