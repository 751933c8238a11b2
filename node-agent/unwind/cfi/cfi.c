/* SPDX-License-Identifier: Apache-2.0 */
/* All CIEs are found and run once, at the beginning, so that an FDE costs only what its own bytes
 * cost. An FDE that refers to anything but the head of a CIE is damaged.
 *
 * An FDE that covers all code is run again in each segment. So that this does not multiply the
 * cost of a file, the number of bytes that are run is limited. */
#include "unwind/cfi/cfi.h"

#include "base/search.h"
#include "unwind/cfi/cfi_entry.h"
#include "unwind/cfi/cfi_program.h"
#include "unwind/rows/functions.h"

#include <stdlib.h>

/* Linkers merge the CIEs of .eh_frame into a few; .debug_frame keeps one of each compiled file. */
#define MAX_CIES ((size_t)1 << 16)

#define MAX_RUNS_OF_BYTES 4 /* of a section, on average */

struct cfi_source {
	struct unwind_source base;
	struct cfi_section section;
	struct cfi_cie *cies; /* owned; in the order of their offsets */
	size_t nr_cies;
	size_t cap_cies;
	size_t last_cie; /* index of the last CIE that was found; the next FDE mostly has it, too */
	uint64_t nr_bad_cies;
	uint64_t bytes_left; /* of FDEs, that may still be run */
};

static struct cfi_source *source_of(struct unwind_source *source)
{
	return (struct cfi_source *)source;
}

/* Adds a CIE, or counts it if it is damaged. Errors: -ENOMEM. */
static int add_cie(struct cfi_source *source, const struct cfi_entry *entry)
{
	struct dwarf_cursor program;
	int r = elf_budget_grow(source->section.budget, source->cies, source->cap_cies,
				source->nr_cies + 1, MAX_CIES);

	if (r == 0)
		r = cfi_cie_parse(&source->section, entry, &source->cies[source->nr_cies],
				  &program);
	if (r == 0)
		r = cfi_program_run_initial(&source->section, program,
					    &source->cies[source->nr_cies]);
	if (r == 0)
		source->nr_cies++;
	else if (r != -ENOMEM)
		source->nr_bad_cies++;
	return r == -ENOMEM ? r : 0;
}

static int find_cies(struct cfi_source *source)
{
	struct cfi_entries entries = { .section = &source->section };

	for (struct cfi_entry entry; cfi_entries_next(&entries, &entry);) {
		int r = entry.is_cie ? add_cie(source, &entry) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

static const struct cfi_cie *find_cie(struct cfi_source *source, uint64_t offset)
{
	const struct cfi_cie *cies = source->cies;

	if (source->last_cie < source->nr_cies && cies[source->last_cie].offset == offset)
		return &cies[source->last_cie];

	size_t found = search_count(source->nr_cies, i, cies[i].offset < offset);
	if (found == source->nr_cies || cies[found].offset != offset)
		return NULL;
	source->last_cie = found;
	return &cies[found];
}

/* Reads the FDE of an entry, and finds its CIE. */
static int parse_fde(struct cfi_source *source, const struct cfi_entry *entry,
		     struct cfi_fde *ret_fde, const struct cfi_cie **ret_cie)
{
	const struct cfi_cie *cie = find_cie(source, entry->cie_offset);

	if (!cie)
		return -EBADMSG;

	int r = cfi_fde_parse(&source->section, entry, cie, ret_fde);
	if (r == 0)
		*ret_cie = cie;
	return r;
}

static int list_entry(struct cfi_source *source, const struct cfi_entry *entry,
		      struct unwind_functions *functions, struct unwind_losses *losses)
{
	const struct cfi_cie *cie;
	struct cfi_fde fde;

	if (parse_fde(source, entry, &fde, &cie) < 0) {
		losses->nr_bad_entries++;
		return 0;
	}
	if (fde.start == fde.end)
		return 0;

	const struct unwind_function function = { fde.start, fde.end, entry->offset, 0 };
	return unwind_functions_add(functions, &function);
}

static int list(struct unwind_source *base, struct unwind_functions *functions,
		struct unwind_losses *losses)
{
	struct cfi_source *source = source_of(base);
	struct cfi_entries entries = { .section = &source->section };

	for (struct cfi_entry entry; cfi_entries_next(&entries, &entry);) {
		int r = entry.is_cie ? 0 : list_entry(source, &entry, functions, losses);

		if (r < 0)
			return r;
	}
	losses->nr_bad_entries += source->nr_bad_cies + entries.is_cut;
	return 0;
}

static int run_entry(struct cfi_source *source, uint64_t offset, struct row_builder *builder,
		     struct unwind_losses *losses)
{
	struct cfi_entries entries = { .section = &source->section, .offset = offset };
	const struct cfi_cie *cie = NULL;
	struct cfi_entry entry;
	struct cfi_fde fde;

	if (!cfi_entries_next(&entries, &entry) || entry.is_cie)
		return -EBADMSG;

	int r = parse_fde(source, &entry, &fde, &cie);
	if (r < 0)
		return r;

	size_t nr_bytes = (size_t)(fde.program.end - fde.program.pos);
	if (nr_bytes > source->bytes_left)
		return -EBADMSG;
	source->bytes_left -= nr_bytes;
	return cfi_program_run(&source->section, cie, &fde, builder, losses);
}

static int emit(struct unwind_source *base, const struct unwind_function *function,
		struct row_builder *builder, struct unwind_losses *losses)
{
	int r = run_entry(source_of(base), function->ref, builder, losses);

	if (r != -EBADMSG)
		return r;
	losses->nr_bad_entries++;
	return 0;
}

static void free_source(struct unwind_source *base)
{
	free(source_of(base)->cies);
	free(base);
}

int cfi_source_new(const struct cfi_section *section, struct unwind_source **ret_source)
{
	static const struct unwind_source_ops ops = { list, emit, free_source };
	struct cfi_source *source = calloc(1, sizeof(*source));

	if (!source)
		return -ENOMEM;
	source->base.ops = &ops;
	source->section = *section;
	source->bytes_left = (uint64_t)MAX_RUNS_OF_BYTES * section->len;

	int r = find_cies(source);
	if (r < 0)
		free_source(&source->base);
	else
		*ret_source = &source->base;
	return r;
}
