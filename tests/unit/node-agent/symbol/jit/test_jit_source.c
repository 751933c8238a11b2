/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_source.h"

#include "base/fileio.h"
#include "jit_fixture.h"
#include "symbol/jit/jit_cache.h"
#include "symbol/jit/jit_client.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct file {
	int fd; /* for writing */
	struct jit_source source;
	size_t max_functions_bytes;
	uint64_t nr_read; /* bytes, by the last request */
};

static void give(struct file *file, int fd, uint64_t inode)
{
	const struct file_identity identity = { .inode = inode };

	assert_true(fd >= 0);
	jit_source_set_file(&file->source, fd, &identity);
}

static int setup(void **state)
{
	struct file *file = calloc(1, sizeof(*file));

	file->fd = memfd_create("perf.map", MFD_CLOEXEC);
	assert_true(file->fd >= 0);
	file->max_functions_bytes = (size_t)16 << 20;
	jit_source_init(&file->source, JIT_SOURCE_MAP);
	give(file, fcntl(file->fd, F_DUPFD_CLOEXEC, 0), 1);
	*state = file;
	return 0;
}

static int teardown(void **state)
{
	struct file *file = *state;

	jit_source_done(&file->source);
	close(file->fd);
	free(file);
	return 0;
}

static void append(struct file *file, const char *text)
{
	assert_int_equal(fd_write_all(file->fd, text, strlen(text)), 0);
}

/* Rewrites the file as a program does that opens it with "w". */
static void rewrite(struct file *file, const char *text)
{
	assert_int_equal(ftruncate(file->fd, 0), 0);
	assert_int_equal(lseek(file->fd, 0, SEEK_SET), 0);
	append(file, text);
	/* The new time must differ, even within one tick of the file system's clock. */
	struct timespec times[2] = { { .tv_nsec = UTIME_NOW }, { 0 } };
	struct stat st;
	assert_int_equal(fstat(file->fd, &st), 0);
	times[1] = st.st_mtim;
	times[1].tv_sec++;
	assert_int_equal(futimens(file->fd, times), 0);
}

/* Requests up to `max_read` bytes and takes the answer. Returns false if there is nothing to
 * request. */
static bool read_some(struct file *file, uint64_t max_read)
{
	_cleanup_(strbuf_done) struct strbuf reply = strbuf_with_max(JIT_ANSWER_MAX_BYTES);
	struct jit_request request;

	if (!jit_source_ask(&file->source, max_read, &request))
		return false;
	assert_int_equal(jit_fixture_answer(&request, file->source.fd, &reply), 0);
	assert_int_equal(jit_source_take(&file->source, &request, reply.data, reply.len,
					 file->max_functions_bytes),
			 0);
	file->nr_read += file->source.nr_read;
	return true;
}

/* Reads until there is nothing left. */
static void read_file(struct file *file)
{
	file->nr_read = 0;
	while (read_some(file, JIT_REFRESH_FILE_BYTES) && file->source.has_more)
		;
}

static const char *name_at(const struct file *file, uint64_t address)
{
	struct jit_found found;

	return jit_source_find(&file->source, address, &found) ? found.name : "";
}

static void appended_lines_are_read_once(void **state)
{
	struct file *file = *state;

	read_file(file);
	assert_string_equal(name_at(file, 0x1000), "");
	append(file, "1000 10 one\n2000 10 t");
	read_file(file);
	assert_string_equal(name_at(file, 0x1000), "one");
	assert_string_equal(name_at(file, 0x2000), "");
	append(file, "wo\n");
	read_file(file);
	assert_string_equal(name_at(file, 0x2000), "two");
	assert_int_equal(file->nr_read, 12);
	read_file(file);
	assert_int_equal(file->nr_read, 0);
	assert_int_equal(file->source.nr_bad, 0);
}

static void a_rewritten_file_is_read_again(void **state)
{
	static const char *const versions[] = {
		"1000 10 shorter\n",
		"1000 10 as long\n", /* same length as the previous one */
		"1000 10 longer, so that reading could go on\n4000 10 other\n",
		"3000 10 longer, so that reading could go on\n4000 10 other\n4000 10 end\n",
		"",
		"1000 10 x\n",
	};
	struct file *file = *state;

	append(file, "1000 10 one\n2000 10 two\n");
	read_file(file);
	for (size_t i = 0; i < array_len(versions); i++) {
		rewrite(file, versions[i]);
		read_file(file);
		assert_string_equal(name_at(file, 0x2000), "");
	}
	assert_string_equal(name_at(file, 0x1000), "x");
	assert_string_equal(name_at(file, 0x3000), "");
}

