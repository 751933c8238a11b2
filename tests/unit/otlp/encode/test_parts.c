/* SPDX-License-Identifier: Apache-2.0 */
/* With an encoder of our own, in which a sample's tid is its size and its pid what it costs. */
#include "otlp/encode/parts.h"

#include "profile/builder.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define RESOURCE_BYTES 10
#define MAX_SAMPLES 400
#define MAX_RESOURCES 20

static size_t nr_encodings;

static int encode(const struct encode_job *job, struct strbuf *out,
		  struct encode_result *ret_result)
{
	struct encode_result result = { 0 };
	uint32_t last = UINT32_MAX;

	nr_encodings++;
	for (size_t i = 0; i < job->nr_samples; i++) {
		const struct profile_sample *sample = &job->profile->samples[job->samples[i]];
		bool is_new = sample->resource != last;
		char *to = strbuf_extend(out, sample->tid + (is_new ? RESOURCE_BYTES : 0));

		if (!to)
			return strbuf_error(out);
		result.nr_profiles += is_new;
		result.nr_samples++;
		result.nr_taken += profile_sample_nr_taken(job->profile, sample);
		result.cost_bytes += sample->pid;
		last = sample->resource;
	}
	*ret_result = result;
	return 0;
}

/* Sample i is in resource i % nr_resources, and counts 1. */
static struct profile *profile_of(size_t nr, uint32_t nr_resources, uint32_t bytes, uint32_t cost)
{
	struct builder *builder = NULL;
	uint32_t resources[MAX_SAMPLES], stack, cpu = 0;

	assert_int_equal(builder_new(1 << 20, &builder), 0);
	assert_int_equal(builder_add_stack(builder, &(uint32_t){ 0 }, 1, &stack), 0);
	for (uint32_t i = 0; i < nr_resources; i++) {
		char name[16];

		snprintf(name, sizeof(name), "pod-%u", i);
		const struct attribute attribute = { "k8s.pod.name", name };
		assert_int_equal(builder_add_resource(builder, &attribute, 1, &resources[i]), 0);
	}
	for (size_t i = 0; i < nr; i++) {
		const struct profile_sample sample = { .stack = stack,
						       .resource = resources[i % nr_resources],
						       .pid = cost,
						       .tid = bytes,
						       .cpu = cpu++,
						       .count = 1 };

		assert_int_equal(builder_add_sample(builder, &sample), 0);
	}
	return builder_seal(builder);
}

struct outcome {
	size_t nr_parts;
	size_t nr_samples;
	uint64_t nr_lost;
	size_t most_samples, most_profiles, most_bytes, most_cost;
};

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Asserts that each sample is in exactly one part, or lost. */
static struct outcome cut(struct profile *profile, const struct part_limits *limits)
{
	struct kept_attributes samples[MAX_SAMPLES];
	const struct export_attributes attributes = { .samples = samples,
						      .nr_groups = MAX_RESOURCES };
	const struct encode_job job = { .profile = profile, .attributes = &attributes };
	struct outcome outcome = { 0 };
	bool is_seen[MAX_SAMPLES] = { false };
	struct encode_result part;
	struct parts parts;

	for (size_t i = 0; i < profile->nr_samples; i++)
		samples[i].group = profile->samples[i].resource;
	nr_encodings = 0;
	assert_int_equal(parts_init(&parts, &job, limits, encode), 0);
	while (parts_next(&parts, &part) == 1) {
		outcome.nr_parts++;
		outcome.nr_samples += part.nr_samples;
		outcome.most_samples = larger(outcome.most_samples, part.nr_samples);
		outcome.most_profiles = larger(outcome.most_profiles, part.nr_profiles);
		outcome.most_bytes = larger(outcome.most_bytes, parts.body.len);
		outcome.most_cost = larger(outcome.most_cost, part.cost_bytes);
		for (size_t i = 0; i < parts.job.nr_samples; i++) {
			assert_false(is_seen[parts.job.samples[i]]);
			is_seen[parts.job.samples[i]] = true;
		}
	}
	outcome.nr_lost = profile_total(profile) - outcome.nr_samples;
	parts_done(&parts);
	return outcome;
}

