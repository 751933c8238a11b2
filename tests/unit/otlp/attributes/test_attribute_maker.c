/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/attributes/attribute_maker.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "tests/oracle/formats/otlp_sample.h"
#include "torture.h"
#include "unit.h"

#include <inttypes.h>
#include <string.h>

#define MINUTE_NS (60 * NSEC_PER_SEC)
#define TEXT_MAX_BYTES (1 << 20)

/* As the pipeline makes them. */
static const struct attribute of_container[] = {
	{ "k8s.pod.label.app.kubernetes.io/name", "shop" },
	{ "service.name", "web" },
	{ "service.namespace", "shop" },
	{ "k8s.namespace.name", "shop" },
	{ "k8s.pod.name", "web-0" },
	{ "k8s.pod.uid", "0b1c" },
	{ "k8s.pod.start_time", "2026-11-21T00:00:00Z" },
	{ "k8s.statefulset.name", "web" },
	{ "k8s.node.name", "n1" },
	{ "container.id", "c1" },
	{ "service.instance.id", "shop.web-0.nginx" },
	{ "k8s.container.name", "nginx" },
	{ "k8s.container.restart_count", "3" },
	{ "container.image.tags", "1.25" },
	{ "host.name", "h1" },
	{ "flamelet.identity", "kubelet" },
};
static const struct attribute of_restarted[] = {
	{ "service.name", "web" },	   { "k8s.namespace.name", "shop" },
	{ "k8s.pod.name", "web-0" },	   { "container.id", "c2" },
	{ "k8s.container.name", "nginx" }, { "k8s.container.restart_count", "4" },
};
static const struct attribute of_restarted_again[] = {
	{ "service.name", "web" },	   { "k8s.namespace.name", "shop" },
	{ "k8s.pod.name", "web-0" },	   { "container.id", "c3" },
	{ "k8s.container.name", "nginx" }, { "k8s.container.restart_count", "5" },
};
static const struct attribute of_unknown[] = {
	{ "k8s.pod.uid", "0b1d" },
	{ "container.id", "c9" },
	{ "host.name", "h1" },
	{ "flamelet.identity", "path" },
};

static struct attribute_maker *maker_of(const struct attribute_opts *opts)
{
	struct attribute_maker *maker = NULL;

	assert_int_equal(attribute_maker_new(opts, &maker), 0);
	return maker;
}

static const struct attribute_opts pyroscope = {
	.preset = ATTRIBUTES_PYROSCOPE,
	.sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT,
};
static const struct attribute_opts standard = { .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT };

static void put_sample(struct strbuf *text, const struct profile *profile,
		       const struct kept_attributes *attributes)
{
	if (attributes->thread_name == ATTRIBUTE_OTHER)
		strbuf_append_str(text, " " ATTRIBUTE_OTHER_TEXT);
	else if (attributes->thread_name)
		strbuf_appendf(text, " %s", profile_string(profile, attributes->thread_name));
	if (attributes->cpu != ATTRIBUTE_NONE)
		strbuf_appendf(text, " cpu%" PRIu32, attributes->cpu);
	if (attributes->cgroup_id)
		strbuf_appendf(text, " cgroup%" PRIu64, attributes->cgroup_id);
	strbuf_append_str(text, ";");
}

static struct profile *profile_of(const struct otlp_sample *samples, size_t nr)
{
	struct profile *profile = otlp_profile_of(samples, nr);

	assert_non_null(profile);
	return profile;
}

/* What is left of the first sample's resource, as "key=value" in lines. */
static void assert_resource(const struct attribute_opts *opts, const struct attribute *given,
			    size_t nr, const char *expected)
{
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = maker_of(opts);
	const struct otlp_sample sample = { given, nr, .numbers = { .count = 1 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(&sample, 1);
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);

	assert_int_equal(attribute_maker_make(maker, profile, 0, &attributes), 0);
	const struct group_attributes *of = &attributes.groups[attributes.samples[0].group];
	for (size_t i = 0; i < of->nr; i++)
		strbuf_appendf(&text, "%s=%s\n", of->items[i].key, of->items[i].value);
	assert_string_equal(strbuf_str(&text), expected);
}

/* What is left of the samples at a time, each ending with ";". */
static void assert_samples(struct attribute_maker *maker, uint64_t now_ns,
			   const struct otlp_sample *samples, size_t nr, const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(samples, nr);
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);

	assert_int_equal(attribute_maker_make(maker, profile, now_ns, &attributes), 0);
	for (size_t i = 0; i < profile->nr_samples; i++)
		put_sample(&text, profile, &attributes.samples[i]);
	assert_string_equal(strbuf_str(&text), expected);
}

