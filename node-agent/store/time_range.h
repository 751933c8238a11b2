/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of time as people write them:
 *
 *	-10m			the last ten minutes
 *	-10m..-5m		from one time to another; either may be left out
 *	14:05..14:07		times of the day, as the local clock shows them
 *	14:05:30		one second; without seconds, one minute
 *	14:05+30s		a time and a duration
 *	2026-11-24T14:05:00Z	RFC 3339, in UTC or with an offset; without either, local
 *	1764000000		seconds since 1970
 *	all
 *
 * A time that counts back does so from the newest second of the record. A time of the day that the
 * record has not reached yet is that of the day before. As the end of a range, it is the first such
 * time after the beginning, and at most 12 hours later if midnight is between them. */
#ifndef STORE_TIME_RANGE_H
#define STORE_TIME_RANGE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct time_range {
	uint64_t first_s, end_s; /* Unix time; `end_s` is behind the last second */
};

/* `newest_s` is the newest second of the record, Unix time. `ret_is_other_day` is set to whether a
 * time without a day was taken as one of another day than the user may think of: not of the day of
 * `newest_s`, or, at the end of the range, not of that of its beginning. Errors: -EINVAL it is no
 * range, -ERANGE it does not end after its beginning. */
int time_range_parse(const char *text, uint64_t newest_s, struct time_range *ret_range,
		     bool *ret_is_other_day) must_check;

#endif
