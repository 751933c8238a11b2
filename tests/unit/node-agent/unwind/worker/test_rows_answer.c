/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a worker that has been taken over. */
#include "unwind/worker/rows_answer.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define MAX_TABLE_BYTES 4096

/* One page, one rule behind rule 0, two rows. */
struct table {
	struct row_table head;
	uint32_t pages[2];
	_Alignas(16) struct cfi_rule rules[2];
	uint32_t rows[2];
};

struct table_reply {
	struct table table;
	uint8_t rest[MAX_TABLE_BYTES];
};

static struct table make_table(void)
{
	return (struct table){
		.head = {
			.nr_pages = 1,
			.nr_rules = 2,
			.nr_rows = 2,
			.rules_offset = offsetof(struct table, rules),
			.rows_offset = offsetof(struct table, rows),
			.bytes = offsetof(struct table, rows) + 2 * sizeof(uint32_t),
		},
		.pages = { 0, 2 },
		.rules = { { .kind = CFA_NONE }, { .kind = CFA_REGISTER, .reg = CFI_SP, .offset = 8 } },
		.rows = { ROW(16, 1), ROW(32, 0) },
	};
}

/* A reply with that table, and `len` in place of its length. */
static int check_table(const struct table *table, size_t len, size_t max_bytes)
{
	struct unwind_losses tail = { 3, 4 };
	struct row_table_bytes ret_table = { 0 };
	struct unwind_losses losses = { 0 };
	char *bytes = calloc(1, sizeof(struct table_reply) + sizeof(tail));

	assert_non_null(bytes);
	memcpy(bytes, table, sizeof(*table));
	if (len >= sizeof(tail))
		memcpy(bytes + len - sizeof(tail), &tail, sizeof(tail));

	int r = rows_answer_table(bytes, len, max_bytes, &ret_table, &losses);
	if (r == 0) {
		assert_ptr_equal(ret_table.data, bytes);
		assert_int_equal(ret_table.len, len - sizeof(tail));
		assert_int_equal(losses.nr_bad_entries, 3);
		assert_int_equal(losses.nr_unsupported_rules, 4);
	} else {
		assert_null(ret_table.data);
	}
	free(bytes);
	return r;
}

static void a_table_is_taken_with_its_losses(void **state)
{
	struct table table = make_table();
	size_t len = table.head.bytes + sizeof(struct unwind_losses);
	(void)state;

	assert_int_equal(check_table(&table, len, MAX_TABLE_BYTES), 0);
	assert_int_equal(check_table(&table, len, table.head.bytes), 0);
}

static void tables_of_another_length_are_none(void **state)
{
	struct table table = make_table();
	size_t len = table.head.bytes + sizeof(struct unwind_losses);
	(void)state;

	assert_int_equal(check_table(&table, len, table.head.bytes - 1), -EIO);
	for (size_t other = 0; other < len + 100; other++)
		if (other != len)
			assert_int_equal(check_table(&table, other, MAX_TABLE_BYTES), -EIO);
}

static void tables_that_lead_elsewhere_are_none(void **state)
{
	struct table good = make_table();
	size_t len = good.head.bytes + sizeof(struct unwind_losses);
	const struct {
		size_t offset;
		uint32_t value;
	} cases[] = {
		{ offsetof(struct table, head.nr_pages), 0 },
		{ offsetof(struct table, head.nr_pages), 1000 },
		{ offsetof(struct table, head.nr_pages), UINT32_MAX },
		{ offsetof(struct table, head.nr_rules), 0 },
		{ offsetof(struct table, head.nr_rules), 3 },
		{ offsetof(struct table, head.nr_rules), UINT32_MAX },
		{ offsetof(struct table, head.nr_rows), 1 },
		{ offsetof(struct table, head.nr_rows), UINT32_MAX },
		{ offsetof(struct table, head.rules_offset), 0 },
		{ offsetof(struct table, head.rules_offset), UINT32_MAX - 15 },
		{ offsetof(struct table, head.rows_offset), 0 },
		{ offsetof(struct table, head.rows_offset), UINT32_MAX - 3 },
		{ offsetof(struct table, head.bytes), 0 },
		{ offsetof(struct table, head.bytes), UINT32_MAX },
		{ offsetof(struct table, pages), 1 },
		{ offsetof(struct table, pages) + 4, UINT32_MAX },
		{ offsetof(struct table, rules) + 16, UINT32_MAX },
		{ offsetof(struct table, rows), ROW(16, 2) },
		{ offsetof(struct table, rows), ROW(48, 1) },
		{ offsetof(struct table, rows), ROW(ROW_PAGE_BYTES, 1) },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct table bad = good;

		memcpy((char *)&bad + cases[i].offset, &cases[i].value, sizeof(cases[i].value));
		assert_int_equal(check_table(&bad, len, MAX_TABLE_BYTES), -EIO);
	}
}