static const struct part_limits wide = {
	.max_bytes = 1 << 20,
	.max_cost_bytes = 1 << 20,
	.max_samples = 16000,
	.max_profiles = 100,
};

static void what_fits_is_one_part(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(300, 5, 10, 10);
	(void)state;

	struct outcome outcome = cut(profile, &wide);
	assert_int_equal(outcome.nr_parts, 1);
	assert_int_equal(outcome.nr_samples, 300);
	assert_int_equal(outcome.most_profiles, 5);
	assert_int_equal(nr_encodings, 1);
}

static void no_part_is_over_any_limit(void **state)
{
	static const struct {
		size_t max_bytes, max_cost_bytes, max_samples, max_profiles;
		size_t min_parts, max_parts;
	} cases[] = {
		{ 1000, 1 << 20, 16000, 100, 8, 14 }, /* 300 × 25 bytes */
		{ 1 << 20, 1000, 16000, 100, 9, 14 }, /* 300 × 30 of cost */
		{ 1 << 20, 1 << 20, 7, 100, 43, 43 },
		{ 1 << 20, 1 << 20, 16000, 2, 5, 5 },
		{ 1 << 20, 1 << 20, 16000, 1, 10, 10 },
		{ 100, 100, 2, 1, 150, 150 },
		{ 35, 30, 1, 1, 300, 300 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(300, 10, 25, 30);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct part_limits limits = { cases[i].max_bytes, cases[i].max_cost_bytes,
						    cases[i].max_samples, cases[i].max_profiles };
		struct outcome outcome = cut(profile, &limits);

		assert_int_equal(outcome.nr_lost, 0);
		assert_in_range(outcome.nr_parts, cases[i].min_parts, cases[i].max_parts);
		assert_true(outcome.most_bytes <= limits.max_bytes);
		assert_true(outcome.most_cost <= limits.max_cost_bytes);
		assert_true(outcome.most_samples <= limits.max_samples);
		assert_true(outcome.most_profiles <= limits.max_profiles);
	}
}

static void a_second_try_mostly_fits(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(400, 1, 100, 100);
	struct part_limits limits = wide;
	(void)state;

	limits.max_cost_bytes = 4000;
	struct outcome outcome = cut(profile, &limits);
	assert_in_range(outcome.nr_parts, 10, 13);
	assert_true(nr_encodings <= outcome.nr_parts + 2);
}

static void a_sample_larger_than_a_request_is_lost_alone(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(30, 3, 200, 1);
	struct part_limits limits = wide;
	(void)state;

	profile->samples[7].tid = 5000;
	profile->samples[8].tid = 5000;
	profile->samples[29].tid = 5000;
	limits.max_bytes = 1000;
	assert_int_equal(cut(profile, &limits).nr_lost, 3);
}

/* The receiver may take it after all. */
static void a_sample_that_costs_too_much_goes_alone(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(30, 1, 1, 100);
	struct part_limits limits = wide;
	(void)state;

	profile->samples[7].pid = 50000;
	limits.max_cost_bytes = 1000;
	struct outcome outcome = cut(profile, &limits);
	assert_int_equal(outcome.nr_lost, 0);
	assert_int_equal(outcome.most_cost, 50000);
}

static void nothing_is_no_part(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(0, 1, 1, 1);
	(void)state;

	assert_int_equal(cut(profile, &wide).nr_parts, 0);
}

static void a_sample_that_counts_nothing_is_in_no_part(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(30, 3, 1, 1);
	(void)state;

	profile->samples[7].count = 0;
	profile->samples[8].count = 0;
	assert_int_equal(cut(profile, &wide).nr_samples, 28);
	for (size_t i = 0; i < profile->nr_samples; i++)
		profile->samples[i].count = 0;
	assert_int_equal(cut(profile, &wide).nr_parts, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_one_part),
		cmocka_unit_test(no_part_is_over_any_limit),
		cmocka_unit_test(a_second_try_mostly_fits),
		cmocka_unit_test(a_sample_larger_than_a_request_is_lost_alone),
		cmocka_unit_test(a_sample_that_costs_too_much_goes_alone),
		cmocka_unit_test(nothing_is_no_part),
		cmocka_unit_test(a_sample_that_counts_nothing_is_in_no_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
