/* SPDX-License-Identifier: Apache-2.0 */
/* The cgroups that are known, by id. What is known of a cgroup is kept for a while after its end,
 * because the last samples of a container are named when it is gone. Not thread-safe. */
#ifndef PIPELINE_CGROUP_TABLE_H
#define PIPELINE_CGROUP_TABLE_H

#include "base/htable.h"
#include "bpf/shared/cgroups.h"
#include "cgroup/cgroup_path.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_TABLE_MAX 65536
#define CGROUP_TABLE_MAX_PATH_BYTES ((size_t)8 << 20) /* all paths; further ones are not kept */
#define CGROUP_FORGET_AFTER_NS (UINT64_C(15) * 60 * 1000000000)

/* The kubelet is asked for a cgroup's names for this long after its birth. Names that it does not
 * know by then may come with a regular list. */
#define CGROUP_ASK_FOR_NS (UINT64_C(60) * 1000000000)

struct known_cgroup {
	uint64_t id;
	uint64_t first_seen_ns; /* CLOCK_MONOTONIC; the birth, if it was reported */
	uint64_t last_seen_ns; /* when it was last sampled or found to exist */
	char *path; /* owned; below the hierarchy's root; NULL when there was no room */
	struct cgroup_owner owner;
	bool is_sampled; /* not only known from its birth or the inventory */
	bool is_dead;
	/* An older container of its pod existed at the same time: it is not the pod's sandbox */
	bool has_elder;
	bool is_judged; /* `verdict` is up to date with pods and rules */
	enum cgroup_verdict verdict; /* as the kernel has it; CGROUP_UNFILTERED: it has none */
};

struct cgroup_table {
	struct known_cgroup *cgroups; /* owned; not in any order */
	size_t nr_cgroups, cap_cgroups;
	size_t path_bytes;
	struct htable index; /* by id */
	struct htable by_pod; /* containers' own directories, by the pod's UID */
	uint64_t next_forget_ns; /* a full table is not searched for room before this time */
};

void cgroup_table_done(struct cgroup_table *table);

/* Returns a cgroup, borrowed until the next add; NULL if it is not known. */
struct known_cgroup *cgroup_table_find(const struct cgroup_table *table, uint64_t id);

/* Adds a cgroup that is not known. Once per second, a full table makes room: it forgets the dead
 * cgroups and those that can be looked up again when they are sampled. NULL without room or
 * memory. */
struct known_cgroup *cgroup_table_add(struct cgroup_table *table, uint64_t id, const char *path,
				      uint64_t now_ns);

/* Forgets dead cgroups that were not seen for CGROUP_FORGET_AFTER_NS. */
void cgroup_table_tidy(struct cgroup_table *table, uint64_t now_ns);

/* Returns the time for pod_index_find(); UINT64_MAX for a cgroup that cannot be its pod's sandbox.
 * A pod's sandbox is older than its containers, so a younger container is never taken for it,
 * however late the kubelet lists it. */
uint64_t cgroup_table_seen_ns(const struct known_cgroup *cgroup);

#endif
