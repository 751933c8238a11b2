/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/boost.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "unit.h"

#define PER_HOUR 3

static struct options make_options(uint32_t frequency_hz, uint32_t boost_hz)
{
	static char rule[] = "psi-cpu > 10%";
	static char *rules[] = { rule };

	return (struct options){
		.kinds = 1U << OPTION_KIND_CPU,
		.frequency_hz = frequency_hz,
		.trigger_boost_hz = boost_hz,
		.trigger_per_hour = PER_HOUR,
		.triggers = { .items = rules, .nr = 1 },
	};
}

static void periods_are_multiples(void **state)
{
	static const struct {
		uint32_t usual_hz, wanted_hz, got_hz;
	} cases[] = { { 19, 190, 190 }, { 19, 199, 190 },    { 19, 209, 209 },	 { 99, 999, 990 },
		      { 49, 98, 98 },	{ 1, 10000, 10000 }, { 7, 10000, 10003 } };

	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
		const struct options options = make_options(cases[i].usual_hz, cases[i].wanted_hz);
		uint64_t plain_ns = NSEC_PER_SEC / cases[i].usual_hz;
		struct boost boost;

		assert_int_equal(boost_init(&boost, &options, &message), 0);
		assert_int_equal(boost.frequency_hz, cases[i].got_hz);
		assert_int_equal(boost.usual_ns % boost.short_ns, 0);
		assert_int_equal(boost.usual_ns / boost.short_ns,
				 cases[i].got_hz / cases[i].usual_hz);
		assert_int_equal(boost.usual_ns, boost_usual_period(&options));
		/* As long as without boosts, but for the rest of a division. */
		assert_true(boost.usual_ns <= plain_ns);
		assert_true(plain_ns - boost.usual_ns < cases[i].got_hz);
	}
}

static void without_the_option_there_are_none(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	struct options options = make_options(19, 0);
	struct trigger_boost begun;
	struct boost boost;

	(void)state;
	assert_int_equal(boost_usual_period(&options), NSEC_PER_SEC / 19);
	assert_int_equal(boost_frequency(&options), 0);
	assert_int_equal(boost_init(&boost, &options, &message), 0);
	assert_false(boost_begin(&boost, &begun));
	assert_int_equal(boost_get_stats(&boost).nr_refused, 0);
	options.frequency_hz = 0; /* a command without timers */
	assert_int_equal(boost_usual_period(&options), NSEC_PER_SEC);
}

static void assert_refused(const struct options *options, const char *why)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	struct boost boost;

	assert_int_equal(boost_init(&boost, options, &message), -EINVAL);
	assert_string_equal(strbuf_str(&message), why);
}

static void what_makes_no_sense_is_refused(void **state)
{
	struct options options = make_options(99, 190);

	(void)state;
	assert_refused(&options,
		       "--trigger-boost 190: it has to be at least twice --frequency (99)");
	options = make_options(19, 190);
	options.kinds = 1U << OPTION_KIND_OFF_CPU;
	assert_refused(&options, "--trigger-boost is for samples of CPU time; add --kind cpu");
	options.triggers.nr = 0;
	assert_refused(&options, "--trigger-boost needs a rule: --trigger RULE");
}

static void an_hour_has_so_many(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	const struct options options = make_options(19, 190);
	uint64_t now_s = clock_real_ns() / NSEC_PER_SEC;
	struct trigger_boost begun = { 0 };
	struct boost boost;

	(void)state;
	assert_int_equal(boost_init(&boost, &options, &message), 0);
	for (unsigned int i = 0; i < PER_HOUR; i++)
		assert_true(boost_begin(&boost, &begun));
	assert_int_equal(begun.frequency_hz, 190);
	assert_true(begun.range.first_s >= now_s);
	assert_int_equal(begun.range.end_s - begun.range.first_s, BOOST_S);
	assert_false(boost_begin(&boost, &begun));
	assert_int_equal(boost_get_stats(&boost).nr_begun, PER_HOUR);
	assert_int_equal(boost_get_stats(&boost).nr_refused, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods_are_multiples),
		cmocka_unit_test(without_the_option_there_are_none),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(an_hour_has_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
