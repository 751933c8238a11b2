/* SPDX-License-Identifier: Apache-2.0 */
/* A directory made by the test stands for /proc, as in test_file_opener.c. */
#include "symbol/jit/jit_files.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "proc_fixture.h"
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define PID 123

static const struct jit_owner owner = { .own_pid = 7, .euid = 0 };

static void write_file(const struct proc_fixture *proc, const char *name, const char *text)
{
	_cleanup_close_ int fd = openat(proc->proc_fd, name,
					O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

static int setup(void **state)
{
	struct proc_fixture *proc = calloc(1, sizeof(*proc));

	proc_fixture_init(proc, 8);
	proc_fixture_put(proc, PID, 0, "");
	assert_int_equal(mkdirat(proc->proc_fd, "123/root", 0700), 0);
	assert_int_equal(mkdirat(proc->proc_fd, "123/root/tmp", 0700), 0);
	assert_int_equal(mkdirat(proc->proc_fd, "123/map_files", 0700), 0);
	assert_int_equal(symlinkat("/proc/self/mountinfo", proc->proc_fd, "123/mountinfo"), 0);
	*state = proc;
	return 0;
}

static int teardown(void **state)
{
	proc_fixture_done(*state);
	free(*state);
	return 0;
}

static int pin_map(const struct proc_fixture *proc)
{
	struct pinned_file pinned;

	int r = jit_files_pin_map(proc->proc_fd, PID, &owner, &pinned);
	if (r == 0)
		file_opener_unpin(&pinned);
	return r;
}

static int read_owner(const struct proc_fixture *proc, const char *status,
		      struct jit_owner *ret_owner)
{
	write_file(proc, "123/status", status);
	return jit_files_read_owner(proc->proc_fd, PID, ret_owner);
}

static void pid_and_user_are_read_from_the_status(void **state)
{
	static const struct {
		const char *status;
		struct jit_owner owner;
	} rows[] = {
		{ "Name:\tx\nUid:\t1\t1000\t3\t4\nNSpid:\t500\t60\t7\n", { 7, 1000 } },
		{ "NSpid:\t500\nUid:\t0\t0\t0\t0\n", { 500, 0 } },
		{ "Uid:\t0\t4294967294\nNSpid:\t1\n", { 1, 4294967294 } },
		{ "Tgid:\t500\nUid:\t0\t0\t0\t0\n", { 500, 0 } },
		{ "Tgid:\t500\nUid:\t0\t0\nNSpid:\t500\t7\n", { 7, 0 } },
	};
	struct jit_owner found;

	for (size_t i = 0; i < array_len(rows); i++) {
		assert_int_equal(read_owner(*state, rows[i].status, &found), 0);
		assert_int_equal(found.own_pid, rows[i].owner.own_pid);
		assert_int_equal(found.euid, rows[i].owner.euid);
	}
}

static void a_malformed_status_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"Uid:\t1\t2\t3\t4\n",
		"NSpid:\t1\n",
		"Uid:\t1\nNSpid:\t1\n",
		"Uid:\t1\t2\t3\t4\nNSpid:\n",
		"Uid:\t1\t2\t3\t4\nNSpid:\t\n",
		"Uid:\t1\t2\t3\t4\nNSpid:\t1\t\n",
		"Uid:\t1\t2\t3\t4\nNSpid:\t1",
		"Uid:\t1\t-2\t3\t4\nNSpid:\t1\n",
		"Uid:\t1\t4294967296\nNSpid:\t1\n",
		"Uid:\t1\t2\nNSpid:\t1\t99999999999999999999999\n",
		" Uid:\t1\t2\n NSpid:\t1\n",
		"Uid:\t1\t2\nNSpid:\tx\n",
		"Tgid:\t5\nUid:\t1\t2\nNSpid:\tx\n",
		"Tgid:\tx\nUid:\t1\t2\n",
	};
	struct jit_owner found;

	for (size_t i = 0; i < array_len(texts); i++)
		assert_int_equal(read_owner(*state, texts[i], &found), -EBADMSG);
}

static void a_process_that_is_gone_has_no_owner(void **state)
{
	const struct proc_fixture *proc = *state;
	struct jit_owner found;

	assert_int_equal(jit_files_read_owner(proc->proc_fd, 99, &found), -ESRCH);
}

static void a_perf_map_is_found_by_the_pid_the_process_sees(void **state)
{
	const struct proc_fixture *proc = *state;
	struct pinned_file pinned;

	assert_int_equal(pin_map(proc), -ENOENT);
	write_file(proc, "123/root/tmp/perf-123.map", "");
	assert_int_equal(pin_map(proc), -ENOENT);
	write_file(proc, "123/root/tmp/perf-7.map", "12345");
	assert_int_equal(jit_files_pin_map(proc->proc_fd, PID, &owner, &pinned), 0);
	assert_int_equal(pinned.identity.size, 5);
	file_opener_unpin(&pinned);
	assert_int_equal(jit_files_pin_map(proc->proc_fd, 99, &owner, &pinned), -ESRCH);
}

