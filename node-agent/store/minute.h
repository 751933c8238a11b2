/* SPDX-License-Identifier: Apache-2.0 */
/* What is recorded of the current minute, in memory until the file has it:
 *
 *	dictionary   ├── in the file ──┼── in heads ──┼── new ──┤
 *	                               ^ written      ^ in_heads
 *	rows                           ├── in heads ──┼── new ──┤
 *
 * and the same for the timeline, which has a dictionary of its own. A minute that could not be
 * written stays: the samples of the next one come to it. */
#ifndef STORE_MINUTE_H
#define STORE_MINUTE_H

#include "base/err.h"
#include "profile/profile.h"
#include "store/dict.h"
#include "store/ingest.h"
#include "store/store_file.h"
#include "store/timeline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MINUTE_MAX_SERIES 16

/* The rows of a block of one type and period. */
struct minute_series {
	enum profile_type type;
	uint64_t period; /* of stored values */
	struct block_rows rows;
	size_t nr_in_heads;
	uint64_t nr_samples; /* as by stored_nr_samples() */
	uint64_t folded; /* value of the rows whose stacks are not whole */
};

struct minute {
	struct dict dict;
	struct dict_mark written, in_heads;
	bool has_old_heads; /* those in the file have other numbers */
	struct minute_series series[MINUTE_MAX_SERIES];
	size_t nr_series;
	uint64_t first_s, end_s; /* of the samples; end 0: there are none */
	struct timeline timeline;
};

/* minute_done() is needed after a failure, too. Errors: -ENOMEM. */
int minute_init(struct minute *minute) must_check;
void minute_done(struct minute *minute);

static inline bool minute_is_empty(const struct minute *minute)
{
	return minute->end_s == 0 && timeline_is_empty(&minute->timeline);
}

/* Returns the bytes of memory that the dictionaries use. */
size_t minute_dict_bytes(const struct minute *minute);

/* Adds the samples of a sealed profile, not its timeline. `with_cpu`: samples of different CPUs
 * have different labels. Returns how many samples there was no room for (stored_nr_samples()). */
uint64_t minute_add(struct minute *minute, const struct profile *profile, uint64_t second,
		    bool with_cpu);

/* Writes what is in no head yet, as a head, within a transaction; *nr_bytes is increased. Once it
 * is committed, minute_settle_head() must follow. Errors: those of store_file.h. */
int minute_write_head(struct minute *minute, struct store_file *file, uint64_t *nr_bytes)
	must_check;
void minute_settle_head(struct minute *minute);

/* Folds stacks with fewer samples than `min_count`, and sorts the rows. *ret_folded is how many
 * samples have stacks that are not whole any more. Errors: -ENOSPC, -ENOMEM; then the samples are
 * useless, and minute_drop() must follow. */
int minute_fold(struct minute *minute, uint64_t min_count, uint64_t *ret_folded) must_check;

/* Writes everything, within a transaction, in the place of the heads; *nr_bytes is increased. Once
 * it is committed, minute_settle() must follow. Errors: those of store_file.h. */
int minute_write(struct minute *minute, struct store_file *file, uint64_t min_count,
		 uint64_t *nr_bytes) must_check;

/* Empties the minute, whose content is in the file. */
void minute_settle(struct minute *minute);

/* Drops the samples; the timeline stays. */
void minute_drop(struct minute *minute);

/* Returns the number of samples (stored_nr_samples()). */
uint64_t minute_nr_samples(const struct minute *minute);

/* Starts dictionaries anew, for the next file. The minute must be empty. Errors: -ENOMEM; then the
 * old ones go on. */
int minute_restart(struct minute *minute) must_check;

#endif
