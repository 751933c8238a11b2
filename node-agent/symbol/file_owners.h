/* SPDX-License-Identifier: Apache-2.0 */
/* Whose file it is, as far as that decides on the lane in which it is read
 * (worker/worker_lanes.h). A file may have several owners, as containers share what their images
 * share. It takes the slow lane when all of them are punished, so that nobody's names wait for
 * what another one's files have done; one that has many owners, or an unknown one, does not. */
#ifndef SYMBOL_FILE_OWNERS_H
#define SYMBOL_FILE_OWNERS_H

#include "worker/worker_lanes.h"

#include <stdint.h>

#define FILE_OWNERS_MAX 4

struct file_owners {
	uint64_t ids[FILE_OWNERS_MAX]; /* 0: none */
	unsigned int nr; /* over FILE_OWNERS_MAX: many */
};

/* 0 is an unknown owner. */
void file_owners_add(struct file_owners *owners, uint64_t id);

/* Adds those of `others`. */
void file_owners_merge(struct file_owners *owners, const struct file_owners *others);

/* Which lane their requests take now. */
enum worker_lane file_owners_lane(const struct file_owners *owners,
				  const struct worker_lanes *lanes, uint64_t now_ns);

/* The best rank of its owners in the fast lane; of many, or unknown ones, that of those that are
 * known by name. */
enum worker_rank file_owners_rank(const struct file_owners *owners,
				  const struct worker_lanes *lanes, uint64_t now_ns);

/* Counts what a request of theirs took in the fast lane: for each of them, of many for those that
 * are known by name. */
void file_owners_charge(const struct file_owners *owners, struct worker_lanes *lanes,
			uint64_t took_ns, uint64_t now_ns);

/* From now on they take the slow lane for a while; nothing happens to many. */
void file_owners_punish(const struct file_owners *owners, struct worker_lanes *lanes,
			uint64_t now_ns);

#endif
