/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the mounted hierarchy whose ids identify samples. Whether containers are in a hybrid
 * host's v2 hierarchy depends on their runtime (runc since 1.1). If there are containers in v1 and
 * none in v2, the ids of v2 are useless. */
#include "cgroup/cgroup_fs.h"

#include "base/fileio.h"
#include "base/strview.h"
#include "cgroup/cgroup_mounts.h"
#include "cgroup/cgroup_path.h"
#include "cgroup/proc_cgroup.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define CONTROLLERS_MAX_BYTES 65536
#define OWN_CGROUPS_MAX_BYTES 65536
#define HANDLE_TYPE_KERNFS 0xfe /* FILEID_KERNFS of the kernel's exportfs.h */

struct cgroup_fs {
	enum cgroup_mode mode;
	const char *controller; /* "memory", "cpu" or "" */
	char *root; /* owned; as the kernel spells it */
	int root_fd;
	char *walked_as; /* owned; libcgroup's name for what is mounted at the root; NULL: none */
};

static int read_link_of_fd(int fd, char target[static PATH_MAX])
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(link, target, PATH_MAX - 1);
	if (len < 0)
		return -errno;
	target[len] = '\0';
	return 0;
}

static int open_root(const char *path, struct cgroup_fs *fs)
{
	char target[PATH_MAX];

	_cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = read_link_of_fd(fd, target);
	if (r < 0)
		return r;
	fs->root = strdup(target);
	if (!fs->root)
		return -ENOMEM;
	fs->root_fd = take_fd(fd);
	r = cgroup_mounts_find_controller(fs->root, &fs->walked_as);
	return r == -ENOENT ? 0 : r;
}

static void close_root(struct cgroup_fs *fs)
{
	free(fs->walked_as);
	free(fs->root);
	if (fs->root_fd >= 0)
		close(fs->root_fd);
}

int cgroup_fs_walk(const struct cgroup_fs *fs, cgroup_visit visit, void *data)
{
	if (fs->walked_as)
		return cgroup_walk_controller(fs->walked_as, fs->root_fd, visit, data);
	return cgroup_walk_directories(fs->root_fd, visit, data);
}

static int is_container(const char *path, uint64_t id, void *data)
{
	struct cgroup_owner owner;

	(void)id;
	(void)data;
	cgroup_path_parse(path, &owner);
	return owner.kind != CGROUP_HOST;
}

static bool has_containers(const char *root)
{
	struct cgroup_fs fs = { .root_fd = -EBADF };
	bool has = open_root(root, &fs) == 0 && cgroup_fs_walk(&fs, is_container, NULL) == 1;

	close_root(&fs);
	return has;
}

static int open_v2(const char *root, bool has_v1, struct cgroup_fs *fs)
{
	fs->mode = has_v1 ? CGROUP_MODE_HYBRID : CGROUP_MODE_UNIFIED;
	fs->controller = "";
	return open_root(root, fs);
}

static int open_v1(const char *root, const char *controller, struct cgroup_fs *fs)
{
	fs->mode = CGROUP_MODE_LEGACY;
	fs->controller = controller;
	return open_root(root, fs);
}

static int open_best(const struct cgroup_mounts *mounts, struct cgroup_fs *fs)
{
	if (!mounts->v2 && !mounts->v1)
		return -ENOENT;
	if (!mounts->v2)
		return open_v1(mounts->v1, mounts->controller, fs);
	if (mounts->v1 && !has_containers(mounts->v2) && has_containers(mounts->v1))
		return open_v1(mounts->v1, mounts->controller, fs);
	return open_v2(mounts->v2, mounts->v1 != NULL, fs);
}

/* Opens a v1 hierarchy that may be mounted somewhere else too. */
static int open_named_v1(const char *root, struct cgroup_fs *fs)
{
	const char *controller = cgroup_mounts_v1_controller(root);

	return controller ? open_v1(root, controller, fs) : -ENOENT;
}

static int open_any(const char *root, struct cgroup_fs *fs)
{
	_cleanup_(cgroup_mounts_done) struct cgroup_mounts mounts = { 0 };

	if (root && cgroup_mounts_is_v1(root))
		return open_named_v1(root, fs);
	if (root && cgroup_mounts_is_v2(root)) {
		cgroup_mounts_find(&mounts);
		return open_v2(root, mounts.v1 != NULL, fs);
	}
	if (root)
		cgroup_mounts_find_below(root, &mounts);
	else
		cgroup_mounts_find(&mounts);
	return open_best(&mounts, fs);
}

int cgroup_fs_open(const char *root, struct cgroup_fs **ret_fs)
{
	_cleanup_(cgroup_fs_closep) struct cgroup_fs *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return -ENOMEM;
	fs->root_fd = -EBADF;

	int r = open_any(root, fs);
	if (r < 0)
		return r;
	*ret_fs = take_ptr(fs);
	return 0;
}

