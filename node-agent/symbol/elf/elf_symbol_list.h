/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a file while they are collected from their sources (symbol_source.h). At the end
 * they are sorted, and one per address is kept for the block. */
#ifndef SYMBOL_ELF_ELF_SYMBOL_LIST_H
#define SYMBOL_ELF_ELF_SYMBOL_LIST_H

#include "elf/elf_reader.h"

#define ELF_MAX_SYMBOLS (4u << 20) /* in a symbol table */
#define ELF_MAX_NAME_BYTES 4096 /* longer names are truncated */
#define ELF_MAX_SOURCES 5

struct elf_code_range {
	uint64_t start;
	uint64_t end;
};

/* The better rank comes first. */
enum elf_symbol_rank {
	RANK_GLOBAL,
	RANK_WEAK,
	RANK_LOCAL,
	RANK_LABEL, /* has neither the type of a function nor a size */
	RANK_NAMELESS, /* a function without a name */
};

struct elf_listed_symbol {
	uint32_t delta; /* address - base */
	uint32_t size; /* 0: unknown until sealed */
	uint32_t name; /* offset in the names of the source */
	uint16_t name_len;
	uint8_t source;
	uint8_t rank; /* enum elf_symbol_rank; if nameless, name_len is 0 and `source` unused */
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
	bool is_sorted; /* by address, with one symbol per address */
	size_t cap_symbols;
	struct elf_names sources[ELF_MAX_SOURCES]; /* the names of each source */
	size_t nr_sources;
	size_t name_bytes; /* of the names of all symbols, with a NUL each */
	size_t max_bytes; /* of `symbols`, and of the names of a source */
};

/* A function that a source has found. */
struct elf_found_symbol {
	uint64_t address;
	uint64_t size; /* 0: unknown */
	uint64_t name; /* offset in the names of the source */
	enum elf_symbol_rank rank;
};

/* Finds the executable sections of a file, or its segments if it has no sections. There are no
 * functions outside of them. Errors: -ENOMEM. */
int elf_symbol_list_init(struct elf_symbol_list *list, const struct elf_reader *reader,
			 size_t max_bytes) must_check;
void elf_symbol_list_done(struct elf_symbol_list *list);

/* Begins a source. The names of symbols that are added from now on are in this text, which must
 * outlive the list. Errors: -ENOSPC. */
int elf_symbol_list_begin(struct elf_symbol_list *list, const char *names, size_t len) must_check;

/* Appends a function, unless it has no name, is not in code, or is more than 4 GB above the first
 * code. Errors: -ENOSPC over max_bytes, -ENOMEM. */
int elf_symbol_list_add(struct elf_symbol_list *list, const struct elf_found_symbol *found)
	must_check;

/* Appends a function without a name, unless it is not in code. `start` is below `end`. When the
 * list is sealed, it is dropped if it begins within another function. Errors: as above. */
int elf_symbol_list_add_nameless(struct elf_symbol_list *list, uint64_t start, uint64_t end)
	must_check;

/* Removes the symbols and sources that were added since there were so many. */
void elf_symbol_list_cut(struct elf_symbol_list *list, size_t nr_symbols, size_t nr_sources);

/* Returns whether the symbols leave more than an eighth of the code uncovered. Sorts the list, and
 * keeps the best symbol of each address. */
bool elf_symbol_list_is_sparse(struct elf_symbol_list *list);

/* Sorts by address, keeps the best symbol of each address, and sets missing sizes: a symbol without
 * one ends with the next function or its section. Sizes that exceed the section are reduced. */
void elf_symbol_list_seal(struct elf_symbol_list *list);

/* Returns a name, which has name_len bytes and no NUL; borrowed. */
const char *elf_symbol_list_name(const struct elf_symbol_list *list,
				 const struct elf_listed_symbol *symbol);

#endif
