/* SPDX-License-Identifier: Apache-2.0 */
/* Takes snapshots of a stopped process and writes them as tests/fixtures/unwind/README.md
 * describes: what the unwinder needs, and the frames that libdw sees. Of call frame information
 * only the entries of the functions on recorded stacks are kept. Failures end the program. */
#ifndef TESTS_BPF_HOST_SNAPSHOT_WRITER_H
#define TESTS_BPF_HOST_SNAPSHOT_WRITER_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <sys/types.h>

/* The process as libdwfl sees it while it is stopped. */
Dwfl *snapshot_attach(pid_t pid);

/* Records thread `tid`, which is stopped, of `pid`. Of more than `max_frames` frames, only those
 * are kept, and nothing is said of how the stack goes on; 0: all. */
void snapshot_take(Dwfl *dwfl, pid_t pid, pid_t tid, size_t max_frames);

/* Returns whether libdw reached this function in the last snapshot; if not, drops the snapshot. */
bool snapshot_reaches(const char *symbol);

/* Writes everything that was taken. */
void snapshot_write(const char *path, const char *name);

#endif
