/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows libcgroup, which says where the v1 controllers are mounted. Two things
 * it cannot do (2.0.2): name the v2 mount when v1 has all the controllers, the usual hybrid mode,
 * so that one is read from the mount table; and walk a mount other than a hierarchy's first, as the
 * host's is inside a container. The walk here also never stats a control file: a directory's inode
 * number, which is the id, stands in its parent.
 *
 * Whether containers are in a hybrid host's v2 hierarchy depends on their runtime (runc since 1.1).
 * It is looked up: containers in v1 and none in v2 mean that v2 ids would tell nothing. */
#include "k8s/cgroup_fs.h"

#include "k8s/cgroup_path.h"

#include <fcntl.h>
#include <libcgroup.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define HANDLE_TYPE_KERNFS 0xfe /* FILEID_KERNFS of the kernel's exportfs.h */
#define MOUNT_LINE_MAX 8192

static const char *const v1_controllers[] = { "memory", "cpu" };

struct cgroup_fs {
	enum cgroup_mode mode;
	const char *controller; /* one of v1_controllers, or "" */
	char *root; /* owned; as the kernel spells it */
	int root_fd;
};

/* Hierarchies to choose from. */
struct mounts {
	char *v2; /* owned; NULL: none */
	char *v1; /* owned; NULL: none */
	const char *controller; /* of v1 */
};

static void mounts_done(struct mounts *mounts)
{
	free(mounts->v2);
	free(mounts->v1);
}

static bool is_fs_type(const char *path, long type)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && (long)fs.f_type == type;
}

/* Mount point of a v1 controller, or NULL; the caller's to free. */
static char *v1_mount_point(const char *controller)
{
	char *path = NULL;

	if (cgroup_init() != 0 || cgroup_get_subsys_mount_point(controller, &path) != 0)
		return NULL;
	if (is_fs_type(path, CGROUP_SUPER_MAGIC))
		return path;
	free(path);
	return NULL;
}

/* The first v2 mount, or NULL; the caller's to free. */
static char *v2_mount_point(void)
{
	char line[MOUNT_LINE_MAX];
	struct mntent entry;
	char *path = NULL;

	FILE *table = setmntent("/proc/self/mounts", "re");
	if (!table)
		return NULL;
	while (!path && getmntent_r(table, &entry, line, sizeof(line)))
		if (strcmp(entry.mnt_type, "cgroup2") == 0)
			path = strdup(entry.mnt_dir);
	endmntent(table);
	return path;
}

static void find_mounts(struct mounts *mounts)
{
	mounts->v2 = v2_mount_point();
	for (size_t i = 0; !mounts->v1 && i < array_len(v1_controllers); i++) {
		mounts->controller = v1_controllers[i];
		mounts->v1 = v1_mount_point(v1_controllers[i]);
	}
}

/* The directory below `root` when it is of that file system, or NULL; the caller's to free. */
static char *mount_below(const char *root, const char *name, long type)
{
	char *path = NULL;

	if (asprintf(&path, "%s/%s", root, name) < 0)
		return NULL;
	if (is_fs_type(path, type))
		return path;
	free(path);
	return NULL;
}

/* As find_mounts(), in a directory laid out like /sys/fs/cgroup of a v1 host. */
static void find_mounts_below(const char *root, struct mounts *mounts)
{
	mounts->v2 = mount_below(root, "unified", CGROUP2_SUPER_MAGIC);
	for (size_t i = 0; !mounts->v1 && i < array_len(v1_controllers); i++) {
		mounts->controller = v1_controllers[i];
		mounts->v1 = mount_below(root, v1_controllers[i], CGROUP_SUPER_MAGIC);
	}
}

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
	return 0;
}

static void close_root(struct cgroup_fs *fs)
{
	free(fs->root);
	if (fs->root_fd >= 0)
		close(fs->root_fd);
}

struct walk {
	struct strbuf path;
	int depth;
	int (*visit)(const char *path, uint64_t id, void *data);
	void *data;
};

static int walk_children(int dir_fd, struct walk *walk);

/* Visits a directory and what is below it. One that is gone by now is none. */
static int walk_child(int parent_fd, const char *name, uint64_t id, struct walk *walk)
{
	size_t parent_len = walk->path.len;

	strbuf_appendf(&walk->path, "/%s", name);
	int r = strbuf_error(&walk->path);
	if (r == 0)
		r = walk->visit(walk->path.data, id, walk->data);
	if (r == 0 && walk->depth < CGROUP_WALK_DEPTH_MAX) {
		int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		walk->depth++;
		if (fd >= 0)
			r = walk_children(fd, walk);
		walk->depth--;
	}
	walk->path.len = parent_len;
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

int cgroup_fs_walk(const struct cgroup_fs *fs,
		   int (*visit)(const char *path, uint64_t id, void *data), void *data)
{
	_cleanup_(walk_done) struct walk walk = {
		.path = strbuf_with_max((size_t)(CGROUP_WALK_DEPTH_MAX + 1) * (NAME_MAX + 1)),
		.visit = visit,
		.data = data,
	};
	uint64_t root_id;

	int r = cgroup_fs_id(fs, "/", &root_id);
	if (r == 0)
		r = visit("/", root_id, data);
	if (r != 0)
		return r;
	int fd = openat(fs->root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : walk_children(fd, &walk);
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

static int open_best(const struct mounts *mounts, struct cgroup_fs *fs)
{
	if (!mounts->v2 && !mounts->v1)
		return -ENOENT;
	if (!mounts->v2)
		return open_v1(mounts->v1, mounts->controller, fs);
	if (mounts->v1 && !has_containers(mounts->v2) && has_containers(mounts->v1))
		return open_v1(mounts->v1, mounts->controller, fs);
	return open_v2(mounts->v2, mounts->v1 != NULL, fs);
}

/* Opens a v1 hierarchy that was mounted somewhere else; the device tells which one it is. */
static int open_named_v1(const char *root, struct cgroup_fs *fs)
{
	struct stat named;
	struct stat known;

	if (stat(root, &named) < 0)
		return -errno;
	for (size_t i = 0; i < array_len(v1_controllers); i++) {
		_cleanup_free_ char *path = v1_mount_point(v1_controllers[i]);

		if (path && stat(path, &known) == 0 && known.st_dev == named.st_dev)
			return open_v1(root, v1_controllers[i], fs);
	}
	return -ENOENT;
}

static int open_any(const char *root, struct cgroup_fs *fs)
{
	_cleanup_(mounts_done) struct mounts mounts = { 0 };

	if (root && is_fs_type(root, CGROUP_SUPER_MAGIC))
		return open_named_v1(root, fs);
	if (root && is_fs_type(root, CGROUP2_SUPER_MAGIC)) {
		find_mounts(&mounts);
		return open_v2(root, mounts.v1 != NULL, fs);
	}
	if (root)
		find_mounts_below(root, &mounts);
	else
		find_mounts(&mounts);
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

const char *cgroup_fs_root(const struct cgroup_fs *fs)
{
	return fs->root;
}

/* Appends what the kernel's name for a directory has behind the root's. */
static int append_relative(const char *root, const char *target, struct strbuf *path)
{
	static const char deleted[] = " (deleted)";
	size_t root_len = strlen(root);
	size_t len = strlen(target);

	if (len > strlen(deleted) && strcmp(target + len - strlen(deleted), deleted) == 0)
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
