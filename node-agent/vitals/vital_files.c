/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals/vital_files.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/parse.h"
#include "base/strview.h"

#include <unistd.h>

#define KIBIBYTE 1024
#define RUN_DELAY_FIELD 8 /* of a CPU's line in /proc/schedstat */

/* Reads the number at the front of the view, behind blanks, and takes both off. */
static int take_number(struct strview *rest, uint64_t *ret_number)
{
	const char *c = rest->text, *end = rest->text + rest->len;

	while (c < end && *c == ' ')
		c++;
	int r = parse_digits(&c, end, 10, ret_number);
	if (r < 0)
		return r;
	*rest = (struct strview){ c, (size_t)(end - c) };
	return 0;
}

static void set_scaled(struct vitals *values, enum vital vital, uint64_t number, uint64_t factor)
{
	uint64_t value;

	if (!__builtin_mul_overflow(number, factor, &value))
		vitals_set(values, vital, value);
}

/* Takes the first word and the blanks behind it off a line. */
static struct strview take_word(struct strview *line)
{
	struct strview word;

	if (!strview_next(line, ' ', &word))
		return (struct strview){ "", 0 };
	if (!line->text)
		*line = (struct strview){ "", 0 };
	return word;
}

/* A value that stands alone on a line, behind its key. */
struct keyed_value {
	const char *key;
	enum vital vital;
	uint64_t factor;
};

static void parse_keyed(struct strview text, const struct keyed_value *keys, size_t nr_keys,
			struct vitals *values)
{
	struct strview line;

	while (strview_next(&text, '\n', &line)) {
		struct strview word = take_word(&line);
		uint64_t number;

		for (size_t i = 0; i < nr_keys; i++)
			if (strview_is(word, keys[i].key) && take_number(&line, &number) == 0)
				set_scaled(values, keys[i].vital, number, keys[i].factor);
	}
}

static uint64_t tick_ns(void)
{
	long hz = sysconf(_SC_CLK_TCK);

	return NSEC_PER_SEC / (hz > 0 ? (uint64_t)hz : 100);
}

/* The line "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL …" in ticks. Time of virtual
 * machines is part of USER and NICE. */
static void parse_cpu_times(struct strview line, struct vitals *values)
{
	static const enum vital vitals[] = { VITAL_USER,   VITAL_USER, VITAL_SYSTEM,  VITAL_IDLE,
					     VITAL_IOWAIT, VITAL_IRQ,  VITAL_SOFTIRQ, VITAL_STEAL };
	uint64_t sums[VITAL_NR] = { 0 }, number;
	uint32_t has = 0;

	for (size_t i = 0; i < array_len(vitals); i++) {
		if (take_number(&line, &number) < 0 ||
		    __builtin_add_overflow(sums[vitals[i]], number, &sums[vitals[i]]))
			return;
		has |= UINT32_C(1) << vitals[i];
	}
	for (enum vital vital = 0; vital < VITAL_NR; vital++)
		if (has & UINT32_C(1) << vital)
			set_scaled(values, vital, sums[vital], tick_ns());
}

void vital_files_parse_stat(const char *text, size_t len, struct vitals *values)
{
	static const struct keyed_value keys[] = {
		{ "ctxt", VITAL_CONTEXT_SWITCHES, 1 },
		{ "processes", VITAL_FORKS, 1 },
		{ "procs_running", VITAL_RUNNABLE, 1 },
	};
	struct strview rest = { text, len }, line;

	if (strview_next(&rest, '\n', &line) && strview_starts_with(line, "cpu ")) {
		(void)take_word(&line);
		parse_cpu_times(line, values);
	}
	parse_keyed((struct strview){ text, len }, keys, array_len(keys), values);
}

/* Reads the time that threads waited for one CPU. */
static int read_run_delay(struct strview line, uint64_t *ret_ns)
{
	uint64_t number = 0;

	for (unsigned int field = 1; field <= RUN_DELAY_FIELD; field++) {
		int r = take_number(&line, &number);

		if (r < 0)
			return r;
	}
	*ret_ns = number;
	return 0;
}

void vital_files_parse_schedstat(const char *text, size_t len, struct vitals *values)
{
	struct strview rest = { text, len }, line;
	uint64_t sum = 0, delay_ns;
	bool has_cpu = false;

	while (strview_next(&rest, '\n', &line)) {
		if (!strview_starts_with(line, "cpu"))
			continue;
		(void)take_word(&line);
		if (read_run_delay(line, &delay_ns) < 0 ||
		    __builtin_add_overflow(sum, delay_ns, &sum))
			return;
		has_cpu = true;
	}
	if (has_cpu)
		vitals_set(values, VITAL_RUN_DELAY, sum);
}

void vital_files_parse_meminfo(const char *text, size_t len, struct vitals *values)
{
	static const struct keyed_value keys[] = {
		{ "MemTotal:", VITAL_MEMORY_TOTAL, KIBIBYTE },
		{ "MemAvailable:", VITAL_MEMORY_AVAILABLE, KIBIBYTE },
	};

	parse_keyed((struct strview){ text, len }, keys, array_len(keys), values);
}

void vital_files_parse_vmstat(const char *text, size_t len, struct vitals *values)
{
	static const struct keyed_value keys[] = { { "oom_kill", VITAL_OOM_KILLS, 1 } };

	parse_keyed((struct strview){ text, len }, keys, array_len(keys), values);
}

/* The line "some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS". */
static void parse_psi(const char *text, size_t len, enum vital vital, struct vitals *values)
{
	static const char key[] = "total=";
	struct strview rest = { text, len }, line, word;
	uint64_t number;

	if (!strview_next(&rest, '\n', &line) || !strview_starts_with(line, "some "))
		return;
	while (strview_next(&line, ' ', &word)) {
		struct strview value = strview_without_prefix(word, key);

		if (value.len < word.len && take_number(&value, &number) == 0)
			set_scaled(values, vital, number, NSEC_PER_USEC);
	}
}

void vital_files_parse_psi_cpu(const char *text, size_t len, struct vitals *values)
{
	parse_psi(text, len, VITAL_PSI_CPU, values);
}

void vital_files_parse_psi_memory(const char *text, size_t len, struct vitals *values)
{
	parse_psi(text, len, VITAL_PSI_MEMORY, values);
}

void vital_files_parse_psi_io(const char *text, size_t len, struct vitals *values)
{
	parse_psi(text, len, VITAL_PSI_IO, values);
}

const struct vital_file_kind vital_files[VITALS_NR_FILES] = {
	{ "stat", false, vital_files_parse_stat },
	{ "schedstat", true, vital_files_parse_schedstat },
	{ "meminfo", false, vital_files_parse_meminfo },
	{ "pressure/cpu", false, vital_files_parse_psi_cpu },
	{ "pressure/memory", false, vital_files_parse_psi_memory },
	{ "pressure/io", false, vital_files_parse_psi_io },
	{ "vmstat", false, vital_files_parse_vmstat },
};
