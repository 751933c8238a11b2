/* SPDX-License-Identifier: Apache-2.0 */
/* Which file system a file is on, by /proc/PID/mountinfo (proc(5)), without asking the file
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

/* Reads one line, without its newline; false when it is malformed. */
bool mountinfo_parse_line(const char *line, size_t len, struct mountinfo_line *ret_line);

/* The first mount with that id, or on that device; false when there is none.
 * Malformed lines are skipped. */
bool mountinfo_find_id(const char *text, size_t len, uint64_t mount_id,
		       struct mountinfo_line *ret_line);
bool mountinfo_find_device(const char *text, size_t len, uint32_t dev_major, uint32_t dev_minor,
			   struct mountinfo_line *ret_line);

/* Whether reading from a file system of that type waits for nobody but this kernel and its disks.
 *
 * FUSE, NFS, CIFS, Ceph and the like are not local: whoever runs the server can let a read wait
 * for ever, and with FUSE that is any user. Neither is 9p: its servers are mostly daemons at the
 * end of a socket. virtiofs is taken as local: its server belongs to the hypervisor, without which
 * nothing here runs at all, and it holds the containers' files in VM-based runtimes. Types that
 * are not known are not local. */
bool mountinfo_is_local(const struct mountinfo_line *line);

#endif
