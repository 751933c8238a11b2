/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/encode/encode.h"

#include "base/gzip.h"
#include "profile/pprof.h"
#include "tests/oracle/formats/otlp_sample.h"
#include "tests/oracle/formats/otlp_text.h"
#include "hostile_names.h"
#include "torture.h"

#include <string.h>

#define PLENTY_BYTES (1 << 20)
#define NATIVE(name)                                                                               \
	{                                                                                          \
		name, name, FRAME_NATIVE, NULL, NULL, 1, NULL                                      \
	}

static const struct otlp_frame main_only[] = { NATIVE("main") };

static void assert_text(const struct otlp_sample *samples, size_t nr, const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples, nr);
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);

	assert_non_null(profile);
	assert_int_equal(otlp_encode_profile(profile, &body), 0);
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
	assert_int_equal(otlp_encode_profile(profile, &body), 0);
	assert_memory_equal(body.data, "before\x0a", 7);
}

static void samples_of_one_thread_and_cpu_are_summed(void **state)
{
	static const struct otlp_sample samples[] = {
		{ NULL, 0, main_only, 1, "a", .numbers = { .pid = 1, .tid = 2, .count = 3 } },
		{ NULL, 0, main_only, 1, "a", .numbers = { .pid = 2, .tid = 2, .count = 4 } },
		{ NULL, 0, main_only, 1, "b", .numbers = { .pid = 1, .tid = 3, .count = 5 } },
		{ NULL, 0, main_only, 1, "a",
		  .numbers = { .pid = 9, .tid = 9, .cpu = 1, .count = 6 } },
		{ NULL, 0, main_only, 1, "a", .numbers = { .cgroup_id = 7, .count = 8 } },
		{ NULL, 0, main_only, 1, "a",
		  .numbers = { .cpu = PROFILE_CPU_UNKNOWN, .reason = REASON_DISK, .count = 9 } },
		{ NULL, 0, main_only, 1, "a",
		  .numbers = { .cpu = PROFILE_CPU_UNKNOWN, .reason = REASON_POLL, .count = 1 } },
	};
	(void)state;

	assert_text(samples, array_len(samples),
		    "{} thread.name=a thread.id=2 cpu.logical_number=0: main[native] = 7\n"
		    "{} thread.name=b thread.id=3 cpu.logical_number=0: main[native] = 5\n"
		    "{} thread.name=a thread.id=9 cpu.logical_number=1: main[native] = 6\n"
		    "{} thread.name=a cpu.logical_number=0 flamelet.cgroup.id=7: main[native] = 8\n"
		    "{} thread.name=a flamelet.wait.reason=disk: main[native] = 9\n"
		    "{} thread.name=a flamelet.wait.reason=poll: main[native] = 1\n");
}

static void sums_may_exceed_32_bits(void **state)
{
	static const struct otlp_sample samples[] = {
		{ NULL, 0, main_only, 1, NULL, .numbers = { .pid = 1, .count = UINT32_MAX } },
		{ NULL, 0, main_only, 1, NULL, .numbers = { .pid = 2, .count = UINT32_MAX } },
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
		{ a, 1, main_only, 1, NULL, .numbers = { .count = 0 } },
		{ b, 1, main_only, 1, NULL, .numbers = { .count = 1 } },
		{ NULL, 0, main_only, 1, NULL, .numbers = { .count = 2 } },
	};
	(void)state;

	assert_text(samples, array_len(samples),
		    "{} cpu.logical_number=0: main[native] = 2\n"
		    "{service.name=b} cpu.logical_number=0: main[native] = 1\n");
}

static void the_first_of_equal_keys_holds(void **state)
{
	static const struct attribute twice[] = { { "k", "1" }, { "l", "2" }, { "k", "3" } };
	static const struct otlp_sample sample = { twice, array_len(twice),	    main_only, 1,
						   NULL,  .numbers = { .count = 1 } };
	(void)state;

	assert_text(&sample, 1, "{k=1 l=2} cpu.logical_number=0: main[native] = 1\n");
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
		{ FRAME_V8JS, "f[v8js]" },     { FRAME_CPYTHON, "f[cpython]" },
		{ FRAME_JIT, "f[native]" },
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
		     "push(vec.h:12):15<[unknown]<main(\\xff.c:0):41[rust @1 /x ab]");
}

