/* SPDX-License-Identifier: Apache-2.0 */
/* Maps the paths of cgroups, from /proc/PID/cgroup, to the ids that BPF uses: the inode numbers
 * of their directories. A cgroup is looked up when a task is first sampled in it, together with
 * the cgroups above it, whose verdicts it may inherit. Belongs to one thread. */
#ifndef CAPTURE_PERF_CGROUP_IDS_H
#define CAPTURE_PERF_CGROUP_IDS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/cgroups.h"
#include "capture/verdict_slots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CGROUP_IDS_MAX 16384
#define CGROUP_IDS_MAX_DEPTH 24 /* as BPF looks for verdicts */
#define CGROUP_IDS_NONE UINT32_MAX
#define CGROUP_IDS_OUTSIDE                                                                         \
	(UINT32_MAX - 1) /* of the mounted root: no parent's cgroup stands for it */

struct cgroup_fs;
struct cgroup_ids;

/* `fs` is borrowed and outlives the object. Errors: -ENOMEM. */
int cgroup_ids_new(const struct cgroup_fs *fs, struct cgroup_ids **ret_ids) must_check;
void cgroup_ids_free(struct cgroup_ids *ids);
DEFINE_FREEP(struct cgroup_ids, cgroup_ids_free)

/* Returns the number of the cgroup with that path, which begins with a slash. CGROUP_IDS_NONE if
 * the cgroup was removed before it was looked up, lies outside the mounted root, or its path is too
 * long or too deep. Numbers are valid for one generation. */
uint32_t cgroup_ids_get(struct cgroup_ids *ids, const char *path, size_t len);

/* Returns a number that grows when the table is full and all cgroups are forgotten. */
uint64_t cgroup_ids_generation(const struct cgroup_ids *ids);

/* Returns the id of a cgroup, as in struct sample_event; 0 for CGROUP_IDS_NONE. */
uint64_t cgroup_ids_id(const struct cgroup_ids *ids, uint32_t number);

/* Returns the verdict of the cgroup or of the nearest one above it that has one; `fallback` if none
 * has. An unknown cgroup is undecided. */
enum cgroup_verdict cgroup_ids_verdict(const struct cgroup_ids *ids, uint32_t number,
				       const struct verdict_slots *verdicts,
				       enum cgroup_verdict fallback);

/* Takes the next cgroup that was looked up for the first time; false when there is none. */
bool cgroup_ids_next_birth(struct cgroup_ids *ids, struct cgroup_event *ret_event);

#endif
