/* SPDX-License-Identifier: Apache-2.0 */
/* Asks libcgroup, and checks its answers with statfs(2). There are two things that libcgroup 2.0.2
 * cannot say, for which the mount table is read here:
 *
 * - where v2 is mounted if none of its controllers are, which is the usual hybrid mode: libcgroup's
 *   table has a row for each controller, and a hierarchy with an empty cgroup.controllers has no
 *   row;
 * - anything at all if another mount hides a v2 mount: cgroup_init() fails when it cannot open one.
 *
 * Unless it is given a logger, libcgroup writes its errors to standard output, where profiles may
 * go. */
#include "cgroup/cgroup_mounts.h"

#include "base/cleanup.h"

#include <libcgroup.h>
#include <linux/magic.h>
#include <mntent.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define MOUNT_LINE_MAX 8192

static const char *const v1_controllers[] = { "memory", "cpu" };

static void ignore_message(void *data, int level, const char *format, va_list args)
{
	(void)data;
	(void)level;
	(void)format;
	(void)args;
}

/* Fills libcgroup's table of mounts. Returns whether that succeeded. */
static bool read_mounts(void)
{
	cgroup_set_logger(ignore_message, CGROUP_LOG_ERROR, NULL);
	return cgroup_init() == 0;
}

static bool is_fs_type(const char *path, long type)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && (long)fs.f_type == type;
}

bool cgroup_mounts_is_v1(const char *path)
{
	return is_fs_type(path, CGROUP_SUPER_MAGIC);
}

bool cgroup_mounts_is_v2(const char *path)
{
	return is_fs_type(path, CGROUP2_SUPER_MAGIC);
}

/* Mount point of a v1 controller in libcgroup's table, or NULL; the caller's to free. */
static char *v1_mount_point(const char *controller)
{
	char *path = NULL;

	if (cgroup_get_subsys_mount_point(controller, &path) != 0)
		return NULL;
	if (cgroup_mounts_is_v1(path))
		return path;
	free(path);
	return NULL;
}

/* The first row of libcgroup's table that fits. Errors: -ENOENT. */
static int find_row(bool (*fits)(const struct cgroup_mount_point *row, const char *path),
		    const char *path, struct cgroup_mount_point *row)
{
	void *handle = NULL;

	*row = (struct cgroup_mount_point){ 0 };
	int r = cgroup_get_controller_begin(&handle, row);
	while (r == 0 && !fits(row, path))
		r = cgroup_get_controller_next(&handle, row);
	if (handle)
		cgroup_get_controller_end(&handle);
	return r == 0 ? 0 : -ENOENT;
}

static bool is_v2_row(const struct cgroup_mount_point *row, const char *path)
{
	(void)path;
	return cgroup_mounts_is_v2(row->path);
}

static bool is_row_at(const struct cgroup_mount_point *row, const char *path)
{
	return strcmp(row->path, path) == 0;
}

/* The first v2 mount that can be reached, by the mount table, or NULL; the caller's to free. */
static char *v2_mount_in_table(void)
{
	char line[MOUNT_LINE_MAX];
	struct mntent entry;
	char *path = NULL;

	FILE *table = setmntent("/proc/self/mounts", "re");
	if (!table)
		return NULL;
	while (!path && getmntent_r(table, &entry, line, sizeof(line)))
		if (strcmp(entry.mnt_type, "cgroup2") == 0 && cgroup_mounts_is_v2(entry.mnt_dir))
			path = strdup(entry.mnt_dir);
	endmntent(table);
	return path;
}

void cgroup_mounts_find(struct cgroup_mounts *ret_mounts)
{
	struct cgroup_mounts found = { 0 };
	struct cgroup_mount_point row;

	if (read_mounts()) {
		for (size_t i = 0; !found.v1 && i < array_len(v1_controllers); i++) {
			found.controller = v1_controllers[i];
			found.v1 = v1_mount_point(v1_controllers[i]);
		}
		if (find_row(is_v2_row, NULL, &row) == 0)
			found.v2 = strdup(row.path);
	}
	if (!found.v2)
		found.v2 = v2_mount_in_table();
	*ret_mounts = found;
}

/* Returns the directory below `root` if it has that file system, or NULL; the caller frees it. */
static char *mount_below(const char *root, const char *name, bool (*is_type)(const char *path))
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", root, name) < 0) {
		path = NULL;
		return NULL;
	}
	return is_type(path) ? take_ptr(path) : NULL;
}

void cgroup_mounts_find_below(const char *root, struct cgroup_mounts *ret_mounts)
{
	struct cgroup_mounts found = { 0 };

	found.v2 = mount_below(root, "unified", cgroup_mounts_is_v2);
	for (size_t i = 0; !found.v1 && i < array_len(v1_controllers); i++) {
		found.controller = v1_controllers[i];
		found.v1 = mount_below(root, v1_controllers[i], cgroup_mounts_is_v1);
	}
	*ret_mounts = found;
}

void cgroup_mounts_done(struct cgroup_mounts *mounts)
{
	free(mounts->v2);
	free(mounts->v1);
	*mounts = (struct cgroup_mounts){ 0 };
}

/* All mounts of a hierarchy have its device number. */
const char *cgroup_mounts_v1_controller(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !read_mounts())
		return NULL;
	for (size_t i = 0; i < array_len(v1_controllers); i++) {
		_cleanup_free_ char *known = v1_mount_point(v1_controllers[i]);
		struct stat known_st;

		if (known && stat(known, &known_st) == 0 && known_st.st_dev == st.st_dev)
			return v1_controllers[i];
	}
	return NULL;
}

int cgroup_mounts_find_controller(const char *path, char **ret_controller)
{
	struct cgroup_mount_point row;

	if (!read_mounts() || find_row(is_row_at, path, &row) < 0)
		return -ENOENT;
	char *controller = strdup(row.name);
	if (!controller)
		return -ENOMEM;
	*ret_controller = controller;
	return 0;
}
