/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/debug_file.h"

#include "base/cleanup.h"
#include "base/resolve.h"
#include "unwind/debug_link.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define READ_BYTES ((size_t)1 << 16)

/* Links are followed, some distributions' files are ones, but not out of the directory. */
static int open_below(const char *debug_dir, const char *path)
{
	struct stat st;

	_cleanup_close_ int dir_fd = open(debug_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return -errno;

	_cleanup_close_ int fd = resolve_open(dir_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY,
					      RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	return take_fd(fd);
}

int debug_file_open_by_id(const char *debug_dir, const char *build_id, int *ret_fd)
{
	char path[PATH_MAX];

	if (strlen(build_id) < 3)
		return -ENOENT;
	snprintf(path, sizeof(path), ".build-id/%.2s/%s.debug", build_id, build_id + 2);

	int fd = open_below(debug_dir, path);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

static int check_crc(int fd, uint32_t expected)
{
	_cleanup_free_ uint8_t *buf = malloc(READ_BYTES);
	uLong crc = crc32(0, NULL, 0);

	if (!buf)
		return -ENOMEM;
	for (uint64_t done = 0; done <= DEBUG_FILE_MAX_LINKED_BYTES;) {
		ssize_t n = pread(fd, buf, READ_BYTES, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return crc == expected ? 0 : -EBADMSG;
		crc = crc32(crc, buf, (uInt)n);
		done += (uint64_t)n;
	}
	return -EBADMSG;
}

int debug_file_open_by_link(const char *debug_dir, const uint8_t *link, size_t len, int *ret_fd)
{
	const char *name;
	uint32_t crc;

	if (!debug_link_parse(link, len, &name, &crc))
		return -EBADMSG;

	_cleanup_close_ int fd = open_below(debug_dir, name);
	if (fd < 0)
		return fd;

	int r = check_crc(fd, crc);
	if (r < 0)
		return r;
	*ret_fd = take_fd(fd);
	return 0;
}