static void another_users_file_is_refused(void **state)
{
	const struct proc_fixture *proc = *state;
	const struct jit_owner user = { .own_pid = 7, .euid = 1000 };
	struct pinned_file pinned;

	if (geteuid() != 0)
		skip(); /* only root can change the owner of a file */
	write_file(proc, "123/root/tmp/perf-7.map", "");
	/* the file is root's */
	assert_int_equal(jit_files_pin_map(proc->proc_fd, PID, &user, &pinned), 0);
	file_opener_unpin(&pinned);
	assert_int_equal(fchownat(proc->proc_fd, "123/root/tmp/perf-7.map", 1000, 1000, 0), 0);
	assert_int_equal(jit_files_pin_map(proc->proc_fd, PID, &user, &pinned), 0);
	file_opener_unpin(&pinned);
	assert_int_equal(fchownat(proc->proc_fd, "123/root/tmp/perf-7.map", 1001, 1000, 0), 0);
	assert_int_equal(jit_files_pin_map(proc->proc_fd, PID, &user, &pinned), -EOPNOTSUPP);
	assert_int_equal(pin_map(proc), -EOPNOTSUPP);
}

static void other_than_regular_files_are_refused_without_waiting(void **state)
{
	const struct proc_fixture *proc = *state;

	assert_int_equal(mkfifoat(proc->proc_fd, "123/root/tmp/perf-7.map", 0600), 0);
	assert_int_equal(pin_map(proc), -EOPNOTSUPP);
	assert_int_equal(unlinkat(proc->proc_fd, "123/root/tmp/perf-7.map", 0), 0);
	assert_int_equal(mkdirat(proc->proc_fd, "123/root/tmp/perf-7.map", 0700), 0);
	assert_int_equal(pin_map(proc), -EOPNOTSUPP);
}

static void symbolic_links_are_refused(void **state)
{
	const struct proc_fixture *proc = *state;

	write_file(proc, "123/root/tmp/real", "");
	assert_int_equal(symlinkat("real", proc->proc_fd, "123/root/tmp/perf-7.map"), 0);
	assert_int_equal(pin_map(proc), -EOPNOTSUPP);
	assert_int_equal(renameat(proc->proc_fd, "123/root/tmp", proc->proc_fd, "123/root/moved"),
			 0);
	assert_int_equal(symlinkat("moved", proc->proc_fd, "123/root/tmp"), 0);
	assert_int_equal(pin_map(proc), -EOPNOTSUPP);
}

static uint64_t mount_id_of(const struct proc_fixture *proc, const char *path)
{
	_cleanup_close_ int fd = openat(proc->proc_fd, path, O_PATH | O_CLOEXEC);
	struct pinned_file pinned;

	assert_true(fd >= 0);
	assert_int_equal(file_opener_look_at(fd, &pinned), 0);
	return pinned.mount_id;
}

/* /tmp is a mount whose type the fixture's mountinfo states. */
static void a_tmp_on_a_foreign_file_system_is_not_looked_into(void **state)
{
	static const struct {
		const char *type;
		int result;
	} types[] = {
		{ "tmpfs", 0 },		 { "overlay", 0 },
		{ "fuse", -EOPNOTSUPP }, { "fuse.sshfs", -EOPNOTSUPP },
		{ "nfs4", -EOPNOTSUPP }, { "never_heard_of", -EOPNOTSUPP },
	};
	const struct proc_fixture *proc = *state;
	char target[96];

	snprintf(target, sizeof(target), "%s/123/root/tmp", proc->dir);
	if (mount("none", target, "tmpfs", 0, NULL) < 0)
		skip(); /* not root */
	write_file(proc, "123/root/tmp/perf-7.map", "");
	uint64_t root_id = mount_id_of(proc, "123/root");
	uint64_t tmp_id = mount_id_of(proc, "123/root/tmp");
	assert_int_equal(unlinkat(proc->proc_fd, "123/mountinfo", 0), 0);
	for (size_t i = 0; i < array_len(types); i++) {
		char text[256];

		snprintf(text, sizeof(text),
			 "%" PRIu64 " 1 0:99998 / / rw - ext4 x rw\n%" PRIu64
			 " 1 0:99999 / /tmp rw - %s x rw\n",
			 root_id, tmp_id, types[i].type);
		write_file(proc, "123/mountinfo", text);
		int r = pin_map(proc);
		if (r != types[i].result)
			umount2(target, MNT_DETACH);
		assert_int_equal(r, types[i].result);
	}
	umount2(target, MNT_DETACH);
}

