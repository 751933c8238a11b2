/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/timeline_text.h"

#include "base/cleanup.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES 65536

/* Two lines and three steps, the second of which is a gap. */
struct fixture {
	uint64_t values[2][3];
	uint32_t nr_seconds[3];
	struct timeline_line lines[2];
	struct store_timeline timeline;
};

static void make(struct fixture *fixture, char *name, char *other)
{
	*fixture = (struct fixture){
		.values = { { 1, 0, 3 }, { 40, 0, 0 } },
		.nr_seconds = { 10, 0, 7 },
		.lines = { { .name = name, .total = 4 },
			   { .name = other, .total = 40, .is_rest = true } },
		.timeline = { .first_s = 1000, .step_s = 10, .nr_steps = 3, .nr_hosts = 1 },
	};
	fixture->lines[0].values = fixture->values[0];
	fixture->lines[1].values = fixture->values[1];
	fixture->timeline.lines = fixture->lines;
	fixture->timeline.nr_lines = 2;
	fixture->timeline.nr_seconds = fixture->nr_seconds;
	fixture->timeline.period = 10101010;
}

static void csv_has_a_row_for_each_step(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct fixture fixture;
	char name[] = "web", other[] = "other";
	(void)state;

	make(&fixture, name, other);
	timeline_text_append_csv(&fixture.timeline, &out);
	assert_string_equal(strbuf_str(&out), "time,seconds,web,other\n"
					      "1000,10,1,40\n"
					      "1010,0,,\n"
					      "1020,7,3,0\n");
}

static void names_cannot_change_the_table(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct fixture fixture;
	char name[] = "a,b\"c\nd", other[] = "";
	(void)state;

	make(&fixture, name, other);
	timeline_text_append_csv(&fixture.timeline, &out);
	assert_int_equal(strncmp(strbuf_str(&out), "time,seconds,\"a,b\"\"c\\x0ad\",\n", 28), 0);
	strbuf_clear(&out);
	timeline_text_append_json(&fixture.timeline, "samples", &out);
	assert_non_null(strstr(strbuf_str(&out), "{\"name\":\"a,b\\\"c\\\\x0ad\",\"total\":4,"));
}

static void json_has_null_in_a_gap(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct fixture fixture;
	char name[] = "user", other[] = "other";
	(void)state;

	make(&fixture, name, other);
	timeline_text_append_json(&fixture.timeline, "", &out);
	assert_string_equal(
		strbuf_str(&out),
		"{\"first\":1000,\"step\":10,\"hosts\":1,\"unit\":\"\",\"period_ns\":10101010,"
		"\"seconds\":[10,0,7],\"lines\":["
		"{\"name\":\"user\",\"unit\":\"ns\",\"is_rest\":false,\"values\":[1,null,3]},"
		"{\"name\":\"other\",\"is_rest\":true,\"values\":[40,null,0]}]}\n");
}

static void what_is_not_known_is_empty(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct fixture fixture;
	char name[] = "user", other[] = "irq";
	bool is_known[] = { false, false, true };
	(void)state;

	make(&fixture, name, other);
	fixture.lines[0].is_known = is_known;
	timeline_text_append_csv(&fixture.timeline, &out);
	assert_string_equal(strbuf_str(&out), "time,seconds,user,irq\n"
					      "1000,10,,40\n"
					      "1010,0,,\n"
					      "1020,7,3,0\n");
	strbuf_clear(&out);
	timeline_text_append_json(&fixture.timeline, "", &out);
	assert_non_null(strstr(strbuf_str(&out), "\"values\":[null,null,3]"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_has_a_row_for_each_step),
		cmocka_unit_test(names_cannot_change_the_table),
		cmocka_unit_test(json_has_null_in_a_gap),
		cmocka_unit_test(what_is_not_known_is_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
