/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/json_items.h"

#include "base/cleanup.h"

#include <string.h>

#include "unit.h"

#define ITEM_MAX_BYTES 64
#define TAKEN_MAX_BYTES 4096

/* The items taken, each with a "|" behind it. */
struct taken {
	struct strbuf text;
	int error; /* to be returned for each */
};

static int take(const char *text, size_t len, void *data)
{
	struct taken *taken = data;

	assert_int_equal(strlen(text), len);
	strbuf_append(&taken->text, text, len);
	strbuf_append_char(&taken->text, '|');
	return taken->error;
}

static void init_items(struct json_items *items, struct taken *taken)
{
	const struct json_items_opts opts = {
		.item_max_bytes = ITEM_MAX_BYTES,
		.on_item = take,
		.data = taken,
	};

	json_items_init(items, &opts);
}

/* Reads a text in pieces of `step` bytes. */
static int read_text(const char *text, size_t len, size_t step, struct taken *taken)
{
	_cleanup_(json_items_done) struct json_items items;
	int r = 0;

	init_items(&items, taken);
	for (size_t at = 0; at < len && r == 0; at += step)
		r = json_items_feed(&items, text + at, len - at < step ? len - at : step);
	int last = json_items_finish(&items);
	if (r < 0)
		assert_int_equal(last, r);
	return last;
}

static void expect_items(const char *text, size_t step, const char *items)
{
	struct taken taken = { .text = strbuf_with_max(TAKEN_MAX_BYTES) };

	if (read_text(text, strlen(text), step, &taken) < 0)
		fail_msg("refused %s", text);
	assert_string_equal(strbuf_str(&taken.text), items);
	strbuf_done(&taken.text);
}

static void expect_refused(const char *text, size_t step)
{
	struct taken taken = { .text = strbuf_with_max(TAKEN_MAX_BYTES) };

	if (read_text(text, strlen(text), step, &taken) != -EBADMSG)
		fail_msg("accepted %s", text);
	strbuf_done(&taken.text);
}

