/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_files.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "base/resolve.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_STATUS_BYTES ((size_t)64 << 10)
#define PATH_BYTES 64
#define ROOT_UID 0

/* The rest of the line that begins with `key`, up to its newline. */
static bool find_line(const char *text, size_t len, const char *key, const char **ret_rest,
		      const char **ret_end)
{
	const char *end = text + len;
	size_t key_len = strlen(key);

	for (const char *line = text; line < end;) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		if (!newline)
			return false;
		if ((size_t)(newline - line) > key_len && memcmp(line, key, key_len) == 0) {
			*ret_rest = line + key_len;
			*ret_end = newline;
			return true;
		}
		line = newline + 1;
	}
	return false;
}

/* The number with that place in a line of numbers, or its last one. */
static bool find_number(const char *cursor, const char *end, size_t place, uint32_t *ret_number)
{
	uint64_t number = 0;
	size_t nr = 0;

	while (cursor < end && nr <= place) {
		if (*cursor != '\t' && *cursor != ' ')
			return false;
		cursor++;
		if (parse_digits(&cursor, end, 10, &number) < 0 || number > UINT32_MAX)
			return false;
		nr++;
	}
	*ret_number = (uint32_t)number;
	return nr > 0 && (nr == place + 1 || place == SIZE_MAX);
}

bool jit_files_parse_status(const char *text, size_t len, struct jit_owner *ret_owner)
{
	struct jit_owner owner;
	const char *rest;
	const char *end;

	/* "Uid:	real effective saved file-system" */
	if (!find_line(text, len, "Uid:", &rest, &end) || !find_number(rest, end, 1, &owner.euid))
		return false;
	/* "NSpid: outermost … innermost"; before Linux 4.1 only the outermost is told, as
	 * "Tgid:" */
	if (!find_line(text, len, "NSpid:", &rest, &end) &&
	    !find_line(text, len, "Tgid:", &rest, &end))
		return false;
	if (!find_number(rest, end, SIZE_MAX, &owner.own_pid))
		return false;
	*ret_owner = owner;
	return true;
}

int jit_files_read_owner(int proc_fd, uint32_t pid, struct jit_owner *ret_owner)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_STATUS_BYTES);
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%" PRIu32 "/status", pid);
	int r = file_read_at(proc_fd, path, &text);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	return jit_files_parse_status(strbuf_str(&text), text.len, ret_owner) ? 0 : -EBADMSG;
}

static int open_beneath(int dir_fd, const char *name, uint64_t flags, uint64_t resolve)
{
	int fd = resolve_open(dir_fd, name, O_PATH | flags,
			      resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);

	return fd < 0 ? resolve_error(-fd) : fd;
}

/* Opens /tmp itself, in which names can be looked up then: on a local file system that waits for
 * nobody. A mount may be crossed to it, as nobody is asked for the root of a file system. */
static int open_tmp(int proc_fd, uint32_t pid, int *ret_fd)
{
	_cleanup_close_ int root_fd = -EBADF;
	struct pinned_file tmp;

	int r = file_opener_open_root(proc_fd, pid, &root_fd);
	if (r < 0)
		return r;
	_cleanup_close_ int fd = open_beneath(root_fd, "tmp", O_DIRECTORY, RESOLVE_IN_ROOT);
	if (fd < 0)
		return fd;
	r = file_opener_look_at(fd, &tmp);
	if (r < 0)
		return r;
	return file_opener_open(proc_fd, pid, &tmp, ret_fd);
}

/* A regular file of the process's user or of root. */
static int check_owner(int fd, const struct jit_owner *owner)
{
	struct statx st;

	int r = resolve_look_at(fd, STATX_TYPE | STATX_UID, &st);
	if (r < 0)
		return resolve_error(-r);
	if (!S_ISREG(st.stx_mode) || (st.stx_uid != ROOT_UID && st.stx_uid != owner->euid))
		return -EOPNOTSUPP;
	return 0;
}

int jit_files_pin_map(int proc_fd, uint32_t pid, const struct jit_owner *owner,
		      struct pinned_file *ret_pinned)
{
	_cleanup_close_ int tmp_fd = -EBADF;
	char name[PATH_BYTES];

	int r = open_tmp(proc_fd, pid, &tmp_fd);
	if (r < 0)
		return r;
	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", owner->own_pid);
	_cleanup_close_ int fd = open_beneath(tmp_fd, name, 0, RESOLVE_BENEATH | RESOLVE_NO_XDEV);
	if (fd < 0)
		return fd;
	r = check_owner(fd, owner);
	if (r == 0)
		r = file_opener_look_at(fd, ret_pinned);
	if (r == 0)
		ret_pinned->fd = take_fd(fd);
	return r;
}

static const char *base_name(const struct mapping *mapping)
{
	const char *path = mapping->file->path;
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : "";
}

int jit_files_pin_dump(int proc_fd, uint32_t pid, const struct jit_owner *owner,
		       const struct mapping_list *mappings, struct pinned_file *ret_pinned)
{
	struct pinned_file pinned;
	char name[PATH_BYTES];

	snprintf(name, sizeof(name), "jit-%" PRIu32 ".dump", owner->own_pid);
	for (size_t i = 0; mappings && i < mappings->nr_items; i++) {
		const struct mapping *mapping = &mappings->items[i];

		if (mapping->file->inode == 0 || strcmp(base_name(mapping), name) != 0)
			continue;
		int r = file_opener_pin(proc_fd, pid, mapping, &pinned);
		if (r == 0)
			*ret_pinned = pinned;
		return r == -EAGAIN ? -ENOENT : r;
	}
	return -ENOENT;
}

bool jit_files_has_java_vm(const struct mapping_list *mappings)
{
	for (size_t i = 0; mappings && i < mappings->nr_items; i++)
		if (strcmp(base_name(&mappings->items[i]), "libjvm.so") == 0)
			return true;
	return false;
}
