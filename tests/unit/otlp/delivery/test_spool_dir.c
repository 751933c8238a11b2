/* SPDX-License-Identifier: Apache-2.0 */
/* What a start finds in the directory of a spool, and what it makes of it. */
#include "base/fileio.h"
#include "otlp/delivery/spool_dir.h"
#include "spool_fixture.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define OTHER_USER 12345

static struct spool_stats stats_of(const struct spool_fixture *fixture)
{
	return spool_get_stats(fixture->spool);
}

/* Three requests of 1000 bytes, saved; the spool is closed. */
static void save_three(struct spool_fixture *fixture)
{
	spool_fixture_open(fixture);
	for (uint32_t number = 1; number <= 3; number++)
		spool_fixture_append(fixture, number, 1000);
	assert_int_equal(spool_save(fixture->spool), 0);
	spool_close(take_ptr(fixture->spool));
}

static int dir_fd_of(const struct spool_fixture *fixture)
{
	int fd = open(fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void put_file(const struct spool_fixture *fixture, const char *name, const char *text)
{
	_cleanup_close_ int dir_fd = dir_fd_of(fixture);
	_cleanup_close_ int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

static bool is_there(const struct spool_fixture *fixture, const char *name)
{
	_cleanup_close_ int dir_fd = dir_fd_of(fixture);

	return faccessat(dir_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void what_dead_writers_left_is_removed(void **state)
{
	struct spool_fixture *fixture = *state;

	save_three(fixture);
	put_file(fixture, "00000000000000000001.spool-temp", "half a request");
	put_file(fixture, "09000000000000000000.spool-temp", "");
	spool_fixture_open(fixture);
	assert_int_equal(spool_fixture_count(fixture, ""), 3);
	assert_int_equal(stats_of(fixture).nr_requests, 3);
	assert_int_equal(stats_of(fixture).nr_files_damaged, 0);
}

static void files_of_others_stay(void **state)
{
	static const char *const others[] = {
		"README",
		"lost+found",
		"1.spool",
		"..data.spool",
		"00000000000000000042.spool~",
		"18446744073709551615.spool",
	};
	struct spool_fixture *fixture = *state;

	save_three(fixture);
	for (size_t i = 0; i < array_len(others); i++)
		put_file(fixture, others[i], "not ours");
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_requests, 3);
	assert_int_equal(stats_of(fixture).nr_files_damaged, 0);
	for (size_t i = 0; i < array_len(others); i++)
		assert_true(is_there(fixture, others[i]));
}

/* With their names, which are in nobody's way. */
static void what_is_no_regular_file_stays(void **state)
{
	struct spool_fixture *fixture = *state;

	save_three(fixture);
	_cleanup_close_ int dir_fd = dir_fd_of(fixture);
	assert_int_equal(mkdirat(dir_fd, "09000000000000000000.spool", 0700), 0);
	assert_int_equal(mkdirat(dir_fd, "00000000000000000001.spool-temp", 0700), 0);
	assert_int_equal(mkfifoat(dir_fd, "00000000000000000002.spool", 0600), 0);
	assert_int_equal(symlinkat("/etc/passwd", dir_fd, "00000000000000000003.spool"), 0);
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_requests, 3);
	assert_int_equal(stats_of(fixture).nr_files_damaged, 0);
	spool_fixture_append(fixture, 4, 1000);
	assert_int_equal(spool_save(fixture->spool), 0);
	assert_int_equal(spool_fixture_count(fixture, ""), 3 + 4 + 1);
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_requests, 4);
}

/* Left from when they could write to the directory. */
static void requests_that_others_wrote_or_may_write_stay(void **state)
{
	struct spool_fixture *fixture = *state;
	char oldest[SPOOL_FIXTURE_PATH_BYTES], newest[SPOOL_FIXTURE_PATH_BYTES];

	if (geteuid() != 0)
		skip();
	save_three(fixture);
	spool_fixture_path(fixture, false, oldest);
	spool_fixture_path(fixture, true, newest);
	assert_int_equal(chown(oldest, OTHER_USER, (gid_t)-1), 0);
	assert_int_equal(chmod(newest, 0666), 0);
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_requests, 1);
	assert_int_equal(stats_of(fixture).nr_samples_restored, 2);
	assert_int_equal(stats_of(fixture).nr_files_damaged, 0);
	assert_int_equal(spool_fixture_count(fixture, ""), 3);
}

static void bodies_of_another_format_stay(void **state)
{
	struct spool_fixture *fixture = *state;

	save_three(fixture);
	fixture->opts.format++;
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_requests, 0);
	assert_int_equal(stats_of(fixture).nr_samples_restored, 0);
	spool_fixture_append(fixture, 4, 1000);
	assert_int_equal(spool_save(fixture->spool), 0);
	fixture->opts.format--;
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_requests, 3);
	spool_fixture_assert_first(fixture, 1, 1000);
}

