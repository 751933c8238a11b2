/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output_file.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>

#define OTHER_USER 12345
#define BIG_BYTES (1 << 20) /* more than a pipe holds */

static char big[BIG_BYTES];

/* Each test runs in an empty directory of its own, as the current directory. */
static int enter_directory(void **state)
{
	char path[] = "/dev/shm/test_output_file.XXXXXX";

	if (!mkdtemp(path) || chdir(path) < 0)
		return -1;
	*state = strdup(path);
	return *state ? 0 : -1;
}

static int leave_directory(void **state)
{
	_cleanup_free_ char *path = *state;

	remove_tree(path);
	return chdir("/");
}

static void give_away(const char *path)
{
	if (geteuid() != 0)
		skip();
	assert_int_equal(lchown(path, OTHER_USER, (gid_t)-1), 0);
}

/* Neither checked nor written, and told with these words. */
static void expect_refused(const char *path, int error, const char *const *words)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(8192);

	assert_int_equal(output_file_check(path), error);
	assert_int_equal(output_file_write(path, "x", 1), error);
	output_file_explain(path, error, &message);
	for (size_t i = 0; words[i]; i++)
		assert_non_null(strstr(strbuf_str(&message), words[i]));
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void assert_content(const char *path, const char *text)
{
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(4096);

	assert_int_equal(file_read_at(AT_FDCWD, path, &buf), 0);
	assert_string_equal(strbuf_str(&buf), text);
}

static void a_regular_file_is_replaced(void **state)
{
	struct stat st;
	(void)state;

	assert_int_equal(output_file_check("out"), 0);
	assert_int_equal(output_file_write("out", "first version", 13), 0);
	assert_int_equal(output_file_check("out"), 0);
	assert_int_equal(output_file_write("out", "second", 6), 0);
	assert_content("out", "second");
	assert_int_equal(symlink("out", "link"), 0);
	assert_int_equal(output_file_write("link", "third", 5), 0);
	assert_content("out", "second");
	assert_content("link", "third");
	assert_int_equal(lstat("link", &st), 0);
	assert_true(S_ISREG(st.st_mode));
}

static void devices_of_root_are_written(void **state)
{
	(void)state;

	assert_int_equal(output_file_check("/dev/null"), 0);
	assert_int_equal(output_file_write("/dev/null", big, sizeof(big)), 0);
	assert_int_equal(output_file_write("/dev/full", "x", 1), -ENOSPC);
	assert_int_equal(symlink("/dev/null", "link"), 0);
	assert_int_equal(symlink("link", "second"), 0);
	assert_int_equal(output_file_write("second", "x", 1), 0);
	assert_int_equal(access("/dev/null.tmp", F_OK), -1);
}

static void a_planted_link_is_not_followed(void **state)
{
	static const char *const targets[] = { "/dev/null", "victim", "absent", "." };
	(void)state;

	assert_int_equal(chmod(".", 01777), 0);
	assert_int_equal(file_write_atomic("victim", "precious", 8), 0);
	for (size_t i = 0; i < array_len(targets); i++) {
		assert_int_equal(symlink(targets[i], "out"), 0);
		give_away("out");
		expect_refused("out", -EPERM,
			       WORDS("out is a symbolic link that belongs to uid 12345, not to uid",
				     "write to another file"));
		assert_int_equal(unlink("out"), 0);
	}
	assert_content("victim", "precious");
}

static void a_planted_link_behind_one_of_ours_is_named(void **state)
{
	(void)state;

	assert_int_equal(symlink("/dev/null", "planted"), 0);
	give_away("planted");
	assert_int_equal(symlink("planted", "out"), 0);
	expect_refused("out", -EPERM,
		       WORDS("planted is a symbolic link that belongs to uid 12345"));
}

static void a_planted_fifo_is_refused_at_once(void **state)
{
	(void)state;

	assert_int_equal(chmod(".", 01777), 0);
	assert_int_equal(mkfifo("out", 0666), 0);
	assert_int_equal(chmod("out", 0666), 0);
	give_away("out");
	expect_refused("out", -EPERM, WORDS("out is a FIFO that belongs to uid 12345"));
}

static void a_planted_device_is_refused(void **state)
{
	(void)state;

	if (mknod("out", S_IFCHR | 0666, makedev(1, 3)) < 0)
		skip();
	assert_int_equal(output_file_check("out"), 0);
	give_away("out");
	expect_refused("out", -EPERM, WORDS("out is a device that belongs to uid 12345"));
}

