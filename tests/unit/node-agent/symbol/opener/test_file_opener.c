/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of our own stands for /proc: PID/map_files, PID/root and PID/mountinfo are what a
 * test puts there. Real processes are in test_elf_cache.c. */
#include "symbol/opener/file_opener.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define PID 123

struct fake_proc {
	char path[64];
	int fd;
};

static int setup(void **state)
{
	struct fake_proc *proc = calloc(1, sizeof(*proc));

	snprintf(proc->path, sizeof(proc->path), "/dev/shm/test_file_opener.XXXXXX");
	assert_non_null(mkdtemp(proc->path));
	proc->fd = open(proc->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(proc->fd, "123", 0700), 0);
	assert_int_equal(mkdirat(proc->fd, "123/map_files", 0700), 0);
	assert_int_equal(mkdirat(proc->fd, "123/root", 0700), 0);
	*state = proc;
	return 0;
}

static int teardown(void **state)
{
	struct fake_proc *proc = *state;

	close(proc->fd);
	remove_tree(proc->path);
	free(proc);
	return 0;
}

static void write_file(const struct fake_proc *proc, const char *name, const char *text)
{
	_cleanup_close_ int fd = openat(proc->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
					0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

/* Makes "123/root/file" the mapped one. */
static struct mapped_file map_root_file(const struct fake_proc *proc)
{
	struct stat st;

	assert_int_equal(symlinkat("../root/file", proc->fd, "123/map_files/1000-2000"), 0);
	assert_int_equal(fstatat(proc->fd, "123/root/file", &st, 0), 0);
	return (struct mapped_file){
		.inode = st.st_ino,
		.dev_major = major(st.st_dev),
		.dev_minor = minor(st.st_dev),
		.path = (char *)(uintptr_t) "/file",
	};
}

static int pin(const struct fake_proc *proc, struct mapped_file *file,
	       struct pinned_file *ret_pinned)
{
	const struct mapping mapping = { .start = 0x1000, .end = 0x2000, .file = file };

	return file_opener_pin(proc->fd, PID, &mapping, ret_pinned);
}

static void claim_type(const struct fake_proc *proc, uint64_t mount_id, const char *device,
		       const char *type)
{
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(256);

	strbuf_appendf(&line, "%" PRIu64 " 1 %s / / rw - %s x rw\n", mount_id, device, type);
	write_file(proc, "123/mountinfo", strbuf_str(&line));
}

static void a_regular_file_is_pinned_and_opened(void **state)
{
	const struct fake_proc *proc = *state;
	struct pinned_file pinned;
	char content[4] = "";
	int fd = -EBADF;

	write_file(proc, "123/root/file", "ELF");
	struct mapped_file file = map_root_file(proc);
	assert_int_equal(pin(proc, &file, &pinned), 0);
	assert_int_equal(pinned.identity.size, 3);
	assert_int_equal(pinned.identity.inode, file.inode);
	if (!pinned.has_mount_id)
		skip(); /* needs Linux 5.8 */
	claim_type(proc, pinned.mount_id, "0:99999", "tmpfs");
	assert_int_equal(file_opener_open(proc->fd, PID, &pinned, &fd), 0);
	assert_int_equal(read(fd, content, 3), 3);
	assert_string_equal(content, "ELF");
	close(fd);
	file_opener_unpin(&pinned);
}

static void a_file_of_an_unknown_or_foreign_type_is_not_opened(void **state)
{
	static const char *const types[] = { "fuse", "fuse.sshfs", "nfs4", "9p", "never_heard_of" };
	const struct fake_proc *proc = *state;
	struct pinned_file pinned;
	int fd = -EBADF;

	write_file(proc, "123/root/file", "ELF");
	struct mapped_file file = map_root_file(proc);
	assert_int_equal(pin(proc, &file, &pinned), 0);
	if (pinned.identity.dev_major != 0)
		skip(); /* /dev/shm is on a block device */
	assert_int_equal(file_opener_open(proc->fd, PID, &pinned, &fd), -EOPNOTSUPP);
	for (size_t i = 0; i < array_len(types); i++) {
		claim_type(proc, pinned.mount_id, "0:99999", types[i]);
		assert_int_equal(file_opener_open(proc->fd, PID, &pinned, &fd), -EOPNOTSUPP);
	}
	assert_int_equal(fd, -EBADF);
	file_opener_unpin(&pinned);
}

static void a_mapping_on_a_foreign_device_is_not_even_looked_at(void **state)
{
	const struct fake_proc *proc = *state;
	struct pinned_file pinned;

	write_file(proc, "123/root/file", "ELF");
	struct mapped_file file = map_root_file(proc);
	file.dev_major = 0;
	file.dev_minor = 77;
	claim_type(proc, 1, "0:77", "nfs4");
	assert_int_equal(pin(proc, &file, &pinned), -EOPNOTSUPP);
	claim_type(proc, 1, "0:77", "overlay");
	assert_int_equal(pin(proc, &file, &pinned), 0);
	file_opener_unpin(&pinned);
}

static void the_mount_of_a_mapping_is_found_by_its_whole_device(void **state)
{
	static const struct {
		const char *mounts;
		int result;
	} cases[] = {
		{ "22 1 0:5 / / rw - tmpfs x rw\n23 22 0:77 / /a rw - nfs4 x rw\n", -EOPNOTSUPP },
		{ "22 1 0:5 / / rw - nfs4 x rw\n23 22 0:77 / /a rw - tmpfs x rw\n", 0 },
		{ "22 1 8:77 / / rw - ext4 x rw\n23 22 0:77 / /a rw - fuse x rw\n", -EOPNOTSUPP },
		{ "22 1 8:77 / / rw - nfs4 x rw\n23 22 0:77 / /a rw - xfs x rw\n", 0 },
		{ "77 1 0:5 / / rw - nfs4 x rw\n", 0 },
	};
	const struct fake_proc *proc = *state;

	write_file(proc, "123/root/file", "ELF");
	struct mapped_file file = map_root_file(proc);
	file.dev_major = 0;
	file.dev_minor = 77;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct pinned_file pinned = { .fd = -EBADF };

		write_file(proc, "123/mountinfo", cases[i].mounts);
		assert_int_equal(pin(proc, &file, &pinned), cases[i].result);
		if (cases[i].result == 0)
			file_opener_unpin(&pinned);
	}
}

static void fifos_and_directories_are_refused_without_waiting(void **state)
{
	const struct fake_proc *proc = *state;
	struct pinned_file pinned;

	assert_int_equal(mkfifoat(proc->fd, "123/root/file", 0600), 0);
	struct mapped_file file = map_root_file(proc);
	assert_int_equal(pin(proc, &file, &pinned), -EOPNOTSUPP);
	assert_int_equal(unlinkat(proc->fd, "123/map_files/1000-2000", 0), 0);
	assert_int_equal(pin(proc, &file, &pinned), -EOPNOTSUPP); /* by its path */

	assert_int_equal(unlinkat(proc->fd, "123/root/file", 0), 0);
	assert_int_equal(mkdirat(proc->fd, "123/root/file", 0700), 0);
	file = map_root_file(proc);
	assert_int_equal(pin(proc, &file, &pinned), -EOPNOTSUPP);
}

/* A name that is not there may have to be looked up on the disk, which is not done. */
static void assert_is_missing(int r)
{
	assert_true(r == -ESRCH || r == -EAGAIN);
}

static void without_map_files_the_path_serves_if_the_inode_agrees(void **state)
{
	const struct fake_proc *proc = *state;
	struct pinned_file pinned;

	write_file(proc, "123/root/file", "ELF");
	struct mapped_file file = map_root_file(proc);
	assert_int_equal(unlinkat(proc->fd, "123/map_files/1000-2000", 0), 0);
	assert_int_equal(pin(proc, &file, &pinned), 0);
	file_opener_unpin(&pinned);

	file.inode++;
	assert_int_equal(pin(proc, &file, &pinned), -ESRCH);
	file.path = (char *)(uintptr_t) "/no/such/file";
	assert_is_missing(pin(proc, &file, &pinned));
	file.path = (char *)(uintptr_t) "relative";
	assert_int_equal(pin(proc, &file, &pinned), -ESRCH);
}

static void another_file_that_is_mapped_there_by_now_is_not_taken(void **state)
{
	const struct fake_proc *proc = *state;
	struct pinned_file pinned;

	write_file(proc, "123/root/other", "other ELF");
	write_file(proc, "123/root/file", "ELF");
	struct mapped_file file = map_root_file(proc);
	assert_int_equal(unlinkat(proc->fd, "123/map_files/1000-2000", 0), 0);
	assert_int_equal(symlinkat("../root/other", proc->fd, "123/map_files/1000-2000"), 0);
	assert_int_equal(pin(proc, &file, &pinned), 0);
	assert_int_equal(pinned.identity.inode, file.inode);
	file_opener_unpin(&pinned);

	/* Where its own path leads to another one, too, it is gone. */
	assert_int_equal(unlinkat(proc->fd, "123/root/file", 0), 0);
	assert_is_missing(pin(proc, &file, &pinned));
	file.path = NULL;
	assert_int_equal(pin(proc, &file, &pinned), -ESRCH);
}

static void symbolic_links_stay_within_the_root(void **state)
{
	const struct fake_proc *proc = *state;
	struct pinned_file pinned;
	struct stat st;

	assert_int_equal(stat("/etc/passwd", &st), 0);
	assert_int_equal(symlinkat("/etc/passwd", proc->fd, "123/root/link"), 0);
	assert_int_equal(symlinkat("../../../../../../etc/passwd", proc->fd, "123/root/dots"), 0);
	struct mapped_file file = { .inode = st.st_ino, .path = (char *)(uintptr_t) "/link" };
	assert_is_missing(pin(proc, &file, &pinned));
	file.path = (char *)(uintptr_t) "/dots";
	assert_is_missing(pin(proc, &file, &pinned));
}

static void a_process_that_is_gone_is_not_found(void **state)
{
	const struct fake_proc *proc = *state;
	struct mapped_file file = { .inode = 1, .path = (char *)(uintptr_t) "/file" };
	const struct mapping mapping = { .start = 0x1000, .end = 0x2000, .file = &file };
	struct pinned_file pinned;

	assert_int_equal(file_opener_pin(proc->fd, 99, &mapping, &pinned), -ESRCH);
	file.inode = 0;
	assert_int_equal(file_opener_pin(proc->fd, 99, &mapping, &pinned), -EOPNOTSUPP);
}

/* A FUSE server that never answers: a plain open() of a path on it would wait until it is gone. */
static void a_silent_fuse_server_holds_nobody_up(void **state)
{
	const struct fake_proc *proc = *state;
	_cleanup_close_ int fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	struct mapped_file file = { .inode = 7, .path = (char *)(uintptr_t) "/mnt/lib.so" };
	struct pinned_file pinned;
	char options[96];
	char target[96];

	assert_int_equal(mkdirat(proc->fd, "123/root/mnt", 0700), 0);
	snprintf(target, sizeof(target), "%s/123/root/mnt", proc->path);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse_fd);
	if (fuse_fd < 0 || mount("silent", target, "fuse", 0, options) < 0)
		skip(); /* no FUSE here, or not root */
	alarm(10);
	int r = pin(proc, &file, &pinned);
	alarm(0);
	umount2(target, MNT_DETACH);
	assert_int_equal(r, -EAGAIN);
}

