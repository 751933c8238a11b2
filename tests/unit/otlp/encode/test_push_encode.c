/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/encode/encode.h"

#include "base/gzip.h"
#include "base/pb_reader.h"
#include "profile/pprof.h"
#include "tests/oracle/formats/otlp_sample.h"
#include "hostile_names.h"
#include "torture.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define PLENTY_BYTES (1 << 20)

static const struct otlp_frame main_only[] = {
	{ "main", "main", FRAME_NATIVE, NULL, NULL, 1, NULL },
};
static const struct otlp_frame other_only[] = {
	{ "other", "other", FRAME_NATIVE, NULL, NULL, 2, NULL },
};
static const struct attribute web[] = {
	{ "service.name", "web" },
	{ "k8s.pod.name", "web-0" },
	{ "k8s.pod.label.a/b", "1" },
	{ "k8s.pod.label.a.b", "2" },
	{ "1st", "3" },
	{ "service_name", "x" },
	{ "__name__", "y" },
};
static const struct otlp_sample samples[] = {
	{ web, array_len(web), main_only, 1, "a", .numbers = { .count = 1 } },
	{ NULL, 0, main_only, 1, "a", .numbers = { .count = 2 } },
	{ web, array_len(web), main_only, 1, "b", .numbers = { .count = 4 } },
	{ web, array_len(web), other_only, 1, "b", .numbers = { .count = 8 } },
	{ NULL, 0, main_only, 1, "a", .numbers = { .cpu = 1, .count = 0 } },
};

/* The n-th field of that number; all zero when there is none. */
static struct pb_field field_of(struct pb_field message, uint32_t number, size_t n)
{
	struct pb_reader reader = pb_reader_of(message.data, message.len);
	struct pb_field field;

	while (pb_reader_next(&reader, &field) > 0)
		if (field.number == number && n-- == 0)
			return field;
	return (struct pb_field){ 0 };
}

static struct pb_field series_of(const struct strbuf *body, size_t n)
{
	const struct pb_field request = {
		.data = (const unsigned char *)body->data,
		.len = body->len,
	};

	return field_of(request, 1, n);
}

static void assert_attributes(struct pb_field series, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
	struct pb_field pair;

	for (size_t i = 0; (pair = field_of(series, 1, i)).number; i++) {
		struct pb_field name = field_of(pair, 1, 0);
		struct pb_field value = field_of(pair, 2, 0);

		strbuf_append(&text, name.data, name.len);
		strbuf_append_char(&text, '=');
		strbuf_append(&text, value.data, value.len);
		strbuf_append_char(&text, '\n');
	}
	assert_string_equal(strbuf_str(&text), expected);
}

static struct profile *profile_of_all(void)
{
	struct profile *profile = otlp_profile_of(samples, array_len(samples));

	assert_non_null(profile);
	return profile;
}

static void encode(const struct profile *profile, const struct attribute_opts *opts,
		   struct strbuf *body, struct encode_result *ret_result)
{
	_cleanup_(otlp_job_done) struct otlp_job job = { 0 };

	assert_int_equal(otlp_job_init(&job, profile, opts), 0);
	assert_int_equal(push_encode(&job.job, body, ret_result), 0);
}

static void a_series_has_the_labels_of_its_resource(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_all();
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	(void)state;

	encode(profile, OTLP_PYROSCOPE, &body, &result);
	assert_attributes(series_of(&body, 0),
			  "__name__=process_cpu\nservice_name=unknown_service\n");
	assert_attributes(series_of(&body, 1),
			  "__name__=process_cpu\nservice_name=web\npod=web-0\nk8s_pod_name=web-0\n"
			  "_1st=3\nservice_name_2=x\n_name__=y\nk8s_pod_label_a_b=1\n"
			  "k8s_pod_label_a_b_2=2\n");
	assert_int_equal(series_of(&body, 2).number, 0);
	assert_int_equal(result.nr_profiles, 2);
	assert_int_equal(result.nr_taken, 15);
	assert_int_equal(result.nr_samples, 3);
}

static void names_are_made_legal_with_any_preset(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_all();
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	(void)state;

	encode(profile, OTLP_STANDARD, &body, &result);
	assert_attributes(
		series_of(&body, 1),
		"__name__=process_cpu\nservice_name=web\nk8s_pod_name=web-0\n_1st=3\n"
		"service_name_2=x\n_name__=y\nk8s_pod_label_a_b=1\nk8s_pod_label_a_b_2=2\n");
}

