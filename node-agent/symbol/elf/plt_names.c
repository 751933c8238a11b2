/* SPDX-License-Identifier: Apache-2.0 */
/* The procedure linkage table has stubs that call functions of other files. Stubs have no symbols,
 * but each one jumps through a slot (plt_slots.h). The slot's function gives it its name,
 * "name@plt", as in objdump(1) and perf(1). There are these sections:
 *
 *	.plt		the first stub leads to the dynamic linker
 *	.plt.sec	on x86-64 with -fcf-protection: code calls these stubs; those of .plt run only the
 *			first time and have no slots
 *	.plt.got	on x86-64: stubs of functions whose address is also taken */
#include "base/array.h"
#include "base/cleanup.h"
#include "symbol/elf/plt_slots.h"
#include "symbol/elf/plt_stubs.h"
#include "symbol/elf/symbol_source.h"

#define MAX_STUBS ((size_t)1 << 20)

/* The stubs while their names are collected. */
struct stubs {
	struct plt_slots slots;
	plt_stub_finder *find;
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

static int add_stub(struct stubs *stubs, const struct plt_stub *stub)
{
	const struct plt_slot *slot = plt_slots_find(&stubs->slots, stub->slot);
	size_t name = stubs->names->len;

	if (slot)
		plt_slots_append_name(&stubs->slots, slot, stubs->names);
	if (stubs->names->len == name)
		return strbuf_error(stubs->names);
	strbuf_append(stubs->names, "@plt", sizeof("@plt"));

	int r = array_grow(stubs->items, stubs->cap_items, stubs->nr_items + 1, MAX_STUBS);
	if (r < 0)
		return r;
	stubs->items[stubs->nr_items++] = (struct elf_found_symbol){
		.address = stub->address,
		.size = stub->len,
		.name = name,
		.rank = RANK_LOCAL,
	};
	return strbuf_error(stubs->names);
}

static int add_section(struct stubs *stubs, struct elf_reader *reader, const GElf_Shdr *section)
{
	struct plt_code code = { .len = section->sh_size,
				 .address = section->sh_addr,
				 .stub_bytes = section->sh_entsize };
	struct plt_stub stub;

	if (section->sh_size > stubs->max_bytes)
		return -ENOSPC;

	int r = elf_reader_bytes(reader, section->sh_offset, section->sh_size, &code.bytes);
	while (r == 0 && stubs->find(&code, &stub))
		r = add_stub(stubs, &stub);
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
		.find = plt_stub_finder_for(file->reader.machine),
		.names = &file->plt_names,
		.max_bytes = file->max_bytes,
	};
	bool has_any = false;

	for (size_t i = 0; i < array_len(names); i++) {
		sections[i] = elf_section_find(&file->section_names, &file->reader, names[i]);
		has_any = has_any || sections[i];
	}
	if (!has_any || !stubs.find)
		return 0;
	file->plt_names = strbuf_with_max(file->max_bytes);

	int r = plt_slots_load(&stubs.slots, &file->reader, &file->section_names,
			       /* has_got */ sections[2] != NULL, file->max_bytes);
	for (size_t i = 0; i < array_len(names) && r == 0; i++)
		if (sections[i])
			r = add_section(&stubs, &file->reader, sections[i]);
	return r < 0 ? r : list_stubs(&stubs, &file->list);
}
