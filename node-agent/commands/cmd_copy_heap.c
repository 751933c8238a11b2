/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet copy-heap: puts libflamelet-heap.so into a directory of the node, from which
 * pods preload it. It is for an init container, as the image has no shell.
 *
 * Programs map the file, and the agent knows it by its inode. So an older file is never changed,
 * but replaced, and an equal one stays. */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "base/strbuf.h"
#include "commands/commands.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY_FILE "/usr/lib/flamelet/" LIBRARY_NAME
#define LIBRARY_NAME "libflamelet-heap.so"
#define LIBRARY_TEMP_NAME "." LIBRARY_NAME ".new"
#define LIBRARY_MODE 0444
#define LIBRARY_MAX_BYTES ((size_t)16 << 20)

static int fail(const char *what, const char *path, int error)
{
	fprintf(stderr, "flamelet copy-heap: cannot %s %s: %s\n", what, path, strerror(-error));
	return STATUS_FAILED;
}

static bool has_equal(int dir_fd, const struct strbuf *library)
{
	_cleanup_(strbuf_done) struct strbuf there = strbuf_with_max(LIBRARY_MAX_BYTES);

	return file_read_at(dir_fd, LIBRARY_NAME, &there) == 0 && there.len == library->len &&
	       memcmp(there.data, library->data, library->len) == 0;
}

static int replace(int dir_fd, const struct strbuf *library)
{
	const struct file_content content = {
		.name = LIBRARY_NAME,
		.temp_name = LIBRARY_TEMP_NAME,
		.mode = LIBRARY_MODE,
		.is_synced = true,
		.parts = { { library->data, library->len } },
	};

	/* A container that was killed has left it behind. */
	if (unlinkat(dir_fd, LIBRARY_TEMP_NAME, 0) < 0 && errno != ENOENT)
		return -errno;
	return file_replace_at(dir_fd, &content);
}

int cmd_copy_heap(const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf library = strbuf_with_max(LIBRARY_MAX_BYTES);
	const char *from = options->heap_library ? options->heap_library : LIBRARY_FILE;
	_cleanup_close_ int dir_fd = -EBADF;

	if (!options->heap_directory) {
		fputs("flamelet copy-heap: say where to: --directory DIR\n", stderr);
		return STATUS_USAGE;
	}
	int r = file_read_at(AT_FDCWD, from, &library);
	if (r < 0 || library.len == 0)
		return fail("read", from, r < 0 ? r : -ENODATA);
	dir_fd = open(options->heap_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return fail("open", options->heap_directory, -errno);
	if (has_equal(dir_fd, &library)) {
		printf("%s/" LIBRARY_NAME " is up to date\n", options->heap_directory);
		return STATUS_OK;
	}
	r = replace(dir_fd, &library);
	if (r < 0)
		return fail("write to", options->heap_directory, r);
	printf("wrote %s/" LIBRARY_NAME "\n", options->heap_directory);
	return STATUS_OK;
}
