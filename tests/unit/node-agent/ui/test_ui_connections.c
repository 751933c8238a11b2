/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui_connections.h"

#include "unit.h"

static void a_connection_has_time_for_a_request_and_more_for_the_answer(void **state)
{
	struct ui_connections connections = { 0 };
	uint64_t next_ns;
	(void)state;

	assert_true(ui_connections_add(&connections, 5, 1000));
	assert_null(ui_connections_take_late(&connections, 1000 + UI_REQUEST_NS - 1, &next_ns));
	assert_int_equal(next_ns, 1000 + UI_REQUEST_NS);
	ui_connections_answering(&connections, 5, 2000);
	assert_null(ui_connections_take_late(&connections, 2000 + UI_ANSWER_NS - 1, &next_ns));
	ui_connections_waiting(&connections, 5, 3000 + UI_ANSWER_NS);
	assert_null(ui_connections_take_late(&connections, 3000 + UI_ANSWER_NS, &next_ns));
	assert_non_null(ui_connections_take_late(&connections, 3000 + UI_ANSWER_NS + UI_REQUEST_NS,
						 &next_ns));
}

static void a_late_connection_is_taken_once(void **state)
{
	struct ui_connections connections = { 0 };
	uint64_t next_ns = 0;
	(void)state;

	assert_true(ui_connections_add(&connections, 5, 0));
	assert_int_equal(ui_connections_take_late(&connections, UI_REQUEST_NS, &next_ns)->fd, 5);
	assert_null(ui_connections_take_late(&connections, UI_REQUEST_NS, &next_ns));
	assert_int_equal(next_ns, UINT64_MAX);
	ui_connections_remove(&connections, 5);
	assert_int_equal(connections.nr, 0);
}

static void all_have_less_time_while_all_are_taken(void **state)
{
	struct ui_connections connections = { 0 };
	uint64_t next_ns = 0;
	(void)state;

	for (int fd = 0; fd < UI_MAX_CONNECTIONS; fd++)
		assert_true(ui_connections_add(&connections, fd, 0));
	assert_false(ui_connections_add(&connections, UI_MAX_CONNECTIONS, 0));
	ui_connections_answering(&connections, 0, 0);
	for (int i = 1; i < UI_MAX_CONNECTIONS; i++)
		assert_non_null(
			ui_connections_take_late(&connections, UI_CROWDED_REQUEST_NS, &next_ns));
	assert_null(ui_connections_take_late(&connections, UI_CROWDED_REQUEST_NS, &next_ns));
	assert_int_equal(next_ns, UI_CROWDED_ANSWER_NS);
	ui_connections_remove(&connections, 7);
	assert_null(ui_connections_take_late(&connections, UI_CROWDED_REQUEST_NS, &next_ns));
	assert_int_equal(next_ns, UI_ANSWER_NS);
}

static void what_is_not_there_is_left_alone(void **state)
{
	struct ui_connections connections = { 0 };
	uint64_t next_ns = 0;
	(void)state;

	ui_connections_remove(&connections, 3);
	ui_connections_answering(&connections, 3, 1);
	ui_connections_waiting(&connections, 3, 1);
	assert_null(ui_connections_take_late(&connections, 1, &next_ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_connection_has_time_for_a_request_and_more_for_the_answer),
		cmocka_unit_test(a_late_connection_is_taken_once),
		cmocka_unit_test(all_have_less_time_while_all_are_taken),
		cmocka_unit_test(what_is_not_there_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
