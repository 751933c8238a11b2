/* SPDX-License-Identifier: Apache-2.0 */
#include "store/time_range.h"

#include "base/clock.h"
#include "base/parse.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TIME_BYTES 64
#define DAY_S 86400

/* A time, and how long it is: a second, or the minute if it has no seconds. */
struct moment {
	uint64_t first_s, length_s;
	bool is_of_day; /* the day was not given */
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
	*ret = (struct moment){ newest_s + 1 - back_s, 0, false };
	return 0;
}

/* Parses the whole text. */
static bool has_form(const char *text, const char *form, struct tm *tm)
{
	const char *end = strptime(text, form, tm);

	return end && !*end;
}

static int read_clock(const char *text, uint64_t newest_s, struct moment *ret)
{
	time_t newest = (time_t)newest_s;
	struct tm tm = { 0 };

	localtime_r(&newest, &tm);
	tm.tm_sec = 0;
	bool is_minute = has_form(text, "%H:%M", &tm);
	if (!is_minute && !has_form(text, "%H:%M:%S", &tm))
		return -EINVAL;
	tm.tm_isdst = -1;
	time_t time = mktime(&tm);
	if (time > newest) {
		tm.tm_mday--;
		tm.tm_isdst = -1;
		time = mktime(&tm);
	}
	if (time < 0)
		return -EINVAL;
	*ret = (struct moment){ (uint64_t)time, is_minute ? 60 : 1, true };
	return 0;
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
		*ret = (struct moment){ (uint64_t)time, i % 2 ? 60 : 1, false };
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
		*ret = (struct moment){ seconds, 1, false };
		return 0;
	}
	if (read_clock(text, newest_s, ret) == 0)
		return 0;
	return read_date(text, ret);
}

/* "FIRST..END" */
static int read_two(const char *first, const char *end, uint64_t newest_s, struct time_range *ret)
{
	struct moment begin = { 0 }, last = { newest_s + 1, 0, false };

	if ((*first && read_moment(first, newest_s, &begin) < 0) ||
	    (*end && read_moment(end, newest_s, &last) < 0))
		return -EINVAL;
	/* The end may be later than the newest second. */
	if (last.is_of_day && last.first_s <= begin.first_s)
		last.first_s += DAY_S;
	*ret = (struct time_range){ begin.first_s, last.first_s };
	return 0;
}

/* "TIME+DURATION" */
static int read_long(const char *first, const char *length, uint64_t newest_s,
		     struct time_range *ret)
{
	struct moment begin;
	uint64_t ns;

	if (read_moment(first, newest_s, &begin) < 0 || parse_duration_ns(length, &ns) < 0)
		return -EINVAL;
	*ret = (struct time_range){ begin.first_s,
				    begin.first_s + (ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC };
	return 0;
}

static int read_one(const char *text, uint64_t newest_s, struct time_range *ret)
{
	struct moment moment;

	if (read_moment(text, newest_s, &moment) < 0)
		return -EINVAL;
	*ret = (struct time_range){ moment.first_s, moment.length_s
							    ? moment.first_s + moment.length_s
							    : newest_s + 1 };
	return 0;
}

int time_range_parse(const char *text, uint64_t newest_s, struct time_range *ret_range)
{
	struct time_range range = { 0, newest_s + 1 };
	char copy[2 * TIME_BYTES];
	int r;

	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -EINVAL;
	char *dots = strstr(copy, ".."), *plus = strrchr(copy, '+');
	if (strcmp(copy, "all") == 0) {
		r = 0;
	} else if (dots) {
		*dots = '\0';
		r = read_two(copy, dots + 2, newest_s, &range);
	} else {
		r = read_one(copy, newest_s, &range);
		/* The offset of RFC 3339 has a plus, too. */
		if (r < 0 && plus) {
			*plus = '\0';
			r = read_long(copy, plus + 1, newest_s, &range);
		}
	}
	if (r < 0 || range.end_s <= range.first_s)
		return -EINVAL;
	*ret_range = range;
	return 0;
}
