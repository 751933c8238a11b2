/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/file/debug_file.h"

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/resolve.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

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

/* Errors: -ENOENT, also for what is no build id and for what is no regular file; what
 * resolve_open() says. */
static int open_by_id(const char *debug_dir, const char *build_id, int *ret_fd)
{
	char path[PATH_MAX];

	if (strlen(build_id) < 3 || !hex_is(build_id, strlen(build_id)))
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

/* Errors: -ENOENT, also for a path instead of a name; what resolve_open() says. */
static int open_by_name(const char *debug_dir, const char *name, int *ret_fd)
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
	if (open_by_id(debug_dir, wanted->build_id, ret_fd) == 0)
		return ELF_ROWS_DEBUG_BY_ID;
	if (open_by_name(debug_dir, wanted->link, ret_fd) == 0)
		return ELF_ROWS_DEBUG_BY_LINK;
	return ELF_ROWS_DEBUG_NONE;
}
