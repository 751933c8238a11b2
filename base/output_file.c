/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output_file.h"

#include "base/cleanup.h"
#include "base/fileio.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#define MAX_LINKS 40 /* as the kernel */

/* The file that a path leads to. */
struct target {
	char path[PATH_MAX]; /* after all links, or the first link that must not be followed */
	struct stat st; /* of that file; st_mode is 0 if it does not exist */
	bool is_descriptor; /* a link of /proc to an open file of a process */
};

static bool is_trusted(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static bool is_on_proc(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Replaces the path of a link by its target. */
static int follow(struct target *target, int link_fd)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(link_fd, "", text, sizeof(text) - 1);
	const char *slash = strrchr(target->path, '/');
	size_t dir_len = 0;

	if (len < 0)
		return -errno;
	if (text[0] != '/' && slash)
		dir_len = (size_t)(slash - target->path) + 1;
	if (dir_len + (size_t)len >= sizeof(target->path))
		return -ENAMETOOLONG;
	memcpy(target->path + dir_len, text, (size_t)len);
	target->path[dir_len + (size_t)len] = '\0';
	return 0;
}

/* Examines the path. Returns 1 if it was a link and was followed. */
static int look(struct target *target)
{
	_cleanup_close_ int fd = open(target->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	target->st = (struct stat){ 0 };
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &target->st) < 0)
		return -errno;
	if (!S_ISLNK(target->st.st_mode))
		return 0;
	if (!is_trusted(&target->st))
		return -EPERM;
	if (is_on_proc(fd)) {
		target->is_descriptor = true;
		return stat(target->path, &target->st) < 0 ? -errno : 0;
	}
	int r = follow(target, fd);
	return r < 0 ? r : 1;
}

static int find_target(const char *path, struct target *target)
{
	int r = 1;

	if (strlen(path) >= sizeof(target->path))
		return -ENAMETOOLONG;
	memcpy(target->path, path, strlen(path) + 1);
	target->is_descriptor = false;
	for (unsigned int i = 0; i <= MAX_LINKS && r == 1; i++)
		r = look(target);
	return r == 1 ? -ELOOP : r;
}

/* Returns whether the file must be written in place. */
static int judge(const struct target *target)
{
	mode_t mode = target->st.st_mode;

	if (mode == 0 || S_ISREG(mode))
		return target->is_descriptor;
	if (S_ISDIR(mode))
		return -EISDIR;
	if (!S_ISFIFO(mode) && !S_ISCHR(mode))
		return -EPERM;
	return target->is_descriptor || is_trusted(&target->st) ? 1 : -EPERM;
}

/* The opened file must be the one that was examined. */
static int write_in_place(const struct target *target, const void *data, size_t len)
{
	int flags = O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
		    (target->is_descriptor ? 0 : O_NOFOLLOW);
	_cleanup_close_ int fd = open(target->path, flags);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_dev != target->st.st_dev || st.st_ino != target->st.st_ino)
		return -EAGAIN;
	return fd_write_within(fd, data, len, OUTPUT_FILE_IDLE_MS);
}

static int check_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *parent = slash ? strndup(path, (size_t)(slash - path) + 1)
					    : strdup(".");

	if (!parent)
		return -ENOMEM;
	return access(parent, W_OK | X_OK) < 0 ? -errno : 0;
}

int output_file_check(const char *path)
{
	struct target target;

	int r = find_target(path, &target);
	if (r == 0)
		r = judge(&target);
	if (r < 0)
		return r;
	if (target.st.st_mode != 0 && access(path, W_OK) < 0)
		return -errno;
	return r > 0 ? 0 : check_directory(path);
}

int output_file_write(const char *path, const void *data, size_t len)
{
	struct target target;

	int r = find_target(path, &target);
	if (r == 0)
		r = judge(&target);
	if (r > 0)
		return write_in_place(&target, data, len);
	return r < 0 ? r : file_write_atomic(path, data, len);
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFLNK:
		return "symbolic link";
	case S_IFIFO:
		return "FIFO";
	case S_IFCHR:
		return "device";
	case S_IFBLK:
		return "block device";
	default:
		return "socket";
	}
}

static void explain_refusal(const char *path, int error, struct strbuf *message)
{
	struct target target;

	int r = find_target(path, &target);
	if (r == 0)
		r = judge(&target);
	if (r != -EPERM) { /* another part refused it */
		strbuf_append_str(message, strerror(-error));
		return;
	}
	strbuf_appendf(message, "%s is a %s", target.path, kind_of(target.st.st_mode));
	if (!is_trusted(&target.st))
		strbuf_appendf(message, " that belongs to uid %u, not to uid %u", target.st.st_uid,
			       geteuid());
	strbuf_append_str(message, ": remove it, or write to another file");
}

void output_file_explain(const char *path, int error, struct strbuf *message)
{
	switch (error) {
	case -EPERM:
		explain_refusal(path, error, message);
		break;
	case -EEXIST:
		strbuf_append_str(message,
				  "its temporary file cannot be created because another user has a "
				  "file of that name: choose another directory");
		break;
	case -ENXIO:
		strbuf_append_str(message, "no program reads this FIFO: start the reader first");
		break;
	case -ETIMEDOUT:
		strbuf_appendf(message, "the program that reads it has not read for %d s",
			       OUTPUT_FILE_IDLE_MS / 1000);
		break;
	case -EBADF:
		strbuf_append_str(message, "standard output is closed");
		break;
	case -EINTR:
		strbuf_append_str(message,
				  "a signal ended the program before everything was written");
		break;
	case -EAGAIN:
		strbuf_append_str(message, "the file was replaced while it was being opened");
		break;
	default:
		strbuf_append_str(message, strerror(-error));
	}
}
