/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/attributes/attribute_processes.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "otlp/attributes/attribute_maker.h"
#include "tests/oracle/formats/otlp_sample.h"
#include "unit.h"

#include <inttypes.h>
#include <string.h>

#define TEXT_MAX_BYTES (1 << 20)
#define START_NS (100 * NSEC_PER_SEC)
#define AN_HOUR_NS (3600 * NSEC_PER_SEC)

static const struct attribute pod[] = { { "service.name", "web" }, { "k8s.pod.name", "web-0" } };

#define LIVING(path, name, pid)                                                                    \
	{                                                                                          \
		path, name, pid, START_NS, START_NS + NSEC_PER_SEC                                 \
	}
#define BRIEF(path, name, pid)                                                                     \
	{                                                                                          \
		path, name, pid, START_NS, START_NS + NSEC_PER_SEC - 1                             \
	}
static const struct otlp_process nginx = LIVING("/usr/sbin/nginx", "nginx", 7);
static const struct otlp_process nginx_again = LIVING("/usr/sbin/nginx", "nginx", 8);
static const struct otlp_process postgres = LIVING("/usr/bin/postgres", "postgres", 5);
static const struct otlp_process sh = BRIEF("/bin/sh", "sh", 9);
static const struct otlp_process sh_again = BRIEF("/bin/sh", "sh", 10);
static const struct otlp_process kworker = { NULL, "kworker", 0, 0, 0 };

static const struct otlp_sample of_all[] = {
	{ pod, 2, .process = &nginx, .comm = "nginx: worker",
	  .numbers = { .tid = 70, .count = 4 } },
	{ pod, 2, .process = &sh, .comm = "sh", .numbers = { .tid = 9, .count = 1 } },
	{ pod, 2, .process = &sh_again, .comm = "sh", .numbers = { .tid = 10, .count = 1 } },
	{ pod, 2, .process = &nginx_again, .comm = "x", .numbers = { .tid = 8, .count = 2 } },
	{ pod, 2, .process = &nginx, .comm = "y", .numbers = { .tid = 71, .count = 8 } },
	{ .process = &kworker, .comm = "kworker/0:1", .numbers = { .tid = 11, .count = 16 } },
	{ .process = &kworker, .comm = "kworker/1:2", .numbers = { .tid = 12, .count = 32 } },
	{ .comm = "of a file", .numbers = { .pid = 13, .tid = 14, .count = 64 } },
};

static struct attribute_opts opts_of(enum attribute_preset preset)
{
	return (struct attribute_opts){
		.preset = preset,
		.sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT,
	};
}

/* The groups with what counts in each, without the time of creation. */
static void put_groups(struct strbuf *text, const struct profile *profile,
		       const struct export_attributes *attributes)
{
	for (uint32_t g = 0; g < attributes->nr_groups; g++) {
		const struct group_attributes *group = &attributes->groups[g];
		uint64_t count = 0;

		for (size_t i = 0; i < group->nr; i++)
			if (strcmp(group->items[i].key, "process.creation.time") != 0)
				strbuf_appendf(text, "%s=%s ", group->items[i].key,
					       group->items[i].value);
		if (group->pid)
			strbuf_appendf(text, "pid=%" PRIu32 " ", group->pid);
		for (size_t i = 0; i < profile->nr_samples; i++)
			count += attributes->samples[i].group == g ? profile->samples[i].count : 0;
		strbuf_appendf(text, "%" PRIu64 "\n", count);
	}
}

static void assert_groups(const struct attribute_opts *opts, const char *expected)
{
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = NULL;
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(of_all,
									    array_len(of_all));
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);

	assert_non_null(profile);
	assert_int_equal(attribute_maker_new(opts, &maker), 0);
	assert_int_equal(attribute_maker_make(maker, profile, 0, &attributes), 0);
	put_groups(&text, profile, &attributes);
	assert_string_equal(strbuf_str(&text), expected);
}

#define NGINX "process.executable.name=nginx process.executable.path=/usr/sbin/nginx "
#define SH "process.executable.name=sh process.executable.path=/bin/sh "

