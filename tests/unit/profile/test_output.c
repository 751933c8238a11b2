/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/output.h"

#include "stacks.h"
#include "unit.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct caption caption = { .title = "a title", .subtitle = "a subtitle" };
static const struct stack_line lines[] = { { "sh", "main", 3 } };

static void the_extension_chooses_the_format_or_else_the_word(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		const char *word;
		int format; /* or negative error */
	} cases[] = {
		{ "-", NULL, OUTPUT_FOLDED },
		{ "-", "svg", OUTPUT_SVG },
		{ "-", "pprof", OUTPUT_PPROF },
		{ "/dev/stdout", NULL, OUTPUT_FOLDED },
		{ "/dev/stdout", "svg", OUTPUT_SVG },
		{ "a.folded", NULL, OUTPUT_FOLDED },
		{ "a.txt", NULL, OUTPUT_FOLDED },
		{ "/tmp/a.b/c.pb.gz", NULL, OUTPUT_PPROF },
		{ "a.pprof", NULL, OUTPUT_PPROF },
		{ "a.svg", NULL, OUTPUT_SVG },
		{ "a.html", NULL, OUTPUT_HTML },
		{ "a.speedscope.json", NULL, OUTPUT_SPEEDSCOPE },
		{ "a.speedscope.json.gz", NULL, OUTPUT_SPEEDSCOPE },
		{ "a.firefox.json", NULL, OUTPUT_FIREFOX },
		{ "a.firefox.json.gz", NULL, OUTPUT_FIREFOX },
		{ "a.json", NULL, OUTPUT_JSON },
		{ "a.json.gz", NULL, OUTPUT_JSON },
		{ "speedscope.json", NULL, OUTPUT_JSON },
		{ "a.csv", NULL, OUTPUT_CSV },
		{ "a.view.json", NULL, OUTPUT_VIEW },
		{ "-", "view", OUTPUT_VIEW },
		{ "-", "speedscope", OUTPUT_SPEEDSCOPE },
		{ "-", "firefox", OUTPUT_FIREFOX },
		{ "-", "json", OUTPUT_JSON },
		{ "-", "csv", OUTPUT_CSV },
		{ "a", "html", OUTPUT_HTML },
		{ "a.svg", "folded", OUTPUT_SVG },
		{ ".svg", NULL, OUTPUT_SVG },
		{ "a", "folded", OUTPUT_FOLDED },
		{ "/dev/fd/3", "pprof", OUTPUT_PPROF },
		{ "", NULL, -EINVAL },
		{ "a", NULL, -EINVAL },
		{ "svg", NULL, -EINVAL },
		{ "a.SVG", NULL, -EINVAL },
		{ "a.gz", NULL, -EINVAL },
		{ "a.svg.bak", NULL, -EINVAL },
		{ "a.svg/b", NULL, -EINVAL },
		{ "--", NULL, -EINVAL },
		{ "/dev/stderr", NULL, -EINVAL },
		{ "-", "", -EINVAL },
		{ "-", "SVG", -EINVAL },
		{ "a", "htm", -EINVAL },
		{ "a.csv.gz", NULL, -EINVAL },
		{ "a.html.gz", NULL, -EINVAL },
		{ "view.json.a", NULL, -EINVAL },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		enum output_format format = OUTPUT_FOLDED;
		int r = output_format_of(cases[i].path, cases[i].word, &format);

		assert_int_equal(r < 0 ? r : (int)format, cases[i].format);
	}
}

static void files_named_by_default_tell_their_format(void **state)
{
	(void)state;
	for (unsigned int format = OUTPUT_FOLDED; format <= OUTPUT_CSV; format++) {
		enum output_format told = OUTPUT_FOLDED;

		assert_int_equal(output_format_of(output_extension_of((enum output_format)format),
						  NULL, &told),
				 0);
		assert_int_equal(told, format);
	}
}

