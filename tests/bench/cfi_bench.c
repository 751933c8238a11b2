/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the time to make the unwind tables of files, and their size: `cfi_bench < PATHS` builds
 * the row table of each ELF file whose path is a line of its input.
 *
 * The baseline is elfutils (libdw) on the same files, in two parts:
 *	- dwarf_next_cfi() over .eh_frame: finds where each entry begins and ends, and nothing more;
 *	- dwarf_cfi_addrframe() at the beginning of each function of .eh_frame_hdr: finds the entry and
 *	  executes it up to there, which is one row a function. All rows would take one such call a row, each from the
 *	  entry's beginning on; libdw has no way to get them in one pass.
 * So libdw does less here: no rows inside functions, no table, and no .gopclntab or .debug_frame.
 *
 * Before anything is timed, a file's unwind sections are read once, so that
 * both find them in memory. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "unwind/file/elf_rows.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_TABLE_BYTES ((size_t)256 << 20)
#define MB 1e6
#define EH_FRAME_HDR_TABLE                                                                         \
	12 /* after version, encodings, .eh_frame's address and the number of entries */
#define EH_FRAME_HDR_USUAL "\x01\x1b\x03\x3b" /* version; pcrel sdata4, udata4, datarel sdata4 */

struct totals {
	uint64_t nr_files; /* that have a table */
	uint64_t nr_without; /* nothing to unwind with */
	uint64_t nr_failures;
	uint64_t nr_functions;
	uint64_t nr_rows_added;
	uint64_t nr_rows;
	uint64_t nr_rules;
	uint64_t max_rules; /* in one table */
	uint64_t table_bytes;
	uint64_t max_table_bytes;
	uint64_t section_bytes;
	uint64_t open_ns; /* CPU time: reading and hashing */
	uint64_t build_ns; /* CPU time: making rows and packing them */
	struct unwind_losses losses;
};

struct baseline {
	uint64_t nr_files;
	uint64_t nr_entries; /* CIEs and FDEs */
	uint64_t nr_frames;
	uint64_t nr_failures; /* entries and functions that libdw refuses */
	uint64_t nr_without_index; /* files without an .eh_frame_hdr of the usual form */
	uint64_t section_bytes;
	uint64_t entries_ns;
	uint64_t frames_ns;
};

struct bench {
	struct totals others; /* .eh_frame and .debug_frame */
	struct totals go; /* .gopclntab, and .eh_frame beside it */
	struct baseline baseline;
};

static uint64_t cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add_table(struct totals *totals, const struct row_table_bytes *bytes,
		      const struct elf_rows_stats *stats)
{
	const struct row_table *table = (const void *)bytes->data;

	totals->nr_files++;
	totals->nr_functions += stats->nr_functions;
	totals->nr_rows_added += stats->nr_rows_added;
	totals->section_bytes += stats->nr_section_bytes;
	totals->losses.nr_bad_entries += stats->losses.nr_bad_entries;
	totals->losses.nr_unsupported_rules += stats->losses.nr_unsupported_rules;
	totals->nr_rows += table->nr_rows;
	totals->nr_rules += table->nr_rules;
	totals->max_rules = larger(totals->max_rules, table->nr_rules);
	totals->table_bytes += bytes->len;
	totals->max_table_bytes = larger(totals->max_table_bytes, bytes->len);
}

static int build_table(int fd, struct totals *totals)
{
	const struct elf_rows_opts opts = { .max_bytes = MAX_TABLE_BYTES };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;
	struct elf_rows_stats stats = { 0 };
	uint64_t begin = cpu_ns();

	int r = elf_rows_open(fd, &opts, &rows);
	uint64_t opened = cpu_ns();
	totals->open_ns += opened - begin;
	if (r < 0)
		return r;
	r = elf_rows_build(rows, &table, &stats);
	totals->build_ns += cpu_ns() - opened;
	if (r == 0)
		add_table(totals, &table, &stats);
	return r;
}

static void read_once(int fd)
{
	const struct elf_rows_opts opts = { .max_bytes = MAX_TABLE_BYTES };
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;

	int r = elf_rows_open(fd, &opts, &rows);
	(void)r; /* build_table() meets the same error, and counts it */
}

static void bench_rows(int fd, const char *path, struct totals *totals)
{
	int r = build_table(fd, totals);

	if (r == -ENODATA) {
		totals->nr_without++;
	} else if (r < 0) {
		totals->nr_failures++;
		fprintf(stderr, "cfi_bench: %s: %s\n", path, strerror(-r));
	}
}

static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		if (!gelf_getshdr(section, ret_header) || ret_header->sh_type == SHT_NOBITS)
			continue;
		const char *found = elf_strptr(elf, names, ret_header->sh_name);
		if (found && strcmp(found, name) == 0)
			return section;
	}
	return NULL;
}

static void walk_entries(Elf *elf, struct baseline *baseline)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, ".eh_frame", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	const unsigned char *ident = (const unsigned char *)elf_getident(elf, NULL);
	Dwarf_Off offset = 0, next = 0;
	int r = 0;

	if (!data)
		return;
	baseline->nr_files++;
	baseline->section_bytes += data->d_size;
	while (r == 0 && offset != (Dwarf_Off)-1) {
		Dwarf_CFI_Entry entry;

		r = dwarf_next_cfi(ident, data, true, offset, &next, &entry);
		baseline->nr_entries += r == 0;
		baseline->nr_failures += r < 0;
		offset = next;
	}
}

