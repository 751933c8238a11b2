/* SPDX-License-Identifier: Apache-2.0 */
/* With real processes: copies of this program that wait (see main). */
#include "symbol/elf_cache.h"

#include "base/array.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "elf_cache_dir.h"
#include "symbol_worker_main.h"
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void named_function_of_the_waiter(void);

void named_function_of_the_waiter(void)
{
	for (;;)
		pause();
}

static void copy_file(const char *from, const char *to)
{
	_cleanup_(strbuf_done) struct strbuf data = strbuf_with_max(CACHE_BUDGET);

	assert_int_equal(file_read_at(AT_FDCWD, from, &data), 0);
	assert_int_equal(file_write_atomic(to, data.data, data.len), 0);
	assert_int_equal(chmod(to, 0755), 0);
}

/* Starts a copy of this program; returns when it has been executed. */
static pid_t start(const char *path)
{
	int fds[2];
	char byte;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		execl(path, path, "wait", NULL);
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The executable mapping of the program itself, by a name in its path. */
static struct mapping find_mapping(pid_t pid, const char *name, struct mapped_file *ret_file)
{
	struct mapping mapping = { .file = ret_file };
	char path[64];
	char line[512];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	_cleanup_fclose_ FILE *maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		char file_path[256] = "";
		char perms[8];

		int n = sscanf(
			line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %255s",
			&mapping.start, &mapping.end, perms, &mapping.file_offset,
			&ret_file->dev_major, &ret_file->dev_minor, &ret_file->inode, file_path);
		if (n == 8 && perms[2] == 'x' && strstr(file_path, name))
			return mapping;
	}
	fail();
	return mapping;
}

static bool finds_waiter(struct elf_cache *cache, uint32_t id, const struct mapping *mapping)
{
	struct symbol_frames frames;

	cache_dir_read_all(cache);
	for (uint64_t pos = 0; pos < mapping->end - mapping->start; pos += 4)
		if (elf_cache_symbolize(cache, id, mapping->file_offset + pos, &frames) == 0 &&
		    strcmp(frames.lines[0].name, "named_function_of_the_waiter") == 0)
			return true;
	return false;
}

static void a_deleted_program_still_has_its_names(void **state)
{
	struct cache_dir *fixture = *state;
	struct mapped_file file = { 0 };
	char path[96];
	uint32_t id = 0;

	snprintf(path, sizeof(path), "%s/program", fixture->dir);
	copy_file("/proc/self/exe", path);
	pid_t pid = start(path);
	struct mapping mapping = find_mapping(pid, "program", &file);
	assert_int_equal(unlink(path), 0);
	int r = elf_cache_open(fixture->cache, 0, (uint32_t)pid, &mapping, &id);
	stop(pid);
	if (r == -EPERM || r == -ESRCH)
		skip(); /* without the right to use map_files */
	assert_int_equal(r, 0);
	assert_true(finds_waiter(fixture->cache, id, &mapping));
	assert_int_equal(elf_cache_get_stats(fixture->cache).files.nr_waiting, 0);
}

static void a_program_replaced_while_it_runs_is_not_mistaken(void **state)
{
	struct cache_dir *fixture = *state;
	struct mapped_file file = { 0 };
	char path[96];
	uint32_t id = 0;

	snprintf(path, sizeof(path), "%s/program", fixture->dir);
	copy_file("/proc/self/exe", path);
	pid_t pid = start(path);
	assert_int_equal(file_write_atomic(path, "nonsense", 8), 0);
	struct mapping mapping = find_mapping(pid, "program", &file);
	file.path = path;
	int r = elf_cache_open(fixture->cache, 0, (uint32_t)pid, &mapping, &id);
	stop(pid);
	if (r == -ESRCH)
		skip(); /* without the right to use map_files; at least nothing wrong was opened */
	assert_int_equal(r, 0);
	assert_true(finds_waiter(fixture->cache, id, &mapping));
}

