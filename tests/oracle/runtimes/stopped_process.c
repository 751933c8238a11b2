/* SPDX-License-Identifier: Apache-2.0 */
#include "stopped_process.h"

#include "base/cleanup.h"
#include "base/fileio.h"
#include "found_runtime.h"
#include "process/maps_parser.h"
#include "tests/bpf_host/fake_bpf.h"
#include "tests/bpf_host/fake_mm.h"
#include "unwind/file/elf_rows.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define PID 1
#define TABLE_ID 1
#define MAX_FILES 256
#define MAX_CODE 1024
#define MAX_MAPS_BYTES ((size_t)16 << 20)
#define MAX_TABLE_BYTES ((size_t)64 << 20)
#define MAX_READ_BYTES ((uint64_t)64 << 20)
#define FIRST_UNIT 64 /* of the arena */

struct file {
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	struct row_table_bytes table; /* owned; without bytes: the file has no CFI */
};

/* File i has slot i + 1. */
static struct {
	int memory_fd;
	struct file files[MAX_FILES];
	uint32_t nr_files;
	struct maps_line code[MAX_CODE]; /* without their paths */
	uint32_t slots[MAX_CODE];
	uint32_t nr_code;
	const struct runtime_ops *ops;
	uint32_t runtime_slot; /* 0: none was found */
	struct runtime_found found;
} process;

static uint32_t find_slot(const struct maps_line *line)
{
	for (uint32_t i = 0; i < process.nr_files; i++) {
		const struct file *file = &process.files[i];

		if (file->inode == line->inode && file->dev_major == line->dev_major &&
		    file->dev_minor == line->dev_minor)
			return i + 1;
	}
	return 0;
}

/* Leaves the table empty if the file has none. */
static void make_table(const struct maps_line *line, struct row_table_bytes *table)
{
	const struct elf_rows_opts opts = { .max_bytes = MAX_TABLE_BYTES };
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;
	struct elf_rows_stats stats;
	char path[4096];

	snprintf(path, sizeof(path), "%.*s", (int)line->path_len, line->path);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || elf_rows_open(fd, &opts, &rows) < 0 ||
	    elf_rows_build(rows, table, &stats) < 0)
		*table = (struct row_table_bytes){ 0 };
}

static int add_file(const struct maps_line *line)
{
	struct process_memory memory = { .fd = process.memory_fd, .nr_left = MAX_READ_BYTES };
	struct file *file = &process.files[process.nr_files];

	if (process.nr_files == MAX_FILES)
		return -ENOSPC;
	file->inode = line->inode;
	file->dev_major = line->dev_major;
	file->dev_minor = line->dev_minor;
	make_table(line, &file->table);
	process.nr_files++;
	if (process.runtime_slot == 0 &&
	    found_runtime_inspect(process.ops, &memory, line, &process.found) == 0)
		process.runtime_slot = process.nr_files;
	return 0;
}

/* Code without a file has slot 0. */
static int add_code(const struct maps_line *line)
{
	uint32_t slot = line->inode ? find_slot(line) : 0;

	if (process.nr_code == MAX_CODE)
		return -ENOSPC;
	if (line->inode && slot == 0) {
		int r = add_file(line);

		if (r < 0)
			return r;
		slot = process.nr_files;
	}
	process.slots[process.nr_code] = slot;
	process.code[process.nr_code++] = *line;
	return 0;
}

int stopped_process_read(const struct runtime_ops *ops, const char *pid, int memory_fd)
{
	_cleanup_(strbuf_done) struct strbuf maps = strbuf_with_max(MAX_MAPS_BYTES);
	struct maps_parser parser;
	struct maps_line line;
	char path[64];

	process.ops = ops;
	process.memory_fd = memory_fd;
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	int r = file_read_at(AT_FDCWD, path, &maps);
	maps_parser_init(&parser, maps.data, maps.len);
	while (r == 0 && maps_parser_next(&parser, &line))
		if (line.is_executable)
			r = add_code(&line);
	if (r < 0)
		return r;
	return process.runtime_slot ? 0 : -ENOENT;
}

/* Ranges, with holes behind them, and the descriptor of the runtime. */
static void put_mappings(uint32_t unit)
{
	static struct {
		struct mapping_table head;
		uint64_t starts[2 * MAX_CODE];
		_Alignas(32) struct mapping_range ranges[2 * MAX_CODE];
		_Alignas(ARENA_UNIT) struct runtime_descriptor descriptor;
	} table;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < process.nr_code; i++) {
		const struct maps_line *code = &process.code[i];
		uint32_t slot = process.slots[i];

		table.starts[nr] = code->start;
		table.ranges[nr++] = (struct mapping_range){
			.bias = slot ? code->start - code->file_offset : 0, .slot = slot
		};
		if (i + 1 < process.nr_code && code[1].start == code->end)
			continue;
		table.starts[nr] = code->end;
		table.ranges[nr++] = (struct mapping_range){ .is_hole = true };
	}
	table.head = (struct mapping_table){ .id = TABLE_ID,
					     .nr_ranges = nr,
					     .ranges_offset = offsetof(typeof(table), ranges),
					     .runtimes_offset = offsetof(typeof(table), descriptor),
					     .nr_runtimes = process.found.has_process };
	table.descriptor.process = process.found.process;
	table.descriptor.process.slot = process.runtime_slot;
	table.descriptor.layout = process.found.layout;
	fake_put(unit, &table, sizeof(table));
	fake_bind(PID, MAPPING_BINDING(unit, TABLE_ID));
}

static void put_process(void)
{
	uint32_t unit = FIRST_UNIT;

	fake_bpf_reset();
	if (process.found.is_shared) {
		fake_put(unit, &process.found.layout, sizeof(process.found.layout));
		fake_set_layout(process.runtime_slot, unit++);
	}
	for (uint32_t i = 0; i < process.nr_files; i++) {
		const struct row_table_bytes *table = &process.files[i].table;

		fake_set_table(i + 1, table->len ? unit : TABLE_WITHOUT_CFI);
		fake_put(unit, table->data, table->len);
		unit += (uint32_t)(table->len / ARENA_UNIT) + 1;
	}
	put_mappings(unit);
	fake_read_process(process.memory_fd);
}

int stopped_process_unwind(const struct tracee_registers *registers)
{
	put_process();
	fake_mm_set_thread(registers->thread_pointer);
	memcpy(fake_state()->regs, registers->by_number, sizeof(fake_state()->regs));
	fake_state()->ip = registers->ip;
	fake_state()->pid = PID;
	return unwind_native();
}

const uint64_t *stopped_process_naming(void)
{
	return process.found.naming;
}
