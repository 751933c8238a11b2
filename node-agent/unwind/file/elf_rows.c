/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of rows. Where two cover an address, the first one in this list counts:
 *
 *	.gopclntab      for Go's functions
 *	.eh_frame       for all functions
 *	.debug_frame    if there is neither, or nearly nothing: .eh_frame has assembly and startup
 *	                code even if the compiler was told to leave it out. The section of the
 *	                file itself counts first, then that of its debug file
 *	the code itself for what is left, see elf_gaps.h
 *
 * From sources to a table: list all functions, make one list of them, give each its rows in the
 * order of the file. */
#include "unwind/file/elf_rows.h"

#include "base/crc32.h"
#include "base/hash.h"
#include "elf/arch.h"
#include "elf/debug_link.h"
#include "unwind/cfi/cfi.h"
#include "unwind/code/code_scan.h"
#include "unwind/file/elf_gaps.h"
#include "unwind/file/elf_sections.h"
#include "unwind/go/gopclntab.h"
#include "unwind/rows/functions.h"

#include <string.h>

#define MIN_EH_FRAME_FUNCTIONS 8
#define MAX_LINK_BYTES 4096 /* of .gnu_debuglink */

/* Raised when the meaning of the hashed values changes. */
#define KEY_VERSION 4

#define MAX_SEGMENTS 64 /* executable ones */

/* A debug file found by .gnu_debuglink is read as a whole, for its checksum. */
#define MAX_LINKED_BYTES ((uint64_t)1 << 30)

/* The first function of a program is often written by hand, without CFI (that of musl is).
 * Nobody called it: rbp has no meaning there, and its stack has no return address. */
#define ENTRY_MAX_BYTES 64

struct elf_rows {
	size_t max_bytes;
	uint64_t hash_seed;
	struct elf_budget budget;
	struct elf_reader reader;
	struct elf_reader debug_reader; /* all zero without a debug file */
	struct elf_sections sections;
	struct unwind_source
		*sources[ELF_MAX_UNWIND_SECTIONS]; /* owned; of each section, or NULL */
	struct code_segment segments[MAX_SEGMENTS]; /* by offset, without overlaps */
	size_t nr_segments;
	uint64_t entry; /* address of the first instruction of a program */
	uint64_t go_text;
	uint64_t text_address;
	uint64_t got_address;
	struct unwind_source *rest; /* owned; of code that nothing else describes, or NULL */
	uint64_t rest_hash[2]; /* of what it works on */
	struct elf_rows_key key;
	struct unwind_losses losses; /* when it was read */
};

struct entry_source {
	struct unwind_source source;
	uint64_t entry;
};

struct build {
	struct elf_rows *rows;
	struct entry_source entry; /* the worst of all */
	struct unwind_source *sources[ELF_MAX_UNWIND_SECTIONS + 2]; /* the rows', and `entry` */
	size_t nr_sources;
	struct unwind_functions functions;
	struct row_builder *builder;
	struct unwind_losses losses;
	size_t nr_charged; /* to the budget, for the functions */
};

