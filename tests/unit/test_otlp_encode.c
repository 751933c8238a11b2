/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/otlp_encode.h"

#include "tests/oracle/otlp_sample.h"
#include "tests/oracle/otlp_text.h"
#include "torture.h"
#include "unit.h"

#include <string.h>

#define PLENTY_BYTES (1 << 20)
#define NATIVE(name)                                                                               \
	{                                                                                          \
		name, name, FRAME_NATIVE, "/bin/x", "abcd", 1, NULL                                \
	}

static const struct otlp_frame main_only[] = { NATIVE("main") };

static void assert_text(const struct otlp_sample *samples, size_t nr, const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples, nr);
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);

	assert_non_null(profile);
	assert_int_equal(otlp_encode(profile, &body), 0);
	assert_int_equal(otlp_text(&body, &text), 0);
	assert_string_equal(strbuf_str(&text), expected);
}

static void assert_frame(struct otlp_frame frame, const char *expected)
{
	const struct otlp_sample sample = {
		.frames = &frame,
		.nr_frames = 1,
		.numbers = { .count = 1 },
	};
	char line[128];

	snprintf(line, sizeof(line), "{} cpu.logical_number=0: %s = 1\n", expected);
	assert_text(&sample, 1, line);
}

static void no_samples_make_no_request(void **state)
{
	static const struct otlp_sample nothing[] = {
		{ .frames = main_only, .nr_frames = 1, .numbers = { .count = 0 } },
	};
	(void)state;

	assert_text(NULL, 0, "");
	assert_text(nothing, 1, "");
}

static void what_is_in_out_already_stays(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_sample_profile();
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	(void)state;

	strbuf_append_str(&body, "before");
	assert_int_equal(otlp_encode(profile, &body), 0);
	assert_memory_equal(body.data, "before\x0a", 7);
}

static void threads_of_one_name_are_summed(void **state)
{
	static const struct otlp_sample samples[] = {
		{ NULL, 0, main_only, 1, "a", { .pid = 1, .tid = 1, .count = 3 } },
		{ NULL, 0, main_only, 1, "a", { .pid = 1, .tid = 2, .count = 4 } },
		{ NULL, 0, main_only, 1, "b", { .pid = 1, .tid = 3, .count = 5 } },
		{ NULL, 0, main_only, 1, "a", { .pid = 9, .tid = 9, .cpu = 1, .count = 6 } },
		{ NULL, 0, main_only, 1, "a", { .cgroup_id = 7, .count = 8 } },
	};
	(void)state;

	assert_text(
		samples, array_len(samples),
		"{} thread.name=a cpu.logical_number=0: main[native] = 7\n"
		"{} thread.name=b cpu.logical_number=0: main[native] = 5\n"
		"{} thread.name=a cpu.logical_number=1: main[native] = 6\n"
		"{} thread.name=a cpu.logical_number=0 flamelet.cgroup.id=7: main[native] = 8\n");
}

static void sums_may_exceed_32_bits(void **state)
{
	static const struct otlp_sample samples[] = {
		{ NULL, 0, main_only, 1, NULL, { .tid = 1, .count = UINT32_MAX } },
		{ NULL, 0, main_only, 1, NULL, { .tid = 2, .count = UINT32_MAX } },
	};
	(void)state;

	assert_text(samples, array_len(samples),
		    "{} cpu.logical_number=0: main[native] = 8589934590\n");
}

static void resources_without_samples_are_left_out(void **state)
{
	static const struct attribute a[] = { { "service.name", "a" } };
	static const struct attribute b[] = { { "service.name", "b" } };
	static const struct otlp_sample samples[] = {
		{ a, 1, main_only, 1, NULL, { .count = 0 } },
		{ b, 1, main_only, 1, NULL, { .count = 1 } },
		{ NULL, 0, main_only, 1, NULL, { .count = 2 } },
	};
	(void)state;

	assert_text(samples, array_len(samples),
		    "{} cpu.logical_number=0: main[native] = 2\n"
		    "{service.name=b} cpu.logical_number=0: main[native] = 1\n");
}

