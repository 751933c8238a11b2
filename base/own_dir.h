/* SPDX-License-Identifier: Apache-2.0 */
/* Opens directories that no other user may tamper with: those of the queue, caches and sockets.
 *
 * A path is walked name by name, and each directory is held open while the next one is looked up in
 * it, so that the directory that was checked is the one that is used. Every directory on the way
 * must belong to root or to us (the effective user), and no other user may write to it, unless it
 * is sticky or the root of a mounted volume: Kubernetes makes emptyDirs with mode 0777. Symbolic
 * links are followed only on the way, and only if they belong to root or to us. */
#ifndef BASE_OWN_DIR_H
#define BASE_OWN_DIR_H

#include "base/err.h"
#include "base/strbuf.h"

/* Purpose of the last directory of a path, which determines the requirements on it. */
enum own_dir_use {
	OWN_DIR_ON_WAY, /* same rules as for its parents */
	OWN_DIR_FOR_DIRECTORIES, /* the same, but a sticky directory is refused */
	/* belongs to us; we have all rights, and no other user may write to it */
	OWN_DIR_FOR_FILES,
};

enum own_dir_make {
	OWN_DIR_MAKE_NONE,
	OWN_DIR_MAKE_LAST, /* mode 0700, when it is missing */
	OWN_DIR_MAKE_ALL, /* its parents, too: mode 0755 */
};

/* Opens a directory for reading, or refuses it. On failure, a sentence without a period is appended
 * to `reterr_msg`: the directory or link, what is wrong with it and, if useful, a remedy. Errors:
 * -EPERM another user owns it or may write to it, or it is a symbolic link; -EACCES we do not have
 * all rights in it; -ENOTDIR; -ENOENT; -ELOOP; -ENAMETOOLONG; other errors of openat(2) and
 * mkdirat(2). */
int own_dir_open(const char *path, enum own_dir_use use, enum own_dir_make make,
		 struct strbuf *reterr_msg, int *ret_fd) must_check;

/* Does the same without creating directories: if one is missing, opens the parent in which it would
 * be created. The descriptor is opened with O_PATH. Returns 1 if nothing is missing, else 0.
 * Errors: as above. */
int own_dir_look(const char *path, enum own_dir_use use, struct strbuf *reterr_msg, int *ret_fd)
	must_check;

/* Checks the existing part of the parent directory of `path`. Errors: as above, -ENOMEM. */
int own_dir_check_parent(const char *path, struct strbuf *reterr_msg) must_check;

#endif
