/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/file/debug_file.h"

#include "base/cleanup.h"
#include "base/cold_file.h"
#include "base/resolve.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define READ_BYTES ((size_t)1 << 18)

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

	if (strlen(build_id) < 3 || build_id[strspn(build_id, "0123456789abcdef")] != '\0')
		return -ENOENT;
	snprintf(path, sizeof(path), ".build-id/%.2s/%s.debug", build_id, build_id + 2);

	int fd = open_below(debug_dir, path);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

/* The name comes from who reads foreign files. */
static bool is_plain_name(const char *name)
{
	return name[0] != '\0' && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

int debug_file_open_by_name(const char *debug_dir, const char *name, int *ret_fd)
{
	if (!is_plain_name(name))
		return -ENOENT;

	int fd = open_below(debug_dir, name);
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

enum elf_rows_debug debug_file_find(const char *debug_dir, const struct elf_rows_wanted *wanted,
				    int *ret_fd)
{
	if (debug_file_open_by_id(debug_dir, wanted->build_id, ret_fd) == 0)
		return ELF_ROWS_DEBUG_BY_ID;
	if (debug_file_open_by_name(debug_dir, wanted->link, ret_fd) == 0)
		return ELF_ROWS_DEBUG_BY_LINK;
	return ELF_ROWS_DEBUG_NONE;
}

int debug_file_check_crc(int fd, uint32_t expected)
{
	_cleanup_free_ uint8_t *buf = malloc(READ_BYTES);
	_cleanup_(cold_file_done) struct cold_file file = { 0 };
	uLong crc = crc32(0, NULL, 0);

	if (!buf)
		return -ENOMEM;
	cold_file_init(&file, fd);
	for (uint64_t done = 0; done <= DEBUG_FILE_MAX_LINKED_BYTES;) {
		ssize_t n = cold_file_pread(&file, buf, READ_BYTES, done);

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
