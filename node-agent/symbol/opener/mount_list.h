/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the list of a process's mounts (mountinfo.h).
 *
 * The list is as long as the process's container has made it, up to 100 thousand lines; and where
 * each mount lies on the one before, each line takes the kernel longer: 20 thousand of them take
 * three seconds. It is read for every file that is opened, by threads that others wait for. So a
 * reading is given up after MOUNT_LIST_MAX_NS; and after one that was not cheap, only lists that
 * were cheap the last time are read until all the readings that were not have taken
 * 1/MOUNT_LIST_SHARE of the time at most. The host's list is root's, and always read. */
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

/* Appends the list to `text`. May be called by any thread. Errors: -EAGAIN too slow, or not now:
 * later; what opening and reading say, -ENOSPC, -ENOMEM. */
int mount_list_read(int proc_fd, uint32_t pid, struct strbuf *text) must_check;

#endif
