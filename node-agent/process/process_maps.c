/* SPDX-License-Identifier: Apache-2.0 */
#include "process/process_maps.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "process/maps_parser.h"
#include "process/proc_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define MAPS_MAX_BYTES ((size_t)16 << 20)
#define MAX_THREADS_TRIED 8 /* ".", ".." and the first thread are among them */

static int insert_line(struct mapping_list *list, const struct maps_line *line)
{
	const struct mapped_file_key key = {
		.inode = line->inode,
		.dev_major = line->dev_major,
		.dev_minor = line->dev_minor,
		.path = line->path,
		.path_len = line->path_len,
	};
	struct mapping mapping = {
		.start = line->start,
		.end = line->end,
		.file_offset = line->inode ? line->file_offset : 0,
	};

	int r = mapped_files_take(list->files, &key, &mapping.file);
	if (r < 0)
		return r;
	r = mapping_list_insert(list, &mapping);
	mapped_file_unref(list->files, mapping.file);
	return r;
}

static void insert_text(struct mapping_list *list, const char *text, size_t len,
			struct process_maps_losses *losses)
{
	struct maps_parser parser;
	struct maps_line line;

	maps_parser_init(&parser, text, len);
	while (maps_parser_next(&parser, &line)) {
		if (line.is_executable && insert_line(list, &line) < 0)
			losses->nr_mappings_dropped++;
	}
	losses->nr_bad_lines += parser.nr_bad_lines;
}

/* When the first thread has ended before the others, it shows no maps, but each of them does.
 * Errors: -ENOSPC, with the beginning in the text. */
static int read_maps_of_threads(int proc_fd, uint32_t pid, struct strbuf *text)
{
	char path[32];

	snprintf(path, sizeof(path), "%u/task", pid);
	_cleanup_close_ int fd = openat(proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return 0;
	int dir_fd = take_fd(fd);
	for (int i = 0; i < MAX_THREADS_TRIED; i++) {
		const struct dirent *entry = readdir(dir);
		char maps[sizeof(entry->d_name) + sizeof("/maps")];

		if (!entry)
			break;
		snprintf(maps, sizeof(maps), "%s/maps", entry->d_name);
		int r = file_read_at(dir_fd, maps, text);
		if (r == -ENOSPC || (r == 0 && text->len > 0))
			return r;
		strbuf_clear(text);
	}
	return 0;
}

int process_maps_load(int proc_fd, uint32_t pid, uint64_t start_ns, struct mapping_list *list,
		      struct process_maps_losses *losses)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAPS_MAX_BYTES);
	char path[32];

	snprintf(path, sizeof(path), "%u/maps", pid);
	int read_error = file_read_at(proc_fd, path, &text);
	if (read_error < 0 && read_error != -ENOSPC)
		return read_error == -ENOENT ? -ESRCH : read_error;
	if (text.len == 0)
		read_error = read_maps_of_threads(proc_fd, pid, &text);
	int r = proc_stat_verify_start(proc_fd, pid, start_ns);
	if (r < 0)
		return r;

	/* The last line of a part may itself be one. */
	const char *last_newline = text.len ? memrchr(text.data, '\n', text.len) : NULL;
	if (read_error == -ENOSPC)
		text.len = last_newline ? (size_t)(last_newline + 1 - text.data) : 0;
	insert_text(list, strbuf_str(&text), text.len, losses);
	return read_error;
}
