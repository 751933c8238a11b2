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

/* Opens a regular file below the directory. Symbolic links are followed, because some distributions
 * have them, but not out of the directory. */
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

static int open_by_id(const char *debug_dir, const char *build_id)
{
	char path[PATH_MAX];

	if (strlen(build_id) < 3 || !hex_is(build_id, strlen(build_id)))
		return -ENOENT;
	snprintf(path, sizeof(path), ".build-id/%.2s/%s.debug", build_id, build_id + 2);
	return open_below(debug_dir, path);
}

/* The name comes from a process that reads foreign files, so it is checked. */
static int open_by_name(const char *debug_dir, const char *name)
{
	if (name[0] == '\0' || strchr(name, '/') || strcmp(name, ".") == 0 ||
	    strcmp(name, "..") == 0)
		return -ENOENT;
	return open_below(debug_dir, name);
}

enum elf_rows_debug debug_file_find(const char *debug_dir, const struct elf_rows_wanted *wanted,
				    int *ret_fd)
{
	int by_id = open_by_id(debug_dir, wanted->build_id);
	int fd = by_id >= 0 ? by_id : open_by_name(debug_dir, wanted->link);

	if (fd < 0)
		return ELF_ROWS_DEBUG_NONE;
	*ret_fd = fd;
	return by_id >= 0 ? ELF_ROWS_DEBUG_BY_ID : ELF_ROWS_DEBUG_BY_LINK;
}
