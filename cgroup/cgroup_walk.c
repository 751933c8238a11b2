/* SPDX-License-Identifier: Apache-2.0 */
/* libcgroup's walk takes a controller's name, not a directory, and follows the first mount that its
 * table has for the controller. It cannot walk v2 hierarchies without controllers and second
 * mounts, such as the host's inside a container; these are walked with readdir(3).
 *
 * libcgroup calls stat() for every control file to tell files from directories, and does not give
 * the inode number, which is the id, so that each directory is looked up once more. That takes 90
 * to 135 ms for 800 cgroups, where readdir(3) takes 11 ms. The walk is for the inventory at the
 * start, never for the time when samples arrive. */
#include "cgroup/cgroup_walk.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <fcntl.h>
#include <libcgroup.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

struct walk {
	struct strbuf path;
	int depth; /* of `path`; the root is 0 */
	cgroup_visit visit;
	void *data;
};

static int walk_children(int dir_fd, struct walk *walk);

/* Visits a directory and its children. A directory that no longer exists is skipped. */
static int walk_child(int parent_fd, const char *name, uint64_t id, struct walk *walk)
{
	size_t parent_len = walk->path.len;

	walk->depth++;
	strbuf_appendf(&walk->path, "/%s", name);
	int r = strbuf_error(&walk->path);
	if (r == 0)
		r = walk->visit(walk->path.data, id, walk->data);
	if (r == 0 && walk->depth < CGROUP_WALK_DEPTH_MAX) {
		int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0)
			r = walk_children(fd, walk);
	}
	walk->path.len = parent_len;
	walk->depth--;
	return r;
}

/* Takes over `dir_fd`. */
static int walk_children(int dir_fd, struct walk *walk)
{
	_cleanup_closedir_ DIR *dir = fdopendir(dir_fd);
	int r = 0;

	if (!dir) {
		close(dir_fd);
		return -ENOMEM;
	}
	for (const struct dirent *entry; r == 0 && (entry = readdir(dir));)
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			r = walk_child(dir_fd, entry->d_name, entry->d_ino, walk);
	return r;
}

static void walk_done(struct walk *walk)
{
	strbuf_done(&walk->path);
}

int cgroup_walk_directories(int root_fd, cgroup_visit visit, void *data)
{
	_cleanup_(walk_done) struct walk walk = {
		.path = strbuf_with_max((size_t)(CGROUP_WALK_DEPTH_MAX + 1) * (NAME_MAX + 1)),
		.visit = visit,
		.data = data,
	};
	struct stat st;

	if (fstat(root_fd, &st) < 0)
		return -errno;
	int r = visit("/", st.st_ino, data);
	if (r != 0)
		return r;
	int fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : walk_children(fd, &walk);
}

/* Visits a directory, given without leading slashes. A directory that no longer exists is
 * skipped. */
static int visit_directory(int root_fd, const char *relative, cgroup_visit visit, void *data)
{
	_cleanup_free_ char *path = NULL;
	struct stat st;

	if (fstatat(root_fd, *relative ? relative : ".", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (asprintf(&path, "/%s", relative) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return visit(path, st.st_ino, data);
}

/* Moves on by one file or directory. fts_read(3), which does it, sets errno when it fails, and at
 * the end sets it to 0. */
static int next_entry(void **handle, struct cgroup_file_info *info, int base_level, bool *is_end)
{
	errno = 0;
	*is_end = cgroup_walk_tree_next(CGROUP_WALK_DEPTH_MAX, handle, info, base_level) != 0;
	return *is_end ? -errno : 0;
}

int cgroup_walk_controller(const char *controller, int root_fd, cgroup_visit visit, void *data)
{
	struct cgroup_file_info info = { 0 };
	void *handle = NULL;
	int base_level = 0;
	bool is_end = false;

	int r = cgroup_walk_tree_begin(controller, "/", CGROUP_WALK_DEPTH_MAX, &handle, &info,
				       &base_level);
	if (r != 0)
		return -EIO;

	/* The first entry is the root. */
	size_t root_len = strlen(info.full_path);
	while (r == 0 && !is_end) {
		const char *below = info.full_path + root_len;

		if (info.type == CGROUP_FILE_TYPE_DIR)
			r = visit_directory(root_fd, below + strspn(below, "/"), visit, data);
		if (r == 0)
			r = next_entry(&handle, &info, base_level, &is_end);
	}
	cgroup_walk_tree_end(&handle);
	return r;
}
