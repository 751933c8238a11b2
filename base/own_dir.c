/* SPDX-License-Identifier: Apache-2.0 */
#include "base/own_dir.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_LINKS 40 /* as the kernel */

struct walk {
	enum own_dir_use use; /* of the last directory */
	enum own_dir_make make;
	struct strbuf *message; /* borrowed */
	int fd; /* owned; current directory, O_PATH */
	dev_t device; /* of `fd` */
	unsigned int nr_links;
	char where[PATH_MAX]; /* path of `fd` for messages; "" is "/" */
	char left[PATH_MAX]; /* rest of the path */
};

/* File that a name refers to. */
struct place {
	const char *name;
	int fd; /* O_PATH */
	struct stat st;
};

static void walk_done(struct walk *walk)
{
	cleanup_closep(&walk->fd);
}

static int tell_error(const struct walk *walk, const char *name, int error)
{
	strbuf_appendf(walk->message, "%s/%s: %s", walk->where, name, strerror(-error));
	return error;
}

static int refuse_owner(const struct walk *walk, const struct place *place, enum own_dir_use use)
{
	if (use == OWN_DIR_ON_WAY)
		strbuf_appendf(walk->message,
			       "%s/%s belongs to uid %u, who can replace its contents: use a "
			       "directory whose parents belong to root or to uid %u",
			       walk->where, place->name, place->st.st_uid, geteuid());
	else
		strbuf_appendf(walk->message,
			       "%s/%s belongs to uid %u, not to uid %u: remove it, or use a "
			       "private directory (mode 0700)",
			       walk->where, place->name, place->st.st_uid, geteuid());
	return -EPERM;
}

/* Returns whether it is the root of a mount. Before Linux 5.8, a mount of the same file system is
 * not recognised. */
static bool is_volume(const struct walk *walk, const struct place *place)
{
	struct statx more;

	if (statx(place->fd, "", AT_EMPTY_PATH, 0, &more) == 0 &&
	    (more.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT))
		return more.stx_attributes & STATX_ATTR_MOUNT_ROOT;
	return place->st.st_dev != walk->device && strcmp(place->name, "..") != 0;
}

/* Others may write to a sticky directory, where they cannot remove or rename our files, and to the
 * root of a volume, which Kubernetes creates writable. */
