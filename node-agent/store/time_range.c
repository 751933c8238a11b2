/* SPDX-License-Identifier: Apache-2.0 */
#include "store/time_range.h"

#include "base/clock.h"
#include "base/parse.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TIME_BYTES 64
#define NIGHT_MAX_S (12 * 3600)

/* A time, and how long it is: a second, or the minute if it has no seconds. */
struct moment {
	uint64_t first_s, length_s;
	bool is_of_day; /* the day was not given */
	bool is_other_day; /* nor is it that of the record's end */
};

/* A range as it is read. */
struct reading {
	struct time_range range;
	bool is_other_day;
};

static int read_back(const char *text, uint64_t newest_s, struct moment *ret)
{
	uint64_t ns;
	int r = parse_duration_ns(text + 1, &ns);

	if (r < 0)
		return r;
	uint64_t back_s = (ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC;
	if (back_s > newest_s)
		return -EINVAL;
	*ret = (struct moment){ .first_s = newest_s + 1 - back_s };
	return 0;
}

/* Parses the whole text. */
static bool has_form(const char *text, const char *form, struct tm *tm)
{
	const char *end = strptime(text, form, tm);

	return end && !*end;
}

/* Reads a time of the day that `day_s` belongs to, `nr_days` before or after it. */
static int read_clock(const char *text, uint64_t day_s, int nr_days, struct moment *ret)
{
	time_t day = (time_t)day_s;
	struct tm tm = { 0 };

	localtime_r(&day, &tm);
	tm.tm_sec = 0;
	bool is_minute = has_form(text, "%H:%M", &tm);
	if (!is_minute && !has_form(text, "%H:%M:%S", &tm))
		return -EINVAL;
	tm.tm_mday += nr_days;
	tm.tm_isdst = -1;
	time_t time = mktime(&tm);
	if (time < 0)
		return -EINVAL;
	*ret = (struct moment){ .first_s = (uint64_t)time,
				.length_s = is_minute ? 60 : 1,
				.is_of_day = true,
				.is_other_day = nr_days != 0 };
	return 0;
}

/* A time of the day that the record has not reached is that of the day before. */
static int read_last_clock(const char *text, uint64_t newest_s, struct moment *ret)
{
	int r = read_clock(text, newest_s, 0, ret);

	return r == 0 && ret->first_s > newest_s ? read_clock(text, newest_s, -1, ret) : r;
}

/* "2026-11-24T14:05[:06][Z|+01:00]"; the T may be a blank. */
static int read_date(const char *text, struct moment *ret)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M",
					     "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M" };

	for (size_t i = 0; i < array_len(forms); i++) {
		struct tm tm = { .tm_isdst = -1 }, zone = { 0 };
		const char *rest = strptime(text, forms[i], &tm);
		time_t time;

		if (!rest)
			continue;
		if (!*rest)
			time = mktime(&tm);
		else if (strcmp(rest, "Z") == 0)
			time = timegm(&tm);
		else if (has_form(rest, "%z", &zone))
			time = timegm(&tm) - zone.tm_gmtoff;
		else
			continue;
		if (time < 0)
			return -EINVAL;
		*ret = (struct moment){ .first_s = (uint64_t)time, .length_s = i % 2 ? 60 : 1 };
		return 0;
	}
	return -EINVAL;
}

static int read_moment(const char *text, uint64_t newest_s, struct moment *ret)
{
	uint64_t seconds;

	if (text[0] == '-')
		return read_back(text, newest_s, ret);
	if (parse_u64(text, &seconds) == 0 && seconds < INT64_MAX) {
		*ret = (struct moment){ .first_s = seconds, .length_s = 1 };
		return 0;
	}
	if (read_last_clock(text, newest_s, ret) == 0)
		return 0;
	return read_date(text, ret);
}

/* Reads the end of a range. A time of the day is the first one after the beginning; a night may lie
 * between them, but no whole day: then the end was meant to be before the beginning. */
static int read_end(const char *text, uint64_t newest_s, const struct moment *begin,
		    struct moment *ret)
{
	int r = begin->first_s > 0 ? read_clock(text, begin->first_s, 0, ret) : -EINVAL;

	if (r < 0)
		return read_moment(text, newest_s, ret);
	if (ret->first_s > begin->first_s)
		return 0;
	r = read_clock(text, begin->first_s, 1, ret);
	return r == 0 && ret->first_s - begin->first_s > NIGHT_MAX_S ? -ERANGE : r;
}

/* "FIRST..END" */
static int read_two(const char *first, const char *end, uint64_t newest_s, struct reading *ret)
{
	struct moment begin = { 0 }, last = { .first_s = newest_s + 1 };

	if (*first && read_moment(first, newest_s, &begin) < 0)
		return -EINVAL;
	int r = *end ? read_end(end, newest_s, &begin, &last) : 0;
	if (r < 0)
		return r;
	*ret = (struct reading){ { begin.first_s, last.first_s },
				 begin.is_other_day || last.is_other_day };
	return 0;
}

/* "TIME+DURATION" */
static int read_long(const char *first, const char *length, uint64_t newest_s, struct reading *ret)
{
	struct moment begin;
	uint64_t ns;

	if (read_moment(first, newest_s, &begin) < 0 || parse_duration_ns(length, &ns) < 0)
		return -EINVAL;
	*ret = (struct reading){ { begin.first_s,
				   begin.first_s + (ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC },
				 begin.is_other_day };
	return 0;
}

static int read_one(const char *text, uint64_t newest_s, struct reading *ret)
{
	struct moment moment;

	if (read_moment(text, newest_s, &moment) < 0)
		return -EINVAL;
	*ret = (struct reading){ { moment.first_s, moment.length_s
							   ? moment.first_s + moment.length_s
							   : newest_s + 1 },
				 moment.is_other_day };
	return 0;
}

static int read_range(const char *text, uint64_t newest_s, struct reading *ret)
{
	char copy[2 * TIME_BYTES];

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -EINVAL;
	char *dots = strstr(copy, ".."), *plus = strrchr(copy, '+');
	if (strcmp(copy, "all") == 0) {
		*ret = (struct reading){ { 0, newest_s + 1 }, false };
		return 0;
	}
	if (dots) {
		*dots = '\0';
		return read_two(copy, dots + 2, newest_s, ret);
	}
	int r = read_one(copy, newest_s, ret);
	/* The offset of RFC 3339 has a plus, too. */
	if (r < 0 && plus) {
		*plus = '\0';
		r = read_long(copy, plus + 1, newest_s, ret);
	}
	return r;
}

int time_range_parse(const char *text, uint64_t newest_s, struct time_range *ret_range,
		     bool *ret_is_other_day)
{
	struct reading reading = { 0 };

	int r = read_range(text, newest_s, &reading);
	if (r == 0 && reading.range.end_s <= reading.range.first_s)
		r = -ERANGE;
	if (r < 0)
		return r;
	*ret_range = reading.range;
	*ret_is_other_day = reading.is_other_day;
	return 0;
}
