/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/export_rest.h"

#include "base/cleanup.h"
#include "unit.h"

#define MAX_BYTES 4096
#define REPEAT "to send what is left, of which a part may have arrived, add your other options to: "

static void assert_rest(const struct export_rest *rest, const struct options *options,
			const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	export_rest_append(rest, options, &out);
	assert_string_equal(strbuf_str(&out), expected);
}

static void a_record_is_named_with_the_range_that_is_left(void **state)
{
	char one[] = "/var/lib/record", other[] = "a copy", word[] = "-1m";
	char *stores[] = { one, other }, *words[] = { word };
	struct options options = { .stores = { .items = stores, .nr = 1 },
				   .files = { .items = words, .nr = 1 } };
	struct export_rest rest = { .nr_samples = 4864, .range = { 1764000000, 1764000060 } };
	(void)state;

	assert_rest(&rest, &options,
		    "4,864 samples were not accepted within --wait; the record still has "
		    "them\n" REPEAT
		    "flamelet export --store /var/lib/record 1764000000..1764000060\n");
	options.stores.nr = 2;
	rest.has_unread = true;
	assert_rest(
		&rest, &options,
		"4,864 samples were not accepted within --wait, and the rest of the range was not "
		"sent; the record still has them\n" REPEAT
		"flamelet export --store /var/lib/record --store 'a copy' "
		"1764000000..1764000060\n");
}

static void a_range_of_which_all_that_was_read_waits_in_the_queue_has_an_end_to_send(void **state)
{
	char store[] = "d";
	char *stores[] = { store };
	const struct options options = { .stores = { .items = stores, .nr = 1 } };
	const struct export_rest rest = { .has_unread = true, .range = { 10, 20 } };
	(void)state;

	assert_rest(&rest, &options,
		    "the end of the range was not sent; the record still has it\n" REPEAT
		    "flamelet export --store d 10..20\n");
}

static void files_are_named_from_the_first_that_is_left(void **state)
{
	char a[] = "a.gz", b[] = "b's.gz", c[] = "c.gz";
	char *files[] = { a, b, c };
	struct options options = { .files = { .items = files, .nr = 3 } };
	struct export_rest rest = { .nr_samples = 10, .was_stopped = true, .first_file = 1 };
	(void)state;

	assert_rest(&rest, &options,
		    "10 samples were not accepted before flamelet was stopped; the files still "
		    "have them\n" REPEAT "flamelet export 'b'\\''s.gz' c.gz\n");
	options.files.nr = 1;
	rest = (struct export_rest){ .nr_samples = 10 };
	assert_rest(&rest, &options,
		    "10 samples were not accepted within --wait; the file still has them\n" REPEAT
		    "flamelet export a.gz\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_named_with_the_range_that_is_left),
		cmocka_unit_test(
			a_range_of_which_all_that_was_read_waits_in_the_queue_has_an_end_to_send),
		cmocka_unit_test(files_are_named_from_the_first_that_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
