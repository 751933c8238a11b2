/* SPDX-License-Identifier: Apache-2.0 */
/* The slots through which a program calls functions of other files: words that the dynamic linker
 * fills with addresses, and relocations that say which. Of x86-64 and arm64 files. */
#ifndef SYMBOL_ELF_PLT_SLOTS_H
#define SYMBOL_ELF_PLT_SLOTS_H

#include "base/strbuf.h"
#include "unwind/file/elf_sections.h"

struct plt_slot {
	uint64_t address;
	uint64_t
		addend; /* of one without a symbol: where a resolver is that chooses the function */
	uint32_t symbol; /* in .dynsym; 0: none */
};

struct plt_slots {
	struct plt_slot *items; /* owned; sorted by address */
	size_t nr_items;
	size_t cap_items;
	Elf_Data *symbols; /* borrowed from the reader; NULL: there are none */
	const char *names; /* borrowed from the reader */
	size_t names_len;
};

/* Reads .rela.plt; `has_got`: also .rela.dyn, which has those of .plt.got. `max_bytes` bounds the
 * names. The reader outlives the slots. Errors: -EBADMSG, -ENOSPC, -ENOMEM, what pread() says. */
int plt_slots_load(struct plt_slots *slots, struct elf_reader *reader,
		   const struct elf_section_names *names, bool has_got, size_t max_bytes)
	must_check;
void plt_slots_done(struct plt_slots *slots);

/* Borrowed; NULL: no relocation has that address. */
const struct plt_slot *plt_slots_find(const struct plt_slots *slots, uint64_t address);

/* Appends what the slot leads to, "name" or "*ABS*+0x…" (a resolver), or nothing if it has no
 * name. */
void plt_slots_append_name(const struct plt_slots *slots, const struct plt_slot *slot,
			   struct strbuf *out);

#endif
