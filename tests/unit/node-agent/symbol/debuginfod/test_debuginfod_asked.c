/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/debuginfod/debuginfod_asked.h"

#include "base/cleanup.h"
#include "torture.h"
#include "unit.h"

#include <stdio.h>

#define MAX_WAITING 8

static size_t nr(const struct debuginfod_asked *asked, enum debuginfod_asked_state state)
{
	return debuginfod_asked_count(asked, state);
}

static void they_are_sent_in_the_order_in_which_they_were_asked_for(void **state)
{
	static const char *const ids[] = { "01", "02", "03" };
	_cleanup_(debuginfod_asked_done) struct debuginfod_asked asked;

	(void)state;
	debuginfod_asked_init(&asked, MAX_WAITING);
	assert_null(debuginfod_asked_send(&asked));
	for (size_t i = 0; i < array_len(ids); i++)
		assert_int_equal(debuginfod_asked_add(&asked, ids[i], i, 0), 0);
	assert_int_equal(nr(&asked, DEBUGINFOD_WAITING), 3);
	for (size_t i = 0; i < array_len(ids); i++)
		assert_string_equal(debuginfod_asked_send(&asked), ids[i]);
	assert_null(debuginfod_asked_send(&asked));
	for (size_t i = 0; i < array_len(ids); i++)
		assert_int_equal(debuginfod_asked_answer(&asked, 0), i);
	assert_int_equal(nr(&asked, DEBUGINFOD_SENT), 0);
}

static void what_is_not_answered_is_not_asked_for_twice(void **state)
{
	_cleanup_(debuginfod_asked_done) struct debuginfod_asked asked;

	(void)state;
	debuginfod_asked_init(&asked, MAX_WAITING);
	assert_int_equal(debuginfod_asked_add(&asked, "01", 1, 0), 0);
	assert_int_equal(debuginfod_asked_add(&asked, "01", 2, 0), -EALREADY);
	debuginfod_asked_send(&asked);
	assert_int_equal(debuginfod_asked_add(&asked, "01", 3, 0), -EALREADY);
	assert_int_equal(debuginfod_asked_answer(&asked, 0), 1);
	assert_int_equal(debuginfod_asked_add(&asked, "01", 4, 0), 0);
}

static void what_was_not_found_may_be_asked_for_again_later(void **state)
{
	_cleanup_(debuginfod_asked_done) struct debuginfod_asked asked;

	(void)state;
	debuginfod_asked_init(&asked, MAX_WAITING);
	assert_int_equal(debuginfod_asked_add(&asked, "01", 1, 10), 0);
	debuginfod_asked_send(&asked);
	debuginfod_asked_answer(&asked, 100);
	assert_int_equal(debuginfod_asked_add(&asked, "01", 2, 99), -EALREADY);
	assert_int_equal(debuginfod_asked_add(&asked, "01", 3, 100), 0);
	assert_string_equal(debuginfod_asked_send(&asked), "01");
	assert_int_equal(debuginfod_asked_answer(&asked, 0), 3);
}

static void what_was_sent_in_vain_goes_before_the_others_again(void **state)
{
	static const char *const ids[] = { "01", "02", "03", "04" };
	_cleanup_(debuginfod_asked_done) struct debuginfod_asked asked;

	(void)state;
	debuginfod_asked_init(&asked, MAX_WAITING);
	for (size_t i = 0; i < array_len(ids); i++)
		assert_int_equal(debuginfod_asked_add(&asked, ids[i], i, 0), 0);
	debuginfod_asked_send(&asked);
	debuginfod_asked_send(&asked);
	debuginfod_asked_unsend(&asked);
	assert_int_equal(nr(&asked, DEBUGINFOD_SENT), 0);
	debuginfod_asked_unsend(&asked);
	for (size_t i = 0; i < array_len(ids); i++)
		assert_string_equal(debuginfod_asked_send(&asked), ids[i]);
}

static void only_so_many_wait(void **state)
{
	_cleanup_(debuginfod_asked_done) struct debuginfod_asked asked;
	char id[16];

	(void)state;
	debuginfod_asked_init(&asked, MAX_WAITING);
	for (int i = 0; i < MAX_WAITING; i++) {
		snprintf(id, sizeof(id), "%04x", i);
		assert_int_equal(debuginfod_asked_add(&asked, id, 0, 0), 0);
	}
	assert_int_equal(debuginfod_asked_add(&asked, "ffff", 0, 0), -ENOSPC);
	debuginfod_asked_send(&asked);
	assert_int_equal(debuginfod_asked_add(&asked, "ffff", 0, 0), 0);
}

static void add_missing(struct debuginfod_asked *asked, int number)
{
	char id[16];

	snprintf(id, sizeof(id), "%08x", number);
	assert_int_equal(debuginfod_asked_add(asked, id, 0, 0), 0);
	assert_string_equal(debuginfod_asked_send(asked), id);
	debuginfod_asked_answer(asked, UINT64_MAX);
}

static void when_full_the_oldest_answer_is_forgotten(void **state)
{
	_cleanup_(debuginfod_asked_done) struct debuginfod_asked asked;

	(void)state;
	debuginfod_asked_init(&asked, MAX_WAITING);
	for (int i = 0; i < DEBUGINFOD_ASKED_MAX; i++)
		add_missing(&asked, i);
	assert_int_equal(debuginfod_asked_add(&asked, "00000000", 0, 0), -EALREADY);
	for (int i = 0; i < 100; i++)
		add_missing(&asked, DEBUGINFOD_ASKED_MAX + i);
	assert_int_equal(nr(&asked, DEBUGINFOD_ANSWERED), DEBUGINFOD_ASKED_MAX);
	assert_int_equal(debuginfod_asked_add(&asked, "00000064", 0, 0), -EALREADY);
	assert_int_equal(debuginfod_asked_add(&asked, "00000063", 0, 0), 0);
}

static void want_of_memory_loses_nothing(void **state)
{
	(void)state;
	for (unsigned int n = 1;; n++) {
		_cleanup_(debuginfod_asked_done) struct debuginfod_asked asked;

		debuginfod_asked_init(&asked, MAX_WAITING);
		torture_begin(n);
		int r = debuginfod_asked_add(&asked, "0123", 7, 0);
		if (!torture_end())
			break;
		if (r < 0) {
			assert_int_equal(r, -ENOMEM);
			assert_int_equal(nr(&asked, DEBUGINFOD_WAITING), 0);
			assert_int_equal(debuginfod_asked_add(&asked, "0123", 7, 0), 0);
		}
		assert_string_equal(debuginfod_asked_send(&asked), "0123");
		assert_int_equal(debuginfod_asked_answer(&asked, 0), 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_are_sent_in_the_order_in_which_they_were_asked_for),
		cmocka_unit_test(what_is_not_answered_is_not_asked_for_twice),
		cmocka_unit_test(what_was_not_found_may_be_asked_for_again_later),
		cmocka_unit_test(what_was_sent_in_vain_goes_before_the_others_again),
		cmocka_unit_test(only_so_many_wait),
		cmocka_unit_test(when_full_the_oldest_answer_is_forgotten),
		cmocka_unit_test(want_of_memory_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
