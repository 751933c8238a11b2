/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup_fs.h"

#include "base/fileio.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "unit.h"

/* A cgroup of our own below a hierarchy's root. */
struct own_cgroup {
	struct cgroup_fs *fs; /* owned; NULL: cannot be tried here */
	char path[64]; /* below the root */
	char full[PATH_MAX];
};

static int make_cgroup(const char *root, struct own_cgroup *own)
{
	*own = (struct own_cgroup){ 0 };
	if (cgroup_fs_open(root, &own->fs) < 0)
		return -ENOENT;
	snprintf(own->path, sizeof(own->path), "/flamelet-test-%d", getpid());
	snprintf(own->full, sizeof(own->full), "%s%s", cgroup_fs_root(own->fs), own->path);
	return mkdir(own->full, 0755) < 0 ? -errno : 0;
}

static void remove_cgroup(struct own_cgroup *own)
{
	rmdir(own->full);
	cgroup_fs_close(own->fs);
}

/* Declares and makes `name`, or skips the test. */
#define MAKE_CGROUP_OR_SKIP(name, root)                                                            \
	_cleanup_(remove_cgroup) struct own_cgroup name;                                           \
	if (make_cgroup((root), &name) < 0) {                                                      \
		print_message("SKIP: making a cgroup needs root and a writable hierarchy\n");      \
		skip();                                                                            \
	}