static void the_first_of_equal_keys_holds(void **state)
{
	static const struct attribute twice[] = { { "k", "1" }, { "l", "2" }, { "k", "3" } };
	static const struct otlp_sample sample = { twice, array_len(twice), main_only, 1,
						   NULL,  { .count = 1 } };
	(void)state;

	assert_text(&sample, 1, "{k=1 l=2} cpu.logical_number=0: main[native] = 1\n");
}

static void only_stand_ins_for_names_keep_their_mapping(void **state)
{
	(void)state;
	assert_frame((struct otlp_frame){ "main", "main", FRAME_NATIVE, "/x", "ab", 5, NULL },
		     "main[native]");
	assert_frame((struct otlp_frame){ "x+0x5", NULL, FRAME_NATIVE, "/x", "ab", 5, NULL },
		     "x+0x5[native @5 /x ab]");
	assert_frame((struct otlp_frame){ "x+0x5", NULL, FRAME_NATIVE, "/x", NULL, 5, NULL },
		     "x+0x5[native]");
	assert_frame((struct otlp_frame){ "0x5", NULL, FRAME_NATIVE, NULL, NULL, 5, NULL },
		     "0x5[native]");
	assert_frame((struct otlp_frame){ "k", NULL, FRAME_KERNEL, "[kernel]", "ab", 5, NULL },
		     "k[kernel]");
	assert_frame((struct otlp_frame){ "[stop]", NULL, FRAME_STOP, NULL, NULL, 5, NULL },
		     "[stop][]");
}