static int check_header(struct elf_reader *reader, uint64_t *ret_entry)
{
	GElf_Ehdr header;

	if (!gelf_getehdr(reader->elf, &header) || header.e_machine != ARCH_ELF_MACHINE ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return -EBADMSG;
	*ret_entry = header.e_entry;
	return 0;
}

static int compare_segments(const void *left, const void *right)
{
	const struct code_segment *a = left;
	const struct code_segment *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Returns whether a segment shares addresses with one before it. The process has only one of
 * them. */
static bool has_taken_addresses(const struct elf_rows *rows, size_t index)
{
	const struct code_segment *segment = &rows->segments[index];

	for (size_t i = 0; i < index; i++) {
		const struct code_segment *other = &rows->segments[i];

		if (other->len > 0 && (segment->address - other->address < other->len ||
				       other->address - segment->address < segment->len))
			return true;
	}
	return false;
}

/* Cuts off what a segment has in common with the one before it in the file. */
static void part_segments(struct elf_rows *rows)
{
	uint64_t end = 0;

	for (size_t i = 0; i < rows->nr_segments; i++) {
		struct code_segment *segment = &rows->segments[i];
		uint64_t cut = segment->offset < end ? end - segment->offset : 0;

		if (cut > segment->len)
			cut = segment->len;
		segment->address += cut;
		segment->offset += cut;
		segment->len -= cut;
		end = segment->offset + segment->len;
		if (has_taken_addresses(rows, i)) {
			segment->len = 0;
			rows->losses.nr_bad_entries++;
		}
	}
}

static int find_code(struct elf_rows *rows)
{
	for (size_t i = 0; i < rows->reader.nr_segments; i++) {
		const GElf_Phdr *header = &rows->reader.segments[i];

		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || header->p_filesz == 0)
			continue;
		if (header->p_offset > rows->reader.size ||
		    header->p_filesz > rows->reader.size - header->p_offset ||
		    header->p_vaddr > UINT64_MAX - header->p_filesz)
			return -EBADMSG;
		if (rows->nr_segments == MAX_SEGMENTS)
			return -ENOSPC;
		rows->segments[rows->nr_segments++] = (struct code_segment){ header->p_vaddr,
									     header->p_filesz,
									     header->p_offset };
	}
	qsort(rows->segments, rows->nr_segments, sizeof(rows->segments[0]), compare_segments);
	part_segments(rows);
	return rows->nr_segments > 0 ? 0 : -ENODATA;
}

/* Reads the name in .gnu_debuglink and the checksum of the file with that name. */
static int read_link(struct elf_rows *rows, const struct elf_section_names *names,
		     char ret_name[static ELF_ROWS_LINK_BYTES], uint32_t *ret_crc)
{
	const GElf_Shdr *section = elf_section_find(names, &rows->reader, ".gnu_debuglink");
	uint8_t link[MAX_LINK_BYTES];
	const char *name;

	if (!section || section->sh_size > sizeof(link))
		return -ENOENT;

	int r = elf_reader_read(&rows->reader, section->sh_offset, link, (size_t)section->sh_size);
	if (r < 0)
		return r;
	if (!debug_link_parse(link, (size_t)section->sh_size, &name, ret_crc) ||
	    strlen(name) >= ELF_ROWS_LINK_BYTES)
		return -EBADMSG;
	memcpy(ret_name, name, strlen(name) + 1);
	return 0;
}

/* Checks that the debug file belongs to this file: by its build id, or by the checksum that
 * .gnu_debuglink has of it. Errors: -EBADMSG it does not; others. */
static int check_debug_file(struct elf_rows *rows, const struct elf_section_names *names,
			    const struct elf_rows_opts *opts)
{
	char build_id[sizeof(rows->key.build_id)];
	char name[ELF_ROWS_LINK_BYTES];
	uint32_t crc, expected;

	if (opts->debug == ELF_ROWS_DEBUG_BY_ID) {
		elf_reader_build_id(&rows->debug_reader, build_id);
		return strcmp(build_id, rows->key.build_id) == 0 ? 0 : -EBADMSG;
	}
	int r = read_link(rows, names, name, &expected);
	if (r == 0)
		r = crc32_of_file(opts->debug_fd, MAX_LINKED_BYTES, &crc);
	return r == -ENOSPC || (r == 0 && crc != expected) ? -EBADMSG : r;
}

static int load_debug_file(struct elf_rows *rows, const struct elf_section_names *names,
			   const struct elf_rows_opts *opts)
{
	_cleanup_(elf_section_names_done) struct elf_section_names debug_names = { 0 };

	int r = elf_reader_init_within(&rows->debug_reader, opts->debug_fd, &rows->budget);
	if (r < 0)
		return r;
	r = check_debug_file(rows, names, opts);
	if (r == 0)
		r = elf_section_names_load(&debug_names, &rows->debug_reader);
	if (r == 0)
		r = elf_sections_load_debug_frame(&rows->sections, &rows->debug_reader,
						  &debug_names);
	elf_reader_let_go(&rows->debug_reader);
	return r;
}

/* Errors: -ENOLINK. */
static int ask_for_debug_file(struct elf_rows *rows, const struct elf_section_names *names,
			      struct elf_rows_wanted *ret_wanted)
{
	uint32_t crc;

	*ret_wanted = (struct elf_rows_wanted){ .build_id = "" };
	memcpy(ret_wanted->build_id, rows->key.build_id, sizeof(ret_wanted->build_id));
	bool has_link = read_link(rows, names, ret_wanted->link, &crc) == 0;
	return has_link || ret_wanted->build_id[0] ? -ENOLINK : 0;
}

/* Adds .debug_frame, the own one or that of the debug file. If it is damaged, the other sources
 * are used without it. Errors: -ENOMEM, -ENOLINK. */
static int load_debug_frame(struct elf_rows *rows, const struct elf_section_names *names,
			    const struct elf_rows_opts *opts)
{
	size_t nr_before = rows->sections.nr_items;

	int r = elf_sections_load_debug_frame(&rows->sections, &rows->reader, names);
	if (r == -EBADMSG || r == -ENOSPC)
		rows->losses.nr_bad_entries++;
	if (r == -ENOMEM || opts->debug == ELF_ROWS_DEBUG_NONE ||
	    rows->sections.nr_items > nr_before)
		return r == -ENOMEM ? r : 0;
	if (opts->debug == ELF_ROWS_DEBUG_ASK)
		return ask_for_debug_file(rows, names, opts->ret_wanted);
	r = load_debug_file(rows, names, opts);
	if (r == -ENOSPC)
		rows->losses.nr_bad_entries++;
	return r == -ENOMEM ? r : 0;
}

static uint64_t section_address(const struct elf_rows *rows, const struct elf_section_names *names,
				const char *name)
{
	const GElf_Shdr *section = elf_section_find(names, &rows->reader, name);

	return section ? section->sh_addr : 0;
}

static int load(struct elf_rows *rows, const struct elf_rows_opts *opts)
{
	_cleanup_(elf_section_names_done) struct elf_section_names names = { 0 };
	int r = elf_section_names_load(&names, &rows->reader);

	if (r == 0)
		r = elf_sections_load(&rows->sections, &rows->reader, &names);
	if (r == 0 && !elf_sections_have_functions(&rows->sections, MIN_EH_FRAME_FUNCTIONS))
		r = load_debug_frame(rows, &names, opts);
	if (r < 0)
		return r;
	if (rows->sections.nr_items > 0 && rows->sections.items[0].kind == ELF_GOPCLNTAB)
		rows->go_text = elf_sections_go_text(&rows->reader, &names);
	rows->text_address = section_address(rows, &names, ".text");
	rows->got_address = section_address(rows, &names, ".got");
	return 0;
}

/* Makes the source of a section. If the section is a damaged Go table, the source stays NULL. */
static int make_source(struct elf_rows *rows, size_t index)
{
	const struct elf_unwind_section *section = &rows->sections.items[index];
	struct unwind_source **source = &rows->sources[index];

	if (section->kind != ELF_GOPCLNTAB)
		return cfi_source_new(
			&(struct cfi_section){
				.data = section->data,
				.len = section->len,
				.address = section->address,
				.text_address = rows->text_address,
				.data_address = rows->got_address,
				.is_debug_frame = section->kind == ELF_DEBUG_FRAME,
				.budget = &rows->budget,
			},
			source);

	int r = gopclntab_source_new(
		&(struct gopclntab_section){ section->data, section->len, rows->go_text }, source);
	if (r != -EBADMSG)
		return r;
	rows->losses.nr_bad_entries++;
	return 0;
}

/* Makes a source of the code that no other source describes. If the code is damaged, the other
 * sources are used without it. Errors: -ENOMEM. */
static int find_rest(struct elf_rows *rows)
{
	const struct elf_gaps gaps = {
		.reader = &rows->reader,
		.budget = &rows->budget,
		.segments = { rows->segments, rows->nr_segments },
		.sources = rows->sources,
		.nr_sources = rows->sections.nr_items,
		.max_functions = ELF_ROWS_MAX_FUNCTIONS,
		.entry = rows->entry,
		.hash_seed = rows->hash_seed,
	};

	int r = elf_gaps_source_new(&gaps, &rows->rest, rows->rest_hash);
	if (r < 0 && r != -ENOMEM)
		rows->losses.nr_bad_entries++;
	return r == -ENOMEM ? r : 0;
}

static size_t put_segments(const struct elf_rows *rows, uint64_t *words)
{
	size_t nr = 0;

	for (size_t i = 0; i < rows->nr_segments; i++) {
		words[nr++] = rows->segments[i].address;
		words[nr++] = rows->segments[i].len;
		words[nr++] = rows->segments[i].offset;
	}
	return nr;
}

static size_t put_sections(const struct elf_rows *rows, uint64_t *words)
{
	size_t nr = 0;

	for (size_t i = 0; i < rows->sections.nr_items; i++) {
		const struct elf_unwind_section *section = &rows->sections.items[i];

		words[nr++] = section->kind;
		words[nr++] = section->address;
		hash_128_seeded(section->data, section->len, rows->hash_seed, &words[nr]);
		nr += 2;
	}
	return nr;
}

static void make_hash(struct elf_rows *rows)
{
	uint64_t words[8 + 3 * MAX_SEGMENTS + 4 * ELF_MAX_UNWIND_SECTIONS] = {
		KEY_VERSION,	    rows->nr_segments, rows->entry,	   rows->go_text,
		rows->text_address, rows->got_address, rows->rest_hash[0], rows->rest_hash[1],
	};
	size_t nr = 8;

	nr += put_segments(rows, words + nr);
	nr += put_sections(rows, words + nr);
	hash_128_seeded(words, nr * sizeof(words[0]), rows->hash_seed, rows->key.hash);
}

static int read_all(struct elf_rows *rows, int fd, const struct elf_rows_opts *opts)
{
	int r = elf_reader_init_within(&rows->reader, fd, &rows->budget);

	if (r == 0)
		r = check_header(&rows->reader, &rows->entry);
	if (r == 0)
		r = find_code(rows);
	if (r < 0)
		return r;
	elf_reader_build_id(&rows->reader, rows->key.build_id);
	r = load(rows, opts);
	for (size_t i = 0; i < rows->sections.nr_items && r == 0; i++)
		r = make_source(rows, i);
	if (r == 0)
		r = find_rest(rows);
	if (r < 0)
		return r;
	if (rows->sections.nr_items == 0 && !rows->rest)
		return -ENODATA;
	rows->losses.nr_bad_entries += rows->sections.nr_overlapping;
	make_hash(rows);
	elf_reader_let_go(&rows->reader);
	return 0;
}

int elf_rows_open(int fd, const struct elf_rows_opts *opts, struct elf_rows **ret_rows)
{
	_cleanup_(elf_rows_closep) struct elf_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	rows->max_bytes = opts->max_bytes;
	rows->hash_seed = opts->hash_seed;
	rows->budget.max_bytes = opts->max_held_bytes ? opts->max_held_bytes
						      : ELF_ROWS_MAX_HELD_BYTES;
	rows->sections.max_bytes = ELF_ROWS_MAX_SECTION_BYTES;

	int r = read_all(rows, fd, opts);
	if (r < 0)
		return r;
	*ret_rows = take_ptr(rows);
	return 0;
}

void elf_rows_close(struct elf_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->sections.nr_items; i++)
		unwind_source_free(rows->sources[i]);
	unwind_source_free(rows->rest);
	elf_sections_done(&rows->sections);
	elf_reader_done(&rows->debug_reader);
	elf_reader_done(&rows->reader);
	free(rows);
}

