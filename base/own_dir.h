/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that nobody else may tamper with: those of the queue, of caches and of sockets.
 *
 * A path is walked name by name, each directory held open while the next one is looked up in it,
 * so that what was checked is what is used. On the way every directory must belong to root or to
 * us, and no other user may write to it, unless it is sticky or the root of a mounted volume:
 * Kubernetes makes emptyDirs with mode 0777. A symbolic link is followed only on the way, and
 * only if it belongs to root or to us. "We" are the effective user. */
#ifndef BASE_OWN_DIR_H
#define BASE_OWN_DIR_H

#include "base/err.h"
#include "base/strbuf.h"

/* What the last directory of a path is for, which decides what it must be. */
enum own_dir_use {
	OWN_DIR_ON_WAY, /* as those above it */
	OWN_DIR_FOR_DIRECTORIES, /* the same, but being sticky does not help */
	OWN_DIR_FOR_FILES, /* ours; all rights for us, and no other user may write to it */
};

enum own_dir_make {
	OWN_DIR_MAKE_NONE,
	OWN_DIR_MAKE_LAST, /* mode 0700, when it is missing */
	OWN_DIR_MAKE_ALL, /* those above it, too: mode 0755 */
};

/* Opens a directory for reading, or refuses it. On failure a sentence without a period is
 * appended to `reterr_msg`: which directory or link it is, what is wrong with it and, where that
 * helps, what to do. Errors: -EPERM another user owns it or may write to it, or it is a symbolic
 * link; -EACCES we have not all rights in it; -ENOTDIR; -ENOENT; -ELOOP; -ENAMETOOLONG; what
 * else openat(2) and mkdirat(2) say. */
int own_dir_open(const char *path, enum own_dir_use use, enum own_dir_make make,
		 struct strbuf *reterr_msg, int *ret_fd) must_check;

/* Makes nothing: where a directory is missing, gives the one in which it would be made. The
 * descriptor is one of O_PATH. Returns 1 when nothing is missing, else 0. Errors: as above. */
int own_dir_look(const char *path, enum own_dir_use use, struct strbuf *reterr_msg, int *ret_fd)
	must_check;

/* Checks the directory in which `path` lies, as one on the way, as far as it is there. Errors:
 * as above, -ENOMEM. */
int own_dir_check_parent(const char *path, struct strbuf *reterr_msg) must_check;

#endif
