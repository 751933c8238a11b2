/* SPDX-License-Identifier: Apache-2.0 */
/* Confines this thread, and those that it starts, to the files of a record, by Landlock (Linux
 * 5.13): no other file can be opened any more. */
#ifndef UI_UI_FILES_H
#define UI_UI_FILES_H

#include "base/err.h"

#include <stddef.h>

/* Leaves what is in the given directories, now and later, and the given files with their logs, all
 * for reading. Paths that cannot be found are skipped. The thread must have set no_new_privs.
 * With sanitizers, nothing is done. Errors: -EOPNOTSUPP the kernel has no Landlock; those of
 * landlock_add_rule(2) and landlock_restrict_self(2). */
int ui_files_confine(const char *const *paths, size_t nr_paths) must_check;

#endif
