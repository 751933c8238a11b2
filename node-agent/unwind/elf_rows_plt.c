/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of procedure linkage tables on arm64, which linkers write without CFI. An entry only jumps: the return address is
 * in lr, and sp is the caller's. What comes first, for the dynamic linker that finds functions when they are first
 * called, pushes lr:
 *
 *	(bti c)  stp x16,x30,[sp,#-16]!  adrp x16,…  ldr x17,…  add x16,…  br x17  nop…	32 bytes
 *
 * Other code without CFI has no rows here: it is stepped over by frame pointer. */
#include "unwind/elf_rows_parts.h"

#include "base/hash.h"

#include <string.h>

#define MAX_PLTS 8
#define INSTRUCTION_BYTES 4
#define HEAD_BYTES 32
#define STP_X16_X30 0xa9bf7bf0 /* stp x16,x30,[sp,#-16]! */

struct plt {
	uint64_t start; /* virtual addresses */
	uint64_t end;
	uint64_t pushed; /* from here to the end of the head lr is on the stack; 0: nowhere */
};

struct plt_source {
	struct unwind_source source;
	struct plt plts[MAX_PLTS];
	size_t nr_plts;
};

static int list(struct unwind_source *base, struct unwind_functions *functions,
		struct unwind_losses *losses)
{
	const struct plt_source *source = (const struct plt_source *)base;
	int r = 0;

	(void)losses;
	for (size_t i = 0; i < source->nr_plts && r == 0; i++) {
		const struct plt *plt = &source->plts[i];

		r = unwind_functions_add(functions,
					 &(struct unwind_function){ plt->start, plt->end, i, 0 });
	}
	return r;
}

static int add_row(struct row_builder *builder, uint64_t address, bool is_pushed)
{
	static const struct cfi_rule entry = {
		.kind = CFA_REGISTER,
		.reg = CFI_SP,
		.flags = CFI_RETURN_IN_REGISTER,
		.arg = CFI_LR,
		.saved = { CFI_NOT_SAVED },
	};
	static const struct cfi_rule pushed = {
		.kind = CFA_REGISTER,
		.reg = CFI_SP,
		.offset = 16,
		.return_address = -1,
		.saved = { CFI_NOT_SAVED },
	};

	return row_builder_add(builder, address, is_pushed ? &pushed : &entry);
}

static int emit(struct unwind_source *base, const struct unwind_function *function,
		struct row_builder *builder, struct unwind_losses *losses)
{
	const struct plt *plt = &((const struct plt_source *)base)->plts[function->ref];
	int r = add_row(builder, plt->start, /* is_pushed= */ false);

	(void)losses;
	if (r == 0 && plt->pushed > 0)
		r = add_row(builder, plt->pushed, /* is_pushed= */ true);
	if (r == 0 && plt->pushed > 0)
		r = add_row(builder, plt->start + HEAD_BYTES, /* is_pushed= */ false);
	return r;
}

static bool is_plt(const struct elf_section_names *names, const GElf_Shdr *section)
{
	const char *name = section->sh_name < names->len ? names->names + section->sh_name : "";

	return section->sh_type == SHT_PROGBITS && section->sh_flags & SHF_EXECINSTR &&
	       (strncmp(name, ".plt", 4) == 0 || strncmp(name, ".iplt", 5) == 0);
}

static int add_plt(struct plt_source *source, const struct elf_reader *reader,
		   const GElf_Shdr *section)
{
	struct plt plt = { .start = section->sh_addr, .end = section->sh_addr + section->sh_size };
	uint32_t code[2];

	if (source->nr_plts == MAX_PLTS || section->sh_size < HEAD_BYTES || plt.end < plt.start)
		return 0;

	int r = elf_reader_read(reader, section->sh_offset, code, sizeof(code));
	for (uint64_t i = 0; i < 2 && r == 0; i++)
		if (code[i] == STP_X16_X30)
			plt.pushed = plt.start + (i + 1) * INSTRUCTION_BYTES;
	if (r == 0)
		source->plts[source->nr_plts++] = plt;
	return r;
}

static int find_plts(struct plt_source *source, struct elf_reader *reader)
{
	_cleanup_(elf_section_names_done) struct elf_section_names names = { 0 };
	int r = elf_section_names_load(&names, reader);

	for (size_t i = 0; i < reader->nr_sections && r == 0; i++)
		if (is_plt(&names, &reader->sections[i]))
			r = add_plt(source, reader, &reader->sections[i]);
	return r;
}

int elf_rows_find_rest(struct elf_rows *rows)
{
	static const struct unwind_source_ops ops = { .list = list, .emit = emit };
	struct plt_source *source = calloc(1, sizeof(*source));

	if (!source)
		return -ENOMEM;
	source->source.ops = &ops;

	int r = find_plts(source, &rows->reader);
	if (r < 0 || source->nr_plts == 0) {
		free(source);
		return r == -ENOMEM ? r : 0;
	}
	hash_128(source->plts, source->nr_plts * sizeof(source->plts[0]), rows->rest_hash);
	rows->rest = &source->source;
	return 0;
}

void elf_rows_free_rest(struct elf_rows *rows)
{
	free(rows->rest);
}
