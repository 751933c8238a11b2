/* SPDX-License-Identifier: Apache-2.0 */
/* Each name on the way is held open with O_PATH, and the next one is looked up in it, so that
 * renaming directories meanwhile cannot lead the walk outside. ".." goes back to the previous
 * descriptor. The target of a symbolic link is put before the rest of the path.
 *
 *	a/link/c, link -> ../b     fds: root, a     path: ../b/c
 *	                           fds: root        path: b/c */
#include "base/resolve.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#define DEPTH_MAX 64
#define LINKS_MAX 40 /* as the kernel's */
#define FDINFO_MAX_BYTES ((size_t)64 << 10)
#define PROC_PATH_BYTES 40

struct walk {
	uint64_t resolve;
	uint64_t mount_id; /* of the first directory; with RESOLVE_NO_XDEV */
	int fds[DEPTH_MAX]; /* directories on the way; the first one is borrowed */
	size_t nr_fds;
	size_t nr_links;
	const char *rest; /* rest of `path` */
	char path[PATH_MAX];
};

int resolve_mount_id(int fd, uint64_t *ret_id)
{
	static const char key[] = "\nmnt_id:\t";
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(FDINFO_MAX_BYTES);
	char path[PROC_PATH_BYTES];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	int r = file_read_at(AT_FDCWD, path, &text);
	if (r < 0)
		return r;
	const char *found = strstr(strbuf_str(&text), key);
	if (!found)
		return -EOPNOTSUPP;
	found += strlen(key);
	return parse_digits(&found, strbuf_str(&text) + text.len, 10, ret_id) < 0 ? -EOPNOTSUPP : 0;
}

/* On kernels without statx(2) the C library emulates the call, but refuses AT_STATX_DONT_SYNC. */
int resolve_look_at(int fd, unsigned int mask, struct statx *ret_st)
{
	struct statx st;

	int r = statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, mask, &st);
	if (r < 0 && (errno == EINVAL || errno == ENOSYS))
		r = statx(fd, "", AT_EMPTY_PATH, mask & STATX_BASIC_STATS, &st);
	if (r < 0)
		return -errno;
	*ret_st = st;
	return 0;
}

static int go_back_to(struct walk *walk, size_t nr_fds)
{
	while (walk->nr_fds > nr_fds)
		close(walk->fds[--walk->nr_fds]);
	return 0;
}

static void walk_free(struct walk *walk)
{
	if (walk)
		go_back_to(walk, 1);
	free(walk);
}
DEFINE_FREEP(struct walk, walk_free)

static int top_of(const struct walk *walk)
{
	return walk->fds[walk->nr_fds - 1];
}

static int go_to_root(struct walk *walk)
{
	return walk->resolve & RESOLVE_IN_ROOT ? go_back_to(walk, 1) : -EXDEV;
}

static int go_up(struct walk *walk)
{
	return walk->nr_fds > 1 ? go_back_to(walk, walk->nr_fds - 1) : go_to_root(walk);
}

static int follow_link(struct walk *walk, const char *target, size_t len)
{
	char path[PATH_MAX];

	if (walk->resolve & RESOLVE_NO_SYMLINKS || ++walk->nr_links > LINKS_MAX)
		return -ELOOP;
	int n = snprintf(path, sizeof(path), "%.*s/%s", (int)len, target, walk->rest);
	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(walk->path, path, (size_t)n + 1);
	walk->rest = walk->path;
	return path[0] == '/' ? go_to_root(walk) : 0;
}

/* Refuses another mount before anything in it is accessed. */
static int check_mount(const struct walk *walk, int fd)
{
	uint64_t mount_id;

	if (!(walk->resolve & RESOLVE_NO_XDEV))
		return 0;
	int r = resolve_mount_id(fd, &mount_id);
	if (r < 0)
		return r;
	return mount_id == walk->mount_id ? 0 : -EXDEV;
}

static int enter(struct walk *walk, const char *name)
{
	char target[PATH_MAX];

	_cleanup_close_ int fd = openat(top_of(walk), name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	int r = check_mount(walk, fd);
	if (r < 0)
		return r;
	ssize_t len = readlinkat(fd, "", target, sizeof(target));
	if (len >= 0)
		return follow_link(walk, target, (size_t)len);
	if (walk->nr_fds == DEPTH_MAX)
		return -ENAMETOOLONG;
	walk->fds[walk->nr_fds++] = take_fd(fd);
	return 0;
}

/* Takes the next name off the rest of the path. */
static int step(struct walk *walk)
{
	size_t len = strcspn(walk->rest, "/");
	char name[NAME_MAX + 1];

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, walk->rest, len);
	name[len] = '\0';
	walk->rest += len;
	walk->rest += strspn(walk->rest, "/");
	if (len == 0 || strcmp(name, ".") == 0)
		return 0;
	return strcmp(name, "..") == 0 ? go_up(walk) : enter(walk, name);
}

static int open_top(const struct walk *walk, uint64_t flags)
{
	char path[PROC_PATH_BYTES];
	int fd;

	if (!(flags & O_PATH)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", top_of(walk));
		fd = open(path, (int)flags | O_CLOEXEC);
	} else if (flags & O_DIRECTORY) {
		fd = openat(top_of(walk), ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	} else {
		fd = fcntl(top_of(walk), F_DUPFD_CLOEXEC, 0);
	}
	return fd < 0 ? -errno : fd;
}

static int begin(struct walk *walk, int dir_fd, const char *path)
{
	size_t len = strlen(path);

	if (len == 0)
		return -ENOENT;
	if (len >= sizeof(walk->path))
		return -ENAMETOOLONG;
	walk->fds[walk->nr_fds++] = dir_fd;
	memcpy(walk->path, path, len + 1);
	walk->rest = walk->path + strspn(walk->path, "/");
	if (path[0] == '/' && !(walk->resolve & RESOLVE_IN_ROOT))
		return -EXDEV;
	return walk->resolve & RESOLVE_NO_XDEV ? resolve_mount_id(dir_fd, &walk->mount_id) : 0;
}

static int walk_and_open(int dir_fd, const char *path, uint64_t flags, uint64_t resolve)
{
	_cleanup_(walk_freep) struct walk *walk = calloc(1, sizeof(*walk));

	if (!walk)
		return -ENOMEM;
	walk->resolve = resolve;
	int r = begin(walk, dir_fd, path);
	while (r == 0 && *walk->rest)
		r = step(walk);
	return r < 0 ? r : open_top(walk, flags);
}

/* A container runtime whose seccomp profile does not know the call refuses it with EPERM, which the
 * call itself never returns. */
int resolve_open(int dir_fd, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags | O_CLOEXEC, .resolve = resolve };
	long fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));

	if (fd >= 0)
		return (int)fd;
	if (errno != ENOSYS && errno != EPERM)
		return -errno;
	if (resolve & RESOLVE_CACHED)
		return -EOPNOTSUPP;
	return walk_and_open(dir_fd, path, flags, resolve);
}

int resolve_error(int error)
{
	switch (error) {
	case ENOENT:
	case ENOTDIR:
		return -ENOENT;
	case ESRCH:
		return -ESRCH;
	case EACCES:
	case EPERM:
		return -EPERM;
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return -ENOSPC;
	case EAGAIN:
		return -EAGAIN;
	default:
		return -EOPNOTSUPP;
	}
}
