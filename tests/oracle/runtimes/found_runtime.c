/* SPDX-License-Identifier: Apache-2.0 */
#include "found_runtime.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "process/maps_parser.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define MAX_MAPS_BYTES ((size_t)16 << 20)
#define PAGE_MASK 4095ULL

/* Returns the difference between addresses of the process and those of the file. */
static uint64_t bias_of(const struct elf_reader *reader, const struct maps_line *line)
{
	for (size_t i = 0; i < reader->nr_segments; i++) {
		const GElf_Phdr *segment = &reader->segments[i];

		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
		    (segment->p_offset & ~PAGE_MASK) == line->file_offset)
			return line->start - (segment->p_vaddr & ~PAGE_MASK);
	}
	return 0;
}

int found_runtime_inspect(const struct runtime_ops *ops, struct process_memory *memory,
			  const struct maps_line *line, struct runtime_found *ret)
{
	_cleanup_(elf_reader_done) struct elf_reader reader = { .fd = -EBADF };
	struct elf_exports exports;
	struct runtime_file file;
	char path[4096];

	snprintf(path, sizeof(path), "%.*s", (int)line->path_len, line->path);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -ENOENT;

	int r = elf_reader_init(&reader, fd);
	if (r == 0)
		r = elf_exports_init(&exports, &reader);
	if (r < 0 || ops->read_file(&exports, &file) <= 0)
		return -ENOENT;
	r = ops->inspect(memory, &file, bias_of(&reader, line), ret);
	return r < 0 || ret->state != RUNTIME_READY ? -ENOENT : 0;
}

int found_runtime_read(const struct runtime_ops *ops, struct process_memory *memory,
		       const char *pid, struct runtime_found *ret)
{
	_cleanup_(strbuf_done) struct strbuf maps = strbuf_with_max(MAX_MAPS_BYTES);
	struct maps_parser parser;
	struct maps_line line;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	int r = file_read_at(AT_FDCWD, path, &maps);
	if (r < 0)
		return r;
	maps_parser_init(&parser, maps.data, maps.len);
	while (maps_parser_next(&parser, &line))
		if (line.is_executable && line.inode != 0 &&
		    found_runtime_inspect(ops, memory, &line, ret) == 0)
			return 0;
	return -ENOENT;
}
