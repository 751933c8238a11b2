/* SPDX-License-Identifier: Apache-2.0 */
/* A child that burns CPU time in a cgroup of the test's own, and a capture that samples it. */
#ifndef TESTS_BPF_KERNEL_CGROUP_SCENE_H
#define TESTS_BPF_KERNEL_CGROUP_SCENE_H

#include "capture/sample_source.h"
#include "cgroup_fixture.h"

#include <sys/types.h>

struct cgroup_scene {
	struct cgroup_fixture cgroups;
	pid_t child;
	struct sample_source *source;
	struct capture_stats stats; /* of the last run */
	uint64_t nr_samples; /* of the child in it */
	uint64_t nr_others;
	uint64_t cgroup_id; /* of the last one */
};

/* In the hierarchy at `root`, see cgroup_fixture_init_at(); skips the test where that cannot be.
 * The child's cgroup is made, and all above it. Returns its id. */
uint64_t cgroup_scene_start(struct cgroup_scene *scene, const char *root, const char *path);
void cgroup_scene_stop(struct cgroup_scene *scene);

/* The child goes into another cgroup, which is made. Returns its id. */
uint64_t cgroup_scene_move(struct cgroup_scene *scene, const char *path);

/* Samples for a while, with the verdicts as they are. */
void cgroup_scene_run(struct cgroup_scene *scene);

#endif