void cgroup_fs_close(struct cgroup_fs *fs)
{
	if (!fs)
		return;
	close_root(fs);
	free(fs);
}

enum cgroup_mode cgroup_fs_mode(const struct cgroup_fs *fs)
{
	return fs->mode;
}

const char *cgroup_mode_name(enum cgroup_mode mode)
{
	static const char *const names[] = {
		[CGROUP_MODE_UNIFIED] = "unified",
		[CGROUP_MODE_HYBRID] = "hybrid",
		[CGROUP_MODE_LEGACY] = "legacy",
	};

	return names[mode];
}

const char *cgroup_fs_controller(const struct cgroup_fs *fs)
{
	return fs->controller;
}

/* Finds the hierarchy of a controller in /proc/cgroups: "memory\t9\t120\t1". */
static uint32_t find_hierarchy(const char *controllers, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = controllers; line; line = strchr(line, '\n')) {
		uint32_t hierarchy;

		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && line[len] == '\t' &&
		    sscanf(line + len, "%" SCNu32, &hierarchy) == 1)
			return hierarchy;
	}
	return 0;
}

uint32_t cgroup_fs_hierarchy(const struct cgroup_fs *fs)
{
	_cleanup_(strbuf_done) struct strbuf controllers = strbuf_with_max(CONTROLLERS_MAX_BYTES);

	if (fs->mode != CGROUP_MODE_LEGACY ||
	    file_read_at(AT_FDCWD, "/proc/cgroups", &controllers) < 0)
		return 0;
	return find_hierarchy(strbuf_str(&controllers), fs->controller);
}

/* A v1 hierarchy may have several controllers, which our own process's line lists:
 * "4:cpu,cpuacct:/system.slice". */
void cgroup_fs_append_line_start(const struct cgroup_fs *fs, struct strbuf *text)
{
	_cleanup_(strbuf_done) struct strbuf lines = strbuf_with_max(OWN_CGROUPS_MAX_BYTES);
	uint32_t hierarchy = cgroup_fs_hierarchy(fs);
	const char *path;
	size_t len;

	if (hierarchy == 0 || file_read_at(AT_FDCWD, "/proc/self/cgroup", &lines) < 0 ||
	    proc_cgroup_find(lines.data, lines.len, hierarchy, &path, &len) < 0) {
		strbuf_appendf(text, "%" PRIu32 ":%s:", hierarchy, fs->controller);
		return;
	}
	struct strview before = { lines.data, (size_t)(path - lines.data) };
	struct strview line_start = strview_behind_last(before, '\n');
	strbuf_append(text, line_start.text, line_start.len);
}

const char *cgroup_fs_root(const struct cgroup_fs *fs)
{
	return fs->root;
}

/* Appends the part of a directory's path after the root's. */
static int append_relative(const char *root, const char *target, struct strbuf *path)
{
	size_t root_len = strlen(root);

	if (strview_ends_with(strview_of(target, PATH_MAX), " (deleted)"))
		return -ESTALE;
	if (strncmp(target, root, root_len) != 0)
		return -ENOENT;
	if (target[root_len] != '/' && target[root_len] != '\0')
		return -ENOENT;
	strbuf_append_str(path, target[root_len] ? target + root_len : "/");
	return strbuf_error(path);
}

int cgroup_fs_path(const struct cgroup_fs *fs, uint64_t id, struct strbuf *path)
{
	_Alignas(struct file_handle) char memory[sizeof(struct file_handle) + sizeof(id)];
	struct file_handle *handle = (struct file_handle *)memory;
	char target[PATH_MAX];

	handle->handle_bytes = sizeof(id);
	handle->handle_type = HANDLE_TYPE_KERNFS;
	memcpy(handle->f_handle, &id, sizeof(id));

	_cleanup_close_ int fd = open_by_handle_at(fs->root_fd, handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = read_link_of_fd(fd, target);
	return r < 0 ? r : append_relative(fs->root, target, path);
}

int cgroup_fs_id(const struct cgroup_fs *fs, const char *path, uint64_t *ret_id)
{
	const char *relative = path + strspn(path, "/");
	struct stat root;
	struct stat st;

	if (fstat(fs->root_fd, &root) < 0)
		return -errno;
	if (fstatat(fs->root_fd, *relative ? relative : ".", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;

	/* "..", which may lead out of the mount, and a control file are no cgroups. */
	if (st.st_dev != root.st_dev || !S_ISDIR(st.st_mode))
		return -ENOENT;
	*ret_id = st.st_ino;
	return 0;
}
