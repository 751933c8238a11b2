/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "commands/copy_hint.h"
#include "commands/summary.h"
#include "profile/builder.h"
#include "hostile_names.h"

#include <stdio.h>
#include <string.h>

#define PLENTY_BYTES (1 << 20)

struct sample_line {
	const char *ns, *pod, *uid, *container; /* NULL: not known */
	const char *comm;
	const char *leaf; /* NULL: no stack */
	enum frame_kind kind;
	uint32_t count;
};

static uint32_t add_text(struct builder *builder, const char *text)
{
	uint32_t id = 0;

	assert_int_equal(builder_add_string(builder, text, &id), 0);
	return id;
}

static uint32_t add_function(struct builder *builder, const char *name)
{
	const struct profile_function function = { .name = add_text(builder, name) };
	uint32_t id = 0;

	assert_int_equal(builder_add_function(builder, &function, &id), 0);
	return id;
}

/* All leaves are inlined into one function, which therefore must not count. */
static uint32_t add_stack(struct builder *builder, const struct sample_line *line, uint64_t address)
{
	struct profile_location location = { .address = address, .kind = line->kind };
	struct profile_line lines[2] = { 0 };
	uint32_t id, stack;

	if (!line->leaf)
		return 0;
	lines[0].function = add_function(builder, line->leaf);
	lines[1].function = add_function(builder, "outermost");
	assert_int_equal(builder_add_named_location(builder, &location, lines, 2, &id), 0);
	assert_int_equal(builder_add_stack(builder, &id, 1, &stack), 0);
	return stack;
}