static void each_process_is_a_resource_and_brief_ones_join_by_program(void **state)
{
	const struct attribute_opts opts = opts_of(ATTRIBUTES_STANDARD);
	(void)state;

	assert_groups(&opts, "process.executable.name=kworker 48\n"
			     "process.executable.name=of a file pid=13 64\n"
			     "service.name=web k8s.pod.name=web-0 " NGINX "pid=7 12\n"
			     "service.name=web k8s.pod.name=web-0 " SH "2\n"
			     "service.name=web k8s.pod.name=web-0 " NGINX "pid=8 2\n");
}

static void the_pyroscope_preset_says_programs_only(void **state)
{
	const struct attribute_opts opts = opts_of(ATTRIBUTES_PYROSCOPE);
	(void)state;

	assert_groups(&opts, "process=kworker 48\nprocess=of a file 64\n"
			     "pod=web-0 service.name=web k8s.pod.name=web-0 process=nginx 14\n"
			     "pod=web-0 service.name=web k8s.pod.name=web-0 process=sh 2\n");
}

static void what_is_excluded_tells_nothing_apart(void **state)
{
	static const char *const pids[] = { "process.pid" };
	static const char *const all[] = { "process*" };
	struct attribute_opts opts = opts_of(ATTRIBUTES_STANDARD);
	(void)state;

	opts.excluded = pids;
	opts.nr_excluded = 1;
	assert_groups(&opts, "process.executable.name=kworker 48\n"
			     "process.executable.name=of a file 64\n"
			     "service.name=web k8s.pod.name=web-0 " NGINX "14\n"
			     "service.name=web k8s.pod.name=web-0 " SH "2\n");
	opts.excluded = all;
	assert_groups(&opts, "112\nservice.name=web k8s.pod.name=web-0 16\n");
	opts.preset = ATTRIBUTES_PYROSCOPE;
	assert_groups(&opts, "112\npod=web-0 service.name=web k8s.pod.name=web-0 16\n");
}

static void programs_are_guarded_and_the_rest_is_one(void **state)
{
	struct attribute_opts opts = opts_of(ATTRIBUTES_PYROSCOPE);
	(void)state;

	opts.max_values = 1;
	assert_groups(&opts, "process=[other] 48\nprocess=of a file 64\n"
			     "pod=web-0 service.name=web k8s.pod.name=web-0 process=nginx 14\n"
			     "pod=web-0 service.name=web k8s.pod.name=web-0 process=[other] 2\n");
	opts.preset = ATTRIBUTES_STANDARD;
	opts.sample_attributes = 0;
	assert_groups(&opts, "process.executable.name=[other] 48\n"
			     "process.executable.name=of a file pid=13 64\n"
			     "service.name=web k8s.pod.name=web-0 " NGINX "pid=7 12\n"
			     "service.name=web k8s.pod.name=web-0 "
			     "process.executable.name=[other] 2\n"
			     "service.name=web k8s.pod.name=web-0 " NGINX "pid=8 2\n");
}

static void a_key_that_the_resource_has_is_its_own(void **state)
{
	static const struct attribute extra[] = { { "process.executable.name", "mine" },
						  { "process.pid", "1" } };
	struct attribute_opts opts = opts_of(ATTRIBUTES_STANDARD);
	static const char *const excluded[] = { "process.executable.path" };
	(void)state;

	opts.extra = extra;
	opts.nr_extra = 2;
	opts.excluded = excluded;
	opts.nr_excluded = 1;
	assert_groups(&opts, "process.executable.name=mine process.pid=1 48\n"
			     "process.executable.name=mine process.pid=1 64\n"
			     "service.name=web k8s.pod.name=web-0 process.executable.name=mine "
			     "process.pid=1 12\n"
			     "service.name=web k8s.pod.name=web-0 process.executable.name=mine "
			     "process.pid=1 2\n"
			     "service.name=web k8s.pod.name=web-0 process.executable.name=mine "
			     "process.pid=1 2\n");
}

static void threads_have_ids_where_their_process_has(void **state)
{
	static const uint32_t expected[] = { 70, 0, 0, 8, 71, 0, 0, 14 };
	const struct attribute_opts opts = opts_of(ATTRIBUTES_STANDARD);
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = NULL;
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(of_all,
									    array_len(of_all));
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	(void)state;

	assert_int_equal(attribute_maker_new(&opts, &maker), 0);
	assert_int_equal(attribute_maker_make(maker, profile, 0, &attributes), 0);
	for (size_t i = 0; i < array_len(expected); i++)
		assert_int_equal(attributes.samples[i].thread_id, expected[i]);
}

