/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and pins the files in which a process lists the code that it makes at run time
 * (jit_cache.h). Nothing here opens a file that could block; see file_opener.h. */
#ifndef SYMBOL_JIT_JIT_FILES_H
#define SYMBOL_JIT_JIT_FILES_H

#include "base/err.h"
#include "process/process_table.h"
#include "symbol/opener/file_opener.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A process's pid and user, from /proc/PID/status. */
struct jit_owner {
	uint32_t own_pid; /* in its innermost pid namespace */
	uint32_t euid; /* in the agent's user namespace */
};

/* Reads both. Errors: -ESRCH process gone, -EBADMSG a line is missing or malformed, -ENOSPC,
 * -ENOMEM. */
int jit_files_read_owner(int proc_fd, uint32_t pid, struct jit_owner *ret_owner) must_check;

/* Pins /tmp/perf-OWN_PID.map in the process's mount namespace. /tmp may be a separate mount, but
 * no part of the path may be a symbolic link. The file must belong to the process's user or to
 * root, so that no other user can name the process's functions. Errors: -ENOENT no such file,
 * -EOPNOTSUPP not a regular file, of another user, or not on a local file system, -EPERM, -ESRCH,
 * -ENOSPC out of descriptors. */
int jit_files_pin_map(int proc_fd, uint32_t pid, const struct jit_owner *owner,
		      struct pinned_file *ret_pinned) must_check;

/* Pins the jitdump that the process has mapped: jit-OWN_PID.dump, in any directory. Errors: as
 * above. */
int jit_files_pin_dump(int proc_fd, uint32_t pid, const struct jit_owner *owner,
		       const struct mapping_list *mappings, struct pinned_file *ret_pinned)
	must_check;

/* Returns whether a Java VM is mapped. */
bool jit_files_has_java_vm(const struct mapping_list *mappings);

#endif
