/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/opener/file_opener.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/resolve.h"
#include "process/maps_parser.h"
#include "symbol/opener/mount_list.h"
#include "symbol/opener/mountinfo.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_MOUNTINFO_BYTES ((size_t)8 << 20)
#define PROC_PATH_BYTES 96

/* Translates the error of a system call on a path below /proc/PID. If a part of the path is
 * missing, the process has exited, or has another file there. */
static int translate(int error)
{
	int r = resolve_error(error);

	return r == -ENOENT || error == ELOOP ? -ESRCH : r;
}

/* Finds the mount of a file by its id, or by its device if the id is not known. A file system has
 * one device wherever it is mounted; but on btrfs and overlay, files can have another one. */
static bool find_mount(const struct strbuf *mounts, const struct pinned_file *pinned,
		       struct mountinfo_line *ret_line)
{
	const char *text = strbuf_str(mounts);
	const char *end = text + mounts->len;
	struct mountinfo_line line;

	while (mountinfo_next(&text, end, &line)) {
		if (pinned->has_mount_id ? line.mount_id == pinned->mount_id
					 : line.dev_major == pinned->identity.dev_major &&
						   line.dev_minor == pinned->identity.dev_minor) {
			*ret_line = line;
			return true;
		}
	}
	return false;
}

/* Refuses a mapping with -EOPNOTSUPP if its device belongs to one of the process's mounts that is
 * not local. This check comes first because even the lookup of the link in map_files makes NFS ask
 * its server. Devices in maps are not always those of mounts (btrfs, overlay), so an unknown device
 * is accepted. Errors: also -EAGAIN. */
static int refuse_foreign(int proc_fd, uint32_t pid, const struct mapped_file *file)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_MOUNTINFO_BYTES);
	const struct pinned_file unpinned = { .identity.dev_minor = file->dev_minor };
	struct mountinfo_line line;

	if (file->dev_major != 0)
		return 0;
	int r = mount_list_read(proc_fd, pid, &text);
	if (r < 0)
		return r == -EAGAIN ? r : 0;
	if (!find_mount(&text, &unpinned, &line))
		return 0;
	return mountinfo_is_local(&line) ? 0 : -EOPNOTSUPP;
}