static void every_frame_has_a_name_of_valid_characters(void **state)
{
	(void)state;
	assert_frame((struct otlp_frame){ "", NULL, FRAME_NATIVE, NULL, NULL, 0, NULL },
		     "[unknown][native]");
	assert_frame((struct otlp_frame){ "a\xff", "a\xff", FRAME_NATIVE, NULL, NULL, 0, NULL },
		     "a\\xff[native]");
}

static void a_sample_without_frames_has_one(void **state)
{
	static const struct otlp_sample sample = { .numbers = { .count = 1 } };
	(void)state;

	assert_text(&sample, 1, "{} cpu.logical_number=0: [no stack][] = 1\n");
}

static void names_that_become_equal_become_one_sample(void **state)
{
	static const struct otlp_frame first[] = { NATIVE("a\n") };
	static const struct otlp_frame second[] = { NATIVE("a\\x0a") };
	static const struct otlp_sample samples[] = {
		{ NULL, 0, first, 1, "t\xff", .numbers = { .count = 1 } },
		{ NULL, 0, second, 1, "t\\xff", .numbers = { .count = 2 } },
	};
	(void)state;

	assert_text(samples, array_len(samples),
		    "{} thread.name=t\\xff cpu.logical_number=0: a\\x0a[native] = 3\n");
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const char *name = hostile_names[i].name;
		const char *printable = hostile_names[i].printable;
		const struct attribute attribute = { name, name };
		const struct otlp_line lines[] = { { name, name, 1, 2 }, { 0 } };
		const struct otlp_frame frames[] = {
			{ NULL, NULL, FRAME_NATIVE, NULL, NULL, 1, lines },
			{ name, NULL, FRAME_NATIVE, name, "ab", 5, NULL },
		};
		const struct otlp_sample sample = { &attribute, 1,
						    frames,	array_len(frames),
						    name,	.numbers = { .count = 1 } };
		char expected[512];

		snprintf(expected, sizeof(expected),
			 "{%s=%s} thread.name=%s cpu.logical_number=0: "
			 "%s(%s:1):2[native] %s[native @5 %s ab] = 1\n",
			 printable, printable, printable, printable, printable, printable,
			 printable);
		assert_text(&sample, 1, expected);
		assert_printable(expected, strlen(expected), true);
	}
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

		assert_int_equal(otlp_encode_profile(profile, &body), 0);
		assert_int_equal(otlp_text(&body, &text), 0);
		assert_int_equal(count_frames(strbuf_str(&text)), cases[i].nr_left);
		assert_non_null(strstr(strbuf_str(&text), ": f0[native] f1[native]"));
		assert_int_equal(strstr(strbuf_str(&text), " [stack truncated][] = 1") != NULL,
				 cases[i].is_cut);
	}
}

static const struct attribute restarted[2][3] = {
	{ { "k8s.pod.name", "a" }, { "k8s.container.name", "c" }, { "container.id", "1" } },
	{ { "k8s.pod.name", "a" }, { "k8s.container.name", "c" }, { "container.id", "2" } },
};
static const struct otlp_frame other_only[] = { NATIVE("other") };
static const struct otlp_sample mixed[] = {
	{ restarted[0], 3, main_only, 1, "t", .numbers = { .cpu = 1, .count = 1 } },
	{ NULL, 0, other_only, 1, "u", .numbers = { .cpu = 2, .count = 2 } },
	{ restarted[1], 3, main_only, 1, "u", .numbers = { .cpu = 3, .count = 4 } },
	{ restarted[1], 3, other_only, 1, "t", .numbers = { .cpu = 4, .count = 8 } },
};

static void resources_that_leave_alike_are_one_profile(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(mixed,
									    array_len(mixed));
	_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	(void)state;

	assert_int_equal(otlp_job_init(&job, profile, OTLP_PYROSCOPE), 0);
	assert_int_equal(otlp_encode(&job.job, &body, &result), 0);
	assert_int_equal(otlp_text(&body, &text), 0);
	assert_string_equal(strbuf_str(&text),
			    "{}: other[native] = 2\n"
			    "{pod=a container=c k8s.pod.name=a k8s.container.name=c}: "
			    "main[native] = 5\n"
			    "{pod=a container=c k8s.pod.name=a k8s.container.name=c}: "
			    "other[native] = 8\n");
	assert_int_equal(result.nr_taken, 15);
	assert_int_equal(result.nr_profiles, 2);
	assert_int_equal(result.nr_samples, 3);
}