/* The busiest program leaves alone, though the busiest thread is of the other one. */
static void threads_of_guarded_programs_have_no_ids(void **state)
{
	static const struct attribute own_pid[] = { { "process.pid", "1" } };
	struct attribute_opts opts = opts_of(ATTRIBUTES_STANDARD);
	(void)state;

	opts.max_values = 1;
	for (opts.nr_extra = 0; opts.nr_extra < 2; opts.nr_extra++) {
		_cleanup_(attribute_maker_freep) struct attribute_maker *maker = NULL;
		_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
		const struct otlp_sample samples[] = {
			{ pod, 2, .process = &nginx, .numbers = { .tid = 70, .count = 3 } },
			{ pod, 2, .process = &nginx, .numbers = { .tid = 71, .count = 3 } },
			{ pod, 2, .process = &postgres, .numbers = { .tid = 72, .count = 5 } },
		};
		_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(
			samples, array_len(samples));

		opts.extra = own_pid;
		assert_int_equal(attribute_maker_new(&opts, &maker), 0);
		assert_int_equal(attribute_maker_make(maker, profile, 0, &attributes), 0);
		assert_int_equal(attributes.samples[0].thread_id, 70);
		assert_int_equal(attributes.samples[1].thread_id, 71);
		assert_int_equal(attributes.samples[2].thread_id, 0);
	}
}

/* As many threads as one that makes a new one for each request has in an hour. */
static void the_guard_has_no_places_for_threads_of_known_processes(void **state)
{
	static struct otlp_sample samples[2 * ATTRIBUTES_STANDARD_MAX_VALUES];
	const struct attribute_opts opts = opts_of(ATTRIBUTES_STANDARD);
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = NULL;
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	(void)state;

	for (uint32_t i = 0; i < array_len(samples); i++)
		samples[i] = (struct otlp_sample){
			.process = &nginx,
			.numbers = { .tid = i + 1, .count = 1 },
		};
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples,
									    array_len(samples));
	assert_int_equal(attribute_maker_new(&opts, &maker), 0);
	assert_int_equal(attribute_maker_make(maker, profile, 0, &attributes), 0);
	for (uint32_t i = 0; i < array_len(samples); i++)
		assert_int_equal(attributes.samples[i].thread_id, i + 1);
	assert_int_equal(attribute_maker_get_stats(maker).nr_samples_collapsed, 0);
}

/* Without pids nothing tells whose threads they are, and Pyroscope makes a series of each. */
static void the_guard_limits_threads_of_joined_processes(void **state)
{
	static const char *const pids[] = { "process.pid" };
	const struct attribute_opts cases[] = {
		{ .sample_attributes = SAMPLE_THREAD_ID,
		  .max_values = 1,
		  .excluded = pids,
		  .nr_excluded = 1 },
		{ .preset = ATTRIBUTES_PYROSCOPE,
		  .sample_attributes = SAMPLE_THREAD_ID,
		  .max_values = 1 },
	};
	static const struct otlp_sample samples[] = {
		{ .process = &nginx, .numbers = { .tid = 70, .count = 1 } },
		{ .process = &nginx, .numbers = { .tid = 71, .count = 2 } },
	};
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples, 2);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(attribute_maker_freep) struct attribute_maker *maker = NULL;
		_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };

		assert_int_equal(attribute_maker_new(&cases[i], &maker), 0);
		assert_int_equal(attribute_maker_make(maker, profile, 0, &attributes), 0);
		assert_int_equal(attributes.samples[0].thread_id, 0);
		assert_int_equal(attributes.samples[1].thread_id, 71);
	}
}