/* A FUSE server that never answers: looking up a name there blocks until the server ends. */
static void a_silent_fuse_server_at_tmp_holds_nobody_up(void **state)
{
	const struct proc_fixture *proc = *state;
	_cleanup_close_ int fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[96];
	char target[96];

	snprintf(target, sizeof(target), "%s/123/root/tmp", proc->dir);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse_fd);
	if (fuse_fd < 0 || mount("silent", target, "fuse", 0, options) < 0)
		skip(); /* FUSE is not available, or the test is not root */
	alarm(10);
	int r = pin_map(proc);
	alarm(0);
	umount2(target, MNT_DETACH);
	assert_int_equal(r, -EOPNOTSUPP);
}

static void a_mount_over_the_file_is_refused(void **state)
{
	const struct proc_fixture *proc = *state;
	char target[96];

	write_file(proc, "123/root/tmp/perf-7.map", "");
	snprintf(target, sizeof(target), "%s/123/root/tmp/perf-7.map", proc->dir);
	if (mount("/proc/self/status", target, NULL, MS_BIND, NULL) < 0)
		skip(); /* not root */
	int r = pin_map(proc);
	umount2(target, MNT_DETACH);
	assert_int_equal(r, -EOPNOTSUPP);
}

/* Makes a mapping of 123/root/dump with that path. */
static void with_mapping(const struct proc_fixture *proc, const char *path,
			 struct mapped_file *file, struct mapping *mapping)
{
	struct stat st;

	assert_int_equal(fstatat(proc->proc_fd, "123/root/dump", &st, 0), 0);
	*file = (struct mapped_file){
		.inode = st.st_ino,
		.dev_major = major(st.st_dev),
		.dev_minor = minor(st.st_dev),
		.path = (char *)(uintptr_t)path,
	};
	*mapping = (struct mapping){ .start = 0x1000, .end = 0x2000, .file = file };
}

static void a_jitdump_is_found_by_its_mapping(void **state)
{
	static const struct {
		const char *path;
		int result;
	} paths[] = {
		{ "/home/user/.debug/jit/java-1/jit-7.dump", 0 },
		{ "/jit-7.dump", 0 },
		{ "/jit-123.dump", -ENOENT },
		{ "/xjit-7.dump", -ENOENT },
		{ "/jit-07.dump", -ENOENT },
		{ "/jit-7.dump.old", -ENOENT },
		{ "/jit-7.dump/file", -ENOENT },
		{ "jit-7.dump", -ENOENT },
		{ "", -ENOENT },
	};
	const struct proc_fixture *proc = *state;
	struct mapped_file file;
	struct mapping mapping;
	struct mapping_list list = { .items = &mapping, .nr_items = 1 };
	struct pinned_file pinned;

	write_file(proc, "123/root/dump", "JiTD");
	assert_int_equal(symlinkat("../root/dump", proc->proc_fd, "123/map_files/1000-2000"), 0);
	for (size_t i = 0; i < array_len(paths); i++) {
		with_mapping(proc, paths[i].path, &file, &mapping);
		int r = jit_files_pin_dump(proc->proc_fd, PID, &owner, &list, &pinned);
		assert_int_equal(r, paths[i].result);
		if (r == 0)
			file_opener_unpin(&pinned);
	}
	assert_int_equal(jit_files_pin_dump(proc->proc_fd, PID, &owner, NULL, &pinned), -ENOENT);

	assert_int_equal(unlinkat(proc->proc_fd, "123/root/dump", 0), 0);
	assert_int_equal(mkfifoat(proc->proc_fd, "123/root/dump", 0600), 0);
	with_mapping(proc, "/jit-7.dump", &file, &mapping);
	assert_int_equal(jit_files_pin_dump(proc->proc_fd, PID, &owner, &list, &pinned),
			 -EOPNOTSUPP);
}

static void a_java_vm_is_known_by_its_library(void **state)
{
	struct mapped_file file = { .inode = 1 };
	struct mapping mapping = { .file = &file };
	struct mapping_list list = { .items = &mapping, .nr_items = 1 };

	(void)state;
	file.path = (char *)(uintptr_t) "/usr/lib/jvm/java-17/lib/server/libjvm.so";
	assert_true(jit_files_has_java_vm(&list));
	file.path = (char *)(uintptr_t) "/usr/lib/libjvm.so.1";
	assert_false(jit_files_has_java_vm(&list));
	file.path = NULL;
	assert_false(jit_files_has_java_vm(&list));
	assert_false(jit_files_has_java_vm(NULL));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(pid_and_user_are_read_from_the_status),
		TEST(a_malformed_status_is_refused),
		TEST(a_process_that_is_gone_has_no_owner),
		TEST(a_perf_map_is_found_by_the_pid_the_process_sees),
		TEST(another_users_file_is_refused),
		TEST(other_than_regular_files_are_refused_without_waiting),
		TEST(symbolic_links_are_refused),
		TEST(a_tmp_on_a_foreign_file_system_is_not_looked_into),
		TEST(a_silent_fuse_server_at_tmp_holds_nobody_up),
		TEST(a_mount_over_the_file_is_refused),
		TEST(a_jitdump_is_found_by_its_mapping),
		cmocka_unit_test(a_java_vm_is_known_by_its_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