static void items_are_taken_as_they_are_written_in_pieces_of_any_size(void **state)
{
	static const struct {
		const char *text;
		const char *items;
	} cases[] = {
		{ "{\"items\":[]}", "" },
		{ "{\"items\":null}", "" },
		{ "{\"items\":null,\"kind\":\"PodList\"}", "" },
		{ " {\t\"items\" :\n[ ] \r} ", "" },
		{ "{\"items\":[{}]}", "{}|" },
		{ "{\"items\":[ {} , {\"a\": [1, 2]}\n]}", "{}|{\"a\": [1, 2]}|" },
		{ "{\"items\":[1,\"two\",null,[],[[3]],true]}", "1|\"two\"|null|[]|[[3]]|true|" },
		{ "{\"items\":[-1.5e+3 ]}", "-1.5e+3|" },
		{ "{\"items\":[\"]},{[\",\"\\\"\",\"\\\\\",\"\\\\\\\"]\"]}",
		  "\"]},{[\"|\"\\\"\"|\"\\\\\"|\"\\\\\\\"]\"|" },
		{ "{\"items\":[{\"\\u0022,\":\"\\u005d\"}]}", "{\"\\u0022,\":\"\\u005d\"}|" },
		{ "{\"items\":[{\"items\":[1]}],\"a\":[2],\"b\":{\"items\":[3]}}",
		  "{\"items\":[1]}|" },
		{ "{\"a\":[[4]],\"items\":[5],\"c\":[6]}", "5|" },
		{ "{\"\":0,\"itemss\":[1],\"item\":[2],\"it\\u0065ms\":[3],\"items\":[4]}", "4|" },
		{ "{\"kind\":\"x\",\"metadata\":{},\"items\":[\"\xc3\xa9\xff\"]}",
		  "\"\xc3\xa9\xff\"|" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		for (size_t step = 1; step <= strlen(cases[i].text); step++)
			expect_items(cases[i].text, step, cases[i].items);
}

static const char *const no_lists[] = {
	"",
	" ",
	"null",
	"[]",
	"7",
	"\"items\"",
	"{}",
	"{\"a\":[]}",
	"{\"items\":{}}",
	"{\"items\":1}",
	"{\"items\":\"\"}",
	"{\"items\":nil}",
	"{\"items\":nullnull}",
	"{\"items\":[]",
	"{\"items\":[",
	"{\"items\":[}",
	"{\"items\":[1}",
	"{\"items\":[1]]",
	"{\"items\":[,]}",
	"{\"items\":[1,]}",
	"{\"items\":[,1]}",
	"{\"items\":[1 2]}",
	"{\"items\":[1\"2\"]}",
	"{\"items\":[{]}]}",
	"{\"items\":[[}]]}",
	"{\"items\":[{1:2}]}",
	"{\"items\":[{\"a\"}]}",
	"{\"items\":[{\"a\":}]}",
	"{\"items\":[{\"a\",1}]}",
	"{\"items\":[{\"a\":1,}]}",
	"{\"items\":[{\"a\":1:2}]}",
	"{\"items\":[{,}]}",
	"{\"items\":[\"]}",
	"{\"items\":[\"\\\"]}",
	"{\"items\":[\"a\nb\"]}",
	"{\"items\":[\"a\x7f\x1f\"]}",
	"{\"items\":[\"\\\n\"]}",
	"{\"items\":[tru]}",
	"{\"items\":[True]}",
	"{\"items\":['a']}",
	"{\"items\":[//\n]}",
	"{\"items\":[+1]}",
	"{\"items\":[.5]}",
	"{\"items\":[]}}",
	"{\"items\":[]} x",
	"{\"items\":[]}{\"items\":[]}",
	"{\"items\":[],\"items\":[]}",
	"{\"items\":null,\"items\":[1]}",
	"{\"items\":[],}",
	"{,\"items\":[]}",
	"{\"items\",[]}",
	"{items:[]}",
	"\xef\xbb\xbf{\"items\":[]}",
};

static void what_is_no_list_is_refused(void **state)
{
	(void)state;

	for (size_t i = 0; i < array_len(no_lists); i++) {
		expect_refused(no_lists[i], 1);
		expect_refused(no_lists[i], 100);
	}
}

static void a_nul_byte_is_refused_wherever_it_is(void **state)
{
	static const char text[] = "{\"kind\":\"a\",\"items\":[{\"b\":[1,true,\"c\"]} ]}";
	(void)state;

	for (size_t at = 0; at < sizeof(text) - 1; at++) {
		struct taken taken = { .text = strbuf_with_max(TAKEN_MAX_BYTES) };
		char with_nul[sizeof(text)];

		memcpy(with_nul, text, at);
		with_nul[at] = '\0';
		memcpy(with_nul + at + 1, text + at, sizeof(text) - 1 - at);
		assert_int_equal(read_text(with_nul, sizeof(text), sizeof(text), &taken), -EBADMSG);
		strbuf_done(&taken.text);
	}
}

static void the_kind_is_that_of_the_list(void **state)
{
	static const struct {
		const char *text;
		const char *kind;
	} cases[] = {
		{ "{\"kind\":\"PodList\",\"items\":[]}", "PodList" },
		{ "{\"items\":[{\"kind\":\"Pod\"}],\"kind\":\"List\"}", "List" },
		{ "{\"a\":{\"kind\":\"b\"},\"items\":[]}", "" },
		{ "{\"kind\":7,\"items\":[]}", "" },
		{ "{\"kind\":[\"List\"],\"items\":[]}", "" },
		{ "{\"kind\":\"\",\"items\":[]}", "" },
		{ "{\"kind\":\"PodListPodListPodList\",\"items\":[]}", "PodListPodListP" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(json_items_done) struct json_items items;
		struct taken taken = { .text = strbuf_with_max(TAKEN_MAX_BYTES) };

		init_items(&items, &taken);
		assert_int_equal(json_items_feed(&items, cases[i].text, strlen(cases[i].text)), 0);
		assert_int_equal(json_items_finish(&items), 0);
		assert_string_equal(items.kind.text, cases[i].kind);
		strbuf_done(&taken.text);
	}
}

#define TEXT_62 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff00"

static void an_item_over_the_limit_is_counted_and_the_others_are_taken(void **state)
{
	static const char text[] = "{\"items\":[1,\"" TEXT_62 "\",\"" TEXT_62 "x\",2]}";
	(void)state;

	for (size_t step = 1; step <= sizeof(text); step++) {
		_cleanup_(json_items_done) struct json_items items;
		struct taken taken = { .text = strbuf_with_max(TAKEN_MAX_BYTES) };

		init_items(&items, &taken);
		for (size_t at = 0, len = strlen(text); at < len; at += step)
			assert_int_equal(json_items_feed(&items, text + at,
							 len - at < step ? len - at : step),
					 0);
		assert_int_equal(json_items_finish(&items), 0);
		assert_int_equal(items.nr_oversized, 1);
		assert_string_equal(strbuf_str(&taken.text), "1|\"" TEXT_62 "\"|2|");
		strbuf_done(&taken.text);
	}
}

static void an_error_of_the_taker_ends_the_reading(void **state)
{
	struct taken taken = { .text = strbuf_with_max(TAKEN_MAX_BYTES), .error = -ENOSPC };
	static const char text[] = "{\"items\":[1,2,3]}";
	(void)state;

	assert_int_equal(read_text(text, strlen(text), 100, &taken), -ENOSPC);
	assert_string_equal(strbuf_str(&taken.text), "1|");
	strbuf_done(&taken.text);
}

/* A list of one item that nests `depth` deep, the list and its array included. */
static int read_nested(size_t depth)
{
	char text[2 * JSON_DEPTH_MAX + 64] = "{\"items\":[";
	struct taken taken = { .text = strbuf_with_max(TAKEN_MAX_BYTES) };
	size_t len = strlen(text);

	memset(text + len, '[', depth - 2);
	memset(text + len + depth - 2, ']', depth - 2);
	memcpy(text + len + 2 * (depth - 2), "]}", sizeof("]}"));
	int r = read_text(text, strlen(text), 100, &taken);
	strbuf_done(&taken.text);
	return r;
}

static void nesting_is_bounded(void **state)
{
	(void)state;

	assert_int_equal(read_nested(2), 0);
	assert_int_equal(read_nested(JSON_DEPTH_MAX), 0);
	assert_int_equal(read_nested(JSON_DEPTH_MAX + 1), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_are_taken_as_they_are_written_in_pieces_of_any_size),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(a_nul_byte_is_refused_wherever_it_is),
		cmocka_unit_test(the_kind_is_that_of_the_list),
		cmocka_unit_test(an_item_over_the_limit_is_counted_and_the_others_are_taken),
		cmocka_unit_test(an_error_of_the_taker_ends_the_reading),
		cmocka_unit_test(nesting_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