const struct elf_rows_key *elf_rows_get_key(const struct elf_rows *rows)
{
	return &rows->key;
}

static int list_entry(struct unwind_source *source, struct unwind_functions *functions,
		      struct unwind_losses *losses)
{
	uint64_t entry = ((struct entry_source *)source)->entry;
	const struct unwind_function function = { entry, entry + ENTRY_MAX_BYTES, 0, 0 };

	(void)losses;
	return entry > 0 && function.end > entry ? unwind_functions_add(functions, &function) : 0;
}

/* Adds the row unless another source has the function of the entry: the rest behind that
 * function has no rows. */
static int emit_entry(struct unwind_source *source, const struct unwind_function *function,
		      struct row_builder *builder, struct unwind_losses *losses)
{
	static const struct cfi_rule end = { .kind = CFA_END };

	(void)losses;
	if (function->start != ((struct entry_source *)source)->entry)
		return 0;
	return row_builder_add(builder, function->start, &end);
}

static void build_begin(struct build *build)
{
	static const struct unwind_source_ops entry_ops = { .list = list_entry,
							    .emit = emit_entry };
	struct elf_rows *rows = build->rows;

	for (size_t i = 0; i < rows->sections.nr_items; i++)
		build->sources[build->nr_sources++] = rows->sources[i];
	build->sources[build->nr_sources++] = rows->rest;
	build->entry = (struct entry_source){ { &entry_ops }, rows->entry };
	build->sources[build->nr_sources++] = &build->entry.source;
	unwind_functions_limit(&build->functions, &rows->budget, ELF_ROWS_MAX_FUNCTIONS);
	build->losses = rows->losses;
}

