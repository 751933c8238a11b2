/* SPDX-License-Identifier: Apache-2.0 */
/* The host's cgroup file system: the hierarchy that identifies samples, and the conversion between
 * ids and paths.
 *
 * A cgroup id is the kernfs node's id: what bpf_get_current_cgroup_id() gives and the inode number
 * of the directory (Linux 5.5). open_by_handle_at(2) finds the directory of an id without a walk;
 * it needs CAP_DAC_READ_SEARCH. */
#ifndef CGROUP_CGROUP_FS_H
#define CGROUP_CGROUP_FS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "cgroup/cgroup_walk.h"

#include <stdint.h>

enum cgroup_mode {
	CGROUP_MODE_UNIFIED, /* v2 only */
	CGROUP_MODE_HYBRID, /* v1 controllers, and a v2 hierarchy that containers are in too */
	CGROUP_MODE_LEGACY, /* v1: ids are those of the memory (else cpu) hierarchy */
};

struct cgroup_fs;

/* Finds mode and mounts. `root` overrides the mount point of the hierarchy that carries the ids (a
 * container's hostPath mount); it may also be the directory of the mounts ("/sys/fs/cgroup" with
 * "unified", "memory", "cpu" below it). NULL: detected. Errors: -ENOENT when there is no cgroup
 * hierarchy, what opening it says, -ENOMEM. */
int cgroup_fs_open(const char *root, struct cgroup_fs **ret_fs) must_check;
void cgroup_fs_close(struct cgroup_fs *fs);
DEFINE_FREEP(struct cgroup_fs, cgroup_fs_close)

enum cgroup_mode cgroup_fs_mode(const struct cgroup_fs *fs);

/* Returns "unified", "hybrid" or "legacy". */
const char *cgroup_mode_name(enum cgroup_mode mode);

/* The v1 controller whose hierarchy carries the ids, "memory" or "cpu"; "" unless the mode is
 * legacy. */
const char *cgroup_fs_controller(const struct cgroup_fs *fs);

/* The kernel's number of the hierarchy that carries the ids, as in /proc/PID/cgroup: 0 for v2. */
uint32_t cgroup_fs_hierarchy(const struct cgroup_fs *fs);

/* Appends the start of the line in /proc/PID/cgroup for the hierarchy that carries the ids: "0::"
 * for v2, or "9:memory:". The path follows it. */
void cgroup_fs_append_line_start(const struct cgroup_fs *fs, struct strbuf *text);

/* Returns the mount point of the hierarchy that carries the ids; borrowed. */
const char *cgroup_fs_root(const struct cgroup_fs *fs);

/* Appends the path of a cgroup below the root ("/kubepods/…", "/" for the root itself).
 * Thread-safe.
 * Errors: -ESTALE when it is gone, -ENOENT when it lies outside what the root's mount shows, -EPERM
 * without CAP_DAC_READ_SEARCH, -ENOSPC. */
int cgroup_fs_path(const struct cgroup_fs *fs, uint64_t id, struct strbuf *path) must_check;

/* Finds the id of a path below the root. Errors: -ENOENT there is no such cgroup, errors of
 * stat(). */
int cgroup_fs_id(const struct cgroup_fs *fs, const char *path, uint64_t *ret_id) must_check;

/* Calls `visit` for each cgroup that exists now, see cgroup/cgroup_walk.h: by libcgroup when it
 * knows what is mounted at the root. Not thread-safe, and neither is cgroup_fs_open(). */
int cgroup_fs_walk(const struct cgroup_fs *fs, cgroup_visit visit, void *data) must_check;

#endif