static void the_standard_preset_leaves_all_by_importance(void **state)
{
	(void)state;
	assert_resource(&standard, of_container, array_len(of_container),
			"service.name=web\nk8s.namespace.name=shop\nk8s.pod.name=web-0\n"
			"k8s.node.name=n1\nk8s.container.name=nginx\nk8s.statefulset.name=web\n"
			"service.namespace=shop\nk8s.pod.label.app.kubernetes.io/name=shop\n"
			"k8s.pod.uid=0b1c\ncontainer.id=c1\nhost.name=h1\n"
			"flamelet.identity=kubelet\nk8s.pod.start_time=2026-11-21T00:00:00Z\n"
			"service.instance.id=shop.web-0.nginx\nk8s.container.restart_count=3\n"
			"container.image.tags=1.25\n");
}

static void the_pyroscope_preset_adds_short_names_and_leaves_out_what_multiplies(void **state)
{
	(void)state;
	assert_resource(&pyroscope, of_container, array_len(of_container),
			"namespace=shop\npod=web-0\ncontainer=nginx\nnode=n1\n"
			"service.name=web\nk8s.namespace.name=shop\nk8s.pod.name=web-0\n"
			"k8s.node.name=n1\nk8s.container.name=nginx\nworkload=web\n"
			"k8s.statefulset.name=web\nservice.namespace=shop\n"
			"k8s.pod.label.app.kubernetes.io_name=shop\ncontainer.image.tags=1.25\n");
}

static void unknown_containers_are_one_series_but_for_the_standard_preset(void **state)
{
	(void)state;
	assert_resource(&standard, of_unknown, array_len(of_unknown),
			"k8s.pod.uid=0b1d\ncontainer.id=c9\nhost.name=h1\n"
			"flamelet.identity=path\n");
	assert_resource(&pyroscope, of_unknown, array_len(of_unknown),
			"host.name=h1\nflamelet.identity=path\n");
	assert_resource(&pyroscope, NULL, 0, "");
}

static void each_attribute_can_be_excluded(void **state)
{
	static const char *const excluded[] = { "k8s.*", "pod", "container.*", "service.name*" };
	struct attribute_opts opts = pyroscope;
	(void)state;

	opts.excluded = excluded;
	opts.nr_excluded = array_len(excluded);
	assert_resource(&opts, of_container, array_len(of_container),
			"namespace=shop\ncontainer=nginx\nnode=n1\nworkload=web\n");
}

static void extra_attributes_fill_gaps_only(void **state)
{
	static const struct attribute own[] = { { "service.name", "web" } };
	static const struct attribute extra[] = {
		{ "service.name", "mine" }, { "k8s.node.name", "n2" },	       { "empty", "" },
		{ "cluster", "c1" },	    { "container.runtime.name", "x" }, { "cluster", "c2" },
	};
	struct attribute_opts opts = standard;
	(void)state;

	opts.extra = extra;
	opts.nr_extra = array_len(extra);
	assert_resource(&opts, own, array_len(own),
			"service.name=web\nk8s.node.name=n2\ncluster=c1\n"
			"container.runtime.name=x\n");
	opts.preset = ATTRIBUTES_PYROSCOPE;
	assert_resource(&opts, own, array_len(own),
			"node=n2\nservice.name=web\nk8s.node.name=n2\ncluster=c1\n"
			"container.runtime.name=x\n");
}

static void names_stay_unique_and_identity_keeps_its_own(void **state)
{
	static const struct attribute spoof[] = {
		{ "k8s_pod_name", "bad" },
		{ "a/b", "1" },
		{ "a-b", "2" },
		{ "a.b", "3" },
		{ "service_name", "bad" },
		{ "__name__", "bad" },
		{ "pod", "bad" },
		{ "k8s.pod.name", "good" },
		{ "service.name", "web" },
		{ "a/b", "again" },
	};
	(void)state;

	assert_resource(&pyroscope, spoof, array_len(spoof),
			"pod=good\nk8s.pod.name=good\nservice.name=web\nk8s_pod_name_2=bad\na_b=1\n"
			"a_b_2=2\na.b_3=3\nservice_name_2=bad\n_name__=bad\n");
}