static uint64_t inode(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

static void the_id_of_a_path_is_its_inode(void **state)
{
	(void)state;
	MAKE_CGROUP_OR_SKIP(own, NULL);
	uint64_t id = 0;

	assert_int_equal(cgroup_fs_id(own.fs, own.path, &id), 0);
	assert_int_equal(id, inode(own.full));
	assert_int_equal(cgroup_fs_id(own.fs, own.path + 1, &id), 0);
	assert_int_equal(id, inode(own.full));
	assert_int_equal(cgroup_fs_id(own.fs, "/", &id), 0);
	assert_int_equal(id, inode(cgroup_fs_root(own.fs)));
}

static void what_is_no_cgroup_has_no_id(void **state)
{
	static const char *const paths[] = { "/no/such", "/cgroup.procs", "/..", "/../..", "no" };
	_cleanup_(cgroup_fs_closep) struct cgroup_fs *fs = NULL;
	(void)state;

	if (cgroup_fs_open(NULL, &fs) < 0) {
		print_message("SKIP: no cgroup hierarchy is mounted\n");
		skip();
	}
	for (size_t i = 0; i < array_len(paths); i++) {
		uint64_t id = 0;

		assert_int_equal(cgroup_fs_id(fs, paths[i], &id), -ENOENT);
		assert_int_equal(id, 0);
	}
}

/* Both ways round, then once more after its end. */
static void check_path_of_id(const struct own_cgroup *own)
{
	_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(PATH_MAX);
	_cleanup_(strbuf_done) struct strbuf root = strbuf_with_max(PATH_MAX);
	uint64_t id = inode(own->full);

	assert_int_equal(cgroup_fs_path(own->fs, id, &path), 0);
	assert_string_equal(path.data, own->path);
	assert_int_equal(cgroup_fs_path(own->fs, inode(cgroup_fs_root(own->fs)), &root), 0);
	assert_string_equal(root.data, "/");

	assert_int_equal(rmdir(own->full), 0);
	assert_int_equal(cgroup_fs_path(own->fs, id, &path), -ESTALE);
	assert_int_equal(cgroup_fs_path(own->fs, 0, &path), -ESTALE);
	assert_int_equal(cgroup_fs_path(own->fs, UINT64_MAX, &path), -ESTALE);
	assert_string_equal(path.data, own->path);
}

static void an_id_gives_its_path_until_the_cgroup_is_removed(void **state)
{
	(void)state;
	MAKE_CGROUP_OR_SKIP(own, NULL);

	check_path_of_id(&own);
}

static void ids_of_a_v1_hierarchy_work_too(void **state)
{
	(void)state;
	MAKE_CGROUP_OR_SKIP(own, "/sys/fs/cgroup/memory");

	assert_int_equal(cgroup_fs_mode(own.fs), CGROUP_MODE_LEGACY);
	assert_string_equal(cgroup_fs_controller(own.fs), "memory");
	check_path_of_id(&own);
}

/* With a line's start before its path a cgroup reads as in /proc/PID/cgroup of a process in it. */
static void check_line_start(const struct own_cgroup *own, const char *expected_end)
{
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(PATH_MAX);
	_cleanup_(strbuf_done) struct strbuf lines = strbuf_with_max(1 << 16);

	cgroup_fs_append_line_start(own->fs, &line);
	size_t len = strlen(strbuf_str(&line)), end_len = strlen(expected_end);
	assert_true(len >= end_len);
	assert_string_equal(strbuf_str(&line) + len - end_len, expected_end);
	assert_int_equal(file_read_at(AT_FDCWD, "/proc/self/cgroup", &lines), 0);
	const char *found = strstr(strbuf_str(&lines), strbuf_str(&line));
	assert_non_null(found);
	assert_true(found == strbuf_str(&lines) || found[-1] == '\n');
}

static void a_line_start_is_that_of_the_hierarchy(void **state)
{
	(void)state;
	MAKE_CGROUP_OR_SKIP(own, NULL);

	check_line_start(&own, cgroup_fs_mode(own.fs) == CGROUP_MODE_LEGACY ? ":" : "0::");
}

static void a_line_start_of_v1_names_the_controller(void **state)
{
	(void)state;
	MAKE_CGROUP_OR_SKIP(own, "/sys/fs/cgroup/memory");

	check_line_start(&own, ":memory:");
}

static void a_path_longer_than_the_buffer_is_refused(void **state)
{
	(void)state;
	MAKE_CGROUP_OR_SKIP(own, NULL);
	_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(5);

	assert_int_equal(cgroup_fs_path(own.fs, inode(own.full), &path), -ENOSPC);
}

/* In a process of its own, as the right does not come back. */
static void without_the_capability_an_id_gives_eperm(void **state)
{
	(void)state;
	MAKE_CGROUP_OR_SKIP(own, NULL);
	int status;

	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		_cleanup_(strbuf_done) struct strbuf path = strbuf_with_max(PATH_MAX);

		if (setresuid(65534, 65534, 65534) < 0)
			_exit(2);
		_exit(cgroup_fs_path(own.fs, inode(own.full), &path) == -EPERM ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

struct seen {
	const struct own_cgroup *own;
	size_t nr_own;
	size_t nr_children;
	size_t nr_all;
};

static int see(const char *path, uint64_t id, void *data)
{
	struct seen *seen = data;
	size_t own_len = strlen(seen->own->path);
	uint64_t stat_id;

	if (seen->nr_all++ == 0)
		assert_string_equal(path, "/");
	if (strncmp(path, seen->own->path, own_len) != 0)
		return 0;
	assert_int_equal(cgroup_fs_id(seen->own->fs, path, &stat_id), 0);
	assert_int_equal(id, stat_id);
	if (path[own_len] == '\0') {
		seen->nr_own++;
	} else {
		assert_int_equal(seen->nr_own, 1);
		seen->nr_children++;
	}
	return 0;
}

static int stop_at_second(const char *path, uint64_t id, void *data)
{
	size_t *nr = data;

	(void)path;
	(void)id;
	return ++*nr == 2 ? 7 : 0;
}

static void a_walk_visits_each_cgroup_once_parents_first(void **state)
{
	(void)state;
	MAKE_CGROUP_OR_SKIP(own, NULL);
	struct seen seen = { .own = &own };
	char child[2][PATH_MAX + 16];
	size_t nr = 0;

	snprintf(child[0], sizeof(child[0]), "%s/a", own.full);
	snprintf(child[1], sizeof(child[1]), "%s/a/.b c", own.full);
	assert_int_equal(mkdir(child[0], 0755), 0);
	assert_int_equal(mkdir(child[1], 0755), 0);
	int r = cgroup_fs_walk(own.fs, see, &seen);
	assert_int_equal(rmdir(child[1]), 0);
	assert_int_equal(rmdir(child[0]), 0);

	assert_int_equal(r, 0);
	assert_int_equal(seen.nr_own, 1);
	assert_int_equal(seen.nr_children, 2);
	assert_int_equal(cgroup_fs_walk(own.fs, stop_at_second, &nr), 7);
	assert_int_equal(nr, 2);
}

static void the_directory_of_the_mounts_is_a_root_too(void **state)
{
	_cleanup_(cgroup_fs_closep) struct cgroup_fs *fs = NULL;
	struct stat st;
	(void)state;

	if (stat("/sys/fs/cgroup/unified", &st) < 0) {
		print_message("SKIP: the host is not in hybrid mode\n");
		skip();
	}
	assert_int_equal(cgroup_fs_open("/sys/fs/cgroup", &fs), 0);
	if (cgroup_fs_mode(fs) == CGROUP_MODE_HYBRID)
		assert_string_equal(cgroup_fs_root(fs), "/sys/fs/cgroup/unified");
	else
		assert_string_not_equal(cgroup_fs_controller(fs), "");
}

static void other_directories_are_no_cgroup_hierarchy(void **state)
{
	static const char *const roots[] = { "/", "/proc", "/no/such/directory", "" };
	(void)state;

	for (size_t i = 0; i < array_len(roots); i++) {
		struct cgroup_fs *fs = NULL;

		assert_int_equal(cgroup_fs_open(roots[i], &fs), -ENOENT);
		assert_null(fs);
	}
}

static void every_mode_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(cgroup_mode_name(CGROUP_MODE_UNIFIED), "unified");
	assert_string_equal(cgroup_mode_name(CGROUP_MODE_HYBRID), "hybrid");
	assert_string_equal(cgroup_mode_name(CGROUP_MODE_LEGACY), "legacy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_id_of_a_path_is_its_inode),
		cmocka_unit_test(what_is_no_cgroup_has_no_id),
		cmocka_unit_test(an_id_gives_its_path_until_the_cgroup_is_removed),
		cmocka_unit_test(ids_of_a_v1_hierarchy_work_too),
		cmocka_unit_test(a_line_start_is_that_of_the_hierarchy),
		cmocka_unit_test(a_line_start_of_v1_names_the_controller),
		cmocka_unit_test(a_path_longer_than_the_buffer_is_refused),
		cmocka_unit_test(without_the_capability_an_id_gives_eperm),
		cmocka_unit_test(a_walk_visits_each_cgroup_once_parents_first),
		cmocka_unit_test(the_directory_of_the_mounts_is_a_root_too),
		cmocka_unit_test(other_directories_are_no_cgroup_hierarchy),
		cmocka_unit_test(every_mode_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