static void any_label_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const char *name = hostile_names[i].name;
		const struct attribute attributes[] = { { "service.name", name }, { "k", name } };
		const struct otlp_sample sample = { attributes, array_len(attributes),
						    main_only,	1,
						    name,	.numbers = { .count = 1 } };
		_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(&sample, 1);
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
		struct encode_result result;
		char expected[256];

		assert_non_null(profile);
		encode(profile, OTLP_PYROSCOPE, &body, &result);
		snprintf(expected, sizeof(expected),
			 "__name__=process_cpu\nservice_name=%s\nk=%s\n",
			 hostile_names[i].printable, hostile_names[i].printable);
		assert_attributes(series_of(&body, 0), expected);
	}
}

static void a_series_has_the_bare_pprof_of_its_samples(void **state)
{
	static const uint32_t of_web[] = { 0, 2, 3 };
	const struct pprof_part part = {
		.samples = of_web,
		.nr_samples = array_len(of_web),
		.is_bare = true,
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_all();
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf pprof = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf expected = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	(void)state;

	encode(profile, OTLP_PYROSCOPE, &body, &result);
	struct pb_field raw = field_of(field_of(series_of(&body, 1), 2, 0), 1, 0);
	assert_int_equal(pprof_encode(profile, &part, NULL, &pprof), 0);
	gzip_append(&expected, pprof.data, pprof.len);
	assert_int_equal(strbuf_error(&expected), 0);
	assert_int_equal(raw.len, expected.len);
	assert_memory_equal(raw.data, expected.data, raw.len);
	assert_true(result.cost_bytes > pprof.len);
}

static void an_id_is_a_uuid(void **state)
{
	static const unsigned char form[] = "xxxxxxxx-xxxx-4xxx-xxxx-xxxxxxxxxxxx";
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_all();
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	(void)state;

	encode(profile, OTLP_PYROSCOPE, &body, &result);
	struct pb_field id = field_of(field_of(series_of(&body, 0), 2, 0), 2, 0);
	struct pb_field other = field_of(field_of(series_of(&body, 1), 2, 0), 2, 0);

	assert_int_equal(id.len, sizeof(form) - 1);
	for (size_t i = 0; i < id.len; i++)
		assert_true(form[i] == 'x' ? isxdigit(id.data[i]) : id.data[i] == form[i]);
	assert_memory_not_equal(id.data, other.data, id.len);
}

static void types_have_their_families(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples + 1, 1);
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	(void)state;

	assert_non_null(profile);
	profile->type = PROFILE_INUSE_SPACE;
	encode(profile, OTLP_PYROSCOPE, &body, &result);
	assert_attributes(series_of(&body, 0), "__name__=memory\nservice_name=unknown_service\n");
}

static void no_samples_make_no_request(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples + 4, 1);
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	(void)state;

	assert_non_null(profile);
	encode(profile, OTLP_PYROSCOPE, &body, &result);
	assert_int_equal(body.len, 0);
	assert_int_equal(result.nr_profiles, 0);
}

static void every_limit_is_kept(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_sample_profile();
	_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
	_cleanup_(strbuf_done) struct strbuf whole = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	(void)state;

	assert_int_equal(otlp_job_init(&job, profile, OTLP_PYROSCOPE), 0);
	assert_int_equal(push_encode(&job.job, &whole, &result), 0);
	for (size_t max = 0; max < whole.len; max += 1 + max / 8) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		assert_int_equal(push_encode(&job.job, &out, &result), -ENOSPC);
		assert_int_equal(strbuf_error(&out), -ENOSPC);
		assert_true(out.len <= max);
	}
}

static void every_failing_allocation_is_reported(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_sample_profile();
	_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
	unsigned int nr_failed = 0;
	bool did_fail;
	(void)state;

	assert_int_equal(otlp_job_init(&job, profile, OTLP_PYROSCOPE), 0);
	do {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
		struct encode_result result;

		torture_begin(nr_failed + 1);
		int r = push_encode(&job.job, &out, &result);
		did_fail = torture_end();
		assert_int_equal(r, did_fail ? -ENOMEM : 0);
		assert_int_equal(strbuf_error(&out), r);
		nr_failed += did_fail;
	} while (did_fail);
	assert_true(nr_failed > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_series_has_the_labels_of_its_resource),
		cmocka_unit_test(names_are_made_legal_with_any_preset),
		cmocka_unit_test(any_label_leaves_printable),
		cmocka_unit_test(a_series_has_the_bare_pprof_of_its_samples),
		cmocka_unit_test(an_id_is_a_uuid),
		cmocka_unit_test(types_have_their_families),
		cmocka_unit_test(no_samples_make_no_request),
		cmocka_unit_test(every_limit_is_kept),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
