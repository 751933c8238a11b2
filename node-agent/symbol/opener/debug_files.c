/* SPDX-License-Identifier: Apache-2.0 */
/* A file is searched for in several places, below each root. An O_PATH descriptor, which opens
 * nothing, first holds each candidate; only a regular file is then opened for reading. */
#include "symbol/opener/debug_files.h"

#include "base/cleanup.h"
#include "base/resolve.h"
#include "elf/build_id.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PROC_PATH_BYTES 32

#define IN_ROOT (RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS)

enum place {
	BY_ID,
	BESIDE_PROGRAM,
	IN_DOT_DEBUG,
	IN_DEBUG_DIR,
	NR_PLACES,
};

/* A root directory, and the rules for paths below it. */
struct side {
	int root_fd; /* borrowed; negative: there is none */
	bool is_hosts;
	bool has_program; /* the path of the query is a path below this root */
};

/* The directory of the query's program. Not NUL-terminated. */
struct directory {
	const char *path;
	int len;
};

static bool is_file_name(const char *name)
{
	return name[0] != '\0' && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

/* Returns false if the directory is unknown. Paths from the kernel have no "..". */
static bool get_directory(const char *path, struct directory *ret_directory)
{
	if (path[0] != '/' || strstr(path, "/../") || strnlen(path, PATH_MAX) == PATH_MAX)
		return false;
	*ret_directory = (struct directory){ path, (int)(strrchr(path, '/') - path) };
	return true;
}

/* Translates the error of a failed open: there is no such file, unless the agent is out of
 * descriptors or memory. */
static int translate(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM ? -ENOSPC : -ENOENT;
}

/* Returns a descriptor. Errors: -ENOENT, -ENOSPC. */
static int open_path(int dir_fd, const char *path, uint64_t flags, uint64_t resolve)
{
	int fd = resolve_open(dir_fd, path, flags | O_PATH, resolve);

	return fd >= 0 ? fd : translate(-fd);
}

/* Returns whether a directory is on a local file system, even if another one was mounted there
 * since. File systems on disks are local, and a mapped program is known to be on a local one. */
static bool is_programs_device(int dir_fd, const struct file_identity *program)
{
	struct pinned_file pinned;

	if (file_opener_look_at(dir_fd, &pinned) < 0)
		return false;
	if (pinned.identity.dev_major != 0)
		return true;
	return program && program->dev_major == 0 &&
	       program->dev_minor == pinned.identity.dev_minor;
}

/* Opens a file beside a program of the host, whose directory any user may have made. The program's
 * path is in the kernel's cache, and it had no symbolic links when the program was mapped. If it is
 * different now, somebody has changed it, and nothing is opened. Kernels before 5.12, which have no
 * RESOLVE_CACHED, find nothing here. */
static int open_beside_hosts(int root_fd, const struct debug_file_query *query, const char *name)
{
	struct directory directory;
	char path[PATH_MAX];

	if (!get_directory(query->path, &directory))
		return -ENOENT;
	snprintf(path, sizeof(path), "%.*s/", directory.len, directory.path);

	_cleanup_close_ int dir_fd = open_path(
		root_fd, path, O_DIRECTORY, RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_CACHED);
	if (dir_fd < 0)
		return dir_fd;
	if (!is_programs_device(dir_fd, query->program))
		return -ENOENT;
	return open_path(dir_fd, name, 0,
			 RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS);
}

static int open_in_side(const struct side *side, const char *path)
{
	return open_path(side->root_fd, path, 0,
			 side->is_hosts ? IN_ROOT : IN_ROOT | RESOLVE_NO_XDEV);
}

static int open_by_id(const struct debug_files *files, const struct side *side,
		      const char *build_id)
{
	char path[PATH_MAX];

	if (!build_id_is_valid(build_id))
		return -ENOENT;

	int n = snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", files->debug_dir,
			 build_id, build_id + 2);
	return n < PATH_MAX ? open_in_side(side, path) : -ENOENT;
}