static void only_another_file_is_read_from_its_start(void **state)
{
	struct file *file = *state;

	append(file, "1000 10 one\n");
	read_file(file);
	give(file, fcntl(file->fd, F_DUPFD_CLOEXEC, 0), 1);
	append(file, "2000 10 two\n");
	read_file(file);
	assert_int_equal(file->nr_read, 12);
	assert_string_equal(name_at(file, 0x1000), "one");

	int other = memfd_create("other", MFD_CLOEXEC);
	assert_int_equal(fd_write_all(other, "3000 10 three\n", 14), 0);
	give(file, other, 2);
	assert_string_equal(name_at(file, 0x1000), "one"); /* until the other file was read */
	read_file(file);
	assert_string_equal(name_at(file, 0x1000), "");
	assert_string_equal(name_at(file, 0x3000), "three");
}

static void put_many(struct file *file, int nr, const char *name)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max((size_t)64 << 20);

	for (int i = 0; i < nr; i++)
		strbuf_appendf(&text, "%x 10 %s %d\n", i * 16, name, i);
	rewrite(file, strbuf_str(&text));
}

static void old_functions_stay_while_a_large_file_is_read(void **state)
{
	struct file *file = *state;
	int nr_goes = 0;

	put_many(file, 100000, "old");
	read_file(file);
	assert_string_equal(name_at(file, 99999 * 16), "old 99999");
	put_many(file, 90000, "newer");
	do {
		assert_true(read_some(file, 500 * 1024));
		assert_string_not_equal(name_at(file, 89999 * 16), "");
		nr_goes++;
	} while (file->source.has_more);
	assert_in_range(nr_goes, 4, 6);
	assert_string_equal(name_at(file, 89999 * 16), "newer 89999");
	assert_string_equal(name_at(file, 99999 * 16), "");
}

static void a_limit_ends_the_reading_and_keeps_what_there_is(void **state)
{
	struct file *file = *state;

	put_many(file, 100000, "function");
	file->max_functions_bytes = (size_t)1 << 20;
	read_file(file);
	assert_int_equal(file->source.nr_dropped, 1);
	assert_string_equal(name_at(file, 16), "function 1");
	assert_string_equal(name_at(file, 99999 * 16), "");
	read_file(file);
	assert_int_equal(file->nr_read, 0);
}

static void a_file_that_is_too_large_is_left_alone(void **state)
{
	struct file *file = *state;

	append(file, "1000 10 one\n");
	read_file(file);
	append(file, "2000 10 two\n");
	assert_int_equal(ftruncate(file->fd, (off_t)JIT_MAX_FILE_BYTES + 1), 0);
	read_file(file);
	read_file(file);
	assert_int_equal(file->source.nr_too_large, 1);
	assert_string_equal(name_at(file, 0x1000), "one");
	assert_string_equal(name_at(file, 0x2000), "");
	assert_int_equal(ftruncate(file->fd, 24), 0);
	read_file(file);
	assert_string_equal(name_at(file, 0x2000), "two");
}

static void a_hole_of_zeros_is_one_bad_line(void **state)
{
	struct file *file = *state;

	append(file, "1000 10 one\n");
	assert_int_equal(ftruncate(file->fd, (off_t)4 << 20), 0);
	read_file(file);
	assert_string_equal(name_at(file, 0x1000), "one");
	assert_int_equal(file->source.nr_bad, 1);
	assert_false(file->source.has_more);
}

static void a_dropped_source_starts_at_the_beginning(void **state)
{
	struct file *file = *state;

	append(file, "1000 10 one\n");
	read_file(file);
	assert_true(jit_source_bytes(&file->source) > 0);
	assert_int_equal(jit_source_count(&file->source), 1);
	jit_source_drop(&file->source);
	assert_int_equal(jit_source_bytes(&file->source), 0);
	assert_string_equal(name_at(file, 0x1000), "");
	read_file(file);
	assert_string_equal(name_at(file, 0x1000), "one");
}

static void a_malformed_jitdump_is_not_read_further(void **state)
{
	struct file *file = *state;

	file->source.kind = JIT_SOURCE_DUMP;
	append(file, "this is a text and certainly not a jitdump, whose header it lacks\n");
	read_file(file);
	append(file, "more\n");
	read_file(file);
	assert_int_equal(file->source.nr_bad, 1);
	assert_int_equal(file->nr_read, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(appended_lines_are_read_once),
		TEST(a_rewritten_file_is_read_again),
		TEST(only_another_file_is_read_from_its_start),
		TEST(old_functions_stay_while_a_large_file_is_read),
		TEST(a_limit_ends_the_reading_and_keeps_what_there_is),
		TEST(a_file_that_is_too_large_is_left_alone),
		TEST(a_hole_of_zeros_is_one_bad_line),
		TEST(a_dropped_source_starts_at_the_beginning),
		TEST(a_malformed_jitdump_is_not_read_further),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
