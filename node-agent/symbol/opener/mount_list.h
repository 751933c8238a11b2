/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the list of a process's mounts (mountinfo.h).
 *
 * A container controls the length of its list, up to 100 thousand lines. If each mount lies on the
 * previous one, each line takes the kernel longer: 20 thousand of them take three seconds. The list
 * is read for every file that is opened, by threads that others wait for. So a reading ends after
 * MOUNT_LIST_MAX_NS. After an expensive reading, only lists that were cheap the last time are read,
 * until expensive readings have taken at most 1/MOUNT_LIST_SHARE of the time. The list of the host
 * belongs to root, and is always read. */
#ifndef SYMBOL_OPENER_MOUNT_LIST_H
#define SYMBOL_OPENER_MOUNT_LIST_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdint.h>

/* CPU time of the calling thread. */
#define MOUNT_LIST_CHEAP_NS UINT64_C(1000000)
#define MOUNT_LIST_MAX_NS UINT64_C(20000000)
#define MOUNT_LIST_SHARE 20

#define MOUNT_LIST_HOST_PID 1

/* Appends the list to `text`. Any thread. Errors: -EAGAIN too slow, or not allowed now: try again
 * later; -ENOSPC, -ENOMEM, those of openat(2) and read(2). */
int mount_list_read(int proc_fd, uint32_t pid, struct strbuf *text) must_check;

#endif