static void bytes_that_are_no_text_are_escaped(void **state)
{
	static const struct attribute broken[] = {
		{ "a\xff", "v\xff" },
		{ "a\xfe", "w" },
	};
	(void)state;

	assert_resource(&standard, broken, array_len(broken), "a\\xff=v\\xff\na\\xfe=w\n");
	assert_resource(&pyroscope, broken, array_len(broken), "a_=v\\xff\na__2=w\n");
}

static void numbers_behind_long_names_fit(void **state)
{
	static char names[3][ATTRIBUTE_NAME_MAX + 3];
	static struct attribute attributes[3];
	_cleanup_(strbuf_done) struct strbuf expected = strbuf_with_max(TEXT_MAX_BYTES);
	(void)state;

	for (size_t i = 0; i < array_len(names); i++) {
		memset(names[i], 'x', ATTRIBUTE_NAME_MAX - 3);
		snprintf(names[i] + ATTRIBUTE_NAME_MAX - 3, 6, "\xc3\xb8y%c%zu", 'a', i);
		attributes[i] = (struct attribute){ names[i], "1" };
	}
	for (size_t i = 0; i < array_len(names); i++) {
		strbuf_append(&expected, names[0], ATTRIBUTE_NAME_MAX - 3);
		strbuf_append_str(&expected, i == 0 ? "\xc3\xb8y" : i == 1 ? "_2" : "_3");
		strbuf_append_str(&expected, "=1\n");
	}
	assert_resource(&standard, attributes, array_len(attributes), strbuf_str(&expected));
}

static void the_least_important_stay_behind_over_the_limit(void **state)
{
	struct attribute_opts opts = standard;
	(void)state;

	opts.max_attributes = 4 + 4 + 8; /* of samples, of the process */
	assert_resource(&opts, of_container, array_len(of_container),
			"service.name=web\nk8s.namespace.name=shop\nk8s.pod.name=web-0\n"
			"k8s.node.name=n1\nk8s.container.name=nginx\nk8s.statefulset.name=web\n"
			"service.namespace=shop\nk8s.pod.label.app.kubernetes.io/name=shop\n");
	opts.max_attributes = 1;
	assert_resource(&opts, of_container, array_len(of_container),
			"service.name=web\nk8s.namespace.name=shop\nk8s.pod.name=web-0\n"
			"k8s.node.name=n1\nk8s.container.name=nginx\n");
	opts.sample_attributes = SAMPLE_CPU;
	opts.max_attributes = 1 + 4 + 6;
	assert_resource(&opts, of_container, array_len(of_container),
			"service.name=web\nk8s.namespace.name=shop\nk8s.pod.name=web-0\n"
			"k8s.node.name=n1\nk8s.container.name=nginx\nk8s.statefulset.name=web\n");
}

/* Of 300 attributes; the last one says who it is. Returns how many are left. */
static size_t count_left(const struct attribute_opts *opts)
{
	static char names[300][8];
	static struct attribute given[300];
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = maker_of(opts);
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	const struct otlp_sample sample = { given, array_len(given), .numbers = { .count = 1 } };

	for (size_t i = 0; i < array_len(given); i++) {
		snprintf(names[i], sizeof(names[i]), "k%zu", i);
		given[i] = (struct attribute){ names[i], "v" };
	}
	given[299].key = "k8s.node.name";
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(&sample, 1);
	assert_int_equal(attribute_maker_make(maker, profile, 0, &attributes), 0);

	const struct group_attributes *of = &attributes.groups[attributes.samples[0].group];
	size_t nr_short_names = opts->preset == ATTRIBUTES_PYROSCOPE ? 1 : 0;
	assert_string_equal(of->items[nr_short_names].key, "k8s.node.name");
	assert_int_equal(attribute_maker_get_stats(maker).nr_attributes_dropped,
			 300 + nr_short_names - of->nr);
	return of->nr;
}

static void any_number_of_attributes_is_bounded_and_counted(void **state)
{
	(void)state;
	assert_in_range(count_left(&standard), 60, 200);
	assert_int_equal(count_left(&pyroscope), ATTRIBUTES_PYROSCOPE_LIMIT - 1); /* "process" */
}