/* The head still tells how many samples are lost. */
static void a_file_cut_off_is_counted_and_removed(void **state)
{
	struct spool_fixture *fixture = *state;
	char path[SPOOL_FIXTURE_PATH_BYTES];

	save_three(fixture);
	spool_fixture_path(fixture, true, path);
	assert_int_equal(truncate(path, 500), 0);
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_requests, 2);
	assert_int_equal(stats_of(fixture).nr_samples_restored, 6);
	assert_int_equal(stats_of(fixture).nr_samples_damaged, 3);
	assert_int_equal(stats_of(fixture).nr_files_damaged, 1);
	assert_int_equal(spool_fixture_count(fixture, ""), 2);
	spool_fixture_assert_first(fixture, 1, 1000);
}

static void a_file_without_a_sound_head_is_counted_and_removed(void **state)
{
	struct spool_fixture *fixture = *state;
	char path[SPOOL_FIXTURE_PATH_BYTES];

	save_three(fixture);
	spool_fixture_path(fixture, false, path);
	assert_int_equal(truncate(path, 50), 0);
	put_file(fixture, "00000000000000000001.spool", "");
	put_file(fixture, "00000000000000000002.spool",
		 "FLESPOOL and then nothing of the kind, "
		 "but long enough for a head, which it is not");
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_requests, 2);
	assert_int_equal(stats_of(fixture).nr_samples_restored, 5);
	assert_int_equal(stats_of(fixture).nr_samples_damaged, 0);
	assert_int_equal(stats_of(fixture).nr_files_damaged, 3);
	assert_int_equal(spool_fixture_count(fixture, ""), 2);
	spool_fixture_assert_first(fixture, 2, 1000);
}

/* Found when it is to be sent: the caller is told, drops it, and the others come. */
static void a_damaged_body_is_the_readers_to_drop(void **state)
{
	struct spool_fixture *fixture = *state;
	char path[SPOOL_FIXTURE_PATH_BYTES];
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(1 << 20);

	save_three(fixture);
	spool_fixture_path(fixture, false, path);
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "damage", 6, 500), 6);
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_requests, 3);
	assert_int_equal(spool_read(fixture->spool, &body), -EBADMSG);
	assert_int_equal(body.len, 0);
	spool_drop_damaged(fixture->spool);
	assert_int_equal(stats_of(fixture).nr_samples_damaged, 1);
	assert_int_equal(stats_of(fixture).nr_files_damaged, 1);
	assert_int_equal(spool_fixture_count(fixture, ""), 2);
	spool_fixture_assert_first(fixture, 2, 1000);
}

static void a_file_that_was_taken_away_is_the_readers_to_drop(void **state)
{
	struct spool_fixture *fixture = *state;
	char path[SPOOL_FIXTURE_PATH_BYTES];
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(1 << 20);

	save_three(fixture);
	spool_fixture_open(fixture);
	spool_fixture_path(fixture, false, path);
	assert_int_equal(unlink(path), 0);
	spool_rotate(fixture->spool);
	spool_fixture_assert_first(fixture, 2, 1000);
	spool_pop(fixture->spool);
	spool_pop(fixture->spool);
	assert_int_equal(spool_read(fixture->spool, &body), -ENOENT);
	spool_drop_damaged(fixture->spool);
	assert_int_equal(stats_of(fixture).nr_samples_damaged, 1);
	assert_int_equal(stats_of(fixture).nr_disk_bytes, 0);
}

