/* SPDX-License-Identifier: Apache-2.0 */
/* What a request says of where code is; Pyroscope gets less, as all of it makes requests large. */
#include "otlp/encode/encode.h"

#include "profile/builder.h"
#include "tests/oracle/formats/otlp_sample.h"
#include "tests/oracle/formats/otlp_text.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define PLENTY_BYTES (1 << 20)

static void assert_text(const struct attribute_opts *opts, const struct otlp_sample *samples,
			size_t nr, const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples, nr);
	_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;

	assert_int_equal(otlp_job_init(&job, profile, opts), 0);
	assert_int_equal(otlp_encode(&job.job, &body, &result), 0);
	assert_int_equal(otlp_text(&body, &text), 0);
	assert_string_equal(strbuf_str(&text), expected);
}

static void assert_frame(const struct attribute_opts *opts, struct otlp_frame frame,
			 const char *attributes, const char *expected)
{
	const struct otlp_sample sample = {
		.frames = &frame,
		.nr_frames = 1,
		.numbers = { .count = 1 },
	};
	char line[128];

	snprintf(line, sizeof(line), "{}%s: %s = 1\n", attributes, expected);
	assert_text(opts, &sample, 1, line);
}

static void code_of_files_has_mapping_and_address(void **state)
{
	static const struct {
		struct otlp_frame frame;
		const char *expected;
		const char *small; /* only stand-ins for names keep them */
	} cases[] = {
		{ { "main", "main", FRAME_NATIVE, "/x", "ab", 5, NULL },
		  "main[native @5 /x ab]",
		  "main[native]" },
		{ { "main", "main", FRAME_GO, "/x", "ab", 5, NULL },
		  "main[go @5 /x ab]",
		  "main[go]" },
		{ { "x+0x5", NULL, FRAME_NATIVE, "/x", "ab", 5, NULL },
		  "x+0x5[native @5 /x ab]",
		  "x+0x5[native @5 /x ab]" },
		{ { "x+0x5", NULL, FRAME_NATIVE, "/x", NULL, 5, NULL },
		  "x+0x5[native]",
		  "x+0x5[native]" },
		{ { "main", "main", FRAME_NATIVE, "/x", "ab", 1 << 20, NULL }, /* behind its end */
		  "main[native]",
		  "main[native]" },
		{ { "0x5", NULL, FRAME_NATIVE, NULL, NULL, 5, NULL },
		  "0x5[native]",
		  "0x5[native]" },
		{ { "k", NULL, FRAME_KERNEL, "[kernel]", "ab", 5, NULL },
		  "k[kernel]",
		  "k[kernel]" },
		{ { "[stop]", NULL, FRAME_STOP, NULL, NULL, 5, NULL }, "[stop][]", "[stop][]" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		assert_frame(OTLP_STANDARD, cases[i].frame, " cpu.logical_number=0",
			     cases[i].expected);
		assert_frame(OTLP_PYROSCOPE, cases[i].frame, "", cases[i].small);
	}
}

static void without_addresses_places_of_one_line_become_one_sample(void **state)
{
	static const struct otlp_line at_5[] = { { "f", "f.c", 1, 5 }, { 0 } };
	static const struct otlp_line at_6[] = { { "f", "f.c", 1, 6 }, { 0 } };
	static const struct otlp_frame frames[] = {
		{ NULL, NULL, FRAME_NATIVE, "/x", "ab", 0x10, at_5 },
		{ NULL, NULL, FRAME_NATIVE, "/x", "ab", 0x14, at_5 },
		{ NULL, NULL, FRAME_NATIVE, "/x", "ab", 0x18, at_6 },
	};
	static const struct otlp_sample samples[] = {
		{ NULL, 0, &frames[0], 1, NULL, .numbers = { .count = 1 } },
		{ NULL, 0, &frames[1], 1, NULL, .numbers = { .count = 2 } },
		{ NULL, 0, &frames[2], 1, NULL, .numbers = { .count = 4 } },
	};
	(void)state;

	assert_text(OTLP_PYROSCOPE, samples, array_len(samples),
		    "{}: f(f.c:1):5[native] = 3\n{}: f(f.c:1):6[native] = 4\n");
}

/* One sample of a file that has all build ids, or all but GNU's. */
static struct profile *profile_with_build_ids(bool has_gnu)
{
	struct profile_mapping mapping = { .start = 0x1000, .limit = 0x2000, .offset = 0x800 };
	struct profile_location location = { .address = 0x1234 };
	struct profile_function function = { 0 };
	struct profile_sample sample = { .count = 1 };
	struct profile_line line = { 0 };
	struct builder *builder;
	uint32_t number;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	assert_int_equal(builder_add_string(builder, "/bin/app", &mapping.filename), 0);
	assert_int_equal(builder_add_string(builder, has_gnu ? "01ab" : "", &mapping.build_id), 0);
	assert_int_equal(builder_add_string(builder, "go/id", &mapping.go_build_id), 0);
	assert_int_equal(builder_add_string(builder, "77aa", &mapping.htlhash), 0);
	assert_int_equal(builder_add_string(builder, "app+0x1234", &function.name), 0);
	assert_int_equal(builder_add_mapping(builder, &mapping, &location.mapping), 0);
	assert_int_equal(builder_add_function(builder, &function, &line.function), 0);
	assert_int_equal(builder_add_named_location(builder, &location, &line, 1, &number), 0);
	assert_int_equal(builder_add_stack(builder, &number, 1, &sample.stack), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	return builder_seal(builder);
}

static bool has_text(const struct strbuf *body, const char *text)
{
	return memmem(body->data, body->len, text, strlen(text)) != NULL;
}

static void a_mapping_has_all_build_ids_but_pyroscope_s_has_gnu_s_alone(void **state)
{
	static const struct {
		bool is_pyroscope;
		bool has_gnu;
		bool expected_gnu;
		bool expected_others;
	} cases[] = {
		{ false, true, true, true },
		{ false, false, false, true },
		{ true, true, true, false },
		{ true, false, false, false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(profile_unrefp) struct profile *profile = profile_with_build_ids(
			cases[i].has_gnu);
		_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
		struct encode_result result;

		assert_int_equal(
			otlp_job_init(&job, profile,
				      cases[i].is_pyroscope ? OTLP_PYROSCOPE : OTLP_STANDARD),
			0);
		assert_int_equal(otlp_encode(&job.job, &body, &result), 0);
		assert_int_equal(has_text(&body, ".build_id.gnu"), cases[i].expected_gnu);
		assert_int_equal(has_text(&body, "01ab"), cases[i].expected_gnu);
		assert_int_equal(has_text(&body, ".build_id.go"), cases[i].expected_others);
		assert_int_equal(has_text(&body, "go/id"), cases[i].expected_others);
		assert_int_equal(has_text(&body, ".build_id.htlhash"), cases[i].expected_others);
		assert_int_equal(has_text(&body, "77aa"), cases[i].expected_others);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_of_files_has_mapping_and_address),
		cmocka_unit_test(without_addresses_places_of_one_line_become_one_sample),
		cmocka_unit_test(a_mapping_has_all_build_ids_but_pyroscope_s_has_gnu_s_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
