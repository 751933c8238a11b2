/* SPDX-License-Identifier: Apache-2.0 */
/* A cgroup of the test's own, in which it makes others; to a cgroup_fs it is the root. */
#ifndef TESTS_UNIT_CGROUP_FIXTURE_H
#define TESTS_UNIT_CGROUP_FIXTURE_H

#include "cgroup/cgroup_fs.h"

#include <stdint.h>

struct cgroup_fixture {
	char root[256]; /* its directory */
	struct cgroup_fs
		*fs; /* NULL: not root, or no writable hierarchy; cgroup_fixture_require() */
};

void cgroup_fixture_init(struct cgroup_fixture *fixture);

/* In the hierarchy mounted at `root`, see cgroup_fs_open(). */
void cgroup_fixture_init_at(struct cgroup_fixture *fixture, const char *root);
void cgroup_fixture_done(struct cgroup_fixture *fixture);

/* Skips the test when there is none. */
void cgroup_fixture_require(const struct cgroup_fixture *fixture);

/* Makes a cgroup and all above it; returns its id. */
uint64_t cgroup_fixture_make(const struct cgroup_fixture *fixture, const char *path);

void cgroup_fixture_remove(const struct cgroup_fixture *fixture, const char *path);

#endif
