/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_files.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/parse.h"
#include "base/resolve.h"
#include "base/strview.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#define MAX_STATUS_BYTES ((size_t)64 << 10)
#define PATH_BYTES 64
#define ROOT_UID 0

/* Finds the rest of the line that begins with `key`. A line without a newline is
 * incomplete and does not count. */
static bool find_line(struct strview text, const char *key, struct strview *ret_rest)
{
	struct strview line;

	while (strview_next(&text, '\n', &line) && text.text) {
		if (strview_starts_with(line, key)) {
			*ret_rest = strview_without_prefix(line, key);
			return true;
		}
	}
	return false;
}

/* Finds the number at index `place` of a line of numbers; SIZE_MAX means the last one. */
static bool find_number(struct strview line, size_t place, uint32_t *ret_number)
{
	const char *cursor = line.text;
	const char *end = line.text + line.len;
	uint64_t number = 0;
	size_t nr = 0;

	for (; cursor < end && nr <= place; nr++) {
		if (*cursor != '\t' && *cursor != ' ')
			return false;
		cursor++;
		if (parse_digits(&cursor, end, 10, &number) < 0 || number > UINT32_MAX)
			return false;
	}
	*ret_number = (uint32_t)number;
	return nr > 0 && (nr == place + 1 || place == SIZE_MAX);
}

static bool parse_status(struct strview text, struct jit_owner *ret_owner)
{
	struct strview rest;

	/* "Uid:	real effective saved file-system" */
	if (!find_line(text, "Uid:", &rest) || !find_number(rest, 1, &ret_owner->euid))
		return false;
	/* "NSpid: outermost … innermost"; Linux before 4.1 reports only the outermost one, in
	 * "Tgid:" */
	return (find_line(text, "NSpid:", &rest) || find_line(text, "Tgid:", &rest)) &&
	       find_number(rest, SIZE_MAX, &ret_owner->own_pid);
}

int jit_files_read_owner(int proc_fd, uint32_t pid, struct jit_owner *ret_owner)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_STATUS_BYTES);
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%" PRIu32 "/status", pid);
	int r = file_read_at(proc_fd, path, &text);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	struct jit_owner owner;
	if (!parse_status((struct strview){ text.data, text.len }, &owner))
		return -EBADMSG;
	*ret_owner = owner;
	return 0;
}

static int open_beneath(int dir_fd, const char *name, uint64_t flags, uint64_t resolve)
{
	int fd = resolve_open(dir_fd, name, O_PATH | flags,
			      resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);

	return fd < 0 ? resolve_error(-fd) : fd;
}

/* Opens /tmp, if it is on a local file system, so that looking up names in it cannot block. /tmp
 * may be a mount point: the root of a file system is known without asking a server. */
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

/* Refuses anything but a regular file of the process's user or of root. */
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

/* `name` begins with a slash. */
static bool is_named(const struct mapping *mapping, const char *name)
{
	const char *path = mapping->file->path;

	return path && strview_ends_with(strview_of(path, SIZE_MAX), name);
}

int jit_files_pin_dump(int proc_fd, uint32_t pid, const struct jit_owner *owner,
		       const struct mapping_list *mappings, struct pinned_file *ret_pinned)
{
	struct pinned_file pinned;
	char name[PATH_BYTES];

	snprintf(name, sizeof(name), "/jit-%" PRIu32 ".dump", owner->own_pid);
	for (size_t i = 0; mappings && i < mappings->nr_items; i++) {
		const struct mapping *mapping = &mappings->items[i];

		if (mapping->file->inode == 0 || !is_named(mapping, name))
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
		if (is_named(&mappings->items[i], "/libjvm.so"))
			return true;
	return false;
}
