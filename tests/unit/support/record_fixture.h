/* SPDX-License-Identifier: Apache-2.0 */
/* A directory with a record, and what is in it. */
#ifndef TESTS_UNIT_RECORD_FIXTURE_H
#define TESTS_UNIT_RECORD_FIXTURE_H

#include "profile/profile.h"
#include "store/recorder.h"
#include "store/store_reader.h"
#include "store/store_timeline.h"

#include <stdint.h>

#define RECORD_START UINT64_C(1795528800) /* a full hour: 2026-11-24T14:00:00Z */
#define RECORD_PATH_BYTES 64

struct record {
	char dir[RECORD_PATH_BYTES];
};

void record_make(struct record *record);
void record_remove(struct record *record);

/* The options of a recorder that writes there, without limits. */
struct recorder_opts record_opts(const struct record *record);

/* A profile of that second: `count` samples of a stack that all seconds have, and one of a stack
 * that only this one has. */
struct profile *record_second(uint64_t second, uint32_t count);

/* Adds such profiles of `nr` seconds to a recorder, as time goes on. */
void record_add(struct recorder *recorder, uint64_t first_s, unsigned int nr, uint32_t count);

/* The sum of all samples of a range; 0 if there are none. Warnings fail the test. */
uint64_t record_total(const struct record *record, uint64_t first_s, uint64_t end_s);

/* Reads a timeline of all times with one step, of samples by a label (NULL: in one line) or of
 * something else. Warnings fail the test. The caller ends it with store_timeline_done(). */
void record_timeline(const struct record *record, enum timeline_what what, const char *by,
		     struct store_timeline *ret_timeline);

/* The mean of a vital; 0 if the record has none. */
uint64_t record_vital(const struct record *record, enum vital vital);

#endif
