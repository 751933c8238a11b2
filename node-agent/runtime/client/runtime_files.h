/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF files that sampled processes map, each with the answer to the question whether it is a
 * language runtime. Files are counted references: of the reader, as long as it knows the file, and
 * of the processes in which it is a runtime. Has no lock of its own. */
#ifndef RUNTIME_CLIENT_RUNTIME_FILES_H
#define RUNTIME_CLIENT_RUNTIME_FILES_H

#include "base/err.h"
#include "runtime/worker/runtime_worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define RUNTIME_FILES_MAX 65536
#define RUNTIME_FILES_MAX_WAITING 1024 /* each has a descriptor */
#define RUNTIME_FILES_MAX_TRUSTING 128

enum runtime_file_state {
	RUNTIME_FILE_UNKNOWN, /* not asked yet */
	RUNTIME_FILE_NONE, /* no runtime, or one that is not wanted */
	RUNTIME_FILE_RUNTIME,
};

struct runtime_known_file {
	TAILQ_ENTRY(runtime_known_file) link; /* in the queue, while it waits */
	uint32_t id; /* 0: the reader has removed it */
	unsigned int nr_refs;
	enum runtime_file_state state;
	uint64_t owner; /* cgroup id; 0: not known */
	int fd; /* owned while it waits or is asked; else negative */
	bool is_waiting;
	bool is_slow; /* it took too long in the fast lane */
	struct runtime_file_answer *answer; /* owned; NULL: no runtime */
	/* Owned; the values that all processes share which map the file; NULL: none so far. */
	struct runtime_found *shared;
	/* The last cgroups with a process that was inspected and had these values. The first
	 * process may have lied, so a process of another cgroup is inspected itself. */
	uint64_t trusting[RUNTIME_FILES_MAX_TRUSTING];
	size_t nr_trusting; /* so far; beyond the maximum, the first ones make room */
};

TAILQ_HEAD(runtime_file_queue, runtime_known_file);

struct runtime_files {
	struct runtime_known_file **rows; /* owned, by id - 1; NULL: free */
	size_t nr_rows, cap_rows;
	size_t nr_used;
	size_t first_free; /* no row before it is free */
	struct runtime_file_queue waiting;
	size_t nr_waiting;
};

void runtime_files_init(struct runtime_files *files);
void runtime_files_done(struct runtime_files *files);

/* Adds a file that is to be asked, and takes *fd over, also on failure. Returns it with the
 * reader's reference. Errors: -ENOSPC too many files, or too many that wait; -ENOMEM. */
int runtime_files_add(struct runtime_files *files, int *fd, uint64_t owner,
		      struct runtime_known_file **ret_file) must_check;

/* Returns the file with an id, or NULL if there is none. */
struct runtime_known_file *runtime_files_find(const struct runtime_files *files, uint32_t id);

/* Gives up the reader's reference. */
void runtime_files_remove(struct runtime_files *files, struct runtime_known_file *file);

struct runtime_known_file *runtime_known_file_ref(struct runtime_known_file *file);
void runtime_known_file_unref(struct runtime_known_file *file);

/* Takes a file out of those that wait, or puts it there again. */
void runtime_files_take(struct runtime_files *files, struct runtime_known_file *file);
void runtime_files_put_back(struct runtime_files *files, struct runtime_known_file *file);

/* Sets the answer (NULL: it is no runtime), and closes the file. Without memory for the answer, the
 * file counts as no runtime. */
void runtime_files_settle(struct runtime_known_file *file,
			  const struct runtime_file_answer *answer);

/* Returns whether a process of the cgroup was inspected and had the shared values; false if there
 * are none. */
bool runtime_known_file_is_trusted(const struct runtime_known_file *file, uint64_t owner);

/* Notes that a process of the cgroup was inspected and had the shared values. */
void runtime_known_file_trust(struct runtime_known_file *file, uint64_t owner);

/* Returns the difference between the addresses of a process that maps the file's byte `offset` at
 * `start`, and the virtual addresses of the file. */
uint64_t runtime_file_bias(const struct runtime_file_answer *answer, uint64_t start,
			   uint64_t offset);

#endif