static void build_done(struct build *build)
{
	elf_budget_give(&build->rows->budget, build->nr_charged);
	unwind_functions_done(&build->functions);
	row_builder_free(build->builder);
}

/* Adds the rows of the part of a function that is in a segment. */
static int emit_function(struct build *build, const struct code_segment *segment,
			 struct unwind_function function)
{
	struct unwind_source *source = build->sources[function.source];
	uint64_t segment_end = segment->address + segment->len;

	if (function.start < segment->address)
		function.start = segment->address;
	if (function.end > segment_end)
		function.end = segment_end;

	int r = row_builder_begin(build->builder, function.start, function.end - function.start,
				  segment->offset + (function.start - segment->address));
	return r < 0 ? r : source->ops->emit(source, &function, build->builder, &build->losses);
}

static int emit_segment(struct build *build, const struct code_segment *segment)
{
	const struct unwind_functions *functions = &build->functions;
	size_t i = unwind_functions_find(functions, segment->address);
	int r = 0;

	for (; r == 0 && i < functions->nr_items; i++) {
		if (functions->items[i].start >= segment->address + segment->len)
			break;
		r = emit_function(build, segment, functions->items[i]);
	}
	return r;
}

/* While it grows, a table takes up to twice its size; at its end there is a copy. */
static size_t max_table_bytes(const struct elf_rows *rows)
{
	size_t room = elf_budget_room(&rows->budget, 3);

	return room < rows->max_bytes ? room : rows->max_bytes;
}