static void a_descriptor_is_looked_at_whatever_it_was_opened_for(void **state)
{
	const struct fake_proc *proc = *state;
	struct pinned_file pinned;
	struct stat st;

	write_file(proc, "123/root/file", "ELF");
	assert_int_equal(fstatat(proc->fd, "123/root/file", &st, 0), 0);
	_cleanup_close_ int path_fd = openat(proc->fd, "123/root/file", O_PATH | O_CLOEXEC);
	_cleanup_close_ int read_fd = openat(proc->fd, "123/root/file", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < 2; i++) {
		int fd = i ? read_fd : path_fd;

		assert_int_equal(file_opener_look_at(fd, &pinned), 0);
		assert_int_equal(pinned.fd, fd);
		assert_false(pinned.is_directory);
		assert_int_equal(pinned.identity.inode, st.st_ino);
		assert_int_equal(pinned.identity.size, 3);
		assert_int_equal(pinned.identity.dev_major, major(st.st_dev));
		assert_int_equal(pinned.identity.dev_minor, minor(st.st_dev));
		assert_int_equal(pinned.identity.mtime_ns,
				 st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec);
	}
	assert_int_equal(file_opener_look_at(proc->fd, &pinned), 0);
	assert_true(pinned.is_directory);
}

static void looking_refuses_what_is_neither_file_nor_directory(void **state)
{
	const struct fake_proc *proc = *state;
	struct pinned_file pinned = { .fd = -1 };

	assert_int_equal(mkfifoat(proc->fd, "123/root/fifo", 0600), 0);
	assert_int_equal(symlinkat("fifo", proc->fd, "123/root/link"), 0);
	_cleanup_close_ int fifo = openat(proc->fd, "123/root/fifo", O_PATH | O_CLOEXEC);
	_cleanup_close_ int link = openat(proc->fd, "123/root/link",
					  O_PATH | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_close_ int device = open("/dev/null", O_PATH | O_CLOEXEC);
	const int fds[] = { fifo, link, device, -EBADF };

	for (size_t i = 0; i < array_len(fds); i++)
		assert_int_equal(file_opener_look_at(fds[i], &pinned), -EOPNOTSUPP);
	assert_int_equal(pinned.fd, -1);
}

static void a_root_serves_when_its_process_is_gone(void **state)
{
	const struct fake_proc *proc = *state;
	struct pinned_file pinned;
	int fd = -EBADF;

	_cleanup_close_ int real_fd = openat(proc->fd, "123/root", O_PATH | O_CLOEXEC);
	assert_int_equal(file_opener_look_at(real_fd, &pinned), 0);
	if (!pinned.has_mount_id)
		skip(); /* needs Linux 5.8 */
	write_file(proc, "123/root/file", "ELF");
	claim_type(proc, pinned.mount_id, "0:99999", "overlay");
	assert_int_equal(file_opener_open_root(proc->fd, PID, &fd), 0);
	_cleanup_close_ int root_fd = fd;
	assert_int_equal(renameat(proc->fd, "123", proc->fd, "gone"), 0);
	assert_int_equal(faccessat(root_fd, "file", F_OK, 0), 0);
}

static void a_root_that_is_not_a_local_directory_is_refused(void **state)
{
	const struct fake_proc *proc = *state;
	struct pinned_file pinned;
	int fd = -EBADF;

	_cleanup_close_ int real_fd = openat(proc->fd, "123/root", O_PATH | O_CLOEXEC);
	assert_int_equal(file_opener_look_at(real_fd, &pinned), 0);
	if (pinned.identity.dev_major == 0) {
		claim_type(proc, pinned.mount_id, "0:99999", "fuse.sshfs");
		assert_int_equal(file_opener_open_root(proc->fd, PID, &fd), -EOPNOTSUPP);
	}
	assert_int_equal(file_opener_open_root(proc->fd, 99, &fd), -ESRCH);
	assert_int_equal(unlinkat(proc->fd, "123/root", AT_REMOVEDIR), 0);
	assert_int_equal(file_opener_open_root(proc->fd, PID, &fd), -ESRCH);
	write_file(proc, "123/root", "a file");
	assert_int_equal(file_opener_open_root(proc->fd, PID, &fd), -ESRCH);
	assert_int_equal(fd, -EBADF);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_regular_file_is_pinned_and_opened),
		TEST(a_file_of_an_unknown_or_foreign_type_is_not_opened),
		TEST(a_mapping_on_a_foreign_device_is_not_even_looked_at),
		TEST(the_mount_of_a_mapping_is_found_by_its_whole_device),
		TEST(fifos_and_directories_are_refused_without_waiting),
		TEST(without_map_files_the_path_serves_if_the_inode_agrees),
		TEST(another_file_that_is_mapped_there_by_now_is_not_taken),
		TEST(symbolic_links_stay_within_the_root),
		TEST(a_process_that_is_gone_is_not_found),
		TEST(a_silent_fuse_server_holds_nobody_up),
		TEST(a_descriptor_is_looked_at_whatever_it_was_opened_for),
		TEST(looking_refuses_what_is_neither_file_nor_directory),
		TEST(a_root_serves_when_its_process_is_gone),
		TEST(a_root_that_is_not_a_local_directory_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