static void a_part_has_its_samples_and_nothing_of_others(void **state)
{
	static const uint32_t part[] = { 0, 2 };
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(mixed,
									    array_len(mixed));
	_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	(void)state;

	assert_int_equal(otlp_job_init(&job, profile, OTLP_STANDARD), 0);
	job.job.samples = part;
	job.job.nr_samples = array_len(part);
	assert_int_equal(otlp_encode(&job.job, &body, &result), 0);
	assert_int_equal(otlp_text(&body, &text), 0);
	assert_string_equal(strbuf_str(&text),
			    "{k8s.pod.name=a k8s.container.name=c container.id=1} thread.name=t "
			    "cpu.logical_number=1: main[native] = 1\n"
			    "{k8s.pod.name=a k8s.container.name=c container.id=2} thread.name=u "
			    "cpu.logical_number=3: main[native] = 4\n");
	assert_null(memmem(body.data, body.len, "other", strlen("other")));
	assert_int_equal(result.nr_taken, 5);
}

static void collapsed_threads_are_one(void **state)
{
	static const struct attribute_opts opts = {
		.sample_attributes = SAMPLE_THREAD_NAME,
		.max_values = 1,
	};
	static const struct otlp_sample samples[] = {
		{ NULL, 0, main_only, 1, "a", .numbers = { .count = 1 } },
		{ NULL, 0, main_only, 1, "b", .numbers = { .count = 9 } },
		{ NULL, 0, main_only, 1, "c", .numbers = { .count = 2 } },
		{ NULL, 0, main_only, 1, NULL, .numbers = { .count = 4 } },
	};
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples,
									    array_len(samples));
	_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	(void)state;

	assert_int_equal(otlp_job_init(&job, profile, &opts), 0);
	assert_int_equal(otlp_encode(&job.job, &body, &result), 0);
	assert_int_equal(otlp_text(&body, &text), 0);
	assert_string_equal(strbuf_str(&text), "{} thread.name=[other]: main[native] = 3\n"
					       "{} thread.name=b: main[native] = 9\n"
					       "{}: main[native] = 4\n");
}

static void types_are_named_as_pyroscope_wants_them(void **state)
{
	static const struct {
		enum profile_type type;
		const char *expected;
	} cases[] = {
		{ PROFILE_CPU, "samples/count cpu/nanoseconds 10000000" },
		{ PROFILE_WALL, "wall/nanoseconds wall/nanoseconds 10000000" },
		{ PROFILE_OFF_CPU, "off_cpu/nanoseconds - 0" },
		{ PROFILE_INUSE_SPACE, "inuse_space/bytes memory/bytes 10000000" },
		{ PROFILE_RSS_GROWTH, "rss_growth/bytes memory/bytes 10000000" },
		{ PROFILE_IRQ, "irq/nanoseconds irq/nanoseconds 10000000" },
		{ PROFILE_LOCK_DELAY, "delay/nanoseconds mutex/count 10000000" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(mixed, 1);
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);

		profile->type = cases[i].type;
		assert_int_equal(otlp_encode_profile(profile, &body), 0);
		assert_int_equal(otlp_text_types(&body, &text), 0);
		assert_string_equal(strbuf_str(&text), cases[i].expected);
	}
}

static void the_payload_is_the_pprof_of_the_same_samples(void **state)
{
	static const uint32_t of_first_group[] = { 1 };
	const struct pprof_part part = { .samples = of_first_group, .nr_samples = 1 };
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(mixed,
									    array_len(mixed));
	_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf pprof = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf expected = strbuf_with_max(PLENTY_BYTES);
	struct encode_result result;
	size_t len;
	(void)state;

	assert_int_equal(otlp_job_init(&job, profile, OTLP_PYROSCOPE), 0);
	job.job.with_pprof = true;
	assert_int_equal(otlp_encode(&job.job, &body, &result), 0);
	const void *payload = otlp_text_payload(&body, &len);

	assert_int_equal(pprof_encode(profile, &part, NULL, &pprof), 0);
	gzip_append(&expected, pprof.data, pprof.len);
	assert_int_equal(strbuf_error(&expected), 0);
	assert_int_equal(len, expected.len);
	assert_memory_equal(payload, expected.data, len);
}