static int build_run(struct build *build, struct row_table_bytes *ret_table)
{
	const struct code_segments segments = { build->rows->segments, build->rows->nr_segments };

	int r = unwind_functions_collect(&build->functions, build->sources, build->nr_sources,
					 &segments, &build->losses);
	if (r == 0)
		r = unwind_functions_charge(&build->functions, &build->rows->budget,
					    &build->nr_charged);
	if (r == 0)
		r = row_builder_new(max_table_bytes(build->rows), &build->builder);
	for (size_t i = 0; i < build->rows->nr_segments && r == 0; i++)
		r = emit_segment(build, &build->rows->segments[i]);
	return r < 0 ? r : row_builder_seal(build->builder, ret_table);
}

int elf_rows_build(struct elf_rows *rows, struct row_table_bytes *ret_table,
		   struct elf_rows_stats *ret_stats)
{
	_cleanup_(build_done) struct build build = { .rows = rows };

	build_begin(&build);

	int r = build_run(&build, ret_table);
	if (r < 0)
		return r;
	*ret_stats = (struct elf_rows_stats){
		.nr_functions = build.functions.nr_items,
		.nr_rows_added = row_builder_nr_added(build.builder),
		.nr_section_bytes = rows->sections.nr_bytes,
		.losses = build.losses,
	};
	return 0;
}
