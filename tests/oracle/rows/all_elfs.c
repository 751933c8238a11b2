/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the row table of every program and shared library below directories:
 *
 *	all_elfs N DIRECTORY…
 *
 * Damaged files are welcome in unit tests and fuzzers; those that are installed must be read
 * without a complaint. What may happen to a file: there is nothing to unwind it with, or its table
 * would be over a limit. With N above 1 one file of N is read, always the same one. Exits with 77
 * where there are no files. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/parse.h"
#include "elf/arch.h"
#include "unwind/file/elf_rows.h"

#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define EXIT_SKIPPED 77
#define MAX_TABLE_BYTES ((size_t)256 << 20)

struct totals {
	uint64_t one_of;
	uint64_t nr_found;
	uint64_t nr_files;
	uint64_t nr_with_table;
	uint64_t nr_without_cfi;
	uint64_t nr_over_limit;
	uint64_t nr_wrong; /* files */
	uint64_t nr_unsupported_rules;
	uint64_t nr_functions;
	uint64_t nr_rows;
	uint64_t nr_table_bytes;
	uint64_t nr_section_bytes;
};

static bool is_program(int fd)
{
	GElf_Ehdr header;

	return pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	       memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
	       header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == ARCH_ELF_MACHINE &&
	       (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

static void complain(struct totals *totals, const char *path, const char *what)
{
	totals->nr_wrong++;
	printf("%s: %s\n", path, what);
}

static void check_table(struct totals *totals, const char *path,
			const struct row_table_bytes *table, const struct elf_rows_stats *stats)
{
	const struct row_table *head = (const void *)table->data;
	char what[64];

	totals->nr_with_table++;
	totals->nr_unsupported_rules += stats->losses.nr_unsupported_rules;
	totals->nr_functions += stats->nr_functions;
	totals->nr_section_bytes += stats->nr_section_bytes;
	totals->nr_rows += head->nr_rows;
	totals->nr_table_bytes += table->len;
	if (!row_table_is_valid(table->data, table->len))
		complain(totals, path, "invalid table");
	if (stats->losses.nr_bad_entries == 0)
		return;
	snprintf(what, sizeof(what), "%" PRIu64 " bad entries", stats->losses.nr_bad_entries);
	complain(totals, path, what);
}

static void check_file(struct totals *totals, const char *path, int fd)
{
	const struct elf_rows_opts opts = { .max_bytes = MAX_TABLE_BYTES };
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;
	struct elf_rows_stats stats;

	int r = elf_rows_open(fd, &opts, &rows);
	if (r == 0)
		r = elf_rows_build(rows, &table, &stats);
	if (r == 0)
		check_table(totals, path, &table, &stats);
	else if (r == -ENODATA)
		totals->nr_without_cfi++;
	else if (r == -ENOSPC)
		totals->nr_over_limit++;
	else
		complain(totals, path, strerror(-r));
}

static void visit(struct totals *totals, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || !is_program(fd))
		return;
	totals->nr_found++;
	if (totals->nr_found % totals->one_of != 0)
		return;
	totals->nr_files++;
	check_file(totals, path, fd);
}

static void close_walk(FTS **walk)
{
	if (*walk)
		fts_close(*walk);
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void visit_all(struct totals *totals, char **directories)
{
	_cleanup_(close_walk) FTS *walk = fts_open(
		directories, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, compare_names);
	FTSENT *entry;

	while (walk && (entry = fts_read(walk)))
		if (entry->fts_info == FTS_F)
			visit(totals, entry->fts_path);
}

static void print_totals(const struct totals *totals, uint64_t ns)
{
	printf("files %" PRIu64 " of %" PRIu64 ": with table %" PRIu64 ", without CFI %" PRIu64
	       ", over a limit %" PRIu64 ", wrong %" PRIu64 "\n",
	       totals->nr_files, totals->nr_found, totals->nr_with_table, totals->nr_without_cfi,
	       totals->nr_over_limit, totals->nr_wrong);
	printf("functions %" PRIu64 ", rows %" PRIu64 ", unsupported rules %" PRIu64
	       ", bytes of tables %" PRIu64 ", of unwind sections %" PRIu64 "; %.1f s\n",
	       totals->nr_functions, totals->nr_rows, totals->nr_unsupported_rules,
	       totals->nr_table_bytes, totals->nr_section_bytes, (double)ns / (double)NSEC_PER_SEC);
}

int main(int argc, char **argv)
{
	struct totals totals = { 0 };
	uint64_t begin = clock_mono_ns();

	if (argc < 3 || parse_u64(argv[1], &totals.one_of) < 0 || totals.one_of == 0) {
		fprintf(stderr, "Usage: all_elfs N DIRECTORY…\n");
		return EXIT_FAILURE;
	}
	visit_all(&totals, argv + 2);
	print_totals(&totals, clock_mono_ns() - begin);
	if (totals.nr_found == 0)
		return EXIT_SKIPPED;
	return totals.nr_wrong == 0 && totals.nr_with_table > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