static void a_frame_says_what_its_code_is(void **state)
{
	static const struct {
		enum frame_kind kind;
		const char *expected;
	} cases[] = {
		{ FRAME_NATIVE, "f[native]" }, { FRAME_KERNEL, "f[kernel]" },
		{ FRAME_STOP, "f[]" },	       { FRAME_GO, "f[go]" },
		{ FRAME_RUST, "f[rust]" },     { FRAME_JVM, "f[jvm]" },
		{ FRAME_V8JS, "f[v8js]" },     { FRAME_JIT, "f[native]" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_frame((struct otlp_frame){ "f", "f", cases[i].kind, NULL, NULL, 1, NULL },
			     cases[i].expected);
	assert_frame((struct otlp_frame){ "x+0x5", NULL, FRAME_GO, "/x", "ab", 5, NULL },
		     "x+0x5[go @5 /x ab]");
}

static void inlined_functions_are_lines_of_one_frame(void **state)
{
	static const struct otlp_line lines[] = {
		{ "push", "vec.h", 12, 15 },
		{ "", "", 0, 0 },
		{ "main", "\xff.c", 0, 41 },
		{ 0 },
	};
	(void)state;

	assert_frame((struct otlp_frame){ NULL, NULL, FRAME_RUST, "/x", "ab", 1, lines },
		     "push(vec.h:12):15<[unknown]<main(\xef\xbf\xbd.c:0):41[rust]");
}

static void places_of_one_source_line_become_one_sample(void **state)
{
	static const struct otlp_line at_5[] = { { "f", "f.c", 1, 5 }, { 0 } };
	static const struct otlp_line at_6[] = { { "f", "f.c", 1, 6 }, { 0 } };
	static const struct otlp_frame frames[] = {
		{ NULL, NULL, FRAME_NATIVE, "/x", "ab", 0x10, at_5 },
		{ NULL, NULL, FRAME_NATIVE, "/x", "ab", 0x14, at_5 },
		{ NULL, NULL, FRAME_NATIVE, "/x", "ab", 0x18, at_6 },
	};
	static const struct otlp_sample samples[] = {
		{ NULL, 0, &frames[0], 1, NULL, { .count = 1 } },
		{ NULL, 0, &frames[1], 1, NULL, { .count = 2 } },
		{ NULL, 0, &frames[2], 1, NULL, { .count = 4 } },
	};
	(void)state;

	assert_text(samples, array_len(samples),
		    "{} cpu.logical_number=0: f(f.c:1):5[native] = 3\n"
		    "{} cpu.logical_number=0: f(f.c:1):6[native] = 4\n");
}

static void every_frame_has_a_name_of_valid_characters(void **state)
{
	(void)state;
	assert_frame((struct otlp_frame){ "", NULL, FRAME_NATIVE, NULL, NULL, 0, NULL },
		     "[unknown][native]");
	assert_frame((struct otlp_frame){ "a\xff", "a\xff", FRAME_NATIVE, NULL, NULL, 0, NULL },
		     "a\xef\xbf\xbd[native]");
}

static void a_sample_without_frames_has_one(void **state)
{
	static const struct otlp_sample sample = { .numbers = { .count = 1 } };
	(void)state;

	assert_text(&sample, 1, "{} cpu.logical_number=0: [no stack][] = 1\n");
}

static void names_that_become_equal_become_one_sample(void **state)
{
	static const struct otlp_frame first[] = { NATIVE("a\xff") };
	static const struct otlp_frame second[] = { NATIVE("a\xfe") };
	static const struct otlp_sample samples[] = {
		{ NULL, 0, first, 1, "t\xff", { .count = 1 } },
		{ NULL, 0, second, 1, "t\xfe", { .count = 2 } },
	};
	(void)state;

	assert_text(
		samples, array_len(samples),
		"{} thread.name=t\xef\xbf\xbd cpu.logical_number=0: a\xef\xbf\xbd[native] = 3\n");
}

static size_t count_frames(const char *text)
{
	size_t nr = 0;

	for (; (text = strstr(text, "[native]")); text++)
		nr++;
	return nr;
}

static void deep_stacks_are_cut_at_the_root(void **state)
{
	static const struct {
		size_t nr_frames;
		size_t nr_left;
		bool is_cut;
	} cases[] = { { 1000, 1000, false }, { 1001, 999, true }, { 5000, 999, true } };
	static struct otlp_frame frames[5000];
	static char names[5000][8];
	(void)state;

	for (size_t i = 0; i < array_len(frames); i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		frames[i] = (struct otlp_frame)NATIVE(names[i]);
	}
	for (size_t i = 0; i < array_len(cases); i++) {
		const struct otlp_sample sample = {
			.frames = frames,
			.nr_frames = cases[i].nr_frames,
			.numbers = { .count = 1 },
		};
		_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(&sample, 1);
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(otlp_encode(profile, &body), 0);
		assert_int_equal(otlp_text(&body, &text), 0);
		assert_int_equal(count_frames(strbuf_str(&text)), cases[i].nr_left);
		assert_non_null(strstr(strbuf_str(&text), ": f0[native] f1[native]"));
		assert_int_equal(strstr(strbuf_str(&text), " [stack cut][] = 1") != NULL,
				 cases[i].is_cut);
	}
}

static void every_limit_is_kept(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_sample_profile();
	_cleanup_(strbuf_done) struct strbuf whole = strbuf_with_max(PLENTY_BYTES);
	(void)state;

	assert_int_equal(otlp_encode(profile, &whole), 0);
	for (size_t max = 0; max < whole.len; max += 1 + max / 8) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		assert_int_equal(otlp_encode(profile, &out), -ENOSPC);
		assert_int_equal(strbuf_error(&out), -ENOSPC);
		assert_true(out.len <= max);
	}
}

static void every_failing_allocation_is_reported(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_sample_profile();
	unsigned int nr_failed = 0;
	bool did_fail;
	(void)state;

	do {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(nr_failed + 1);
		int r = otlp_encode(profile, &out);
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
		cmocka_unit_test(no_samples_make_no_request),
		cmocka_unit_test(what_is_in_out_already_stays),
		cmocka_unit_test(threads_of_one_name_are_summed),
		cmocka_unit_test(sums_may_exceed_32_bits),
		cmocka_unit_test(resources_without_samples_are_left_out),
		cmocka_unit_test(the_first_of_equal_keys_holds),
		cmocka_unit_test(only_stand_ins_for_names_keep_their_mapping),
		cmocka_unit_test(a_frame_says_what_its_code_is),
		cmocka_unit_test(inlined_functions_are_lines_of_one_frame),
		cmocka_unit_test(places_of_one_source_line_become_one_sample),
		cmocka_unit_test(every_frame_has_a_name_of_valid_characters),
		cmocka_unit_test(a_sample_without_frames_has_one),
		cmocka_unit_test(names_that_become_equal_become_one_sample),
		cmocka_unit_test(deep_stacks_are_cut_at_the_root),
		cmocka_unit_test(every_limit_is_kept),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
