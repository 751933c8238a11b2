/* SPDX-License-Identifier: Apache-2.0 */
/* The slots through which a program calls functions of other files: words that the dynamic linker
 * fills with the addresses that relocations describe. For x86-64 and arm64 files. */
#ifndef SYMBOL_ELF_PLT_SLOTS_H
#define SYMBOL_ELF_PLT_SLOTS_H

#include "base/strbuf.h"
#include "unwind/file/elf_sections.h"

struct plt_slot {
	uint64_t address;
	/* Without a symbol, this is the address of a resolver that chooses the function. */
	uint64_t addend;
	uint32_t symbol; /* index in .dynsym; 0: none */
};

struct plt_slots {
	struct plt_slot *items; /* owned; sorted by address */
	size_t nr_items;
	size_t cap_items;
	Elf_Data *symbols; /* borrowed from the reader; NULL: none */
	const char *names; /* borrowed from the reader */
	size_t names_len;
};

/* Reads the slots of .rela.plt, and with `has_got` those of .rela.dyn, which .plt.got uses.
 * `max_bytes` bounds the names. The reader must outlive the slots. Errors: -EBADMSG, -ENOSPC,
 * -ENOMEM, those of pread(2). */
int plt_slots_load(struct plt_slots *slots, struct elf_reader *reader,
		   const struct elf_section_names *names, bool has_got, size_t max_bytes)
	must_check;
void plt_slots_done(struct plt_slots *slots);

/* Returns the slot at an address, or NULL; borrowed. */
const struct plt_slot *plt_slots_find(const struct plt_slots *slots, uint64_t address);

/* Appends the name of the slot's function, or "*ABS*+0x…" for a resolver. Appends
 * nothing if there is no name. */
void plt_slots_append_name(const struct plt_slots *slots, const struct plt_slot *slot,
			   struct strbuf *out);

#endif