/* Suspended within a window: the times of its samples are behind those of starts. */
static void a_process_seen_before_its_start_is_brief(void **state)
{
	const struct otlp_process process = { "/a", "a", 1, START_NS, START_NS - 1 };
	const struct otlp_sample sample = { .process = &process, .numbers = { .count = 1 } };
	const struct attribute_opts opts = opts_of(ATTRIBUTES_STANDARD);
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = NULL;
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(&sample, 1);
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	(void)state;

	assert_int_equal(attribute_maker_new(&opts, &maker), 0);
	assert_int_equal(attribute_maker_make(maker, profile, 0, &attributes), 0);
	assert_int_equal(attributes.groups[0].pid, 0);
}

static void a_start_is_said_as_a_time(void **state)
{
	const struct otlp_process process = { "/a", "a", 1, AN_HOUR_NS + 123000000, UINT64_MAX };
	const struct otlp_sample sample = { .process = &process, .numbers = { .count = 1 } };
	const struct attribute_rules none = { .preset = ATTRIBUTES_STANDARD };
	struct process_rules rules;
	const uint32_t first_alike[] = { 0, 0 };
	const struct group_attributes resources[2] = { 0 };
	struct attribute_processes processes;
	struct attribute_tally tally = { 0 };
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(&sample, 1);
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	(void)state;

	process_rules_init(&rules, &none);
	uint64_t boot_unix_ns = clock_real_ns() - clock_read_ns(CLOCK_BOOTTIME);
	assert_true(rules.boot_unix_ns + NSEC_PER_SEC > boot_unix_ns);
	assert_true(rules.boot_unix_ns < boot_unix_ns + NSEC_PER_SEC);
	rules.boot_unix_ns = UINT64_C(1795392000) * NSEC_PER_SEC;
	rules.has_name = rules.has_path = false;
	assert_int_equal(attribute_processes_init(&processes, &rules, profile, first_alike), 0);
	assert_int_equal(attribute_processes_group(&processes, &tally, resources, &attributes), 0);
	assert_int_equal(attributes.nr_groups, 1);
	assert_int_equal(attributes.groups[0].nr, 1);
	assert_string_equal(attributes.groups[0].items[0].key, "process.creation.time");
	assert_string_equal(attributes.groups[0].items[0].value, "2026-11-23T01:00:00.123Z");
	assert_int_equal(attributes.groups[0].pid, 1);
	attribute_processes_done(&processes);
}

/* One too many, of which the least busy one has no pid. */
static void only_the_busiest_have_a_pid(void **state)
{
	static struct otlp_sample samples[ATTRIBUTE_PROCESSES_MAX + 1];
	const struct attribute_opts opts = opts_of(ATTRIBUTES_STANDARD);
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = NULL;
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	size_t nr_alone = 0;
	(void)state;

	for (uint32_t i = 0; i < array_len(samples); i++)
		samples[i] = (struct otlp_sample){
			.comm = "a",
			.numbers = { .pid = i + 1, .count = i == 500 ? 1 : 2 },
		};
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples,
									    array_len(samples));
	assert_int_equal(attribute_maker_new(&opts, &maker), 0);
	assert_int_equal(attribute_maker_make(maker, profile, 0, &attributes), 0);
	assert_int_equal(attributes.nr_groups, array_len(samples));
	for (size_t i = 0; i < attributes.nr_groups; i++)
		nr_alone += attributes.groups[i].pid != 0;
	assert_int_equal(nr_alone, ATTRIBUTE_PROCESSES_MAX);
	assert_int_equal(attributes.groups[attributes.samples[500].group].pid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_process_is_a_resource_and_brief_ones_join_by_program),
		cmocka_unit_test(the_pyroscope_preset_says_programs_only),
		cmocka_unit_test(what_is_excluded_tells_nothing_apart),
		cmocka_unit_test(programs_are_guarded_and_the_rest_is_one),
		cmocka_unit_test(a_key_that_the_resource_has_is_its_own),
		cmocka_unit_test(threads_have_ids_where_their_process_has),
		cmocka_unit_test(threads_of_guarded_programs_have_no_ids),
		cmocka_unit_test(the_guard_has_no_places_for_threads_of_known_processes),
		cmocka_unit_test(the_guard_limits_threads_of_joined_processes),
		cmocka_unit_test(a_process_seen_before_its_start_is_brief),
		cmocka_unit_test(a_start_is_said_as_a_time),
		cmocka_unit_test(only_the_busiest_have_a_pid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