static struct rows_key_reply make_key(void)
{
	struct rows_key_reply reply;

	memset(&reply, 0, sizeof(reply));
	memcpy(reply.key.build_id, "0123ab", 7);
	memcpy(reply.wanted.build_id, "0123ab", 7);
	memcpy(reply.wanted.link, "program.debug", 14);
	reply.key.hash[0] = 1;
	return reply;
}

static void a_key_is_taken(void **state)
{
	struct rows_key_reply reply = make_key();
	struct rows_key_reply taken;
	(void)state;

	assert_int_equal(rows_answer_key(&reply, sizeof(reply), &taken), 0);
	assert_memory_equal(&taken, &reply, sizeof(reply));
	reply.wants_debug = 1;
	assert_int_equal(rows_answer_key(&reply, sizeof(reply), &taken), 0);
}

static void keys_of_another_length_are_none(void **state)
{
	struct rows_key_reply reply[2] = { make_key(), make_key() };
	struct rows_key_reply taken;
	(void)state;

	assert_int_equal(rows_answer_key(NULL, 0, &taken), -EIO);
	assert_int_equal(rows_answer_key(reply, 0, &taken), -EIO);
	assert_int_equal(rows_answer_key(reply, sizeof(*reply) - 1, &taken), -EIO);
	assert_int_equal(rows_answer_key(reply, sizeof(*reply) + 1, &taken), -EIO);
}

static void keys_with_other_texts_are_none(void **state)
{
	static const struct {
		size_t offset;
		const char *text;
	} cases[] = {
		{ offsetof(struct rows_key_reply, key.build_id), "../../etc/x" },
		{ offsetof(struct rows_key_reply, key.build_id), "abC0" },
		{ offsetof(struct rows_key_reply, key.build_id), "abc" },
		{ offsetof(struct rows_key_reply, key.build_id), "ab\n0" },
		{ offsetof(struct rows_key_reply, wanted.build_id), "/b" },
		{ offsetof(struct rows_key_reply, wanted.link), "../passwd" },
		{ offsetof(struct rows_key_reply, wanted.link), "/etc/passwd" },
	};
	struct rows_key_reply taken;
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct rows_key_reply reply = make_key();

		memcpy((char *)&reply + cases[i].offset, cases[i].text, strlen(cases[i].text) + 1);
		assert_int_equal(rows_answer_key(&reply, sizeof(reply), &taken), -EIO);
	}
}

static void texts_without_an_end_are_none(void **state)
{
	struct rows_key_reply taken;
	struct rows_key_reply reply = make_key();
	(void)state;

	memset(reply.key.build_id, 'a', sizeof(reply.key.build_id));
	assert_int_equal(rows_answer_key(&reply, sizeof(reply), &taken), -EIO);
	reply = make_key();
	memset(reply.wanted.link, 'a', sizeof(reply.wanted.link));
	assert_int_equal(rows_answer_key(&reply, sizeof(reply), &taken), -EIO);
	reply = make_key();
	reply.wants_debug = 2;
	assert_int_equal(rows_answer_key(&reply, sizeof(reply), &taken), -EIO);
}

static void only_errors_that_files_have_are_believed(void **state)
{
	static const struct {
		int told, expected;
	} cases[] = {
		{ -ENODATA, -ENODATA },	    { -ENOEXEC, -EBADMSG },
		{ -ENOSPC, -ENOSPC },	    { -ENOMEM, -ENOMEM },
		{ -ETIMEDOUT, -ETIMEDOUT }, { -EBADMSG, -EIO },
		{ -EPIPE, -EIO },	    { -EAGAIN, -EIO },
		{ -ENOENT, -EIO },	    { 1, -EIO },
		{ INT32_MIN, -EIO },	    { 4711, -EIO },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(rows_answer_error(cases[i].told), cases[i].expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_taken_with_its_losses),
		cmocka_unit_test(tables_of_another_length_are_none),
		cmocka_unit_test(tables_that_lead_elsewhere_are_none),
		cmocka_unit_test(a_key_is_taken),
		cmocka_unit_test(keys_of_another_length_are_none),
		cmocka_unit_test(keys_with_other_texts_are_none),
		cmocka_unit_test(texts_without_an_end_are_none),
		cmocka_unit_test(only_errors_that_files_have_are_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
