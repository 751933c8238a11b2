/* SPDX-License-Identifier: Apache-2.0 */
/* Completes seconds (store/second.h): collects what is known of each, until its samples have come,
 * and passes them on in their order. The kernel's numbers of a second are there when it ends; its
 * samples come seconds later, when they have their names, or never, if there are none. */
#ifndef STORE_SECONDS_H
#define STORE_SECONDS_H

#include "store/second.h"
#include "store/second_sums.h"
#include "vitals/vitals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SECONDS_LATE_S 15 /* after that time, a second without samples is complete */
#define SECONDS_NR_RECENT 64
#define SECONDS_MAX_SERIES 16
#define SECONDS_MAX_THROTTLINGS 256

typedef void (*store_second_visit)(const struct store_second *second, void *data);

struct seconds {
	store_second_visit visit; /* NULL: nobody is interested */
	void *data;
	uint64_t next_s; /* the first one that is not complete; 0: none was seen yet */
	uint64_t open_s; /* the one whose samples are below; valid if there are any */
	struct second_sums sums[SECONDS_MAX_SERIES]; /* owned */
	size_t nr_sums;
	uint64_t nr_lost; /* of the same second */
	/* Samples, since the start, whose second was complete already or had too many series. */
	uint64_t nr_late;
	struct {
		uint64_t second;
		struct vitals vitals;
	} recent[SECONDS_NR_RECENT]; /* by second modulo their number */
	struct {
		uint64_t second;
		struct second_throttling throttling;
	} throttlings[SECONDS_MAX_THROTTLINGS];
	size_t nr_throttlings;
	uint64_t dict_generation;
};

void seconds_done(struct seconds *seconds);

/* Note what is known of a second. Whatever belongs to a second that is complete already, or too far
 * ahead, is ignored. */
void seconds_add_vitals(struct seconds *seconds, uint64_t second, const struct vitals *vitals);
void seconds_add_throttling(struct seconds *seconds, uint64_t second,
			    const struct second_throttling *throttling);
void seconds_add_loss(struct seconds *seconds, uint64_t second, uint64_t nr_samples);

/* Adds samples of a second, and takes the sums over. Their label sets are those of `dict`. The
 * seconds before are completed. Samples of a second that is complete already are counted only. */
void seconds_add_sums(struct seconds *seconds, uint64_t second, struct second_sums *sums,
		      const struct dict *dict);

/* Returns whether the vitals of a second are there, or were recently. */
bool seconds_has_vitals(const struct seconds *seconds, uint64_t second);

/* Completes all seconds before `end_s`. */
void seconds_complete(struct seconds *seconds, uint64_t end_s, const struct dict *dict);

/* Completes the second that has samples, before the dictionary starts anew. */
void seconds_restart(struct seconds *seconds, const struct dict *dict);

#endif
