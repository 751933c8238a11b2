/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock (Linux 5.13): takes rights to use files from a thread and from those that it starts. The
 * rights are LANDLOCK_ACCESS_FS_…, see landlock(7). */
#ifndef WORKER_WORKER_LANDLOCK_H
#define WORKER_WORKER_LANDLOCK_H

#include "base/err.h"

#include <linux/landlock.h>
#include <stdint.h>

/* All rights that the first version of Landlock knows. */
#define WORKER_LANDLOCK_ALL ((uint64_t)(LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* Returns the descriptor of a set of rules without exceptions yet: it takes these rights for all
 * files. Errors: -EOPNOTSUPP the kernel has no Landlock, or a container's filter of system calls
 * refuses it; those of landlock_create_ruleset(2). */
int worker_landlock_new(uint64_t rights) must_check;

/* Leaves rights for a file, or for all that is below a directory, which gets `directory_rights` as
 * well. A path that cannot be found is skipped. Errors: those of landlock_add_rule(2). */
int worker_landlock_permit(int rules, const char *path, uint64_t rights, uint64_t directory_rights)
	must_check;

/* Takes the rights. The thread must have set no_new_privs. Errors: those of
 * landlock_restrict_self(2). */
int worker_landlock_enforce(int rules) must_check;

#endif