/* 2000 samples of 30 frames in so many files, as it was measured (converted_size.h). */
#define NR_MEASURED 2000
#define NR_MEASURED_FRAMES 30
#define NR_MEASURED_PLACES 300

static struct profile *measured_profile(size_t nr_files)
{
	static char names[NR_MEASURED_PLACES][24];
	static char files[NR_MEASURED_PLACES][24];
	static struct otlp_frame frames[NR_MEASURED][NR_MEASURED_FRAMES];
	static struct otlp_sample samples[NR_MEASURED];

	for (size_t i = 0; i < NR_MEASURED_PLACES; i++) {
		snprintf(names[i], sizeof(names[i]), "lib%zu.so+0x%zx", nr_files ? i % nr_files : 0,
			 i);
		snprintf(files[i], sizeof(files[i]), "/usr/lib/lib%zu.so",
			 nr_files ? i % nr_files : 0);
	}
	for (size_t i = 0; i < NR_MEASURED; i++) {
		for (size_t j = 0; j < NR_MEASURED_FRAMES; j++) {
			size_t place = (i / NR_MEASURED_PLACES * 7 + i + j) % NR_MEASURED_PLACES;

			if (j == 0)
				place = i * 11 % NR_MEASURED_PLACES;
			frames[i][j] = (struct otlp_frame){ names[place],
							    NULL,
							    FRAME_NATIVE,
							    nr_files ? files[place] : NULL,
							    nr_files ? files[place] : NULL,
							    place,
							    NULL };
		}
		samples[i] = (struct otlp_sample){ NULL,      0,
						   frames[i], NR_MEASURED_FRAMES,
						   NULL,      .numbers = { .count = 1 + i } };
	}
	return otlp_profile_of(samples, NR_MEASURED);
}

static void the_cost_is_what_was_measured(void **state)
{
	static const struct {
		size_t nr_files;
		size_t measured_bytes;
	} cases[] = { { 0, 146000 }, { 1, 166000 }, { 10, 490000 }, { 100, 1218000 } };
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(profile_unrefp) struct profile *profile = measured_profile(
			cases[i].nr_files);
		_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
		struct encode_result result;

		assert_non_null(profile);
		assert_int_equal(otlp_job_init(&job, profile, OTLP_PYROSCOPE), 0);
		assert_int_equal(otlp_encode(&job.job, &body, &result), 0);
		assert_in_range(result.cost_bytes, cases[i].measured_bytes * 9 / 10,
				cases[i].measured_bytes * 5 / 4);
	}
}

static void every_limit_is_kept(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = otlp_sample_profile();
	_cleanup_(strbuf_done) struct strbuf whole = strbuf_with_max(PLENTY_BYTES);
	(void)state;

	assert_int_equal(otlp_encode_profile(profile, &whole), 0);
	for (size_t max = 0; max < whole.len; max += 1 + max / 8) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		assert_int_equal(otlp_encode_profile(profile, &out), -ENOSPC);
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

	assert_int_equal(otlp_job_init(&job, profile, OTLP_STANDARD), 0);
	job.job.with_pprof = true;
	do {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
		struct encode_result result;

		torture_begin(nr_failed + 1);
		int r = otlp_encode(&job.job, &out, &result);
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
		cmocka_unit_test(samples_of_one_thread_and_cpu_are_summed),
		cmocka_unit_test(sums_may_exceed_32_bits),
		cmocka_unit_test(resources_without_samples_are_left_out),
		cmocka_unit_test(the_first_of_equal_keys_holds),
		cmocka_unit_test(a_frame_says_what_its_code_is),
		cmocka_unit_test(inlined_functions_are_lines_of_one_frame),
		cmocka_unit_test(every_frame_has_a_name_of_valid_characters),
		cmocka_unit_test(a_sample_without_frames_has_one),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(names_that_become_equal_become_one_sample),
		cmocka_unit_test(deep_stacks_are_cut_at_the_root),
		cmocka_unit_test(resources_that_leave_alike_are_one_profile),
		cmocka_unit_test(a_part_has_its_samples_and_nothing_of_others),
		cmocka_unit_test(collapsed_threads_are_one),
		cmocka_unit_test(types_are_named_as_pyroscope_wants_them),
		cmocka_unit_test(the_payload_is_the_pprof_of_the_same_samples),
		cmocka_unit_test(the_cost_is_what_was_measured),
		cmocka_unit_test(every_limit_is_kept),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
