/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fileio.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>

#define READ_CHUNK_BYTES 16384

ssize_t fd_read(int fd, void *data, size_t len)
{
	ssize_t n;

	do
		n = read(fd, data, len);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int file_read_at(int dir_fd, const char *path, struct strbuf *buf)
{
	char chunk[READ_CHUNK_BYTES];

	_cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n = fd_read(fd, chunk, sizeof(chunk));

		if (n < 0)
			return (int)n;
		if (n == 0)
			return strbuf_error(buf);
		strbuf_append(buf, chunk, (size_t)n);
		if (strbuf_error(buf) < 0)
			return strbuf_error(buf);
	}
}

int fd_write_all(int fd, const void *data, size_t len)
{
	const char *from = data;

	while (len > 0) {
		ssize_t n = write(fd, from, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A pipe that poll() reports as ready takes PIPE_BUF bytes without blocking. */
static ssize_t write_some(int fd, const char *from, size_t len)
{
	ssize_t n = write(fd, from, len < PIPE_BUF ? len : PIPE_BUF);

	return n < 0 ? -errno : n;
}

int fd_write_within(int fd, const void *data, size_t len, int idle_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };
	const char *from = data;

	while (len > 0) {
		int nr_ready = poll(&ready, 1, idle_ms);

		if (nr_ready <= 0)
			return nr_ready < 0 ? -errno : -ETIMEDOUT;
		ssize_t n = write_some(fd, from, len);
		if (n == -EAGAIN)
			continue;
		if (n < 0)
			return (int)n;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Fills and closes the temporary file; close() can be the call that reports a full disk. */
static int write_and_close(int fd, const struct file_content *content)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < FILE_MAX_PARTS; i++)
		r = fd_write_all(fd, content->parts[i].data, content->parts[i].len);
	if (r == 0 && content->is_synced && fdatasync(fd) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

int file_replace_at(int dir_fd, const struct file_content *content)
{
	int fd = openat(dir_fd, content->temp_name,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, content->mode);

	if (fd < 0)
		return -errno;

	int r = write_and_close(fd, content);
	if (r == 0 && renameat(dir_fd, content->temp_name, dir_fd, content->name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir_fd, content->temp_name, 0);
	return r;
}

/* The directory of a path, held open so that the name is looked up in the same one each time. */
static int open_parent(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *parent = slash ? strndup(path, (size_t)(slash - path) + 1)
					    : strdup(".");

	if (!parent)
		return -ENOMEM;
	int fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_name = slash ? slash + 1 : path;
	return fd;
}

static int check_replaceable(int dir_fd, const char *name)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) || S_ISLNK(st.st_mode) ? 0 : -EEXIST;
}

int file_write_atomic(const char *path, const void *data, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf temp = strbuf_with_max(4096);
	const char *name = path;
	_cleanup_close_ int dir_fd = open_parent(path, &name);

	int r = dir_fd < 0 ? dir_fd : check_replaceable(dir_fd, name);
	if (r < 0)
		return r;
	strbuf_appendf(&temp, "%s.tmp.%d", name, getpid());
	if (strbuf_error(&temp) < 0)
		return -ENAMETOOLONG;
	/* A killed process with our pid may have left it: in a container the pid is always the
	 * same. */
	unlinkat(dir_fd, temp.data, 0);

	const struct file_content content = {
		.name = name,
		.temp_name = temp.data,
		.mode = 0644,
		.is_synced = true,
		.parts = { { data, len } },
	};
	return file_replace_at(dir_fd, &content);
}

int fd_read_all(int fd, void *data, size_t len)
{
	char *to = data;

	while (len > 0) {
		ssize_t n = fd_read(fd, to, len);

		if (n <= 0)
			return n < 0 ? (int)n : -EBADMSG;
		to += n;
		len -= (size_t)n;
	}
	return 0;
}
