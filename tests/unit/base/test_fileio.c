/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Each test runs in an empty directory of its own, as the current directory. */
static int enter_directory(void **state)
{
	char path[] = "/tmp/test_fileio.XXXXXX";

	if (!mkdtemp(path) || chdir(path) < 0)
		return -1;
	*state = strdup(path);
	return *state ? 0 : -1;
}

static unsigned int count_entries(void)
{
	_cleanup_closedir_ DIR *dir = opendir(".");
	unsigned int nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	return nr - 2; /* . and .. */
}

static void remove_entries(void)
{
	_cleanup_closedir_ DIR *dir = opendir(".");

	for (struct dirent *entry; dir && (entry = readdir(dir));)
		unlinkat(dirfd(dir), entry->d_name, entry->d_type == DT_DIR ? AT_REMOVEDIR : 0);
}

static int leave_directory(void **state)
{
	_cleanup_free_ char *path = *state;

	remove_entries();
	return chdir("/") < 0 || rmdir(path) < 0 ? -1 : 0;
}

static void assert_content(const char *path, const char *text)
{
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(1 << 20);

	assert_int_equal(file_read_at(AT_FDCWD, path, &buf), 0);
	assert_string_equal(strbuf_str(&buf), text);
}

static void what_was_written_is_read(void **state)
{
	(void)state;
	assert_int_equal(file_write_atomic("out", "hello", 5), 0);
	assert_content("out", "hello");
	assert_int_equal(file_write_atomic("out", "", 0), 0);
	assert_content("out", "");
	assert_int_equal(count_entries(), 1);
}

static void a_file_is_replaced_not_written_over(void **state)
{
	(void)state;
	assert_int_equal(file_write_atomic("out", "a long first version", 20), 0);
	_cleanup_close_ int old = open("out", O_RDONLY | O_CLOEXEC);
	assert_int_equal(file_write_atomic("out", "second", 6), 0);
	assert_content("out", "second");
	char text[32] = { 0 };
	assert_int_equal(read(old, text, sizeof(text)), 20);
	assert_string_equal(text, "a long first version");
}

static void files_of_proc_are_read_although_their_size_is_zero(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(1 << 20);
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(file_read_at(proc_fd, "self/status", &buf), 0);
	assert_non_null(strstr(strbuf_str(&buf), "test_fileio"));
}

static void reading_appends_up_to_the_limit(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(8);

	assert_int_equal(file_write_atomic("five", "12345", 5), 0);
	strbuf_append_str(&buf, "abc");
	assert_int_equal(file_read_at(AT_FDCWD, "five", &buf), 0);
	assert_string_equal(strbuf_str(&buf), "abc12345");
	assert_int_equal(file_read_at(AT_FDCWD, "five", &buf), -ENOSPC);
}

static void an_endless_file_stops_at_the_limit(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(100000);

	assert_int_equal(file_read_at(AT_FDCWD, "/dev/zero", &buf), -ENOSPC);
}

static void reading_says_why_it_failed(void **state)
{
	static const struct {
		const char *path;
		int result;
	} cases[] = {
		{ "absent", -ENOENT }, { "", -ENOENT },	       { ".", -EISDIR },
		{ "loop", -ELOOP },    { "file/x", -ENOTDIR }, { "/proc/self/mem", -EIO },
	};
	(void)state;

	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(file_write_atomic("file", "x", 1), 0);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(100);

		assert_int_equal(file_read_at(AT_FDCWD, cases[i].path, &buf), cases[i].result);
		assert_int_equal(buf.len, 0);
	}
}

static void a_full_device_is_reported(void **state)
{
	(void)state;
	_cleanup_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_int_equal(fd_write_all(fd, "x", 1), -ENOSPC);
	assert_int_equal(fd_write_within(fd, "x", 1, 100), -ENOSPC);
}

static void writing_says_why_it_failed_and_leaves_nothing(void **state)
{
	static const struct {
		const char *path;
		int result;
	} cases[] = {
		{ "absent/out", -ENOENT }, { "directory", -EISDIR }, { "file/out", -ENOTDIR },
		{ "/dev/null", -EEXIST },  { "/proc/out", -ENOENT }, { "/sys/kernel/out", -EPERM },
	};
	(void)state;

	assert_int_equal(mkdir("directory", 0755), 0);
	assert_int_equal(file_write_atomic("file", "x", 1), 0);
	for (size_t i = 0; i < array_len(cases); i++) {
		int r = file_write_atomic(cases[i].path, "x", 1);

		/* /sys answers differently where it is mounted read-only. */
		assert_true(r == cases[i].result || (r < 0 && cases[i].result == -EPERM));
		assert_int_equal(count_entries(), 2);
	}
}

static void a_name_too_long_for_its_temporary_neighbour_is_refused(void **state)
{
	char name[256];
	(void)state;

	memset(name, 'n', sizeof(name) - 1);
	name[255] = '\0';
	assert_int_equal(file_write_atomic(name, "x", 1), -ENAMETOOLONG);
	assert_int_equal(count_entries(), 0);
}

