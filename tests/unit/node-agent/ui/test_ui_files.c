/* SPDX-License-Identifier: Apache-2.0 */
/* What can be read, tried in a process that is given up for it. */
#include "ui/ui_files.h"

#include "base/cleanup.h"
#include "unit.h"
#include "worker/worker_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIR_TEMPLATE "/tmp/flamelet-test-XXXXXX"
#define NO_LANDLOCK 77
#define PATH_BYTES 64

struct scene {
	char dir[sizeof(DIR_TEMPLATE)];
	char inner[PATH_BYTES], file[PATH_BYTES], log[PATH_BYTES], other[PATH_BYTES];
};

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void scene_make(struct scene *scene)
{
	memcpy(scene->dir, DIR_TEMPLATE, sizeof(DIR_TEMPLATE));
	assert_non_null(mkdtemp(scene->dir));
	snprintf(scene->inner, PATH_BYTES, "%s/pin", scene->dir);
	snprintf(scene->file, PATH_BYTES, "%s/pin/a.db", scene->dir);
	snprintf(scene->log, PATH_BYTES, "%s/pin/a.db-wal", scene->dir);
	snprintf(scene->other, PATH_BYTES, "%s/pin/b.db", scene->dir);
	assert_int_equal(mkdir(scene->inner, 0700), 0);
	make_file(scene->file);
	make_file(scene->log);
	make_file(scene->other);
}

static void scene_remove(const struct scene *scene)
{
	unlink(scene->other);
	unlink(scene->log);
	unlink(scene->file);
	assert_int_equal(rmdir(scene->inner), 0);
	assert_int_equal(rmdir(scene->dir), 0);
}

static bool can_open(const char *path, int flags)
{
	_cleanup_close_ int fd = open(path, flags | O_CLOEXEC);

	return fd >= 0;
}

static bool can_list(const char *path)
{
	return can_open(path, O_RDONLY | O_DIRECTORY);
}

/* Returns the exit status of a process that is confined to these paths. */
static int run_confined(const struct scene *scene, const char *const *paths, size_t nr_paths,
			int (*body)(const struct scene *scene))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		int r = ui_files_confine(paths, nr_paths);
		if (r == -EOPNOTSUPP)
			_exit(NO_LANDLOCK);
		_exit(r == 0 ? body(scene) : 100);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WORKER_PROCESS_IS_SANITIZED || WEXITSTATUS(status) == NO_LANDLOCK) {
		scene_remove(scene);
		skip();
	}
	return WEXITSTATUS(status);
}

static int use_directory(const struct scene *scene)
{
	if (!can_list(scene->dir) || !can_list(scene->inner) || !can_open(scene->file, O_RDONLY))
		return 1;
	if (can_open(scene->file, O_RDWR))
		return 2;
	return can_open("/etc/passwd", O_RDONLY) || can_list("/tmp") ? 3 : 0;
}

static void a_directory_can_be_read_and_nothing_else(void **state)
{
	struct scene scene;
	const char *const paths[] = { scene.dir, "/nonexistent" };
	(void)state;

	scene_make(&scene);
	assert_int_equal(run_confined(&scene, paths, 2, use_directory), 0);
	scene_remove(&scene);
}

static int use_file(const struct scene *scene)
{
	if (!can_open(scene->file, O_RDONLY) || !can_open(scene->log, O_RDONLY))
		return 1;
	return can_open(scene->other, O_RDONLY) || can_list(scene->inner) ? 2 : 0;
}

static void a_file_can_be_read_with_its_log(void **state)
{
	struct scene scene;
	const char *const paths[] = { scene.file };
	(void)state;

	scene_make(&scene);
	assert_int_equal(run_confined(&scene, paths, 1, use_file), 0);
	scene_remove(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_directory_can_be_read_and_nothing_else),
		cmocka_unit_test(a_file_can_be_read_with_its_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