static void what_is_no_file_is_refused(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)state;

	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	expect_refused("socket", -EPERM, WORDS("socket is a socket: remove it"));
	assert_int_equal(mkdir("directory", 0700), 0);
	expect_refused("directory", -EISDIR, WORDS("Is a directory"));
	expect_refused("absent/out", -ENOENT, WORDS("No such file"));
	assert_int_equal(symlink("loop", "loop"), 0);
	expect_refused("loop", -ELOOP, WORDS("Too many levels"));
	if (mknod("block", S_IFBLK | 0600, makedev(7, 200)) == 0)
		expect_refused("block", -EPERM, WORDS("block is a block device: remove it"));
}

static void a_fifo_without_a_reader_is_an_error_at_once(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	(void)state;

	assert_int_equal(mkfifo("out", 0600), 0);
	assert_int_equal(output_file_check("out"), 0);
	assert_int_equal(output_file_write("out", "x", 1), -ENXIO);
	output_file_explain("out", -ENXIO, &message);
	assert_non_null(strstr(strbuf_str(&message), "start the reader first"));
}

/* Exits with 0 if it had all. */
static pid_t start_reader(const char *path)
{
	pid_t child = fork();

	if (child != 0)
		return child;
	_cleanup_(strbuf_done) struct strbuf buf = strbuf_with_max(BIG_BYTES);
	_exit(file_read_at(AT_FDCWD, path, &buf) == 0 && buf.len == BIG_BYTES ? 0 : 1);
}

static void a_reader_of_a_fifo_has_it_all(void **state)
{
	int r = -ENXIO, status;
	(void)state;

	assert_int_equal(mkfifo("out", 0600), 0);
	pid_t reader = start_reader("out");
	for (int i = 0; i < 500 && r == -ENXIO; i++) {
		usleep(10000);
		r = output_file_write("out", big, sizeof(big));
	}
	assert_int_equal(r, 0);
	assert_int_equal(waitpid(reader, &status, 0), reader);
	assert_int_equal(status, 0);
}

static void a_reader_that_reads_nothing_is_given_up(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	(void)state;

	assert_int_equal(mkfifo("out", 0600), 0);
	_cleanup_close_ int reader = open("out", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	uint64_t begin_ns = clock_mono_ns();
	assert_int_equal(output_file_write("out", big, sizeof(big)), -ETIMEDOUT);
	assert_true(clock_mono_ns() - begin_ns < 2 * OUTPUT_FILE_IDLE_MS * UINT64_C(1000000));
	output_file_explain("out", -ETIMEDOUT, &message);
	assert_non_null(
		strstr(strbuf_str(&message), "the program that reads it has not read for 5 s"));
}

static void on_alarm(int signal_number)
{
	(void)signal_number;
}

static void a_signal_ends_the_wait(void **state)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct itimerval soon = { .it_value = { .tv_usec = 200000 } };
	(void)state;

	assert_int_equal(mkfifo("out", 0600), 0);
	_cleanup_close_ int reader = open("out", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_int_equal(output_file_write("out", big, sizeof(big)), -EINTR);
}

/* As a shell's >(command) and /dev/stdout are. */
static void open_files_are_ours_whatever_they_are(void **state)
{
	_cleanup_close_ int file = open("file", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char path[64], text[8] = "";
	int pipe_fds[2];
	(void)state;

	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", pipe_fds[1]);
	assert_int_equal(output_file_check(path), 0);
	assert_int_equal(output_file_write(path, "hello", 5), 0);
	assert_int_equal(read(pipe_fds[0], text, sizeof(text)), 5);
	assert_string_equal(text, "hello");
	assert_int_equal(fchown(pipe_fds[1], geteuid() == 0 ? OTHER_USER : geteuid(), (gid_t)-1),
			 0);
	assert_int_equal(output_file_write(path, "again", 5), 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);

	assert_int_equal(write(file, "before ", 7), 7);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	assert_int_equal(symlink(path, "link"), 0);
	assert_int_equal(output_file_write("link", "after", 5), 0);
	assert_content("file", "before after");
}

#define in_directory(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_directory(a_regular_file_is_replaced),
		in_directory(devices_of_root_are_written),
		in_directory(a_planted_link_is_not_followed),
		in_directory(a_planted_link_behind_one_of_ours_is_named),
		in_directory(a_planted_fifo_is_refused_at_once),
		in_directory(a_planted_device_is_refused),
		in_directory(what_is_no_file_is_refused),
		in_directory(a_fifo_without_a_reader_is_an_error_at_once),
		in_directory(a_reader_of_a_fifo_has_it_all),
		in_directory(a_reader_that_reads_nothing_is_given_up),
		in_directory(a_signal_ends_the_wait),
		in_directory(open_files_are_ours_whatever_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
