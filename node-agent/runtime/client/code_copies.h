/* SPDX-License-Identifier: Apache-2.0 */
/* The copies of code objects that the sampler made in young processes (bpf/shared/code_copy.h).
 * Frames are named from them without a look into the process, which may have ended. A copy is kept
 * for CODE_COPIES_KEEP_NS, because more places of its function may be sampled. Has no lock of its
 * own. */
#ifndef RUNTIME_CLIENT_CODE_COPIES_H
#define RUNTIME_CLIENT_CODE_COPIES_H

#include "base/htable.h"
#include "bpf/shared/code_copy.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define CODE_COPIES_MAX 4096
#define CODE_COPIES_MAX_BYTES ((size_t)4 << 20)
#define CODE_COPIES_MAX_OWNERS 64
#define CODE_COPIES_KEEP_NS (UINT64_C(3) * 1000000000)

TAILQ_HEAD(kept_copies, kept_copy);

/* A cgroup. The last owner stands for several, if there are more than CODE_COPIES_MAX_OWNERS. */
struct copies_owner {
	uint64_t id;
	struct kept_copies rows; /* oldest first */
	size_t nr; /* of `rows` */
	size_t nr_bytes;
};

struct kept_copy {
	struct code_copy *copy; /* owned; cut behind its line table */
	uint64_t taken_ns;
	struct copies_owner *owner; /* borrowed */
	TAILQ_ENTRY(kept_copy) owner_link;
	TAILQ_ENTRY(kept_copy) age_link;
};

/* The oldest copies of the owner with the most make room for new ones, so that the processes of one
 * owner cannot take the names of another one's. */
struct code_copies {
	struct kept_copy *rows; /* owned; CODE_COPIES_MAX, NULL before the first copy */
	struct copies_owner *owners; /* owned; CODE_COPIES_MAX_OWNERS, NULL before the first copy */
	struct kept_copies by_age; /* oldest first */
	struct kept_copies unused;
	size_t nr; /* rows in use */
	size_t nr_bytes;
	struct htable index; /* rows by process and code object */
};

/* The code object of a frame. */
struct code_key {
	uint32_t pid; /* this and the next: of the process */
	uint64_t start_ns;
	const uint64_t *words; /* of the frame, as in a record */
};

void code_copies_done(struct code_copies *copies);

/* Returns the length of a copy. */
size_t code_copy_len(const struct code_copy *copy);

/* Keeps a copy, which is whole. Without memory it is lost. */
void code_copies_add(struct code_copies *copies, const struct code_copy *copy, uint64_t now_ns);

/* Returns the copy of the code object that a frame names, or NULL if there is none. Valid until the
 * next change. */
const struct code_copy *code_copies_find(const struct code_copies *copies,
					 const struct code_key *key);

/* Drops the copies that were kept long enough. */
void code_copies_expire(struct code_copies *copies, uint64_t now_ns);

#endif