static void find_frame(Dwarf_CFI *cfi, uint64_t address, struct baseline *baseline)
{
	Dwarf_Frame *frame = NULL;

	if (dwarf_cfi_addrframe(cfi, address, &frame) == 0)
		baseline->nr_frames++;
	else
		baseline->nr_failures++;
	free(frame);
}

/* The table of .eh_frame_hdr: pairs of 4-byte numbers, relative to the section; the first one is
 * where a function begins. */
static void find_frames(Elf *elf, struct baseline *baseline)
{
	GElf_Shdr header;
	Elf_Scn *section = find_section(elf, ".eh_frame_hdr", &header);
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	uint32_t nr_entries;

	if (!data || !cfi || data->d_size < EH_FRAME_HDR_TABLE ||
	    memcmp(data->d_buf, EH_FRAME_HDR_USUAL, 4) != 0) {
		baseline->nr_without_index++;
		dwarf_cfi_end(cfi);
		return;
	}
	const char *bytes = data->d_buf;
	memcpy(&nr_entries, bytes + EH_FRAME_HDR_TABLE - 4, sizeof(nr_entries));
	for (size_t i = 0; i < nr_entries; i++) {
		size_t at = EH_FRAME_HDR_TABLE + 8 * i;
		int32_t distance;

		if (at + 8 > data->d_size)
			break;
		memcpy(&distance, bytes + at, sizeof(distance));
		find_frame(cfi, header.sh_addr + (uint64_t)(int64_t)distance, baseline);
	}
	dwarf_cfi_end(cfi);
}

/* Returns whether the file is Go's. */
static bool bench_libdw(int fd, struct baseline *baseline)
{
	uint64_t begin = cpu_ns();
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	GElf_Shdr header;

	if (!elf)
		return false;
	walk_entries(elf, baseline);
	uint64_t walked = cpu_ns();
	baseline->entries_ns += walked - begin;
	find_frames(elf, baseline);
	baseline->frames_ns += cpu_ns() - walked;
	bool is_go = find_section(elf, ".gopclntab", &header) != NULL;
	elf_end(elf);
	return is_go;
}

static void bench_file(const char *path, struct bench *bench)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		fprintf(stderr, "cfi_bench: %s: %s\n", path, strerror(errno));
		return;
	}
	read_once(fd);
	bool is_go = bench_libdw(fd, &bench->baseline);
	bench_rows(fd, path, is_go ? &bench->go : &bench->others);
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static double ratio(double value, uint64_t of)
{
	return of > 0 ? value / (double)of : 0;
}

static void print_totals(const char *title, const struct totals *totals)
{
	uint64_t ns = totals->open_ns + totals->build_ns;

	printf("%s:\n  files with a table %" PRIu64 ", without unwind sections %" PRIu64
	       ", failures %" PRIu64 "\n",
	       title, totals->nr_files, totals->nr_without, totals->nr_failures);
	printf("  functions %" PRIu64 ", damaged entries %" PRIu64 ", unsupported rules %" PRIu64
	       "\n",
	       totals->nr_functions, totals->losses.nr_bad_entries,
	       totals->losses.nr_unsupported_rules);
	printf("  rows added %" PRIu64 ", rows after merging %" PRIu64
	       " (%.0f %%), rules a table %.0f"
	       ", at most %" PRIu64 "\n",
	       totals->nr_rows_added, totals->nr_rows,
	       100 * ratio((double)totals->nr_rows, totals->nr_rows_added),
	       ratio((double)totals->nr_rules, totals->nr_files), totals->max_rules);
	printf("  tables %.1f MB, average %.1f KB, largest %.2f MB, %.2f bytes a row\n",
	       (double)totals->table_bytes / MB,
	       ratio((double)totals->table_bytes / 1e3, totals->nr_files),
	       (double)totals->max_table_bytes / MB,
	       ratio((double)totals->table_bytes, totals->nr_rows));
	printf("  unwind sections %.1f MB at %.1f MB/s; CPU %.2f s: reading and hashing %.2f, "
	       "building %.2f (%.0f ns a row added)\n",
	       (double)totals->section_bytes / MB,
	       ratio((double)totals->section_bytes * 1e9 / MB, ns), seconds(ns),
	       seconds(totals->open_ns), seconds(totals->build_ns),
	       ratio((double)totals->build_ns, totals->nr_rows_added));
}

static void print_baseline(const struct baseline *baseline)
{
	printf("baseline libdw: %" PRIu64 " files, .eh_frame %.1f MB, %" PRIu64
	       " entries walked in %.2f s CPU\n",
	       baseline->nr_files, (double)baseline->section_bytes / MB, baseline->nr_entries,
	       seconds(baseline->entries_ns));
	printf("baseline libdw: first row of %" PRIu64 " functions found in %.2f s CPU (%.0f ns "
	       "each), refused %" PRIu64 ", files without index %" PRIu64 "\n",
	       baseline->nr_frames, seconds(baseline->frames_ns),
	       ratio((double)baseline->frames_ns, baseline->nr_frames), baseline->nr_failures,
	       baseline->nr_without_index);
}

int main(void)
{
	struct bench bench = { 0 };
	char path[4096];

	elf_version(EV_CURRENT);
	while (fgets(path, sizeof(path), stdin)) {
		path[strcspn(path, "\n")] = '\0';
		bench_file(path, &bench);
	}
	print_totals("rows from .eh_frame, .debug_frame", &bench.others);
	print_totals("rows from .gopclntab", &bench.go);
	print_baseline(&bench.baseline);
	return 0;
}
