/* SPDX-License-Identifier: Apache-2.0 */
/* Compares rows derived from code with those of its CFI:
 *
 *	scan_agreement [-a AGREEING] [-w WRONG] [-d N] FILE...
 *
 * Each file is read twice: as it is, and as a copy in memory without its unwind sections, so that
 * all of its rows come of a scan. Both are asked at each instruction for which the CFI has a rule
 * of register and offset. Prints a line a file: instructions, and how many thousandths of them
 * agree, have no rule by the scan, have another CFA, have another register. -d shows the first N
 * differences. Fails where fewer than AGREEING thousandths agree, or more than WRONG have another
 * CFA or register: no rule costs a stack only where there are no frame pointers, a wrong one
 * always. Exits with 77 where a file is missing. */
#include "base/cleanup.h"
#include "base/parse.h"
#include "tests/unit/support/row_lookup.h"
#include "unwind/code/code_insn.h"
#include "unwind/file/elf_rows.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXIT_SKIPPED 77
#define MAX_TABLE_BYTES ((size_t)64 << 20)

struct image {
	uint8_t *data; /* owned, mmap(2) */
	size_t len;
};

struct counts {
	uint64_t nr; /* instructions compared */
	uint64_t nr_agree;
	uint64_t nr_none;
	uint64_t nr_other_cfa;
	uint64_t nr_other_saved;
};

struct comparison {
	const char *path;
	struct image image;
	struct row_table_bytes cfi;
	struct row_table_bytes scan;
	struct counts counts;
	uint32_t nr_to_show;
};

struct options {
	uint32_t min_agreeing; /* thousandths */
	uint32_t max_wrong;
	uint32_t nr_to_show;
};

static int map_file(int fd, struct image *ret_image)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -EIO;

	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return -EIO;
	*ret_image = (struct image){ data, (size_t)st.st_size };
	return 0;
}

