/* SPDX-License-Identifier: Apache-2.0 */
/* From sources to a table: list all functions, make one list of them, give each its rows in the order of the
 * file. */
#include "unwind/cfi/cfi.h"
#include "unwind/file/elf_rows_parts.h"

/* A program's first function is often written by hand, without CFI (musl's is). Nobody called it: rbp has
 * no meaning there, and what is on its stack is no return address. */
#define ENTRY_MAX_BYTES 64

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

static int list_entry(struct unwind_source *source, struct unwind_functions *functions,
		      struct unwind_losses *losses)
{
	uint64_t entry = ((struct entry_source *)source)->entry;
	const struct unwind_function function = { entry, entry + ENTRY_MAX_BYTES, 0, 0 };

	(void)losses;
	return entry > 0 && function.end > entry ? unwind_functions_add(functions, &function) : 0;
}

/* Where another source has the entry, what is behind that one's function is nobody's. */
static int emit_entry(struct unwind_source *source, const struct unwind_function *function,
		      struct row_builder *builder, struct unwind_losses *losses)
{
	static const struct cfi_rule end = { .kind = CFA_END };

	(void)losses;
	if (function->start != ((struct entry_source *)source)->entry)
		return 0;
	return row_builder_add(builder, function->start, &end);
}

static void begin(struct build *build)
{
	static const struct unwind_source_ops entry_ops = { list_entry, emit_entry };
	struct elf_rows *rows = build->rows;

	for (size_t i = 0; i < rows->sections.nr_items; i++)
		build->sources[build->nr_sources++] = rows->sources[i];
	build->sources[build->nr_sources++] = rows->rest;
	build->entry = (struct entry_source){ { &entry_ops }, rows->entry };
	build->sources[build->nr_sources++] = &build->entry.source;
	unwind_functions_limit(&build->functions, &rows->budget, ELF_ROWS_MAX_FUNCTIONS);
	build->losses = rows->losses;
}

static void done(struct build *build)
{
	elf_budget_give(&build->rows->budget, build->nr_charged);
	unwind_functions_done(&build->functions);
	row_builder_free(build->builder);
}

static int list_functions(struct build *build)
{
	const struct code_segments segments = { build->rows->segments, build->rows->nr_segments };

	for (size_t i = 0; i < build->nr_sources; i++) {
		int r = unwind_functions_list(&build->functions, build->sources[i], (uint32_t)i,
					      &segments, &build->losses);

		if (r < 0)
			return r;
	}
	build->losses.nr_bad_entries += unwind_functions_resolve(&build->functions);
	return 0;
}

/* The part of a function that is in a segment. */
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

static int run(struct build *build, struct row_table_bytes *ret_table)
{
	int r = list_functions(build);

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
	_cleanup_(done) struct build build = { .rows = rows };

	begin(&build);

	int r = run(&build, ret_table);
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
