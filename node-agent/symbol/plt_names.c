/* SPDX-License-Identifier: Apache-2.0 */
/* The procedure linkage table: stubs that call functions of other files. They have no symbols, but each jumps through
 * a slot (plt_slots.h), and so is called "name@plt", as by objdump(1) and perf(1). Sections:
 *
 *	.plt		16 bytes a stub; the first one leads to the dynamic linker
 *	.plt.sec	where the processor checks jumps (-fcf-protection): its stubs are called, those of .plt only
 *			at the first time, and have no slots
 *	.plt.got	8 bytes a stub, or 16
 *
 * x86-64 only. */
#include "base/array.h"
#include "base/cleanup.h"
#include "symbol/plt_slots.h"
#include "symbol/symbol_source.h"

#include <string.h>

#define MAX_STUBS ((size_t)1 << 20)
#define MIN_STUB_BYTES 8
#define MAX_STUB_BYTES 64
#define DEFAULT_STUB_BYTES 16
#define JUMP_BYTES 6 /* ff 25, distance of the slot from behind it */

/* Stubs, until all names are there. */
struct stubs {
	struct plt_slots slots;
	struct elf_found_symbol *items; /* owned */
	size_t nr_items;
	size_t cap_items;
	struct strbuf *names;
	size_t max_bytes; /* of a section */
};

static void stubs_done(struct stubs *stubs)
{
	plt_slots_done(&stubs->slots);
	free(stubs->items);
}

/* Where a stub's jump goes through: behind `endbr64` and `bnd`, which both may be missing. */
static bool find_slot_address(const uint8_t *stub, size_t len, uint64_t address, uint64_t *ret_slot)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t pos = memcmp(stub, endbr64, sizeof(endbr64)) == 0 ? sizeof(endbr64) : 0;
	int32_t distance;

	pos += stub[pos] == 0xf2; /* bnd */
	if (len - pos < JUMP_BYTES || stub[pos] != 0xff || stub[pos + 1] != 0x25)
		return false;
	memcpy(&distance, stub + pos + 2, sizeof(distance));
	*ret_slot = address + pos + JUMP_BYTES + (uint64_t)(int64_t)distance;
	return true;
}

static int add_stub(struct stubs *stubs, const uint8_t *stub, size_t len, uint64_t address)
{
	const struct plt_slot *slot = NULL;
	size_t name = stubs->names->len;
	uint64_t slot_address;

	if (find_slot_address(stub, len, address, &slot_address))
		slot = plt_slots_find(&stubs->slots, slot_address);
	if (slot)
		plt_slots_append_name(&stubs->slots, slot, stubs->names);
	if (stubs->names->len == name)
		return strbuf_error(stubs->names);
	strbuf_append(stubs->names, "@plt", sizeof("@plt"));

	int r = array_grow(stubs->items, stubs->cap_items, stubs->nr_items + 1, MAX_STUBS);
	if (r < 0)
		return r;
	stubs->items[stubs->nr_items++] = (struct elf_found_symbol){
		.address = address,
		.size = len,
		.name = name,
		.rank = RANK_LOCAL,
	};
	return strbuf_error(stubs->names);
}

static int add_section(struct stubs *stubs, struct elf_reader *reader, const GElf_Shdr *section)
{
	uint64_t stub_bytes = section->sh_entsize;
	const uint8_t *bytes;

	if (stub_bytes < MIN_STUB_BYTES || stub_bytes > MAX_STUB_BYTES)
		stub_bytes = DEFAULT_STUB_BYTES;

	if (section->sh_size > stubs->max_bytes)
		return -ENOSPC;

	int r = elf_reader_bytes(reader, section->sh_offset, section->sh_size, &bytes);
	for (uint64_t pos = 0; r == 0 && section->sh_size - pos >= stub_bytes; pos += stub_bytes)
		r = add_stub(stubs, bytes + pos, (size_t)stub_bytes, section->sh_addr + pos);
	return r;
}

static int list_stubs(const struct stubs *stubs, struct elf_symbol_list *list)
{
	int r = elf_symbol_list_begin(list, strbuf_str(stubs->names), stubs->names->len);

	for (size_t i = 0; i < stubs->nr_items && r == 0; i++)
		r = elf_symbol_list_add(list, &stubs->items[i]);
	return r;
}

int symbol_source_plt(struct symbol_file *file)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };
	const GElf_Shdr *sections[array_len(names)];
	_cleanup_(stubs_done) struct stubs stubs = {
		.names = &file->plt_names,
		.max_bytes = file->max_bytes,
	};
	bool has_any = false;

	for (size_t i = 0; i < array_len(names); i++) {
		sections[i] = elf_section_find(&file->section_names, &file->reader, names[i]);
		has_any = has_any || sections[i];
	}
	if (!has_any || file->reader.machine != EM_X86_64)
		return 0;
	file->plt_names = strbuf_with_max(file->max_bytes);

	int r = plt_slots_load(&stubs.slots, &file->reader, &file->section_names,
			       /* has_got */ sections[2] != NULL, file->max_bytes);
	for (size_t i = 0; i < array_len(names) && r == 0; i++)
		if (sections[i])
			r = add_section(&stubs, &file->reader, sections[i]);
	return r < 0 ? r : list_stubs(&stubs, &file->list);
}
