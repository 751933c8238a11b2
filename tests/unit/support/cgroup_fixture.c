/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup_fixture.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

#define PATH_BYTES 2048

void cgroup_fixture_init(struct cgroup_fixture *fixture)
{
	cgroup_fixture_init_at(fixture, NULL);
}

void cgroup_fixture_init_at(struct cgroup_fixture *fixture, const char *root)
{
	_cleanup_(cgroup_fs_closep) struct cgroup_fs *fs = NULL;

	*fixture = (struct cgroup_fixture){ 0 };
	if (cgroup_fs_open(root, &fs) < 0)
		return;
	snprintf(fixture->root, sizeof(fixture->root), "%s/flamelet-test-%d", cgroup_fs_root(fs),
		 getpid());
	if (mkdir(fixture->root, 0755) == 0)
		assert_int_equal(cgroup_fs_open(fixture->root, &fixture->fs), 0);
}

static int remove_dir(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_DP)
		rmdir(path);
	return 0;
}

void cgroup_fixture_done(struct cgroup_fixture *fixture)
{
	if (!fixture->fs)
		return;
	cgroup_fs_close(fixture->fs);
	nftw(fixture->root, remove_dir, 8, FTW_DEPTH | FTW_PHYS);
}

void cgroup_fixture_require(const struct cgroup_fixture *fixture)
{
	if (fixture->fs)
		return;
	print_message("SKIP: making a cgroup needs root and a writable hierarchy\n");
	skip();
}

uint64_t cgroup_fixture_make(const struct cgroup_fixture *fixture, const char *path)
{
	char full[PATH_BYTES];
	uint64_t id = 0;

	snprintf(full, sizeof(full), "%s%s", fixture->root, path);
	for (size_t i = strlen(fixture->root) + 1; i <= strlen(full); i++) {
		char end = full[i];

		if (end != '/' && end != '\0')
			continue;
		full[i] = '\0';
		assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
		full[i] = end;
	}
	assert_int_equal(cgroup_fs_id(fixture->fs, path, &id), 0);
	return id;
}

void cgroup_fixture_remove(const struct cgroup_fixture *fixture, const char *path)
{
	char full[PATH_BYTES];

	snprintf(full, sizeof(full), "%s%s", fixture->root, path);
	assert_int_equal(rmdir(full), 0);
}