static int open_map_file(int proc_fd, uint32_t pid, const struct mapping *mapping)
{
	char path[PROC_PATH_BYTES];

	snprintf(path, sizeof(path), "%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid,
		 mapping->start, mapping->end);

	int fd = openat(proc_fd, path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* With RESOLVE_CACHED (Linux 5.12), a FUSE or network file system fails with EAGAIN if it
 * would have to ask its server about a path component. Older kernels refuse the flag;
 * then the file is not opened. */
static int open_in_root(int proc_fd, uint32_t pid, const char *file_path)
{
	char path[PROC_PATH_BYTES];

	snprintf(path, sizeof(path), "%" PRIu32 "/root", pid);
	_cleanup_close_ int root_fd = openat(proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return -errno;

	return resolve_open(root_fd, file_path, O_PATH,
			    RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED);
}

/* statx(2) reports the mount id since Linux 5.8. Before 4.11, the C library emulates statx(2) and
 * does not report it either. */
static bool find_mount_id(int fd, const struct statx *st, uint64_t *ret_id)
{
	if (!(st->stx_mask & STATX_MNT_ID))
		return resolve_mount_id(fd, ret_id) == 0;
	*ret_id = st->stx_mnt_id;
	return true;
}

int file_opener_look_at(int fd, struct pinned_file *ret_pinned)
{
	struct statx st;
	uint64_t mount_id = 0;
	unsigned int mask = STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_MNT_ID;

	int r = resolve_look_at(fd, mask, &st);
	if (r < 0)
		return translate(-r);
	if (!S_ISREG(st.stx_mode) && !S_ISDIR(st.stx_mode))
		return -EOPNOTSUPP;
	*ret_pinned = (struct pinned_file){
		.fd = fd,
		.is_directory = S_ISDIR(st.stx_mode),
		.has_mount_id = find_mount_id(fd, &st, &mount_id),
		.mount_id = mount_id,
		.identity = {
			.inode = st.stx_ino,
			.size = st.stx_size,
			.mtime_ns = (int64_t)((uint64_t)st.stx_mtime.tv_sec * NSEC_PER_SEC +
					      st.stx_mtime.tv_nsec),
			.dev_major = st.stx_dev_major,
			.dev_minor = st.stx_dev_minor,
		},
	};
	return 0;
}

static int look_at_regular(int fd, struct pinned_file *ret_pinned)
{
	struct pinned_file pinned = { .fd = -EBADF };
	int r = file_opener_look_at(fd, &pinned);

	if (r < 0)
		return r;
	if (pinned.is_directory)
		return -EOPNOTSUPP;
	*ret_pinned = pinned;
	return 0;
}

/* Anonymous devices (major 0) differ between maps and statx() on btrfs and overlay. */
static bool is_same_file(const struct file_identity *identity, const struct mapped_file *file)
{
	if (identity->inode != file->inode)
		return false;
	if (identity->dev_major == 0 || file->dev_major == 0)
		return true;
	return identity->dev_major == file->dev_major && identity->dev_minor == file->dev_minor;
}

/* Returns whether this is the file that was mapped: the process may have mapped another
 * one there since. On overlay even the inode number may differ between maps and statx(),
 * so there the name decides. */
static bool is_mapped_file(int fd, const struct file_identity *identity,
			   const struct mapped_file *file)
{
	char link[PROC_PATH_BYTES], path[PATH_MAX];

	if (is_same_file(identity, file))
		return true;
	if (identity->dev_major != 0 && file->dev_major != 0)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);

	ssize_t len = readlink(link, path, sizeof(path));
	if (len < 0 || !file->path)
		return false;
	size_t undeleted_len = maps_path_len_undeleted(path, (size_t)len);
	return undeleted_len == strlen(file->path) && memcmp(path, file->path, undeleted_len) == 0;
}

static int pin_by_path(int proc_fd, uint32_t pid, const struct mapped_file *file,
		       struct pinned_file *ret_pinned)
{
	struct pinned_file pinned;

	_cleanup_close_ int fd = open_in_root(proc_fd, pid, file->path);
	if (fd < 0)
		return translate(-fd);

	int r = look_at_regular(fd, &pinned);
	if (r < 0)
		return r;
	if (!is_same_file(&pinned.identity, file))
		return -ESRCH;
	pinned.fd = take_fd(fd);
	*ret_pinned = pinned;
	return 0;
}

int file_opener_pin(int proc_fd, uint32_t pid, const struct mapping *mapping,
		    struct pinned_file *ret_pinned)
{
	int r = mapping->file->inode != 0 ? refuse_foreign(proc_fd, pid, mapping->file)
					  : -EOPNOTSUPP;
	if (r < 0)
		return r;

	_cleanup_close_ int fd = open_map_file(proc_fd, pid, mapping);
	const char *path = mapping->file->path;
	bool has_path = path && path[0] == '/';
	if (fd < 0 && (!has_path || translate(-fd) == -ENOSPC))
		return translate(-fd);
	if (fd < 0)
		return pin_by_path(proc_fd, pid, mapping->file, ret_pinned);

	r = look_at_regular(fd, ret_pinned);
	if (r < 0)
		return r;
	if (!is_mapped_file(fd, &ret_pinned->identity, mapping->file))
		return has_path ? pin_by_path(proc_fd, pid, mapping->file, ret_pinned) : -ESRCH;
	ret_pinned->fd = take_fd(fd);
	return 0;
}

void opened_file_close(struct opened_file *file)
{
	cleanup_closep(&file->fd);
	cleanup_closep(&file->root_fd);
	free(file->path);
	*file = OPENED_FILE_NONE;
}

void file_opener_unpin(struct pinned_file *pinned)
{
	cleanup_closep(&pinned->fd);
	pinned->fd = -EBADF;
}

/* Returns whether a file is on the internal tmpfs of memfd_create() and the like, which is mounted
 * nowhere. */
static bool is_kernels_own_tmpfs(const struct file_identity *identity)
{
	_cleanup_close_ int fd = memfd_create("device", MFD_CLOEXEC);
	struct statx st;

	return fd >= 0 && resolve_look_at(fd, STATX_TYPE, &st) == 0 &&
	       st.stx_dev_major == identity->dev_major && st.stx_dev_minor == identity->dev_minor;
}

/* Mount ids are unique on the machine, and the pinned file keeps its mount alive. A mapping can be
 * older than its process's mount namespace, as with container runtimes: then its mount is one of
 * the host. Errors: -EOPNOTSUPP not local, or not known to be; -EAGAIN. */
static int check_local(int proc_fd, uint32_t pid, const struct pinned_file *pinned)
{
	const uint32_t pids[] = { pid, MOUNT_LIST_HOST_PID };
	struct mountinfo_line line;

	if (pinned->identity.dev_major != 0)
		return 0;
	for (size_t i = 0; i < array_len(pids); i++) {
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_MOUNTINFO_BYTES);

		int r = mount_list_read(proc_fd, pids[i], &text);
		if (r == -EAGAIN)
			return r;
		if (r == 0 && find_mount(&text, pinned, &line))
			return mountinfo_is_local(&line) ? 0 : -EOPNOTSUPP;
	}
	return is_kernels_own_tmpfs(&pinned->identity) ? 0 : -EOPNOTSUPP;
}

int file_opener_open_root(int proc_fd, uint32_t pid, int *ret_fd)
{
	struct pinned_file pinned = { .fd = -EBADF };
	char path[PROC_PATH_BYTES];

	snprintf(path, sizeof(path), "%" PRIu32 "/root", pid);
	_cleanup_close_ int fd = openat(proc_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return translate(errno);

	int r = file_opener_look_at(fd, &pinned);
	if (r == 0)
		r = check_local(proc_fd, pid, &pinned);
	if (r < 0)
		return r;
	*ret_fd = take_fd(fd);
	return 0;
}

int file_opener_open(int proc_fd, uint32_t pid, const struct pinned_file *pinned, int *ret_fd)
{
	char path[PROC_PATH_BYTES];

	int r = check_local(proc_fd, pid, pinned);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pinned->fd);

	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return translate(errno);
	*ret_fd = fd;
	return 0;
}
