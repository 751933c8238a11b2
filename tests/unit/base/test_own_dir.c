/* SPDX-License-Identifier: Apache-2.0 */
#include "base/own_dir.h"

#include "base/cleanup.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define OTHER_USER 12345
#define MESSAGE_BYTES 8192

/* Each test runs in an empty directory of its own, as the current directory. */
static int enter_directory(void **state)
{
	char path[] = "/dev/shm/test_own_dir.XXXXXX";

	if (!mkdtemp(path) || chdir(path) < 0)
		return -1;
	*state = strdup(path);
	return *state ? 0 : -1;
}

static int leave_directory(void **state)
{
	_cleanup_free_ char *path = *state;

	umount2("volume", MNT_DETACH); /* of the tests that mount something there */
	remove_tree(path);
	return chdir("/");
}

static void make(const char *path, mode_t mode, uid_t uid)
{
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, mode), 0);
	if (uid == geteuid())
		return;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(path, uid, (gid_t)-1), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void link_to(const char *target, const char *path, uid_t uid)
{
	assert_int_equal(symlink(target, path), 0);
	if (uid == geteuid())
		return;
	if (geteuid() != 0)
		skip();
	assert_int_equal(lchown(path, uid, (gid_t)-1), 0);
}

static int open_result(const char *path, enum own_dir_use use, enum own_dir_make how)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_close_ int fd = -EBADF;
	int r = own_dir_open(path, use, how, &message, &fd);

	assert_int_equal(r == 0, fd >= 0);
	assert_int_equal(r == 0, message.len == 0);
	return r;
}

/* With a sentence that has these words. */
static void expect_refused(const char *path, enum own_dir_use use, int error,
			   const char *const *words)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_close_ int fd = -EBADF;

	assert_int_equal(own_dir_open(path, use, OWN_DIR_MAKE_NONE, &message, &fd), error);
	assert_int_equal(fd, -EBADF);
	for (size_t i = 0; words[i]; i++)
		assert_non_null(strstr(strbuf_str(&message), words[i]));
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void what_is_ours_alone_is_opened(void **state)
{
	static const mode_t modes[] = { 0700, 0755, 0711, 02750 };
	char name[8];
	(void)state;

	for (unsigned int i = 0; i < array_len(modes); i++) {
		snprintf(name, sizeof(name), "%u", i);
		make(name, modes[i], geteuid());
		for (int use = OWN_DIR_ON_WAY; use <= OWN_DIR_FOR_FILES; use++)
			assert_int_equal(open_result(name, use, OWN_DIR_MAKE_NONE), 0);
	}
}

