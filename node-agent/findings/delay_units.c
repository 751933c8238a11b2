/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/delay_units.h"

#include "base/cleanup.h"
#include "profile/ranking.h"

#define KEY_MAX_BYTES 16384
#define OTHERS_MIN 0.1 /* of all time; less is no comparison */

/* Appends what is the same of a program in both profiles. */
static void append_key(const struct profile *profile, const struct unit *unit, struct strbuf *key)
{
	const struct profile_sample *sample = &profile->samples[unit->sample];
	const struct profile_resource *resource = &profile->resources[sample->resource];
	uint32_t name = profile->processes[sample->process].name;

	strbuf_clear(key);
	strbuf_append_str(key, profile_string(profile, name ? name : sample->process_comm));
	for (size_t i = resource->first; i < resource->first + resource->nr; i++) {
		strbuf_append_char(key, '\n');
		strbuf_append_str(key, profile_string(profile, profile->attributes[i].value));
	}
}

/* Sums the CPU time of each program. */
static int sum_cpu(const struct profile *cpu, struct ranking *times, uint64_t *ret_total_ns)
{
	_cleanup_(strbuf_done) struct strbuf key = strbuf_with_max(KEY_MAX_BYTES);
	_cleanup_(units_done) struct units units = { 0 };

	int r = units_init(&units, SCOPE_PROGRAM, cpu);
	if (r == 0)
		r = ranking_init(times);
	*ret_total_ns = 0;
	for (size_t i = 0; r == 0 && i < units.nr; i++) {
		uint64_t time_ns = units.units[i].total * cpu->period;

		append_key(cpu, &units.units[i], &key);
		r = ranking_add(times, strbuf_str(&key), time_ns);
		*ret_total_ns += time_ns;
	}
	return r;
}

/* Makes the totals of the units those of waits for a CPU. */
static void sum_delays(struct delay_units *delay, const struct profile *waits)
{
	struct units *units = &delay->units;

	for (size_t i = 0; i < units->nr; i++)
		units->units[i].total = 0;
	for (size_t i = 0; i < waits->nr_samples; i++) {
		if (!wait_reason_is_queued(waits->samples[i].reason))
			continue;
		units->units[units->of_sample[i]].total += waits->samples[i].count;
		delay->delay_ns += waits->samples[i].count;
	}
	delay->total_ns += delay->delay_ns;
}

int delay_units_init(struct delay_units *delay, const struct profile *waits,
		     const struct profile *cpu)
{
	_cleanup_(strbuf_done) struct strbuf key = strbuf_with_max(KEY_MAX_BYTES);
	_cleanup_(ranking_done) struct ranking times = { 0 };

	*delay = (struct delay_units){ 0 };
	int r = sum_cpu(cpu, &times, &delay->total_ns);
	if (r == 0)
		r = units_init(&delay->units, SCOPE_PROGRAM, waits);
	if (r < 0)
		return r;
	sum_delays(delay, waits);
	for (size_t i = 0; i < delay->units.nr; i++) {
		append_key(waits, &delay->units.units[i], &key);
		delay->units.units[i].total += ranking_get(&times, strbuf_str(&key));
	}
	return 0;
}

void delay_units_done(struct delay_units *delay)
{
	units_done(&delay->units);
}

bool delay_units_stands_out(const struct delay_units *delay, size_t unit, uint64_t delay_ns)
{
	uint64_t total_ns = delay->units.units[unit].total;
	double others_ns = (double)delay->total_ns - (double)total_ns;
	double others_delay_ns = (double)delay->delay_ns - (double)delay_ns;

	return others_ns > OTHERS_MIN * (double)delay->total_ns &&
	       others_delay_ns / others_ns * 2 < (double)delay_ns / (double)total_ns;
}
