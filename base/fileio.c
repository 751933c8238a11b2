/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fileio.h"

#include "base/cleanup.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define READ_CHUNK_BYTES 16384

int file_read_at(int dir_fd, const char *path, struct strbuf *buf)
{
	char chunk[READ_CHUNK_BYTES];

	_cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
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

static int write_in_place(const char *path, const void *data, size_t len)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : fd_write_all(fd, data, len);
}

/* Fills and closes the temporary file; close() can be the call that reports a full disk. */
static int write_and_close(int fd, const void *data, size_t len)
{
	int r = fd_write_all(fd, data, len);

	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (close(fd) < 0 && r == 0)
		r = -errno;
	return r;
}

int file_write_atomic(const char *path, const void *data, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf temp = strbuf_with_max(4096);
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : write_in_place(path, data, len);

	strbuf_appendf(&temp, "%s.tmp.%d", path, getpid());
	if (strbuf_error(&temp) < 0)
		return -ENAMETOOLONG;
	/* Left by a process of our pid that was killed: in a container the pid is always the same. */
	unlink(temp.data);
	int fd = open(temp.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return -errno;

	int r = write_and_close(fd, data, len);
	if (r == 0 && rename(temp.data, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temp.data);
	return r;
}

int fd_read_all(int fd, void *data, size_t len)
{
	char *to = data;

	while (len > 0) {
		ssize_t n = read(fd, to, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		to += n;
		len -= (size_t)n;
	}
	return 0;
}

int dir_make_all(const char *path)
{
	char part[PATH_MAX];
	size_t len = strnlen(path, sizeof(part));

	if (len == sizeof(part))
		return -ENAMETOOLONG;
	memcpy(part, path, len + 1);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(part, 0700) < 0 && errno != EEXIST ? -errno : 0;
}
