/* SPDX-License-Identifier: Apache-2.0 */
/* What is profiled, and what is asked of a record. */
#include "base/cleanup.h"
#include "config/option_loader.h"
#include "options_fixture.h"
#include "profile/wait_reason.h"
#include "unit.h"

static void kinds_are_cpu_time_unless_told(void **state)
{
	static const struct {
		enum command_id command;
		const char *words;
		bool cpu, off_cpu, growth;
	} cases[] = {
		{ COMMAND_AGENT, "", true, false, false },
		{ COMMAND_AGENT, "--kind offcpu", false, true, false },
		{ COMMAND_AGENT, "--kind offcpu,cpu", true, true, false },
		{ COMMAND_AGENT, "--kind cpu --kind offcpu", true, true, false },
		{ COMMAND_AGENT, "--kind cpu,offcpu,growth", true, true, true },
		{ COMMAND_AGENT, "--kind cpu,offcpu --store /r", true, true, false },
		{ COMMAND_RECORD, "", true, false, false },
		{ COMMAND_RECORD, "--kind offcpu", false, true, false },
		{ COMMAND_RECORD, "--kind growth", false, false, true },
		{ COMMAND_RECORD, "--kind heap --objects", false, false, false },
		{ COMMAND_AGENT, "--kind cpu,alloc", true, false, false },
		{ COMMAND_TOP, "", true, true, false },
		{ COMMAND_TOP, "--kind cpu", true, false, false },
		{ COMMAND_DUMP, "-p 1", true, false, false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(options_done) struct options o = load_ok(cases[i].command,
								   cases[i].words);

		assert_int_equal(options_want_kind(&o, OPTION_KIND_CPU), cases[i].cpu);
		assert_int_equal(options_want_kind(&o, OPTION_KIND_OFF_CPU), cases[i].off_cpu);
		assert_int_equal(options_want_kind(&o, OPTION_KIND_GROWTH), cases[i].growth);
	}
}

static void interrupts_are_a_kind_of_the_machine(void **state)
{
	_cleanup_(options_done) struct options record = load_ok(COMMAND_RECORD,
								"--kind irq --cpu 0");
	_cleanup_(options_done) struct options agent = load_ok(COMMAND_AGENT,
							       "--kind cpu,irq --comm x");
	(void)state;

	assert_true(options_want_kind(&record, OPTION_KIND_IRQ));
	assert_false(options_want_kind(&record, OPTION_KIND_CPU));
	assert_true(options_want_kind(&agent, OPTION_KIND_IRQ));
	assert_true(options_want_kind(&agent, OPTION_KIND_CPU));
}

/* The word of a reason: REASON_NONE has none. */
static uint32_t bit_of(enum wait_reason reason)
{
	return 1U << (reason - REASON_PREEMPTED);
}

static void the_run_queue_is_a_reason_of_waits(void **state)
{
	_cleanup_(options_done) struct options record = load_ok(COMMAND_RECORD, "--kind runq");
	_cleanup_(options_done) struct options agent = load_ok(COMMAND_AGENT, "--kind cpu,runq");
	uint32_t reasons = bit_of(REASON_PREEMPTED) | bit_of(REASON_RUN_QUEUE) |
			   bit_of(REASON_THROTTLED);
	(void)state;

	assert_int_equal(record.kinds, 1 << OPTION_KIND_OFF_CPU);
	assert_int_equal(record.reasons, reasons);
	assert_int_equal(agent.kinds, 1 << OPTION_KIND_CPU | 1 << OPTION_KIND_OFF_CPU);
	assert_int_equal(agent.reasons, reasons);
}

static void events_have_a_period_of_their_own_or_the_users(void **state)
{
	_cleanup_(options_done) struct options usual = load_ok(COMMAND_RECORD, "--kind hw:cycles");
	_cleanup_(options_done) struct options chosen = load_ok(
		COMMAND_RECORD, "--kind sw:migrations --event-period 12");
	_cleanup_(options_done) struct options none = load_ok(COMMAND_RECORD, "--kind growth");
	(void)state;

	assert_true(options_want_event(&usual));
	assert_false(options_want_kind(&usual, OPTION_KIND_CPU));
	assert_int_equal(usual.event_period, 0);
	assert_true(options_want_event(&chosen));
	assert_int_equal(chosen.event_period, 12);
	assert_false(options_want_event(&none));
}

static void questions_are_of_one_kind(void **state)
{
	static const enum command_id commands[] = { COMMAND_QUERY, COMMAND_DIFF, COMMAND_TIMELINE };
	(void)state;

	for (size_t i = 0; i < array_len(commands); i++) {
		_cleanup_(options_done) struct options usual = load_ok(commands[i], "");
		_cleanup_(options_done) struct options waits = load_ok(commands[i],
								       "--kind offcpu");

		assert_int_equal(usual.asked_kind, OPTION_ASKED_CPU);
		assert_int_equal(waits.asked_kind, OPTION_ASKED_OFF_CPU);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(kinds_are_cpu_time_unless_told, start_clean),
		cmocka_unit_test_setup(interrupts_are_a_kind_of_the_machine, start_clean),
		cmocka_unit_test_setup(the_run_queue_is_a_reason_of_waits, start_clean),
		cmocka_unit_test_setup(events_have_a_period_of_their_own_or_the_users, start_clean),
		cmocka_unit_test_setup(questions_are_of_one_kind, start_clean),
	};

	return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