static void the_leftover_of_a_killed_process_is_no_obstacle(void **state)
{
	char name[64];
	(void)state;

	snprintf(name, sizeof(name), "out.tmp.%d", getpid());
	assert_int_equal(file_write_atomic(name, "half", 4), 0);
	assert_int_equal(file_write_atomic("out", "whole", 5), 0);
	assert_content("out", "whole");
	assert_int_equal(count_entries(), 1);
}

/* A symbolic link planted under the temporary name must not lead the write elsewhere. */
static void a_planted_link_is_not_followed(void **state)
{
	char name[64];
	(void)state;

	snprintf(name, sizeof(name), "out.tmp.%d", getpid());
	assert_int_equal(file_write_atomic("victim", "precious", 8), 0);
	assert_int_equal(symlink("victim", name), 0);
	assert_int_equal(file_write_atomic("out", "new", 3), 0);
	assert_content("victim", "precious");
	assert_content("out", "new");
}

/* A 64-KB file system of our own; skipped where mounting is not allowed. */
static void a_full_disk_leaves_the_old_file_and_nothing_half_written(void **state)
{
	static char big[1 << 20];
	(void)state;

	assert_int_equal(mkdir("small", 0755), 0);
	if (mount("none", "small", "tmpfs", 0, "size=64k") < 0) {
		skip(); /* not root */
		return;
	}
	assert_int_equal(chdir("small"), 0);
	assert_int_equal(file_write_atomic("out", "old", 3), 0);
	int r = file_write_atomic("out", big, sizeof(big));
	unsigned int nr = count_entries();
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(16);
	int read_result = file_read_at(AT_FDCWD, "out", &buf);
	assert_int_equal(chdir(".."), 0);
	assert_int_equal(umount2("small", MNT_DETACH), 0);

	assert_int_equal(r, -ENOSPC);
	assert_int_equal(nr, 1);
	assert_int_equal(read_result, 0);
	assert_string_equal(strbuf_str(&buf), "old");
}

/* Root may write everywhere, so a child without privileges tries. */
static void a_directory_without_write_permission_stays_empty(void **state)
{
	int status;
	(void)state;

	assert_int_equal(chmod(".", 0555), 0);
	pid_t child = fork();
	if (child == 0) {
		if (geteuid() == 0 && setuid(65534) < 0)
			_exit(1);
		_exit(file_write_atomic("out", "x", 1) == -EACCES ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(count_entries(), 0);
	assert_int_equal(chmod(".", 0755), 0);
}

static struct file_content content_of(const char *name, const char *temp_name)
{
	return (struct file_content){
		.name = name,
		.temp_name = temp_name,
		.mode = 0600,
		.parts = { { "head ", 5 }, { "body", 4 } },
	};
}

static void parts_come_one_behind_the_other(void **state)
{
	(void)state;
	const struct file_content content = content_of("out", "temp");
	struct stat st;

	assert_int_equal(file_write_atomic("out", "old", 3), 0);
	assert_int_equal(file_replace_at(AT_FDCWD, &content), 0);
	assert_content("out", "head body");
	assert_int_equal(stat("out", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(count_entries(), 1);
}

static void a_file_of_the_temporary_name_stays(void **state)
{
	(void)state;
	const struct file_content content = content_of("out", "temp");

	assert_int_equal(file_write_atomic("temp", "precious", 8), 0);
	assert_int_equal(file_replace_at(AT_FDCWD, &content), -EEXIST);
	assert_content("temp", "precious");
	assert_int_equal(count_entries(), 1);
}

static void what_cannot_be_renamed_is_removed(void **state)
{
	(void)state;
	const struct file_content content = content_of("dir", "temp");

	assert_int_equal(mkdir("dir", 0700), 0);
	assert_int_equal(file_replace_at(AT_FDCWD, &content), -EISDIR);
	assert_int_equal(count_entries(), 1);
	assert_int_equal(rmdir("dir"), 0);
}

#define in_directory(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_directory(what_was_written_is_read),
		in_directory(a_file_is_replaced_not_written_over),
		in_directory(files_of_proc_are_read_although_their_size_is_zero),
		in_directory(reading_appends_up_to_the_limit),
		in_directory(an_endless_file_stops_at_the_limit),
		in_directory(reading_says_why_it_failed),
		in_directory(a_full_device_is_reported),
		in_directory(writing_says_why_it_failed_and_leaves_nothing),
		in_directory(a_name_too_long_for_its_temporary_neighbour_is_refused),
		in_directory(the_leftover_of_a_killed_process_is_no_obstacle),
		in_directory(a_planted_link_is_not_followed),
		in_directory(a_full_disk_leaves_the_old_file_and_nothing_half_written),
		in_directory(a_directory_without_write_permission_stays_empty),
		in_directory(parts_come_one_behind_the_other),
		in_directory(a_file_of_the_temporary_name_stays),
		in_directory(what_cannot_be_renamed_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
