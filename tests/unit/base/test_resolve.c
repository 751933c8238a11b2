/* SPDX-License-Identifier: Apache-2.0 */
/* All cases run twice: with openat2(2), and in the same process behind a filter that refuses it. */
#include "base/resolve.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "remove_tree.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "unit.h"

#define CONTENT "found"
#define IN_ROOT (RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS)
#define DEEP 70

static char root_dir[] = "/tmp/flamelet-test-XXXXXX";
static int root_fd;

static const struct {
	const char *link, *target;
} links[] = {
	{ "a/link", "b/file" },
	{ "a/abs", "/a/b/file" },
	{ "a/up", "../a/b/file" },
	{ "a/out", "../../../etc/passwd" },
	{ "a/over", "../../../a/b/file" },
	{ "a/dir", "b" },
	{ "a/slash", "b/" },
	{ "a/here", "." },
	{ "a/twice", "dir/../link" },
	{ "loop", "loop" },
	{ "a/ping", "pong" },
	{ "a/pong", "ping" },
	{ "dangling", "absent" },
	{ "root", "/" },
};

static int make_tree(void **state)
{
	(void)state;
	if (!mkdtemp(root_dir))
		return -1;
	root_fd = open(root_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0 || mkdirat(root_fd, "a", 0700) < 0 || mkdirat(root_fd, "a/b", 0700) < 0)
		return -1;
	for (size_t i = 0; i < array_len(links); i++) {
		if (symlinkat(links[i].target, root_fd, links[i].link) < 0)
			return -1;
	}
	_cleanup_close_ int fd = openat(root_fd, "a/b/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? -1 : fd_write_all(fd, CONTENT, strlen(CONTENT));
}

static int remove_root(void **state)
{
	(void)state;
	close(root_fd);
	remove_tree(root_dir);
	return 0;
}

static void expect_file(int fd)
{
	char text[sizeof(CONTENT)] = "";

	assert_true(fd >= 0);
	assert_int_equal(read(fd, text, sizeof(text)), strlen(CONTENT));
	assert_string_equal(text, CONTENT);
}

static void a_path_leads_to_the_file_or_nowhere(void **state)
{
	static const struct {
		const char *path;
		uint64_t resolve;
		int error; /* 0: the file is opened */
	} cases[] = {
		{ "a/b/file", IN_ROOT, 0 },
		{ "/a/b/file", IN_ROOT, 0 },
		{ "//a/./b//file", IN_ROOT, 0 },
		{ "../../a/b/file", IN_ROOT, 0 },
		{ "a/../a/b/file", IN_ROOT, 0 },
		{ "a/link", IN_ROOT, 0 },
		{ "a/abs", IN_ROOT, 0 },
		{ "a/up", IN_ROOT, 0 },
		{ "a/over", IN_ROOT, 0 },
		{ "a/dir/file", IN_ROOT, 0 },
		{ "a/slash/file", IN_ROOT, 0 },
		{ "a/here/here/link", IN_ROOT, 0 },
		{ "a/twice", IN_ROOT, 0 },
		{ "root/a/link", IN_ROOT, 0 },
		{ "a/b/file", IN_ROOT | RESOLVE_NO_XDEV, 0 },
		{ "a/out", IN_ROOT, ENOENT },
		{ "dangling", IN_ROOT, ENOENT },
		{ "", IN_ROOT, ENOENT },
		{ "a/b/file/more", IN_ROOT, ENOTDIR },
		{ "loop", IN_ROOT, ELOOP },
		{ "a/ping", IN_ROOT, ELOOP },
		{ "a/b/file", RESOLVE_BENEATH, 0 },
		{ "a/link", RESOLVE_BENEATH, 0 },
		{ "a/up", RESOLVE_BENEATH, 0 },
		{ "a/b/../b/file", RESOLVE_BENEATH, 0 },
		{ "a/abs", RESOLVE_BENEATH, EXDEV },
		{ "a/out", RESOLVE_BENEATH, EXDEV },
		{ "root", RESOLVE_BENEATH, EXDEV },
		{ "/a/b/file", RESOLVE_BENEATH, EXDEV },
		{ "..", RESOLVE_BENEATH, EXDEV },
		{ "a/b/file", RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, 0 },
		{ "a/link", RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, ELOOP },
		{ "a/dir/file", RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, ELOOP },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_close_ int fd = resolve_open(root_fd, cases[i].path, O_RDONLY,
						      cases[i].resolve);

		if (cases[i].error == 0)
			expect_file(fd);
		else
			assert_int_equal(fd, -cases[i].error);
	}
}

static void mounts_are_crossed_only_where_that_is_allowed(void **state)
{
	_cleanup_close_ int top_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int fd = resolve_open(top_fd, "proc/self/status", O_PATH, IN_ROOT);
	uint64_t top_id, proc_id;
	(void)state;

	assert_true(fd >= 0);
	assert_int_equal(resolve_open(top_fd, "proc/uptime", O_PATH, IN_ROOT | RESOLVE_NO_XDEV),
			 -EXDEV);
	assert_int_equal(resolve_mount_id(top_fd, &top_id), 0);
	assert_int_equal(resolve_mount_id(fd, &proc_id), 0);
	assert_int_not_equal(top_id, proc_id);
	assert_true(resolve_mount_id(-1, &top_id) < 0);
}

static void flags_are_kept(void **state)
{
	_cleanup_close_ int path_fd = resolve_open(root_fd, "a/link", O_PATH, IN_ROOT);
	_cleanup_close_ int dir_fd = resolve_open(root_fd, "a/dir", O_PATH | O_DIRECTORY, IN_ROOT);
	_cleanup_close_ int top_fd = resolve_open(root_fd, "..", O_PATH, IN_ROOT);
	struct stat top, root;
	(void)state;

	assert_int_equal(fcntl(path_fd, F_GETFL) & (O_PATH | O_DIRECTORY), O_PATH);
	assert_int_equal(fcntl(path_fd, F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(dir_fd, F_GETFL) & O_DIRECTORY);
	assert_int_equal(fcntl(dir_fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(resolve_open(root_fd, "a/link", O_PATH | O_DIRECTORY, IN_ROOT), -ENOTDIR);
	assert_int_equal(fstat(top_fd, &top), 0);
	assert_int_equal(fstat(root_fd, &root), 0);
	assert_int_equal(top.st_ino, root.st_ino);
	assert_int_not_equal(top_fd, root_fd);
}

/* What is too long for the kernel or too deep for the walk opens nothing, and leaves nothing
 * open. */
static void paths_have_an_end(void **state)
{
	char path[2 * PATH_MAX + 1];
	int before = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	(void)state;

	close(before);
	memset(path, 'x', sizeof(path));
	path[2 * PATH_MAX] = '\0';
	assert_int_equal(resolve_open(root_fd, path, O_PATH, IN_ROOT), -ENAMETOOLONG);
	path[NAME_MAX + 1] = '\0';
	assert_int_equal(resolve_open(root_fd, path, O_PATH, IN_ROOT), -ENAMETOOLONG);
	path[0] = '\0';
	for (size_t i = 0; i < DEEP; i++)
		memcpy(path + 5 * i, "here/", 6);
	_cleanup_close_ int a_fd = openat(root_fd, "a", O_PATH | O_CLOEXEC);
	assert_int_equal(resolve_open(a_fd, path, O_PATH, IN_ROOT), -ELOOP);
	int after = fcntl(root_fd, F_DUPFD_CLOEXEC, 0);
	close(after);
	assert_in_range(after - before, 0, 1); /* a_fd */
}

static int refuse_openat2(void **state)
{
	struct sock_filter statements[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { array_len(statements), statements };
	(void)state;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return -1;
	memset(root_dir + strlen(root_dir) - 6, 'X', 6);
	return make_tree(state);
}

static void nothing_is_quick_without_openat2(void **state)
{
	(void)state;
	assert_int_equal(resolve_open(root_fd, "a", O_PATH, IN_ROOT | RESOLVE_CACHED), -EOPNOTSUPP);
}

static void an_error_has_one_meaning(void **state)
{
	static const struct {
		int error, meaning;
	} cases[] = {
		{ ENOENT, -ENOENT },	{ ENOTDIR, -ENOENT },	{ ESRCH, -ESRCH },
		{ EACCES, -EPERM },	{ EPERM, -EPERM },	{ EMFILE, -ENOSPC },
		{ ENFILE, -ENOSPC },	{ ENOMEM, -ENOSPC },	{ EAGAIN, -EAGAIN },
		{ ELOOP, -EOPNOTSUPP }, { EXDEV, -EOPNOTSUPP },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(resolve_error(cases[i].error), cases[i].meaning);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_has_one_meaning),
		cmocka_unit_test(a_path_leads_to_the_file_or_nowhere),
		cmocka_unit_test(mounts_are_crossed_only_where_that_is_allowed),
		cmocka_unit_test(flags_are_kept),
		cmocka_unit_test(paths_have_an_end),
	};
	const struct CMUnitTest tests_without[] = {
		cmocka_unit_test(a_path_leads_to_the_file_or_nowhere),
		cmocka_unit_test(mounts_are_crossed_only_where_that_is_allowed),
		cmocka_unit_test(flags_are_kept),
		cmocka_unit_test(paths_have_an_end),
		cmocka_unit_test(nothing_is_quick_without_openat2),
	};

	int nr_failed = cmocka_run_group_tests(tests, make_tree, remove_root);
	return nr_failed + cmocka_run_group_tests(tests_without, refuse_openat2, remove_root);
}