static void what_is_missing_is_made_as_far_as_is_said(void **state)
{
	struct stat st;
	(void)state;

	assert_int_equal(open_result("a", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_NONE), -ENOENT);
	assert_int_equal(open_result("a/b", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_LAST), -ENOENT);
	assert_int_equal(access("a", F_OK), -1);
	assert_int_equal(open_result("a", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_LAST), 0);
	assert_int_equal(stat("a", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(open_result("b/./c//d/", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_ALL), 0);
	assert_int_equal(stat("b/c", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(stat("b/c/d", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(open_result("b/c/d", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_ALL), 0);
}

static void a_directory_of_another_user_is_refused(void **state)
{
	(void)state;

	make("q", 0700, OTHER_USER);
	for (int use = OWN_DIR_ON_WAY; use <= OWN_DIR_FOR_FILES; use++)
		expect_refused("q", use, -EPERM, WORDS("/q belongs to uid 12345", "use a "));
	assert_int_equal(chmod("q", 0755), 0);
	expect_refused("q/.", OWN_DIR_FOR_FILES, -EPERM, WORDS("mode 0700"));
}

static void what_others_may_write_is_refused(void **state)
{
	static const mode_t modes[] = { 0720, 0702, 0777, 02770, 01777 };
	char name[8];
	(void)state;

	for (unsigned int i = 0; i < array_len(modes); i++) {
		snprintf(name, sizeof(name), "%u", i);
		make(name, modes[i], geteuid());
		expect_refused(name, OWN_DIR_FOR_FILES, -EPERM,
			       WORDS("other users may write to /dev/shm/", "chmod go-w"));
		expect_refused(name, OWN_DIR_FOR_DIRECTORIES, -EPERM, WORDS("mode 0700"));
	}
}

static void a_directory_of_ours_that_we_cannot_use_is_refused(void **state)
{
	(void)state;

	make("q", 0500, geteuid());
	expect_refused("q", OWN_DIR_FOR_FILES, -EACCES, WORDS("mode 0500", "chmod u+rwx"));
}

static void what_lies_in_anothers_directory_is_refused(void **state)
{
	(void)state;

	make("other", 0755, geteuid());
	make("other/q", 0700, geteuid());
	assert_int_equal(chown("other", OTHER_USER, (gid_t)-1), 0);
	expect_refused("other/q", OWN_DIR_FOR_FILES, -EPERM,
		       WORDS("/other belongs to uid 12345", "replace"));
}

static void on_the_way_only_sticky_directories_may_be_written_by_others(void **state)
{
	(void)state;

	make("open", 0777, geteuid());
	make("open/q", 0700, geteuid());
	expect_refused("open/q", OWN_DIR_FOR_FILES, -EPERM, WORDS("/open (mode 0777)"));
	assert_int_equal(chmod("open", 01777), 0);
	assert_int_equal(open_result("open/q", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_NONE), 0);
	assert_int_equal(open_result("open", OWN_DIR_ON_WAY, OWN_DIR_MAKE_NONE), 0);
}

/* As Kubernetes makes emptyDirs; what another container of the pod puts there is not ours. */
static void a_volume_may_be_open_but_not_our_directory_in_it(void **state)
{
	(void)state;

	make("volume", 0755, geteuid());
	if (mount("none", "volume", "tmpfs", MS_NODEV, "size=64k,mode=777") < 0)
		skip();
	assert_int_equal(open_result("volume", OWN_DIR_FOR_DIRECTORIES, OWN_DIR_MAKE_NONE), 0);
	assert_int_equal(open_result("volume", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_NONE), -EPERM);
	assert_int_equal(open_result("volume/q", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_LAST), 0);
	make("volume/planted", 0700, OTHER_USER);
	expect_refused("volume/planted", OWN_DIR_FOR_FILES, -EPERM, WORDS("uid 12345"));
	make("volume/deeper", 0777, geteuid());
	expect_refused("volume/deeper", OWN_DIR_FOR_DIRECTORIES, -EPERM, WORDS("mode 0777"));
	assert_int_equal(chown("volume", OTHER_USER, (gid_t)-1), 0);
	expect_refused("volume/q", OWN_DIR_FOR_FILES, -EPERM, WORDS("/volume belongs to uid"));
}

/* Of the same file system, as a directory of the host is in a container. */
static void a_directory_that_is_mounted_is_a_volume(void **state)
{
	struct statx more;
	(void)state;

	make("volume", 0777, geteuid());
	expect_refused("volume", OWN_DIR_FOR_DIRECTORIES, -EPERM, WORDS("mode 0777"));
	if (mount("volume", "volume", NULL, MS_BIND, NULL) < 0)
		skip();
	if (statx(AT_FDCWD, "volume", 0, 0, &more) < 0 ||
	    !(more.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
		skip(); /* Linux before 5.8 */
	assert_int_equal(open_result("volume", OWN_DIR_FOR_DIRECTORIES, OWN_DIR_MAKE_NONE), 0);
	assert_int_equal(open_result("volume/q", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_LAST), 0);
	make("volume/deeper", 0777, geteuid());
	expect_refused("volume/deeper", OWN_DIR_FOR_DIRECTORIES, -EPERM, WORDS("mode 0777"));
}

static void the_way_back_is_no_volume(void **state)
{
	(void)state;

	make("open", 0777, geteuid());
	make("open/volume", 0755, geteuid());
	if (mount("none", "open/volume", "tmpfs", MS_NODEV, "size=64k,mode=755") < 0)
		skip();
	assert_int_equal(chmod("open", 0755), 0);
	int fd = open("open/volume", O_PATH | O_CLOEXEC);
	assert_int_equal(fchdir(fd), 0);
	close(fd);
	assert_int_equal(open_result("..", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_NONE), 0);
	assert_int_equal(chmod("..", 0777), 0);
	assert_int_equal(open_result("..", OWN_DIR_ON_WAY, OWN_DIR_MAKE_NONE), -EPERM);
	assert_int_equal(chdir("../.."), 0);
	assert_int_equal(umount2("open/volume", MNT_DETACH), 0);
}

static void a_link_in_place_of_the_directory_is_refused(void **state)
{
	(void)state;

	make("q", 0700, geteuid());
	link_to("q", "link", geteuid());
	expect_refused("link", OWN_DIR_FOR_FILES, -EPERM, WORDS("/link is a symbolic link"));
	expect_refused("link/", OWN_DIR_FOR_FILES, -EPERM, WORDS("/link is a symbolic link"));
	expect_refused("link/.", OWN_DIR_FOR_DIRECTORIES, -EPERM,
		       WORDS("/link is a symbolic link"));
	link_to("nowhere", "dangling", geteuid());
	assert_int_equal(open_result("dangling", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_ALL), -EPERM);
}

static void links_on_the_way_must_be_ours(void **state)
{
	_cleanup_free_ char *absolute = NULL;
	(void)state;

	make("a", 0755, geteuid());
	make("a/q", 0700, geteuid());
	link_to("a", "near", geteuid());
	absolute = realpath("a", NULL);
	link_to(absolute, "far", geteuid());
	link_to("../far/../near", "a/turns", geteuid());
	assert_int_equal(open_result("near/q", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_NONE), 0);
	assert_int_equal(open_result("far/q", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_NONE), 0);
	assert_int_equal(open_result("a/turns/q", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_NONE), 0);
	assert_int_equal(open_result("near/new", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_LAST), 0);
	link_to("a", "planted", OTHER_USER);
	expect_refused("planted/q", OWN_DIR_FOR_FILES, -EPERM,
		       WORDS("/planted is a symbolic link that belongs to uid 12345"));
}

static void a_link_to_an_open_place_makes_it_no_better(void **state)
{
	(void)state;

	make("open", 0777, geteuid());
	make("open/q", 0700, geteuid());
	link_to("open", "link", geteuid());
	expect_refused("link/q", OWN_DIR_FOR_FILES, -EPERM, WORDS("/open (mode 0777)"));
}

static void links_without_end_are_an_error(void **state)
{
	(void)state;

	link_to("loop/x", "loop", geteuid());
	assert_int_equal(open_result("loop/q", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_NONE), -ELOOP);
}

static void what_is_no_directory_is_named(void **state)
{
	char name[300];
	(void)state;

	close(open("file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	expect_refused("file", OWN_DIR_FOR_FILES, -ENOTDIR, WORDS("/file: Not a directory"));
	expect_refused("file/q", OWN_DIR_FOR_FILES, -ENOTDIR, WORDS("/file: Not a directory"));
	expect_refused("no/such", OWN_DIR_FOR_FILES, -ENOENT, WORDS("/no: No such file"));
	expect_refused("", OWN_DIR_FOR_FILES, -ENOENT, WORDS("No such file"));
	assert_int_equal(mkfifo("fifo", 0600), 0);
	expect_refused("fifo", OWN_DIR_FOR_FILES, -ENOTDIR, WORDS("/fifo: Not a directory"));
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	expect_refused(name, OWN_DIR_FOR_FILES, -ENAMETOOLONG, WORDS("too long"));
}

/* What was opened stays what was checked, whoever renames what. */
static void a_directory_replaced_afterwards_is_not_the_one_in_use(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_close_ int fd = -EBADF;
	struct stat before, after;
	(void)state;

	make("q", 0700, geteuid());
	assert_int_equal(stat("q", &before), 0);
	assert_int_equal(own_dir_open("q", OWN_DIR_FOR_FILES, OWN_DIR_MAKE_NONE, &message, &fd), 0);
	assert_int_equal(rename("q", "old"), 0);
	make("q", 0777, geteuid());
	assert_int_equal(fstat(fd, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(after.st_mode & 07777, 0700);
}

static void looking_makes_nothing(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_close_ int fd = -EBADF, whole_fd = -EBADF;
	struct stat here, found;
	(void)state;

	assert_int_equal(own_dir_look("a/b/c", OWN_DIR_FOR_FILES, &message, &fd), 0);
	assert_int_equal(stat(".", &here), 0);
	assert_int_equal(fstat(fd, &found), 0);
	assert_int_equal(here.st_ino, found.st_ino);
	assert_int_equal(access("a", F_OK), -1);
	make("q", 0700, geteuid());
	assert_int_equal(own_dir_look("q", OWN_DIR_FOR_FILES, &message, &whole_fd), 1);
	assert_int_equal(message.len, 0);
}

static void a_socket_must_lie_where_nobody_replaces_it(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	(void)state;

	make("open", 0777, geteuid());
	assert_int_equal(own_dir_check_parent("open/socket", &message), -EPERM);
	assert_non_null(strstr(strbuf_str(&message), "/open (mode 0777)"));
	strbuf_clear(&message);
	assert_int_equal(chmod("open", 01777), 0);
	assert_int_equal(own_dir_check_parent("open/socket", &message), 0);
	assert_int_equal(own_dir_check_parent("socket", &message), 0);
	assert_int_equal(own_dir_check_parent("/socket", &message), 0);
	link_to("open", "link", geteuid());
	assert_int_equal(own_dir_check_parent("link/socket", &message), 0);
	assert_int_equal(own_dir_check_parent("no/such/socket", &message), 0);
	assert_int_equal(message.len, 0);
}

#define in_directory(test) cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_directory(what_is_ours_alone_is_opened),
		in_directory(what_is_missing_is_made_as_far_as_is_said),
		in_directory(a_directory_of_another_user_is_refused),
		in_directory(what_others_may_write_is_refused),
		in_directory(a_directory_of_ours_that_we_cannot_use_is_refused),
		in_directory(what_lies_in_anothers_directory_is_refused),
		in_directory(on_the_way_only_sticky_directories_may_be_written_by_others),
		in_directory(a_volume_may_be_open_but_not_our_directory_in_it),
		in_directory(a_directory_that_is_mounted_is_a_volume),
		in_directory(the_way_back_is_no_volume),
		in_directory(a_link_in_place_of_the_directory_is_refused),
		in_directory(links_on_the_way_must_be_ours),
		in_directory(a_link_to_an_open_place_makes_it_no_better),
		in_directory(links_without_end_are_an_error),
		in_directory(what_is_no_directory_is_named),
		in_directory(a_directory_replaced_afterwards_is_not_the_one_in_use),
		in_directory(looking_makes_nothing),
		in_directory(a_socket_must_lie_where_nobody_replaces_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
