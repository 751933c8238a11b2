/* SPDX-License-Identifier: Apache-2.0 */
/* One second of the node, complete: what the kernel counted in it and which samples were taken. The
 * recorder makes one for each second, in their order, about 10 s later, since samples get their
 * names first. */
#ifndef STORE_SECOND_H
#define STORE_SECOND_H

#include "profile/profile_type.h"
#include "profile/slots.h"
#include "store/dict.h"
#include "vitals/vitals.h"

#include <stddef.h>
#include <stdint.h>

/* The samples of a program in a container. */
struct second_group {
	/* Row of DICT_LABELS with resource, name of the process, its program, and cgroup: whatever
	 * label_value() says of them. The other labels are empty. */
	uint32_t labels;
	uint64_t value; /* sum of the samples' counts */
};

struct second_cpu {
	uint32_t cpu;
	uint64_t value;
};

/* The samples of one type and period. Each of the three sums up to `total`. */
struct second_series {
	enum profile_type type;
	uint64_t period; /* as in struct profile */
	uint64_t total;
	const struct second_group *groups; /* distinct, in no order */
	size_t nr_groups;
	const struct second_cpu *cpus; /* the same */
	size_t nr_cpus;
	struct slots slots; /* all 0: not known */
};

/* A cgroup with a limit of CPU time that held its threads up. */
struct second_throttling {
	uint32_t labels; /* as above, without the process */
	uint32_t nr_seconds; /* up to this one, of which these are the sums: at least 1 */
	uint64_t cgroup_id;
	uint64_t throttled_ns; /* sum of the time in which its threads were held up, of all CPUs */
	uint64_t nr_throttled; /* scheduler periods (100 ms) in which that happened */
};

/* Everything is borrowed for the call that passes it. */
struct store_second {
	uint64_t second; /* Unix time */
	struct vitals vitals;
	const struct dict *dict; /* the label sets of the groups */
	/* Numbers of label sets stay valid as long as this is the same. */
	uint64_t dict_generation;
	const struct second_series *series;
	size_t nr_series; /* 0: no sample was taken */
	const struct second_throttling *throttlings;
	size_t nr_throttlings;
	uint64_t nr_lost; /* samples of the second that could not be recorded */
};

#endif