/* Takes away what the names and types of sections and segments tell about unwinding. */
static void hide_cfi(uint8_t *data)
{
	Elf64_Ehdr *header = (void *)data;
	Elf64_Shdr *sections = (void *)(data + header->e_shoff);
	Elf64_Phdr *segments = (void *)(data + header->e_phoff);
	const char *names = (const char *)data + sections[header->e_shstrndx].sh_offset;

	for (size_t i = 0; i < header->e_shnum; i++) {
		const char *name = names + sections[i].sh_name;

		if (strcmp(name, ".eh_frame") == 0 || strcmp(name, ".debug_frame") == 0)
			sections[i].sh_type = SHT_NULL;
	}
	for (size_t i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			segments[i].p_type = PT_NULL;
}

static int build(int fd, struct row_table_bytes *ret_table)
{
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;
	const struct elf_rows_opts opts = { .max_bytes = MAX_TABLE_BYTES };
	struct elf_rows_stats stats;
	int r = elf_rows_open(fd, &opts, &rows);

	return r < 0 ? r : elf_rows_build(rows, ret_table, &stats);
}

static int build_scan(struct comparison *comparison)
{
	_cleanup_close_ int fd = memfd_create("without CFI", MFD_CLOEXEC);
	struct image *image = &comparison->image;

	if (fd < 0)
		return -errno;
	hide_cfi(image->data);
	if (write(fd, image->data, image->len) != (ssize_t)image->len)
		return -EIO;
	return build(fd, &comparison->scan);
}

/* Before a register is changed and after it is restored both are true. */
static bool is_same_place(cfi_slot cfi, cfi_slot scan)
{
	return cfi == scan || (cfi != CFI_LOST && scan == CFI_NOT_SAVED) ||
	       (cfi == CFI_NOT_SAVED && scan != CFI_LOST);
}

static bool has_same_places(const struct cfi_rule *cfi, const struct cfi_rule *scan)
{
	if (!((cfi->flags | scan->flags) & CFI_RETURN_IN_REGISTER) &&
	    cfi->return_address != scan->return_address)
		return false;
	for (size_t i = 0; i < NR_SAVED_REGS; i++)
		if (!is_same_place(cfi->saved[i], scan->saved[i]))
			return false;
	return true;
}

/* On arm64 the frame record is at the same place from sp's CFA and from fp's
 * where these are the same. */
static bool is_same_cfa(const struct cfi_rule *cfi, const struct cfi_rule *scan)
{
	if (CFI_IS_ARM64 && scan->reg != cfi->reg)
		return cfi->saved[0] == scan->saved[0] && cfi->saved[0] != CFI_NOT_SAVED;
	return scan->reg == cfi->reg && scan->offset == cfi->offset;
}

static uint64_t *find_count(struct counts *counts, const struct cfi_rule *cfi,
			    const struct cfi_rule *scan)
{
	if (scan->kind == CFA_NONE)
		return &counts->nr_none;
	if (scan->kind != CFA_REGISTER || !is_same_cfa(cfi, scan))
		return &counts->nr_other_cfa;
	return has_same_places(cfi, scan) ? &counts->nr_agree : &counts->nr_other_saved;
}

static void print_rule(const char *name, const struct cfi_rule *rule)
{
	printf("  %s kind %d r%d%+d ra %d/%d", name, rule->kind, rule->reg, rule->offset,
	       rule->return_address, rule->arg);
	for (size_t i = 0; i < NR_SAVED_REGS; i++)
		printf(" %d", rule->saved[i]);
}

static void compare_at(struct comparison *comparison, uint64_t offset, uint64_t address)
{
	struct counts *counts = &comparison->counts;
	struct cfi_rule cfi, scan;

	row_lookup(comparison->cfi.data, offset, &cfi);
	row_lookup(comparison->scan.data, offset, &scan);
	if (cfi.kind != CFA_REGISTER)
		return;
	uint64_t *count = find_count(counts, &cfi, &scan);
	counts->nr++;
	(*count)++;
	if (count == &counts->nr_agree || comparison->nr_to_show == 0)
		return;
	comparison->nr_to_show--;
	printf("%" PRIx64, address);
	print_rule("cfi", &cfi);
	print_rule("scan", &scan);
	putchar('\n');
}

static void compare_code(struct comparison *comparison, const Elf64_Shdr *section)
{
	const uint8_t *code = comparison->image.data + section->sh_offset;
	size_t len = (size_t)section->sh_size;

	for (size_t at = 0; at < len;) {
		struct code_insn insn;

		if (code_insn_decode(code + at, len - at, &insn) < 0) {
			at++;
			continue;
		}
		if (!insn.is_padding)
			compare_at(comparison, section->sh_offset + at, section->sh_addr + at);
		at += insn.len;
	}
}

static void compare(struct comparison *comparison)
{
	const uint8_t *data = comparison->image.data;
	const Elf64_Ehdr *header = (const void *)data;
	const Elf64_Shdr *sections = (const void *)(data + header->e_shoff);
	const char *names = (const char *)data + sections[header->e_shstrndx].sh_offset;

	for (size_t i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_flags & SHF_EXECINSTR &&
		    strncmp(names + sections[i].sh_name, ".plt", 4) != 0)
			compare_code(comparison, &sections[i]);
}

static void print(const struct comparison *comparison)
{
	const struct counts *counts = &comparison->counts;
	double total = counts->nr > 0 ? (double)counts->nr : 1;

	printf("%-50s %8" PRIu64 " agree %6.1f none %5.1f cfa %5.1f saved %5.1f\n",
	       comparison->path, counts->nr, 1000 * (double)counts->nr_agree / total,
	       1000 * (double)counts->nr_none / total, 1000 * (double)counts->nr_other_cfa / total,
	       1000 * (double)counts->nr_other_saved / total);
}

static int run(struct comparison *comparison)
{
	_cleanup_close_ int fd = open(comparison->path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : build(fd, &comparison->cfi);

	if (r == 0)
		r = map_file(fd, &comparison->image);
	if (r == 0)
		r = build_scan(comparison);
	if (r == 0) {
		compare(comparison);
		print(comparison);
	}
	return r;
}

static void done(struct comparison *comparison)
{
	row_table_bytes_done(&comparison->cfi);
	row_table_bytes_done(&comparison->scan);
	if (comparison->image.data)
		munmap(comparison->image.data, comparison->image.len);
}

static bool is_good_enough(const struct counts *counts, const struct options *options)
{
	uint64_t nr_wrong = counts->nr_other_cfa + counts->nr_other_saved;

	return counts->nr > 0 && 1000 * counts->nr_agree >= options->min_agreeing * counts->nr &&
	       1000 * nr_wrong <= options->max_wrong * counts->nr;
}

static int run_file(const char *path, const struct options *options)
{
	_cleanup_(done) struct comparison comparison = { .path = path,
							 .nr_to_show = options->nr_to_show };
	int r = run(&comparison);

	if (r < 0)
		fprintf(stderr, "scan_agreement: %s: %s\n", path, strerror(-r));
	if (r == -ENOENT)
		return EXIT_SKIPPED;
	return r == 0 && is_good_enough(&comparison.counts, options) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int parse(int argc, char **argv, struct options *options)
{
	int option, r = 0;

	while (r == 0 && (option = getopt(argc, argv, "a:w:d:")) != -1) {
		if (option == 'a')
			r = parse_u32(optarg, &options->min_agreeing);
		else if (option == 'w')
			r = parse_u32(optarg, &options->max_wrong);
		else
			r = option == 'd' ? parse_u32(optarg, &options->nr_to_show) : -EINVAL;
	}
	return r;
}

int main(int argc, char **argv)
{
	struct options options = { .max_wrong = 1000 };
	int status = EXIT_SUCCESS;

	if (parse(argc, argv, &options) < 0)
		return EXIT_FAILURE;
	for (int i = optind; i < argc; i++) {
		int result = run_file(argv[i], &options);

		if (status != EXIT_FAILURE && result != EXIT_SUCCESS)
			status = result;
	}
	return status;
}