static void a_directory_that_cannot_be_is_an_error(void **state)
{
	static const struct {
		const char *path;
		int error;
	} cases[] = {
		{ "", -ENOENT },
		{ "/nowhere/at/all", -ENOENT },
		{ "/dev/null", -ENOTDIR },
		{ "/dev/null/x", -ENOTDIR },
	};
	struct spool_fixture *fixture = *state;

	for (size_t i = 0; i < array_len(cases); i++) {
		fixture->opts.dir = cases[i].path;
		assert_int_equal(spool_open(&fixture->opts, &fixture->spool), cases[i].error);
		assert_null(fixture->spool);
	}
}

static void a_directory_that_others_may_change_is_refused(void **state)
{
	static const mode_t modes[] = { 0770, 0702, 01777 };
	struct spool_fixture *fixture = *state;

	assert_int_equal(mkdir(fixture->path, 0700), 0);
	for (size_t i = 0; i < array_len(modes); i++) {
		assert_int_equal(chmod(fixture->path, modes[i]), 0);
		assert_int_equal(spool_open(&fixture->opts, &fixture->spool), -EPERM);
	}
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(fixture->path, 0700), 0);
	assert_int_equal(chown(fixture->path, OTHER_USER, (gid_t)-1), 0);
	assert_int_equal(spool_open(&fixture->opts, &fixture->spool), -EPERM);
	assert_null(fixture->spool);
}

/* Whoever made it could lead it elsewhere. */
static void a_link_in_place_of_the_directory_is_refused(void **state)
{
	struct spool_fixture *fixture = *state;
	char path[SPOOL_FIXTURE_PATH_BYTES];

	save_three(fixture);
	snprintf(path, sizeof(path), "%s.link", fixture->path);
	assert_int_equal(symlink(fixture->path, path), 0);
	fixture->opts.dir = path;
	assert_int_equal(spool_open(&fixture->opts, &fixture->spool), -EPERM);
	assert_int_equal(unlink(path), 0);
	assert_null(fixture->spool);
}

static void requests_are_listed_by_their_numbers(void **state)
{
	struct spool_fixture *fixture = *state;
	_cleanup_(spool_dir_list_done) struct spool_dir_list list = { 0 };
	_cleanup_close_ int fd = -EBADF;
	char name[64];

	assert_int_equal(spool_dir_open(fixture->path, &fd), 0);
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%020u.spool", i * 37 % 100);
		put_file(fixture, name, "");
	}
	put_file(fixture, "00000000000000000500.spool-temp", "");
	assert_int_equal(spool_dir_list(fd, &list), 0);
	assert_int_equal(list.nr_seqs, 100);
	for (size_t i = 0; i < list.nr_seqs; i++)
		assert_int_equal(list.seqs[i], i);
	assert_int_equal(list.next_seq, 501);
}

#define test(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, spool_fixture_setup, spool_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(what_dead_writers_left_is_removed),
		test(files_of_others_stay),
		test(what_is_no_regular_file_stays),
		test(requests_that_others_wrote_or_may_write_stay),
		test(bodies_of_another_format_stay),
		test(a_file_cut_off_is_counted_and_removed),
		test(a_file_without_a_sound_head_is_counted_and_removed),
		test(a_damaged_body_is_the_readers_to_drop),
		test(a_file_that_was_taken_away_is_the_readers_to_drop),
		test(a_directory_that_cannot_be_is_an_error),
		test(a_directory_that_others_may_change_is_refused),
		test(a_link_in_place_of_the_directory_is_refused),
		test(requests_are_listed_by_their_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
