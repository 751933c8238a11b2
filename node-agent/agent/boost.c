/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/boost.h"

#include "agent/agent.h"
#include "base/clock.h"
#include "base/log.h"

#define MIN_FACTOR 2

/* Returns how many samples of a boost stand for a usual one; 0 without boosts. */
static uint64_t factor_of(const struct options *options)
{
	uint64_t usual_hz = options->frequency_hz;

	return usual_hz > 0 ? (options->trigger_boost_hz + usual_hz / 2) / usual_hz : 0;
}

static uint64_t short_period(const struct options *options)
{
	uint64_t factor = factor_of(options);

	return factor > 0 ? NSEC_PER_SEC / options->frequency_hz / factor : 0;
}

uint64_t boost_usual_period(const struct options *options)
{
	if (options->trigger_boost_hz > 0)
		return factor_of(options) * short_period(options);
	/* A command without timers takes one sample of each thing. */
	return options->frequency_hz > 0 ? NSEC_PER_SEC / options->frequency_hz : NSEC_PER_SEC;
}

uint32_t boost_frequency(const struct options *options)
{
	return (uint32_t)(factor_of(options) * options->frequency_hz);
}

int boost_init(struct boost *boost, const struct options *options, struct strbuf *reterr_msg)
{
	*boost = (struct boost){ .max_per_hour = options->trigger_per_hour };
	if (options->trigger_boost_hz == 0)
		return 0;
	if (options->triggers.nr == 0) {
		strbuf_append_str(reterr_msg, "--trigger-boost needs a rule: --trigger RULE");
		return -EINVAL;
	}
	if (!options_want_kind(options, OPTION_KIND_CPU)) {
		strbuf_append_str(reterr_msg,
				  "--trigger-boost is for samples of CPU time; add --kind cpu");
		return -EINVAL;
	}
	if (options->trigger_boost_hz < MIN_FACTOR * options->frequency_hz) {
		strbuf_appendf(reterr_msg,
			       "--trigger-boost %u: it has to be at least twice --frequency (%u)",
			       options->trigger_boost_hz, options->frequency_hz);
		return -EINVAL;
	}
	boost->usual_ns = boost_usual_period(options);
	boost->short_ns = short_period(options);
	boost->frequency_hz = boost_frequency(options);
	return 0;
}

bool boost_begin(struct boost *boost, struct trigger_boost *ret_boost)
{
	uint64_t now_s = clock_real_ns() / NSEC_PER_SEC;

	if (boost->short_ns == 0)
		return false;
	if (!turns_take(&boost->turns, now_s, 0, boost->max_per_hour)) {
		__atomic_add_fetch(&boost->stats.nr_refused, 1, __ATOMIC_RELAXED);
		return false;
	}
	__atomic_store_n(&boost->until_ns, clock_mono_ns() + BOOST_S * NSEC_PER_SEC,
			 __ATOMIC_RELAXED);
	__atomic_add_fetch(&boost->stats.nr_begun, 1, __ATOMIC_RELAXED);
	*ret_boost = (struct trigger_boost){ { now_s, now_s + BOOST_S }, boost->frequency_hz };
	return true;
}

int boost_prepare(const struct boost *boost, struct agent *agent)
{
	return boost->short_ns > 0 ? agent_set_period(agent, boost->usual_ns) : 0;
}

static void change(struct boost *boost, struct agent *agent, uint64_t period_ns)
{
	int r = agent_set_period(agent, period_ns);

	if (r < 0 && !boost->is_broken)
		log_warn_errno(r, "there are no more boosts (--trigger-boost): the kernel did not "
				  "change the frequency of all CPUs");
	boost->is_broken |= r < 0;
}

static void begin(struct boost *boost, struct agent *agent, uint64_t now_ns)
{
	change(boost, agent, boost->short_ns);
	if (boost->is_broken)
		change(boost, agent, boost->usual_ns);
	boost->is_on = !boost->is_broken;
	boost->counted_ns = now_ns;
}

static void count_time(struct boost *boost, uint64_t now_ns)
{
	__atomic_add_fetch(&boost->stats.on_ns, now_ns - boost->counted_ns, __ATOMIC_RELAXED);
	boost->counted_ns = now_ns;
}

void boost_tick(struct boost *boost, struct agent *agent, uint64_t now_ns)
{
	bool is_wanted = now_ns < __atomic_load_n(&boost->until_ns, __ATOMIC_RELAXED);

	if (boost->is_on)
		count_time(boost, now_ns);
	if (is_wanted && !boost->is_on && !boost->is_broken)
		begin(boost, agent, now_ns);
	if (is_wanted || !boost->is_on)
		return;
	change(boost, agent, boost->usual_ns);
	boost->is_on = false;
}

struct boost_stats boost_get_stats(const struct boost *boost)
{
	return (struct boost_stats){
		.nr_begun = __atomic_load_n(&boost->stats.nr_begun, __ATOMIC_RELAXED),
		.nr_refused = __atomic_load_n(&boost->stats.nr_refused, __ATOMIC_RELAXED),
		.on_ns = __atomic_load_n(&boost->stats.on_ns, __ATOMIC_RELAXED),
	};
}