static void nobody_waits_for_a_file_longer_than_he_wants(void **state)
{
	struct cache_dir *fixture = *state;
	struct mapped_file file = { .path = (char *)(uintptr_t) "/proc/self/exe" };
	uint32_t id = 0;

	pid_t pid = start("/proc/self/exe");
	struct mapping mapping = find_mapping(pid, "test_elf_cache_live", &file);
	int r = elf_cache_open(fixture->cache, 0, (uint32_t)pid, &mapping, &id);
	stop(pid);
	if (r == -ESRCH)
		skip(); /* without the right to use map_files */
	assert_int_equal(r, 0);

	struct symbol_frames frames;
	assert_false(elf_cache_ask(fixture->cache, id, mapping.file_offset));
	assert_false(elf_cache_wait(fixture->cache, 0));
	assert_int_equal(elf_cache_symbolize(fixture->cache, id, mapping.file_offset, &frames),
			 -ENOENT);
	assert_int_equal(frames.nr_lines, 0);
	assert_int_equal(frames.address, mapping.file_offset);
	assert_true(finds_waiter(fixture->cache, id, &mapping));
	assert_int_equal(elf_cache_get_stats(fixture->cache).files.nr_waiting, 0);
}

static void a_process_that_is_gone_is_an_error(void **state)
{
	struct cache_dir *fixture = *state;
	struct mapped_file file = { 0 };
	uint32_t id = 77;

	pid_t pid = start("/proc/self/exe");
	struct mapping mapping = find_mapping(pid, "test_elf_cache_live", &file);
	stop(pid);
	assert_int_equal(elf_cache_open(fixture->cache, 0, (uint32_t)pid, &mapping, &id), -ESRCH);
	assert_int_equal(id, 77);
	assert_int_equal(elf_cache_get_stats(fixture->cache).files.nr_open_failures, 1);
}

/* In a mount namespace of its own, as a container's process. */
static pid_t start_on_overlay(const char *dir)
{
	char merged[96];
	char options[256];
	char program[128];
	int fds[2];
	char byte;

	snprintf(merged, sizeof(merged), "%s/merged", dir);
	snprintf(program, sizeof(program), "%s/program", merged);
	snprintf(options, sizeof(options), "lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
		 dir, dir, dir);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("overlay", merged, "overlay", 0, options) < 0)
			_exit(77);
		execl(program, program, "wait", NULL);
		_exit(1);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	usleep(1000); /* so that a child that gave up is a zombie */
	if (waitpid(pid, NULL, WNOHANG) == pid)
		return -1;
	return pid;
}

static void a_program_on_a_containers_overlay_has_names(void **state)
{
	static const char *const dirs[] = { "lower", "upper", "work", "merged" };
	struct cache_dir *fixture = *state;
	struct mapped_file file = { 0 };
	char path[96];
	uint32_t id = 0;

	/* An overlay's upper layer cannot lie on an overlay: tmpfs will do. */
	if (mount("tmpfs", fixture->dir, "tmpfs", 0, "") < 0)
		skip(); /* not root */
	for (size_t i = 0; i < array_len(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", fixture->dir, dirs[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	snprintf(path, sizeof(path), "%s/lower/program", fixture->dir);
	copy_file("/proc/self/exe", path);

	pid_t pid = start_on_overlay(fixture->dir);
	int r = -EOPNOTSUPP;
	struct mapping mapping = { 0 };
	if (pid > 0) {
		mapping = find_mapping(pid, "program", &file);
		r = elf_cache_open(fixture->cache, 0, (uint32_t)pid, &mapping, &id);
		stop(pid);
	}
	umount2(fixture->dir, MNT_DETACH);
	if (pid < 0)
		skip(); /* no overlay here */
	assert_int_equal(r, 0);
	assert_true(finds_waiter(fixture->cache, id, &mapping));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, cache_dir_setup, cache_dir_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_deleted_program_still_has_its_names),
		TEST(a_program_replaced_while_it_runs_is_not_mistaken),
		TEST(nobody_waits_for_a_file_longer_than_he_wants),
		TEST(a_process_that_is_gone_is_an_error),
		TEST(a_program_on_a_containers_overlay_has_names),
	};

	if (argc == 2 && strcmp(argv[1], "wait") == 0)
		named_function_of_the_waiter();
	if (is_symbol_worker(argc, argv))
		return symbol_worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