/* The path is `before`, the program's directory, `behind`, the name of the link. */
static int open_by_link(const struct side *side, const struct debug_file_query *query,
			const char *before, const char *behind)
{
	struct directory directory;
	char path[PATH_MAX];

	if (!is_file_name(query->link_name) || !get_directory(query->path, &directory))
		return -ENOENT;

	int n = snprintf(path, sizeof(path), "%s%.*s/%s%s", before, directory.len, directory.path,
			 behind, query->link_name);
	return n < PATH_MAX ? open_in_side(side, path) : -ENOENT;
}

/* Looks in the directory of the program, or in its subdirectory ".debug/". */
static int open_beside(const struct side *side, const struct debug_file_query *query,
		       const char *subdirectory)
{
	char name[PATH_MAX];

	if (!side->has_program || !is_file_name(query->link_name))
		return -ENOENT;
	if (!side->is_hosts)
		return open_by_link(side, query, "", subdirectory);

	int n = snprintf(name, sizeof(name), "%s%s", subdirectory, query->link_name);
	return n < PATH_MAX ? open_beside_hosts(side->root_fd, query, name) : -ENOENT;
}

static int open_place(const struct debug_files *files, const struct side *side, enum place place,
		      const struct debug_file_query *query)
{
	switch (place) {
	case BY_ID:
		return open_by_id(files, side, query->build_id);
	case BESIDE_PROGRAM:
		return open_beside(side, query, "");
	case IN_DOT_DEBUG:
		return open_beside(side, query, ".debug/");
	case IN_DEBUG_DIR:
		return open_by_link(side, query, files->debug_dir, "");
	case NR_PLACES:
		break;
	}
	return -ENOENT;
}

/* Anonymous devices (major 0) of the same file may differ, depending on the path to it. */
static bool is_same_file(const struct file_identity *a, const struct file_identity *b)
{
	if (a->inode != b->inode || a->size != b->size || a->mtime_ns != b->mtime_ns)
		return false;
	if (a->dev_major == 0 || b->dev_major == 0)
		return true;
	return a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

/* Opens the file in a place for reading, if there is a regular one. */
static int open_candidate(const struct debug_files *files, const struct side *side,
			  enum place place, const struct debug_file_query *query,
			  struct debug_file *ret_file)
{
	struct pinned_file pinned;
	char path[PROC_PATH_BYTES];

	_cleanup_close_ int path_fd = open_place(files, side, place, query);
	if (path_fd < 0)
		return path_fd;
	if (file_opener_look_at(path_fd, &pinned) < 0 || pinned.is_directory)
		return -ENOENT;
	if (query->program && is_same_file(&pinned.identity, query->program))
		return -ENOENT;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return translate(errno);
	*ret_file = (struct debug_file){
		.fd = fd,
		.is_by_link = place != BY_ID,
		.is_hosts = side->is_hosts,
		.identity = pinned.identity,
	};
	return 0;
}

/* Compares the mounts, too, because the same directory can be the root of two mounts with different
 * mounts below. */
static bool is_same_directory(int fd, int other_fd)
{
	struct pinned_file a, b;

	if (fd < 0 || file_opener_look_at(fd, &a) < 0 || file_opener_look_at(other_fd, &b) < 0)
		return false;
	return a.has_mount_id && b.has_mount_id && a.mount_id == b.mount_id &&
	       a.identity.inode == b.identity.inode &&
	       a.identity.dev_major == b.identity.dev_major &&
	       a.identity.dev_minor == b.identity.dev_minor;
}

int debug_files_find(const struct debug_files *files, const struct debug_file_query *query,
		     size_t nth, struct debug_file *ret_file)
{
	bool is_hosts = is_same_directory(query->root_fd, files->host_root_fd);
	const struct side sides[] = {
		{ .root_fd = is_hosts ? -EBADF : query->root_fd, .has_program = true },
		{ .root_fd = files->host_root_fd, .is_hosts = true, .has_program = is_hosts },
	};

	for (size_t i = 0; i < array_len(sides) * NR_PLACES; i++) {
		const struct side *side = &sides[i / NR_PLACES];
		struct debug_file file;

		if (side->root_fd < 0)
			continue;
		int r = open_candidate(files, side, i % NR_PLACES, query, &file);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		if (nth-- == 0) {
			*ret_file = file;
			return 0;
		}
		close(file.fd);
	}
	return -ENOENT;
}
