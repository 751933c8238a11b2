/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup_namespace.h"

#include "base/fileio.h"
#include "cgroup/proc_cgroup.h"
#include "cgroup_fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define MAX_BYTES 65536

struct init_case {
	const char *seen;
	const char *path;
	const char *root; /* NULL: they do not go together */
	const char *above;
};

static void a_process_tells_where_the_namespace_is(void **state)
{
	static const struct init_case cases[] = {
		{ "/", "/", "", "" },
		{ "/", "/kubepods/pod1/ctr", "/kubepods/pod1/ctr", "" },
		{ "/init", "/kubepods/pod1/ctr/init", "/kubepods/pod1/ctr", "" },
		{ "/system.slice/x.service", "/system.slice/x.service", "", "" },
		{ "/docker/abc", "/", "", "/docker/abc" },
		{ "/docker/abc/x/y", "/x/y", "", "/docker/abc" },
		{ "/..x", "/a/..x", "/a", "" },
		/* Not from one place. */
		{ "/a", "/b", NULL, NULL },
		{ "/a/b", "/b/a", NULL, NULL },
		{ "/b", "/ab", NULL, NULL },
		{ "/a/b/c", "/a/b", NULL, NULL },
		{ "/..", "/", NULL, NULL },
		{ "/..", "/a/..", NULL, NULL },
		{ "/../x", "/a/x", NULL, NULL },
		{ "/../../x", "/x", NULL, NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct cgroup_namespace namespace = { 0 };

		int r = cgroup_namespace_init(&namespace, cases[i].seen, cases[i].path);
		assert_int_equal(r, cases[i].root ? 0 : -ENOENT);
		assert_int_equal(namespace.is_known, cases[i].root != NULL);
		if (cases[i].root) {
			assert_string_equal(namespace.root, cases[i].root);
			assert_string_equal(namespace.above, cases[i].above);
		}
		cgroup_namespace_done(&namespace);
	}
}

struct resolve_case {
	const char *root, *above;
	const char *path;
	const char *resolved; /* NULL: outside */
};

static void a_path_is_followed_from_the_namespaces_root(void **state)
{
	static const struct resolve_case cases[] = {
		{ "", "", "/", "/" },
		{ "", "", "/a/b", "/a/b" },
		{ "/pods/p/c", "", "/", "/pods/p/c" },
		{ "/pods/p/c", "", "/init", "/pods/p/c/init" },
		{ "/pods/p/c", "", "/..", "/pods/p" },
		{ "/pods/p/c", "", "/../../q/d", "/pods/q/d" },
		{ "/pods/p/c", "", "/../../../system.slice", "/system.slice" },
		{ "/pods/p/c", "", "/../../..", "/" },
		{ "/pods/p/c", "", "/..x", "/pods/p/c/..x" },
		{ "/pods/p/c", "", "/../.x", "/pods/p/.x" },
		{ "", "/docker/abc", "/docker/abc", "/" },
		{ "", "/docker/abc", "/docker/abc/x", "/x" },
		/* Outside, or no path of a cgroup. */
		{ "", "", "/..", NULL },
		{ "", "", "/../a", NULL },
		{ "/pods/p/c", "", "/../../../..", NULL },
		{ "/pods/p/c", "", "/../../../../pods/p/c", NULL },
		{ "/pods/p/c", "", "/x/..", NULL },
		{ "/pods/p/c", "", "/../x/../y", NULL },
		{ "/pods/p/c", "", "/x/../../../../..", NULL },
		{ "/pods/p/c", "", "/.", NULL },
		{ "/pods/p/c", "", "//x", NULL },
		{ "/pods/p/c", "", "/x/", NULL },
		{ "/pods/p/c", "", "/../", NULL },
		{ "/pods/p/c", "", "", NULL },
		{ "/pods/p/c", "", "x", NULL },
		{ "/pods/p/c", "", "../x", NULL },
		{ "", "/docker/abc", "/", NULL },
		{ "", "/docker/abc", "/docker/abcd", NULL },
		{ "", "/docker/abc", "/docker", NULL },
		{ "", "/docker/abc", "/docker/abc/../x", NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf resolved = strbuf_with_max(MAX_BYTES);
		const struct cgroup_namespace namespace = {
			.is_known = true,
			.root = (char *)cases[i].root,
			.above = (char *)cases[i].above,
		};

		int r = cgroup_namespace_resolve(&namespace, cases[i].path, strlen(cases[i].path),
						 &resolved);
		assert_int_equal(r, cases[i].resolved ? 0 : -ENOENT);
		if (cases[i].resolved)
			assert_string_equal(strbuf_str(&resolved), cases[i].resolved);
	}
}

static void nothing_is_guessed_about_an_unknown_namespace(void **state)
{
	_cleanup_(strbuf_done) struct strbuf resolved = strbuf_with_max(MAX_BYTES);
	const struct cgroup_namespace namespace = { 0 };

	(void)state;
	assert_int_equal(cgroup_namespace_resolve(&namespace, "/a", 2, &resolved), -ENOENT);
	assert_int_equal(resolved.len, 0);
}

static bool move(pid_t pid, const char *cgroup)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool is_moved = fd >= 0 && dprintf(fd, "%d", pid) > 0;
	if (fd >= 0)
		close(fd);
	return is_moved;
}

/* Where /proc says that a process is, found from here. */
static bool resolves_to(const struct cgroup_fs *fs, int proc_fd, pid_t pid, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf resolved = strbuf_with_max(MAX_BYTES);
	uint32_t hierarchy = cgroup_fs_hierarchy(fs);
	struct cgroup_namespace namespace;
	const char *path;
	char file[32];
	size_t len;

	if (cgroup_namespace_find(fs, proc_fd, hierarchy, &namespace) < 0)
		return false;
	snprintf(file, sizeof(file), "%d/cgroup", pid);
	int r = file_read_at(proc_fd, file, &text);
	if (r == 0)
		r = proc_cgroup_find(strbuf_str(&text), text.len, hierarchy, &path, &len);
	if (r == 0)
		r = cgroup_namespace_resolve(&namespace, path, len, &resolved);
	cgroup_namespace_done(&namespace);
	return r == 0 && strcmp(strbuf_str(&resolved), expected) == 0;
}

/* A process in another cgroup, until it is killed. */
static pid_t start_in(const char *cgroup)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		pause();
		_exit(1);
	}
	assert_true(move(pid, cgroup));
	return pid;
}

