/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file system of a file in /proc/PID/mountinfo (proc(5)), without a request to the file
 * system. */
#ifndef SYMBOL_OPENER_MOUNTINFO_H
#define SYMBOL_OPENER_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mountinfo_line {
	uint64_t mount_id;
	uint32_t dev_major;
	uint32_t dev_minor;
	const char *type; /* not NUL-terminated */
	size_t type_len;
};

/* Reads the next well-formed line of a text that ends at `end`, and moves *text behind it. Skips
 * malformed lines. Returns false if there is none. */
bool mountinfo_next(const char **text, const char *end, struct mountinfo_line *ret_line);

/* Returns whether a file system of that type is local: reading from it waits only for
 * this kernel and its disks.
 *
 * FUSE, NFS, CIFS, Ceph and the like are not local: their servers can let a read wait forever, and
 * any user can be a FUSE server. 9p is not local either, as its servers are mostly daemons behind a
 * socket. virtiofs counts as local: its server belongs to the hypervisor, which must work anyway,
 * and VM-based runtimes keep the files of containers on it. Unknown types are not local. */
bool mountinfo_is_local(const struct mountinfo_line *line);

#endif