/* A pipe's reading end in the place of standard output, and nothing. */
static void a_standard_output_that_is_closed_cannot_be_written(void **state)
{
	(void)state;
	int saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int ends[2];

	assert_true(saved >= 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	fflush(stdout);
	int good = output_check("-");
	dup2(ends[0], STDOUT_FILENO);
	int reading = output_check("/dev/stdout");
	close(STDOUT_FILENO);
	int closed = output_check("-");
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(good, 0);
	assert_int_equal(reading, -EBADF);
	assert_int_equal(closed, -EBADF);
}

static void the_list_of_extensions_is_the_one_in_force(void **state)
{
	(void)state;
	_cleanup_free_ char *list = strdup(output_extensions());
	enum output_format format;
	size_t nr = 0;

	assert_non_null(list);
	for (char *save, *word = strtok_r(list, ", ", &save); word;
	     word = strtok_r(NULL, ", ", &save)) {
		if (strcmp(word, "or") == 0)
			continue;
		assert_int_equal(output_format_of(word, NULL, &format), 0);
		nr++;
	}
	assert_int_equal(nr, 10);
}

static void every_format_begins_with_its_mark(void **state)
{
	(void)state;
	static const char *const marks[] = {
		[OUTPUT_FOLDED] = "sh;main 3\n",
		[OUTPUT_PPROF] = "\x1f\x8b",
		[OUTPUT_SVG] = "<?xml",
		[OUTPUT_HTML] = "<!DOCTYPE html>\n",
		[OUTPUT_SPEEDSCOPE] = "{\"$schema\":\"https://www.speedscope.app/",
		[OUTPUT_FIREFOX] = "{\"meta\":{\"preprocessedProfileVersion\":60,",
		[OUTPUT_JSON] = "{\"format\":\"flamelet-profile\",\"version\":1,",
		[OUTPUT_CSV] = "group,function,kind,",
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 1);
	const struct output_content source = output_content_of(profile);

	for (unsigned int format = 0; format < array_len(marks); format++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(1 << 20);

		assert_int_equal(output_encode(&source, (enum output_format)format, &caption, &out),
				 0);
		assert_true(out.len >= strlen(marks[format]));
		assert_memory_equal(out.data, marks[format], strlen(marks[format]));
	}
}

static void a_file_is_written_whole_or_not_at_all(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 1);
	const struct output_content source = output_content_of(profile);
	_cleanup_(strbuf_done) struct strbuf content = strbuf_with_max(1 << 20);
	char dir[] = "/tmp/test_output.XXXXXX";
	char path[64];

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.folded", dir);
	assert_int_equal(output_write(&source, path, OUTPUT_FOLDED, &caption), 0);
	assert_int_equal(file_read_at(AT_FDCWD, path, &content), 0);
	assert_string_equal(strbuf_str(&content), "sh;main 3\n");
	assert_int_equal(unlink(path), 0);

	snprintf(path, sizeof(path), "%s/none/a.svg", dir);
	assert_int_equal(output_write(&source, path, OUTPUT_SVG, &caption), -ENOENT);
	assert_int_equal(rmdir(dir), 0);
}

static void an_empty_profile_makes_an_empty_folded_file(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(NULL, 0);
	const struct output_content source = output_content_of(profile);
	char dir[] = "/tmp/test_output.XXXXXX";
	char path[64];
	struct stat st;

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.txt", dir);
	assert_int_equal(output_write(&source, path, OUTPUT_FOLDED, &caption), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_extension_chooses_the_format_or_else_the_word),
		cmocka_unit_test(files_named_by_default_tell_their_format),
		cmocka_unit_test(a_standard_output_that_is_closed_cannot_be_written),
		cmocka_unit_test(the_list_of_extensions_is_the_one_in_force),
		cmocka_unit_test(every_format_begins_with_its_mark),
		cmocka_unit_test(a_file_is_written_whole_or_not_at_all),
		cmocka_unit_test(an_empty_profile_makes_an_empty_folded_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