static void add_line(struct builder *builder, const struct sample_line *line, uint64_t address)
{
	const struct attribute attributes[] = {
		{ "k8s.namespace.name", line->ns },
		{ "k8s.pod.name", line->pod },
		{ "k8s.pod.uid", line->uid },
		{ "container.id", line->container },
	};
	struct profile_sample sample = {
		.stack = add_stack(builder, line, address),
		.process_comm = add_text(builder, line->comm),
		.count = line->count,
	};

	assert_int_equal(
		builder_add_resource(builder, attributes, array_len(attributes), &sample.resource),
		0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
}

static struct profile *profile_of(const struct sample_line *lines, size_t nr)
{
	struct builder *builder = NULL;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	builder_set_time(builder, NSEC_PER_SEC, 10 * NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
	for (size_t i = 0; i < nr; i++)
		add_line(builder, &lines[i], 0x1000 + i);
	return builder_seal(builder);
}

static void expect_summary(const struct summary *summary, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(summary_append(summary, &out), 0);
	assert_string_equal(strbuf_str(&out), expected);
}

static void why_it_was_captured_by_perf_is_told(void **state)
{
	static const struct sample_line lines[] = {
		{ NULL, NULL, NULL, NULL, "x", "hash", FRAME_NATIVE, 100 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(lines, array_len(lines));
	const struct summary summary = { .profile = profile,
					 .nr_cpus = 1,
					 .perf_reason = "the kernel has no type information",
					 .columns = 100 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	(void)state;

	assert_int_equal(summary_append(&summary, &out), 0);
	assert_non_null(strstr(strbuf_str(&out),
			       "\ncaptured by     perf (the kernel has no type information)\n"));
}

static void stacks_that_are_cut_short_are_told_from_one_in_a_hundred_on(void **state)
{
	static const struct sample_line lines[] = {
		{ NULL, NULL, NULL, NULL, "x", "hash", FRAME_NATIVE, 990 },
		{ NULL, NULL, NULL, NULL, "x", "[too deep]", FRAME_STOP, 9 },
		{ NULL, NULL, NULL, NULL, "x", "[no frame pointer]", FRAME_STOP, 11 },
	};
	_cleanup_(profile_unrefp) struct profile *few = profile_of(lines, 2);
	_cleanup_(profile_unrefp) struct profile *many = profile_of(lines, 3);
	struct summary summary = { .elapsed_ns = 10 * NSEC_PER_SEC, .nr_cpus = 2, .columns = 100 };
	(void)state;

	summary.profile = few;
	expect_summary(&summary,
		       "999 samples = 10.0 s of CPU time in 10.0 s on 2 CPUs; lost samples: 0\n"
		       "top processes   100.0 %  x (host)\n"
		       "top functions    99.1 %  hash\n"
		       "                  0.9 %  [too deep]\n");
	summary.profile = many;
	expect_summary(
		&summary,
		"1,010 samples = 10.1 s of CPU time in 10.0 s on 2 CPUs; lost samples: 0\n"
		"top processes   100.0 %  x (host)\n"
		"top functions    98.0 %  hash\n"
		"                  1.1 %  [no frame pointer]\n"
		"                  0.9 %  [too deep]\n"
		"truncated         2.0 %  of stacks, mostly because of [no frame pointer]\n");
}

static void other_values_are_not_called_cpu_time(void **state)
{
	static const struct sample_line lines[] = {
		{ NULL, NULL, NULL, NULL, "x", "malloc", FRAME_NATIVE, 2097152 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(lines, array_len(lines));
	struct summary summary = {
		.profile = profile, .elapsed_ns = 10 * NSEC_PER_SEC, .nr_cpus = 2, .columns = 100
	};
	(void)state;

	profile->type = PROFILE_INUSE_SPACE;
	expect_summary(&summary, "2.0 MiB in use at the end; lost samples: 0\n"
				 "owned by        100.0 %  x (host)\n"
				 "top functions   100.0 %  malloc\n");
}

static void the_summary_tells_whose_time_it_was_and_where(void **state)
{
	static const struct sample_line lines[] = {
		{ "shop", "cart-1", "u1", "c1", "java", "hash", FRAME_NATIVE, 1000 },
		{ "shop", "cart-1", "u1", "c2", "envoy", "copy_page", FRAME_KERNEL, 500 },
		{ NULL, NULL, "u2", "c3", "x", "hash", FRAME_NATIVE, 250 },
		{ NULL, NULL, NULL, "0123456789abcdef", "x", "hash", FRAME_NATIVE, 200 },
		{ NULL, NULL, NULL, NULL, "sshd", NULL, FRAME_NATIVE, 50 },
	};
	char *files[] = { (char[]){ "a.svg" }, (char[]){ "-" }, (char[]){ "b.pb.gz" } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(lines, array_len(lines));
	const struct summary summary = {
		.profile = profile,
		.nr_lost = 20,
		.elapsed_ns = 10 * NSEC_PER_SEC,
		.nr_cpus = 2,
		.files = files,
		.nr_files = array_len(files),
		.columns = 100,
	};
	(void)state;

	expect_summary(
		&summary,
		"2,000 samples = 20.0 s of CPU time in 10.0 s on 2 CPUs; lost samples: 20 (1.0 %)\n"
		"top processes    75.0 %  shop/cart-1\n"
		"                 12.5 %  pod u2\n"
		"                 10.0 %  container 0123456789ab\n"
		"                  2.5 %  sshd (host)\n"
		"top functions    72.5 %  hash\n"
		"                 25.0 %  copy_page [kernel]\n"
		"                  2.5 %  [no stack]\n"
		"written         a.svg  b.pb.gz\n");
}

static void an_empty_profile_is_summed_up_too(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(NULL, 0);
	const struct summary summary = { .profile = profile, .nr_cpus = 1, .columns = 80 };
	(void)state;

	expect_summary(&summary,
		       "0 samples = 0.0 s of CPU time in 0.0 s on 1 CPUs; lost samples: 0\n");
}

/* The thread "disk" waits for one, the others wait for a CPU. */
static void waits_for_a_cpu_have_a_line(void **state)
{
	static const struct sample_line lines[] = {
		{ "n", "web", NULL, NULL, "w", NULL, FRAME_NATIVE, 750000000 },
		{ "n", "db", NULL, NULL, "d", NULL, FRAME_NATIVE, 250000000 },
		{ "n", "db", NULL, NULL, "disk", NULL, FRAME_NATIVE, 4000000000 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(lines, array_len(lines));
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	const struct summary summary = { .profile = profile, .nr_cpus = 1, .columns = 80 };
	(void)state;

	profile->type = PROFILE_OFF_CPU;
	for (size_t i = 0; i < profile->nr_samples; i++) {
		struct profile_sample *sample = &profile->samples[i];
		bool is_disk = !strcmp(profile_string(profile, sample->process_comm), "disk");

		sample->reason = is_disk ? REASON_DISK : REASON_RUN_QUEUE;
	}
	assert_int_equal(summary_append(&summary, &out), 0);
	assert_non_null(
		strstr(strbuf_str(&out), "\nfor a CPU       1.000 s, 75.0 % of it n/web\n"));
}

static void twelve_lines_are_the_most(void **state)
{
	struct sample_line lines[20];
	char names[20][32];
	char *files[] = { (char[]){ "/dev/null" } };
	(void)state;

	for (size_t i = 0; i < array_len(lines); i++) {
		snprintf(names[i], sizeof(names[i]), "name-%zu", i);
		lines[i] = (struct sample_line){ .ns = "n",
						 .pod = names[i],
						 .comm = "c",
						 .leaf = names[i],
						 .count = 1 + (uint32_t)i };
	}
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(lines, array_len(lines));
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	const struct summary summary = {
		.profile = profile,
		.files = files,
		.nr_files = 1,
		.ssh_connection = "10.0.0.1 4242 10.0.0.7 22",
		.user = "root",
		.columns = 100,
	};
	assert_int_equal(summary_append(&summary, &out), 0);

	size_t nr_lines = 0;
	for (const char *c = strbuf_str(&out); *c; c++)
		nr_lines += *c == '\n';
	assert_int_equal(nr_lines, SUMMARY_LINES_MAX);
	assert_non_null(strstr(strbuf_str(&out), "n/name-19\n"));
	assert_non_null(strstr(strbuf_str(&out), "n/name-15\n"));
	assert_null(strstr(strbuf_str(&out), "n/name-14\n"));
	assert_non_null(
		strstr(strbuf_str(&out), "to fetch        scp root@10.0.0.7:/dev/null .\n"));
}

static void long_and_hostile_names_stay_on_their_line(void **state)
{
	static const struct sample_line lines[] = {
		{ NULL, NULL, NULL, NULL, "\033[2Jevil\n",
		  "std::vector<std::pair<unsigned long, std::string>>::emplace_back(unsigned "
		  "long&)",
		  FRAME_NATIVE, 1 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(lines, array_len(lines));
	const struct summary summary = { .profile = profile, .nr_cpus = 1, .columns = 60 };
	(void)state;

	expect_summary(&summary,
		       "1 samples = 0.0 s of CPU time in 0.0 s on 1 CPUs; lost samples: 0\n"
		       "top processes   100.0 %  \\x1b[2Jevil\\x0a (host)\n"
		       "top functions   100.0 %  std::vector<std::…k(unsigned long&)\n");
}

struct hint_case {
	const char *connection;
	const char *user;
	const char *file;
	const char *hint; /* NULL: none */
};

static void the_line_that_fetches_files_comes_from_the_ssh_connection(void **state)
{
	static const struct hint_case cases[] = {
		{ "1.2.3.4 50 10.0.0.7 22", "ann", "/dev/null", "scp ann@10.0.0.7:/dev/null .\n" },
		{ "1.2.3.4 50 10.0.0.7 2222", NULL, "/dev/null",
		  "scp -P 2222 10.0.0.7:/dev/null .\n" },
		{ "fe80::1 50 fd00::7 22", "ann", "/dev/null",
		  "scp 'ann@[fd00::7]:/dev/null' .\n" },
		{ "1.2.3.4 50 10.0.0.7 22", "a;b", "/dev/null",
		  "scp 'a;b@10.0.0.7:/dev/null' .\n" },
		{ "1.2.3.4 50 10.0.0.7 22", "ann", "-", "scp .\n" },
		{ "1.2.3.4 50 10.0.0.7 22", "ann", "/nonexistent/x", NULL },
		{ "", "ann", "/dev/null", NULL },
		{ "1.2.3.4", "ann", "/dev/null", NULL },
		{ "1.2.3.4 50", "ann", "/dev/null", NULL },
		{ "1.2.3.4 50 ", "ann", "/dev/null", NULL },
		{ "1.2.3.4 50 10.0.0.7", "ann", "/dev/null", NULL },
		{ "1.2.3.4 50 10.0.0.7 ", "ann", "/dev/null", NULL },
		{ "1.2.3.4 50 10.0.0.7 22x", "ann", "/dev/null", NULL },
		{ "1.2.3.4 50 $(reboot) 22", "ann", "/dev/null", NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(1000);
		_cleanup_free_ char *file = strdup(cases[i].file);

		int r = copy_hint_append(cases[i].connection, cases[i].user, &file, 1, &out);
		assert_int_equal(r, cases[i].hint ? 0 : -EINVAL);
		if (cases[i].hint)
			assert_string_equal(strbuf_str(&out), cases[i].hint);
	}
}

struct name_case {
	const char *name;
	size_t columns;
	enum elide elide;
	const char *shown;
};

static void names_are_cut_by_characters_and_made_harmless(void **state)
{
	static const struct name_case cases[] = {
		{ "short", 5, ELIDE_LEFT, "short" },
		{ "abcdef", 5, ELIDE_LEFT, "…cdef" },
		{ "abcdef", 5, ELIDE_MIDDLE, "ab…ef" },
		{ "äöüßéè", 6, ELIDE_MIDDLE, "äöüßéè" },
		{ "äöüßéè", 5, ELIDE_MIDDLE, "äö…éè" },
		{ "", 5, ELIDE_LEFT, "" },
		{ "a\tb\033c\x7f", 20, ELIDE_LEFT, "a\\x09b\\x1bc\\x7f" },
		{ "\xc2\x9b"
		  "31m",
		  20, ELIDE_LEFT, "\\xc2\\x9b31m" },
		{ "\xff\xc3", 10, ELIDE_LEFT, "\\xff\\xc3" },
		{ "\xc0\xaf", 10, ELIDE_LEFT, "\\xc0\\xaf" },
		{ "\xed\xa0\x80", 12, ELIDE_LEFT, "\\xed\\xa0\\x80" },
		{ "\xf4\x90\x80\x80", 10, ELIDE_LEFT, "…0\\x80\\x80" },
		{ "\xe2\x80", 7, ELIDE_MIDDLE, "\\xe…x80" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(1000);

		text_append_name(&out, cases[i].name, cases[i].columns, cases[i].elide);
		assert_string_equal(strbuf_str(&out), cases[i].shown);
	}
}

static void any_name_is_shown_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		for (size_t columns = 3; columns < 40; columns++) {
			_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(1000);

			text_append_name(&out, hostile_names[i].name, columns, ELIDE_MIDDLE);
			assert_printable(out.data, out.len, false);
			assert_true(text_columns(out.data) <= columns);
		}
	}
}

static void counts_are_grouped_by_thousands(void **state)
{
	static const struct {
		uint64_t count;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 17812, "17,812" },
		{ UINT64_MAX, "18,446,744,073,709,551,615" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(100);

		text_append_count(&out, cases[i].count);
		assert_string_equal(strbuf_str(&out), cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_that_are_cut_short_are_told_from_one_in_a_hundred_on),
		cmocka_unit_test(other_values_are_not_called_cpu_time),
		cmocka_unit_test(why_it_was_captured_by_perf_is_told),
		cmocka_unit_test(the_summary_tells_whose_time_it_was_and_where),
		cmocka_unit_test(an_empty_profile_is_summed_up_too),
		cmocka_unit_test(waits_for_a_cpu_have_a_line),
		cmocka_unit_test(twelve_lines_are_the_most),
		cmocka_unit_test(long_and_hostile_names_stay_on_their_line),
		cmocka_unit_test(the_line_that_fetches_files_comes_from_the_ssh_connection),
		cmocka_unit_test(names_are_cut_by_characters_and_made_harmless),
		cmocka_unit_test(any_name_is_shown_printable),
		cmocka_unit_test(counts_are_grouped_by_thousands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