static void resources_that_become_equal_are_a_group(void **state)
{
	static const struct otlp_sample samples[] = {
		{ of_unknown, array_len(of_unknown), .numbers = { .count = 1 } },
		{ of_restarted, array_len(of_restarted), .numbers = { .count = 1 } },
		{ of_restarted_again, array_len(of_restarted_again), .numbers = { .count = 1 } },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(samples, array_len(samples));
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = maker_of(&pyroscope);
	_cleanup_(attribute_maker_freep) struct attribute_maker *other = maker_of(&standard);
	(void)state;

	for (size_t i = 0; i < 2; i++) {
		_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };

		assert_int_equal(attribute_maker_make(i ? maker : other, profile, 0, &attributes),
				 0);
		assert_int_equal(attributes.nr_groups, i ? 2 : 3);
		assert_int_equal(attributes.samples[0].group, 0);
		assert_int_equal(attributes.samples[1].group, 1);
		assert_int_equal(attributes.samples[2].group, i ? 1 : 2);
	}
}

static void samples_have_what_was_asked_for(void **state)
{
	static const struct otlp_sample samples[] = {
		{ .thread = "a", .numbers = { .cgroup_id = 7, .cpu = 1, .count = 1 } },
		{ .numbers = { .cpu = 0, .count = 1 } },
	};
	static const char *const excluded[] = { "thread.*" };
	static const struct {
		struct attribute_opts opts;
		const char *expected;
	} cases[] = {
		{ { .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT }, " a cpu1 cgroup7; cpu0;" },
		{ { .sample_attributes = 0 }, ";;" },
		{ { .sample_attributes = SAMPLE_CGROUP }, " cgroup7;;" },
		{ { .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT,
		    .excluded = excluded,
		    .nr_excluded = 1 },
		  " cpu1 cgroup7; cpu0;" },
		{ { .preset = ATTRIBUTES_PYROSCOPE,
		    .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT },
		  ";;" },
		{ { .preset = ATTRIBUTES_PYROSCOPE, .sample_attributes = SAMPLE_THREAD_NAME },
		  " a;;" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(attribute_maker_freep) struct attribute_maker *maker = maker_of(
			&cases[i].opts);

		assert_samples(maker, 0, samples, array_len(samples), cases[i].expected);
	}
}

static void the_guard_collapses_the_rarest_and_counts_them(void **state)
{
	static const struct attribute_opts opts = {
		.sample_attributes = SAMPLE_THREAD_NAME | SAMPLE_CPU,
		.max_values = 2,
	};
	static const struct otlp_sample samples[] = {
		{ .thread = "a", .numbers = { .cpu = 0, .count = 1 } },
		{ .thread = "b", .numbers = { .cpu = 0, .count = 5 } },
		{ .thread = "c", .numbers = { .cpu = 1, .count = 2 } },
		{ .thread = "a", .numbers = { .cpu = 2, .tid = 1, .count = 3 } },
		{ of_unknown, 1, .thread = "c", .numbers = { .count = 1 } },
	};
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = maker_of(&opts);
	(void)state;

	assert_samples(maker, 0, samples, array_len(samples),
		       " a cpu0; b cpu0; [other]; a cpu2; c cpu0;");
	assert_int_equal(attribute_maker_get_stats(maker).nr_samples_collapsed, 2);
}

static void values_keep_their_places_for_an_hour(void **state)
{
	static const struct attribute_opts opts = {
		.sample_attributes = SAMPLE_THREAD_NAME,
		.max_values = 2,
	};
	static const struct otlp_sample first[] = {
		{ .thread = "a", .numbers = { .count = 1 } },
		{ .thread = "b", .numbers = { .count = 1 } },
	};
	/* Another order, so that the strings have other numbers. */
	static const struct otlp_sample second[] = {
		{ .thread = "c", .numbers = { .count = 100 } },
		{ .thread = "b", .numbers = { .count = 1 } },
	};
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = maker_of(&opts);
	(void)state;

	assert_samples(maker, 0, first, array_len(first), " a; b;");
	assert_samples(maker, 59 * MINUTE_NS, second, array_len(second), " [other]; b;");
	assert_samples(maker, 60 * MINUTE_NS, second, array_len(second), " c; b;");
	assert_samples(maker, 61 * MINUTE_NS, first, array_len(first), " [other]; b;");
}

/* With all that the guard can be asked about: six attributes and the program. */
static void the_guard_has_room_for_all_attributes_of_16384_resources(void **state)
{
	enum { NR = 16384, ALL = 63 };
	static const struct attribute_opts opts = { .preset = ATTRIBUTES_PYROSCOPE,
						    .sample_attributes = ALL };
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = maker_of(&opts);
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	static struct otlp_sample samples[NR];
	static struct attribute given[NR][2];
	static char names[NR][8];
	(void)state;

	for (uint32_t i = 0; i < NR; i++) {
		snprintf(names[i], sizeof(names[i]), "p%" PRIu32, i);
		given[i][0] = (struct attribute){ "k8s.pod.name", names[i] };
		given[i][1] = (struct attribute){ "container.id", "c1" };
		samples[i] = (struct otlp_sample){
			given[i],
			2,
			.thread = "a",
			.comm = "b",
			.numbers = { .cgroup_id = 1, .pid = 1, .tid = 1, .count = 1 },
		};
	}
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(samples, NR);
	assert_int_equal(attribute_maker_make(maker, profile, 0, &attributes), 0);
	assert_int_equal(attribute_maker_get_stats(maker).nr_samples_collapsed, 0);
	assert_int_equal(attributes.samples[NR - 1].container, attributes.samples[0].container);
	assert_int_equal(attributes.samples[NR - 1].thread_id, 1);
}

static void the_guard_knows_a_resource_by_its_content(void **state)
{
	static const struct attribute_opts opts = {
		.preset = ATTRIBUTES_PYROSCOPE,
		.sample_attributes = SAMPLE_THREAD_NAME,
		.max_values = 1,
	};
	static const struct otlp_sample before[] = {
		{ of_restarted, array_len(of_restarted), .thread = "a", .numbers = { .count = 1 } },
	};
	static const struct otlp_sample after[] = {
		{ of_unknown, array_len(of_unknown), .thread = "b", .numbers = { .count = 1 } },
		{ of_restarted_again, array_len(of_restarted_again), .thread = "b",
		  .numbers = { .count = 9 } },
	};
	_cleanup_(attribute_maker_freep) struct attribute_maker *maker = maker_of(&opts);
	(void)state;

	assert_samples(maker, 0, before, array_len(before), " a;");
	assert_samples(maker, 1, after, array_len(after), " b; [other];");
}

static void every_failing_allocation_is_reported(void **state)
{
	static const char *const excluded[] = { "x" };
	static const struct attribute extra[] = { { "cluster", "c1" } };
	static const struct attribute_opts opts = {
		.preset = ATTRIBUTES_PYROSCOPE,
		.sample_attributes = SAMPLE_THREAD_NAME | SAMPLE_CPU | SAMPLE_CGROUP,
		.excluded = excluded,
		.nr_excluded = 1,
		.extra = extra,
		.nr_extra = 1,
	};
	_cleanup_(profile_unrefp) struct profile *profile = otlp_sample_profile();
	unsigned int nr_failed = 0;
	bool did_fail;
	(void)state;

	do {
		_cleanup_(attribute_maker_freep) struct attribute_maker *maker = NULL;
		_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };

		torture_begin(nr_failed + 1);
		int r = attribute_maker_new(&opts, &maker);
		if (r == 0)
			r = attribute_maker_make(maker, profile, 0, &attributes);
		did_fail = torture_end();
		assert_int_equal(r, did_fail ? -ENOMEM : 0);
		nr_failed += did_fail;
	} while (did_fail);
	assert_true(nr_failed > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_standard_preset_leaves_all_by_importance),
		cmocka_unit_test(
			the_pyroscope_preset_adds_short_names_and_leaves_out_what_multiplies),
		cmocka_unit_test(unknown_containers_are_one_series_but_for_the_standard_preset),
		cmocka_unit_test(each_attribute_can_be_excluded),
		cmocka_unit_test(extra_attributes_fill_gaps_only),
		cmocka_unit_test(names_stay_unique_and_identity_keeps_its_own),
		cmocka_unit_test(bytes_that_are_no_text_are_escaped),
		cmocka_unit_test(numbers_behind_long_names_fit),
		cmocka_unit_test(the_least_important_stay_behind_over_the_limit),
		cmocka_unit_test(any_number_of_attributes_is_bounded_and_counted),
		cmocka_unit_test(resources_that_become_equal_are_a_group),
		cmocka_unit_test(samples_have_what_was_asked_for),
		cmocka_unit_test(the_guard_collapses_the_rarest_and_counts_them),
		cmocka_unit_test(values_keep_their_places_for_an_hour),
		cmocka_unit_test(the_guard_has_room_for_all_attributes_of_16384_resources),
		cmocka_unit_test(the_guard_knows_a_resource_by_its_content),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
