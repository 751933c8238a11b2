/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the memory of another process through an open /proc/PID/mem.
 *
 * The descriptor stays that of the address space that it was opened for: after exec() and after
 * the process's end nothing can be read, and a pid that was used again is no danger. A process can
 * make a read of its memory take for ever (userfaultfd, FUSE). So only workers with a deadline read
 * it.
 *
 * Parts of a memory that were copied before can be read in the same way. */
#ifndef RUNTIME_PROCESS_MEMORY_H
#define RUNTIME_PROCESS_MEMORY_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Bytes that were copied from a process. Parts may overlap. */
struct memory_part {
	uint64_t address;
	const void *bytes; /* borrowed */
	size_t len;
};

#define MEMORY_MAX_NOTES 256

/* Notes about a large object, so that it need not be read again. The key identifies the object. */
struct memory_notes {
	uint64_t key[2];
	size_t nr;
	uint32_t values[MEMORY_MAX_NOTES];
};

struct process_memory {
	int fd; /* borrowed */
	uint64_t nr_left; /* bytes that may still be read */
	const struct memory_part *parts; /* borrowed; if there are some, only they are read */
	size_t nr_parts;
	struct memory_notes *notes; /* borrowed; NULL: none are kept */
};

/* Reads exactly `len` bytes. Errors: -EFAULT not all of them are mapped, -ENODATA no part has all
 * of them, -EDQUOT more than nr_left, those of pread(2). After an error the content of `to` is
 * undefined. */
int process_memory_read(struct process_memory *memory, uint64_t address, void *to, size_t len)
	must_check;

/* Reads as many bytes as are mapped, at most `len`. Returns their number, which may be 0. Errors:
 * as above, but -EFAULT. */
ssize_t process_memory_read_some(struct process_memory *memory, uint64_t address, void *to,
				 size_t len) must_check;

/* Reads numbers of this machine. Errors: as process_memory_read(). */
int process_memory_read_u64(struct process_memory *memory, uint64_t address, uint64_t *ret)
	must_check;
int process_memory_read_u32(struct process_memory *memory, uint64_t address, uint32_t *ret)
	must_check;

#endif