static bool is_private(const struct walk *walk, const struct place *place, enum own_dir_use use)
{
	if ((place->st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return true;
	if (use == OWN_DIR_ON_WAY && (place->st.st_mode & S_ISVTX))
		return true;
	return use != OWN_DIR_FOR_FILES && is_volume(walk, place);
}

static int judge(const struct walk *walk, const struct place *place, enum own_dir_use use)
{
	bool is_ours = place->st.st_uid == geteuid();
	unsigned int mode = place->st.st_mode & 07777;

	if (!is_ours && (place->st.st_uid != 0 || use == OWN_DIR_FOR_FILES))
		return refuse_owner(walk, place, use);
	if (!is_private(walk, place, use)) {
		strbuf_appendf(walk->message,
			       "other users may write to %s/%s (mode %04o): use a private "
			       "directory (mode 0700), or run chmod go-w on it",
			       walk->where, place->name, mode);
		return -EPERM;
	}
	if (use == OWN_DIR_FOR_FILES && (mode & S_IRWXU) != S_IRWXU) {
		strbuf_appendf(walk->message,
			       "%s/%s has mode %04o, which denies its owner some rights: run chmod "
			       "u+rwx on it",
			       walk->where, place->name, mode);
		return -EACCES;
	}
	return 0;
}

/* Skips slashes and names ".". */
static const char *skip_nothing(const char *path)
{
	for (;;) {
		path += strspn(path, "/");
		if (path[0] != '.' || (path[1] != '/' && path[1] != '\0'))
			return path;
		path++;
	}
}

/* Takes the next name from `left`. Returns its length, or 0 at the end. Errors: -ENAMETOOLONG. */
static int take_name(struct walk *walk, char ret_name[static NAME_MAX + 1])
{
	const char *name = skip_nothing(walk->left), *rest;
	size_t len = strcspn(name, "/");

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(ret_name, name, len);
	ret_name[len] = '\0';
	rest = skip_nothing(name + len);
	memmove(walk->left, rest, strlen(rest) + 1);
	return (int)len;
}

/* Returns the use of the current directory. */
static enum own_dir_use current_use(const struct walk *walk)
{
	return *skip_nothing(walk->left) == '\0' ? walk->use : OWN_DIR_ON_WAY;
}

static int go_to_root(struct walk *walk)
{
	struct place root = { "", open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), { 0 } };

	if (root.fd < 0)
		return -errno;
	cleanup_closep(&walk->fd);
	walk->fd = root.fd;
	walk->where[0] = '\0';
	if (fstat(root.fd, &root.st) < 0)
		return -errno;
	walk->device = root.st.st_dev;
	return judge(walk, &root, current_use(walk));
}

/* The owner of a symbolic link controls its target, so the owner must be root or us. */
static int check_link(const struct walk *walk, const struct place *place, bool is_directory_itself)
{
	if (place->st.st_uid != 0 && place->st.st_uid != geteuid())
		strbuf_appendf(walk->message,
			       "%s/%s is a symbolic link that belongs to uid %u: remove it, or use "
			       "another directory",
			       walk->where, place->name, place->st.st_uid);
	else if (is_directory_itself)
		strbuf_appendf(walk->message,
			       "%s/%s is a symbolic link: use the directory that it leads to",
			       walk->where, place->name);
	else
		return 0;
	return -EPERM;
}

/* Puts the target of a link before the rest of the path. */
static int follow_link(struct walk *walk, const struct place *place)
{
	char target[PATH_MAX];
	size_t left_len = strlen(walk->left);

	int r = check_link(walk, place, left_len == 0 && walk->use != OWN_DIR_ON_WAY);
	if (r < 0)
		return r;
	if (++walk->nr_links > MAX_LINKS)
		return tell_error(walk, place->name, -ELOOP);
	ssize_t len = readlinkat(place->fd, "", target, sizeof(target) - 1);
	if (len < 0)
		return tell_error(walk, place->name, -errno);
	if ((size_t)len + left_len + 2 > sizeof(walk->left))
		return tell_error(walk, place->name, -ENAMETOOLONG);
	memmove(walk->left + len + 1, walk->left, left_len + 1);
	memcpy(walk->left, target, (size_t)len);
	walk->left[len] = '/';
	return target[0] == '/' ? go_to_root(walk) : 0;
}

/* Moves on to a directory and takes over its descriptor. */
static void go_to(struct walk *walk, const struct place *place, int fd)
{
	size_t len = strlen(walk->where);

	cleanup_closep(&walk->fd);
	walk->fd = fd;
	walk->device = place->st.st_dev;
	snprintf(walk->where + len, sizeof(walk->where) - len, "/%s", place->name);
}

static bool may_make(const struct walk *walk)
{
	return walk->make == OWN_DIR_MAKE_ALL ||
	       (walk->make == OWN_DIR_MAKE_LAST && walk->left[0] == '\0');
}

static int open_name(const struct walk *walk, const char *name)
{
	int fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && may_make(walk)) {
		if (mkdirat(walk->fd, name, walk->left[0] == '\0' ? 0700 : 0755) < 0 &&
		    errno != EEXIST)
			return -errno;
		fd = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

/* Walks to the name that was taken from `left`. */
static int step(struct walk *walk, const char *name)
{
	_cleanup_close_ int fd = open_name(walk, name);
	struct place place = { name, fd, { 0 } };

	if (fd < 0)
		return fd == -ENOENT ? fd : tell_error(walk, name, fd);
	if (fstat(fd, &place.st) < 0)
		return tell_error(walk, name, -errno);
	if (S_ISLNK(place.st.st_mode))
		return follow_link(walk, &place);
	if (!S_ISDIR(place.st.st_mode))
		return tell_error(walk, name, -ENOTDIR);
	int r = judge(walk, &place, current_use(walk));
	if (r == 0)
		go_to(walk, &place, take_fd(fd));
	return r;
}

/* Relative paths begin in the working directory, whose own path is checked as well. */
static int begin(struct walk *walk, const char *path)
{
	size_t len = 0;

	if (path[0] == '\0')
		return -ENOENT;
	if (path[0] != '/') {
		if (!getcwd(walk->left, sizeof(walk->left) - 1))
			return -errno;
		len = strlen(walk->left);
		walk->left[len++] = '/';
	}
	if (strlen(path) >= sizeof(walk->left) - len)
		return -ENAMETOOLONG;
	memcpy(walk->left + len, path, strlen(path) + 1);
	return 0;
}

/* Returns 1, or 0 and the name of a missing directory that must not be created. Failures have a
 * message. */
static int walk_path(struct walk *walk, const char *path, char ret_missing[static NAME_MAX + 1])
{
	int r = begin(walk, path);

	if (r < 0) {
		strbuf_appendf(walk->message, "%s: %s", path, strerror(-r));
		return r;
	}
	r = go_to_root(walk);
	while (r == 0) {
		r = take_name(walk, ret_missing);
		if (r < 0)
			return tell_error(walk, "...", r);
		if (r == 0)
			return 1;
		r = step(walk, ret_missing);
	}
	return r == -ENOENT ? 0 : r;
}

static int open_for_reading(const struct walk *walk)
{
	int fd = openat(walk->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	int r = -errno;
	strbuf_appendf(walk->message, "%s: %s", walk->where, strerror(-r));
	return r;
}

int own_dir_open(const char *path, enum own_dir_use use, enum own_dir_make make,
		 struct strbuf *reterr_msg, int *ret_fd)
{
	_cleanup_(walk_done) struct walk walk = {
		.use = use, .make = make, .message = reterr_msg, .fd = -EBADF
	};
	char missing[NAME_MAX + 1];

	int r = walk_path(&walk, path, missing);
	if (r < 0)
		return r;
	if (r == 0)
		return tell_error(&walk, missing, -ENOENT);
	r = open_for_reading(&walk);
	if (r < 0)
		return r;
	*ret_fd = r;
	return 0;
}

int own_dir_look(const char *path, enum own_dir_use use, struct strbuf *reterr_msg, int *ret_fd)
{
	_cleanup_(walk_done) struct walk walk = { .use = use, .message = reterr_msg, .fd = -EBADF };
	char missing[NAME_MAX + 1];

	int r = walk_path(&walk, path, missing);
	if (r >= 0)
		*ret_fd = take_fd(walk.fd);
	return r;
}

int own_dir_check_parent(const char *path, struct strbuf *reterr_msg)
{
	_cleanup_free_ char *copy = strdup(path);
	_cleanup_close_ int fd = -EBADF;

	if (!copy)
		return -ENOMEM;
	char *slash = strrchr(copy, '/');
	if (slash)
		slash[slash == copy] = '\0';
	int r = own_dir_look(slash ? copy : ".", OWN_DIR_ON_WAY, reterr_msg, &fd);
	return r < 0 ? r : 0;
}