/* 0: all is right; 77: no namespace can be made. */
static int look_from_a_namespace(const struct cgroup_fs *fs, const char *dir, pid_t other)
{
	int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *below = dir + strlen(cgroup_fs_root(fs));
	char path[512], expected[512];

	snprintf(expected, sizeof(expected), "%s/pods/other", below);
	if (!resolves_to(fs, proc_fd, other, expected))
		return 1;
	snprintf(path, sizeof(path), "%s/pods/own", dir);
	if (!move(getpid(), path) || unshare(CLONE_NEWCGROUP) < 0)
		return 77;
	if (!resolves_to(fs, proc_fd, other, expected))
		return 2;
	snprintf(path, sizeof(path), "%s/pods/own/below", dir);
	if (!move(getpid(), path) || !resolves_to(fs, proc_fd, other, expected))
		return 3;
	snprintf(path, sizeof(path), "%s/pods/other", dir);
	return move(getpid(), path) && !resolves_to(fs, proc_fd, other, expected) ? 0 : 4;
}

/* In the hierarchy that is mounted at `root`, or in which containers are. */
static void try_namespace(const char *root)
{
	_cleanup_(cgroup_fs_closep) struct cgroup_fs *fs = NULL;
	struct cgroup_fixture cgroups;
	char other_dir[512];
	int status = 0;

	if (cgroup_fs_open(root, &fs) < 0)
		skip();
	cgroup_fixture_init_at(&cgroups, root);
	cgroup_fixture_require(&cgroups);
	cgroup_fixture_make(&cgroups, "/pods/own/below");
	cgroup_fixture_make(&cgroups, "/pods/other");
	snprintf(other_dir, sizeof(other_dir), "%s/pods/other", cgroups.root);
	pid_t other = start_in(other_dir);
	pid_t looker = fork();
	if (looker == 0)
		_exit(look_from_a_namespace(fs, cgroups.root, other));
	waitpid(looker, &status, 0);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	cgroup_fixture_done(&cgroups);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void others_are_found_from_a_namespace_of_our_own(void **state)
{
	(void)state;
	try_namespace(NULL);
}

static void others_are_found_in_a_v1_hierarchy(void **state)
{
	(void)state;
	try_namespace("/sys/fs/cgroup/memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_tells_where_the_namespace_is),
		cmocka_unit_test(a_path_is_followed_from_the_namespaces_root),
		cmocka_unit_test(nothing_is_guessed_about_an_unknown_namespace),
		cmocka_unit_test(others_are_found_from_a_namespace_of_our_own),
		cmocka_unit_test(others_are_found_in_a_v1_hierarchy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
