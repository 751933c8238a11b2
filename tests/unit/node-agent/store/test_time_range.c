/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "store/time_range.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* 2026-11-24T14:06:30Z: the newest second. */
#define NEWEST UINT64_C(1795529190)
#define AT_1400 (NEWEST - 390)
#define HOUR 3600

static void ranges_are_understood(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t first_s, end_s;
	} cases[] = {
		{ "all", 0, NEWEST + 1 },
		{ "-10m", NEWEST + 1 - 600, NEWEST + 1 },
		{ "-1s", NEWEST, NEWEST + 1 },
		{ "-1d", NEWEST + 1 - 86400, NEWEST + 1 },
		{ "-10m..-5m", NEWEST + 1 - 600, NEWEST + 1 - 300 },
		{ "-10m..", NEWEST + 1 - 600, NEWEST + 1 },
		{ "..-10m", 0, NEWEST + 1 - 600 },
		{ "..", 0, NEWEST + 1 },
		{ "14:00", AT_1400, AT_1400 + 60 },
		{ "14:00:10", AT_1400 + 10, AT_1400 + 11 },
		{ "14:00..14:05", AT_1400, AT_1400 + 300 },
		{ "14:05..14:07", AT_1400 + 300, AT_1400 + 420 },
		{ "14:00+30s", AT_1400, AT_1400 + 30 },
		/* Not yet reached today: the day before. */
		{ "15:00", AT_1400 + HOUR - 86400, AT_1400 + HOUR - 86400 + 60 },
		{ "23:00..01:00", AT_1400 + 9 * HOUR - 86400, AT_1400 - 13 * HOUR },
		{ "22:00..10:00", AT_1400 + 8 * HOUR - 86400, AT_1400 - 4 * HOUR },
		{ "14:00..01:00", AT_1400, AT_1400 + 11 * HOUR },
		{ "15:00..16:00", AT_1400 + HOUR - 86400, AT_1400 + 2 * HOUR - 86400 },
		{ "2026-11-20T14:00..14:05", AT_1400 - 4 * 86400, AT_1400 - 4 * 86400 + 300 },
		{ "-1d..15:00", NEWEST + 1 - 86400, AT_1400 + HOUR - 86400 },
		{ "..14:00", 0, AT_1400 },
		{ "..15:00", 0, AT_1400 + HOUR - 86400 },
		{ "2026-11-24T14:00:00Z", AT_1400, AT_1400 + 1 },
		{ "2026-11-24T14:00Z", AT_1400, AT_1400 + 60 },
		{ "2026-11-24 14:00", AT_1400, AT_1400 + 60 },
		{ "2026-11-24T15:00:00+01:00..2026-11-24T14:05:00Z", AT_1400, AT_1400 + 300 },
		{ "2026-11-24T14:00:00Z+5m", AT_1400, AT_1400 + 300 },
		{ "1795528800..1795528801", AT_1400, AT_1400 + 1 },
		{ "1795528800+1m", AT_1400, AT_1400 + 60 },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		struct time_range range = { 0 };
		bool is_other_day;

		if (time_range_parse(cases[i].text, NEWEST, &range, &is_other_day) < 0)
			fail_msg("%s was refused", cases[i].text);
		if (range.first_s != cases[i].first_s || range.end_s != cases[i].end_s)
			fail_msg("%s: %llu to %llu", cases[i].text,
				 (unsigned long long)range.first_s,
				 (unsigned long long)range.end_s);
	}
}

static void other_texts_are_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"-",
		"now",
		"-10x",
		"-m",
		"10m",
		"25:00",
		"14:60",
		"14:00:00:00",
		"14:00..14:00x",
		"2026-13-01T00:00:00Z",
		"2026-11-24",
		"2026-11-24T14:00:00Q",
		"14:00+",
		"+5m",
		"14:00+5x",
		"-99999999h",
		"14:00..x",
		"-10m..-5m..-1m",
		"all..all",
		"9999999999999999999999",
	};

	for (size_t i = 0; i < array_len(texts); i++) {
		struct time_range range = { 0 };
		bool is_other_day;

		if (time_range_parse(texts[i], NEWEST, &range, &is_other_day) != -EINVAL)
			fail_msg("\"%s\" was taken", texts[i]);
	}
}

static void a_range_that_ends_before_it_begins_is_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"-5m..-10m",	"2026-11-24T14:05:00Z..2026-11-24T14:00:00Z",
		"14:00+0s",	"14:05..14:04",
		"00:41..00:40", "14:00..14:00",
		"15:00..14:00", "14:00..02:01", /* a minute more than twelve hours */
		"-5m..14:00",	"2026-11-20T14:05..14:04",
		"14:00..-1h",
	};

	for (size_t i = 0; i < array_len(texts); i++) {
		struct time_range range = { 0 };
		bool is_other_day;
		int r = time_range_parse(texts[i], NEWEST, &range, &is_other_day);

		if (r != -ERANGE)
			fail_msg("\"%s\": %d", texts[i], r);
	}
}

static void another_day_is_told(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool is_other_day;
	} cases[] = {
		{ "14:00..14:05", false },
		{ "14:05..14:07", false },
		{ "14:00", false },
		{ "-1d", false },
		{ "2026-11-20T14:00..14:05", false },
		{ "..14:00", false },
		{ "15:00..16:00", true },
		{ "15:00", true },
		{ "15:00+1m", true },
		{ "23:00..01:00", true },
		{ "14:00..01:00", true },
		{ "..15:00", true },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		struct time_range range;
		bool is_other_day;

		assert_int_equal(time_range_parse(cases[i].text, NEWEST, &range, &is_other_day), 0);
		if (is_other_day != cases[i].is_other_day)
			fail_msg("%s: %d", cases[i].text, is_other_day);
	}
}

static void a_long_text_is_refused(void **state)
{
	(void)state;
	struct time_range range;
	bool is_other_day;
	char text[1000];

	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(time_range_parse(text, NEWEST, &range, &is_other_day), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_understood),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(a_range_that_ends_before_it_begins_is_refused),
		cmocka_unit_test(another_day_is_told),
		cmocka_unit_test(a_long_text_is_refused),
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
