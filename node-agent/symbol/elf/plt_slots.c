/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/elf/plt_slots.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "symbol/elf/elf_symbol_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SLOTS ((size_t)1 << 20)
#define MAX_RELOCATION_BYTES ((uint64_t)256 << 20)
#define RELOCATIONS_AT_ONCE 2048

void plt_slots_done(struct plt_slots *slots)
{
	free(slots->items);
}

static bool is_slot(uint16_t machine, uint64_t type)
{
	if (machine == EM_AARCH64)
		return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT ||
		       type == R_AARCH64_IRELATIVE;
	return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
	       type == R_X86_64_IRELATIVE;
}

static int add_slot(struct plt_slots *slots, uint16_t machine, const Elf64_Rela *relocation)
{
	if (!is_slot(machine, ELF64_R_TYPE(relocation->r_info)))
		return 0;

	int r = array_grow(slots->items, slots->cap_items, slots->nr_items + 1, MAX_SLOTS);
	if (r < 0)
		return r;
	slots->items[slots->nr_items++] = (struct plt_slot){
		.address = relocation->r_offset,
		.addend = (uint64_t)relocation->r_addend,
		.symbol = (uint32_t)ELF64_R_SYM(relocation->r_info),
	};
	return 0;
}

static int add_slots(struct plt_slots *slots, const struct elf_reader *reader,
		     const GElf_Shdr *section)
{
	_cleanup_free_ Elf64_Rela *relocations = calloc(RELOCATIONS_AT_ONCE, sizeof(*relocations));
	uint64_t nr = section->sh_size / sizeof(*relocations);
	int r = 0;

	if (!relocations)
		return -ENOMEM;
	if (section->sh_size > MAX_RELOCATION_BYTES)
		return -ENOSPC;
	for (uint64_t first = 0; first < nr && r == 0; first += RELOCATIONS_AT_ONCE) {
		size_t nr_now = nr - first < RELOCATIONS_AT_ONCE ? (size_t)(nr - first)
								 : RELOCATIONS_AT_ONCE;

		r = elf_reader_read(reader, section->sh_offset + first * sizeof(*relocations),
				    relocations, nr_now * sizeof(*relocations));
		for (size_t i = 0; i < nr_now && r == 0; i++)
			r = add_slot(slots, reader->machine, &relocations[i]);
	}
	return r;
}

static int compare_slots(const void *a, const void *b)
{
	const struct plt_slot *left = a;
	const struct plt_slot *right = b;

	return (left->address > right->address) - (left->address < right->address);
}

static int load_symbols(struct plt_slots *slots, struct elf_reader *reader, size_t max_bytes)
{
	struct elf_symbol_table table;
	const uint8_t *names;

	int r = elf_symbol_table_find(reader, SHT_DYNSYM, &table);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (table.names_len > max_bytes || table.symbols_len > max_bytes)
		return -ENOSPC;

	r = elf_reader_bytes(reader, table.names_offset, table.names_len, &names);
	if (r < 0)
		return r;
	slots->names = (const char *)names;
	slots->names_len = (size_t)table.names_len;
	return elf_reader_data(reader, table.symbols_offset, table.symbols_len, ELF_T_SYM,
			       &slots->symbols);
}

int plt_slots_load(struct plt_slots *slots, struct elf_reader *reader,
		   const struct elf_section_names *names, bool has_got, size_t max_bytes)
{
	static const char *const tables[] = { ".rela.plt", ".rela.dyn" };
	struct plt_slots fresh = { 0 };

	int r = load_symbols(&fresh, reader, max_bytes);
	for (size_t i = 0; i < (has_got ? 2 : 1) && r == 0; i++) {
		const GElf_Shdr *section = elf_section_find(names, reader, tables[i]);

		if (section && section->sh_type == SHT_RELA)
			r = add_slots(&fresh, reader, section);
	}
	if (r < 0) {
		plt_slots_done(&fresh);
		return r;
	}
	if (fresh.nr_items > 0)
		qsort(fresh.items, fresh.nr_items, sizeof(*fresh.items), compare_slots);
	*slots = fresh;
	return 0;
}

const struct plt_slot *plt_slots_find(const struct plt_slots *slots, uint64_t address)
{
	const struct plt_slot key = { .address = address };

	if (slots->nr_items == 0)
		return NULL;
	return bsearch(&key, slots->items, slots->nr_items, sizeof(key), compare_slots);
}

void plt_slots_append_name(const struct plt_slots *slots, const struct plt_slot *slot,
			   struct strbuf *out)
{
	GElf_Sym symbol;

	if (slot->symbol == 0) {
		strbuf_appendf(out, "*ABS*+0x%" PRIx64, slot->addend);
		return;
	}
	if (!slots->symbols || slot->symbol > INT32_MAX ||
	    !gelf_getsym(slots->symbols, (int)slot->symbol, &symbol) ||
	    symbol.st_name >= slots->names_len)
		return;

	size_t left = slots->names_len - symbol.st_name;
	const char *name = slots->names + symbol.st_name;
	strbuf_append(out, name,
		      strnlen(name, left < ELF_MAX_NAME_BYTES ? left : ELF_MAX_NAME_BYTES));
}
