/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a file while they are collected from their sources (symbol_source.h), before
 * they become a block: as read, then sorted, with one left for each address. */
#ifndef SYMBOL_ELF_ELF_SYMBOL_LIST_H
#define SYMBOL_ELF_ELF_SYMBOL_LIST_H

#include "elf/elf_reader.h"

#define ELF_MAX_SYMBOLS (4u << 20) /* a symbol table */
#define ELF_MAX_NAME_BYTES 4096 /* longer names are cut */
#define ELF_MAX_SOURCES 5

struct elf_code_range {
	uint64_t start;
	uint64_t end;
};

/* The smaller the better. */
enum elf_symbol_rank {
	RANK_GLOBAL,
	RANK_WEAK,
	RANK_LOCAL,
	RANK_LABEL, /* no function by its type, without a size */
	RANK_NAMELESS, /* a function of which nothing is known but its place */
};

struct elf_listed_symbol {
	uint32_t delta; /* address - base */
	uint32_t size; /* 0: unknown until sealed */
	uint32_t name; /* offset in the names of its source */
	uint16_t name_len;
	uint8_t source;
	uint8_t rank; /* enum elf_symbol_rank; nameless: name_len is 0 and `source` means nothing */
};

struct elf_names {
	const char *text; /* borrowed; not always NUL-terminated */
	size_t len;
};

struct elf_symbol_list {
	struct elf_code_range *ranges; /* owned; executable sections, sorted by start */
	size_t nr_ranges;
	uint64_t base; /* start of the first range */
	struct elf_listed_symbol *symbols; /* owned */
	size_t nr_symbols;
	bool is_sorted; /* by address, with one symbol for each */
	size_t cap_symbols;
	struct elf_names sources[ELF_MAX_SOURCES]; /* where the names of each source are */
	size_t nr_sources;
	size_t name_bytes; /* of the names of all symbols, with a NUL each */
	size_t max_bytes; /* of `symbols`, and of the names of a source */
};

/* A function, as a source has it. */
struct elf_found_symbol {
	uint64_t address;
	uint64_t size; /* 0: unknown */
	uint64_t name; /* offset in the names of the source */
	enum elf_symbol_rank rank;
};

/* Finds the executable sections of a file, or its segments if it has none; nothing outside of them
 * is a function. Errors: -ENOMEM. */
int elf_symbol_list_init(struct elf_symbol_list *list, const struct elf_reader *reader,
			 size_t max_bytes) must_check;
void elf_symbol_list_done(struct elf_symbol_list *list);

/* Begins a source: symbols added from now on have their names in this text, which outlives
 * the list. Errors: -ENOSPC. */
int elf_symbol_list_begin(struct elf_symbol_list *list, const char *names, size_t len) must_check;

/* Appends a function. One that has no name or is not in code, or lies more than 4 GB above the
 * first code, is left out. Errors: -ENOSPC over max_bytes, -ENOMEM. */
int elf_symbol_list_add(struct elf_symbol_list *list, const struct elf_found_symbol *found)
	must_check;

/* Appends a function without a name; what the others cover it is left out of when the list is
 * sealed. `start` is below `end`. One that is not in code is left out. Errors: as above. */
int elf_symbol_list_add_nameless(struct elf_symbol_list *list, uint64_t start, uint64_t end)
	must_check;

/* Takes back what was added since there were so many symbols and sources. */
void elf_symbol_list_cut(struct elf_symbol_list *list, size_t nr_symbols, size_t nr_sources);

/* Whether the sizes of the symbols leave more than an eighth of the code over. Sorts the list, and
 * keeps the best symbol of each address. */
bool elf_symbol_list_is_sparse(struct elf_symbol_list *list);

/* Sorts by address, keeps the best symbol of each address and gives sizes to those without: up to
 * the next function or the end of their section. No size reaches over that end. */
void elf_symbol_list_seal(struct elf_symbol_list *list);

/* The name_len bytes of a name, without a NUL; borrowed. */
const char *elf_symbol_list_name(const struct elf_symbol_list *list,
				 const struct elf_listed_symbol *symbol);

#endif
