/* SPDX-License-Identifier: Apache-2.0 */
/* The cgroups that sampled tasks are in, from their paths in /proc/PID/cgroup to the ids that BPF would have told: the inode
 * numbers of their directories. Each is looked up when it is met for the first time, with those above it, whose verdicts may
 * be its own. Belongs to one thread. */
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
#define CGROUP_IDS_OUTSIDE (UINT32_MAX - 1) /* of what is mounted: no parent's can stand for it */

struct cgroup_fs;
struct cgroup_ids;

/* `fs` is borrowed and outlives the object. Errors: -ENOMEM. */
int cgroup_ids_new(const struct cgroup_fs *fs, struct cgroup_ids **ret_ids) must_check;
void cgroup_ids_free(struct cgroup_ids *ids);
DEFINE_FREEP(struct cgroup_ids, cgroup_ids_free)

/* The number of the cgroup with that path, which begins with a slash; CGROUP_IDS_NONE when it is gone and was never met, lies
 * outside what is mounted, or is too long or too deep. Numbers are good for one generation. */
uint32_t cgroup_ids_get(struct cgroup_ids *ids, const char *path, size_t len);

/* Grows when all cgroups were forgotten, for lack of room. */
uint64_t cgroup_ids_generation(const struct cgroup_ids *ids);

/* As in struct sample_event; 0 for CGROUP_IDS_NONE. */
uint64_t cgroup_ids_id(const struct cgroup_ids *ids, uint32_t number);

/* That of the nearest cgroup that has one, from this one up; `fallback` when none has. What is not known is undecided. */
enum cgroup_verdict cgroup_ids_verdict(const struct cgroup_ids *ids, uint32_t number,
				       const struct verdict_slots *verdicts,
				       enum cgroup_verdict fallback);

/* The birth of a cgroup that was met since the last call: true, or false when there is none. */
bool cgroup_ids_next_birth(struct cgroup_ids *ids, struct cgroup_event *ret_event);

#endif
