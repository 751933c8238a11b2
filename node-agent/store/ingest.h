/* SPDX-License-Identifier: Apache-2.0 */
/* Turns profiles into rows of a dictionary and of a block. */
#ifndef STORE_INGEST_H
#define STORE_INGEST_H

#include "base/err.h"
#include "profile/profile.h"
#include "store/block.h"
#include "store/dict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block_rows {
	struct block_row *items; /* owned */
	size_t nr, cap, max;
};

/* A profile on its way into a dictionary. Translations hold the new number + 1; 0 stands for "not
 * asked yet". */
struct ingest {
	struct dict *dict; /* borrowed */
	const struct profile *from; /* borrowed */
	uint32_t *numbers; /* owned; the memory of the following */
	uint32_t *strings, *mappings, *functions, *locations, *stacks, *resources, *processes;
	uint32_t *words; /* owned; of a row under construction */
	size_t cap_words;
};

/* ingest_done() is needed after a failure, too. Errors: -ENOMEM. */
int ingest_init(struct ingest *ingest, struct dict *dict, const struct profile *from) must_check;
void ingest_done(struct ingest *ingest);

/* Finds or adds the label set of a sample's program: resource, cgroup, name of the process, and its
 * program; without the process itself and its thread. Errors: -ENOSPC, -ENOMEM. */
int ingest_program(struct ingest *ingest, const struct profile_sample *sample, uint32_t *ret_labels)
	must_check;

/* Adds all samples of a sealed profile as rows of that second. `with_cpu`: samples of different
 * CPUs have different labels. The samples that there is no room for are counted in *lost, as by
 * stored_weight(). Errors:
 * -ENOSPC, -ENOMEM, the first one of any sample. */
int ingest_profile(struct dict *dict, struct block_rows *rows, const struct profile *profile,
		   uint32_t second, bool with_cpu, uint64_t *lost) must_check;

#endif
