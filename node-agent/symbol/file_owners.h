/* SPDX-License-Identifier: Apache-2.0 */
/* The owners of a file, which decide on the lane in which it is read (worker/worker_lanes.h). A
 * file may have several owners, because containers share the files of their images. It is read in
 * the slow lane if all of them are punished, so that no owner waits because of another one's files.
 * A file with many owners, or with an unknown one, is always read in the fast lane. */
#ifndef SYMBOL_FILE_OWNERS_H
#define SYMBOL_FILE_OWNERS_H

#include "worker/worker_lanes.h"

#include <stdint.h>

#define FILE_OWNERS_MAX 4

struct file_owners {
	uint64_t ids[FILE_OWNERS_MAX]; /* 0: none */
	unsigned int nr; /* over FILE_OWNERS_MAX: many, or an unknown one */
};

/* Adds an owner; 0 is an unknown one. */
void file_owners_add(struct file_owners *owners, uint64_t id);

/* Adds the owners in `others`. */
void file_owners_merge(struct file_owners *owners, const struct file_owners *others);

/* Returns the lane of their requests at this time. */
enum worker_lane file_owners_lane(const struct file_owners *owners,
				  const struct worker_lanes *lanes, uint64_t now_ns);

/* Returns the best rank of the owners in the fast lane. Only those whose ids are known count. */
enum worker_rank file_owners_rank(const struct file_owners *owners,
				  const struct worker_lanes *lanes, uint64_t now_ns);

/* Charges the time of a request in the fast lane to each owner whose id is known. */
void file_owners_charge(const struct file_owners *owners, struct worker_lanes *lanes,
			uint64_t took_ns, uint64_t now_ns);

/* Sends their requests to the slow lane for a while, unless there are many owners. */
void file_owners_punish(const struct file_owners *owners, struct worker_lanes *lanes,
			uint64_t now_ns);

#endif
