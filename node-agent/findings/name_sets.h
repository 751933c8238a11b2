/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of names of functions and threads, and which of them a name is in. All sets are compiled
 * into one index, so that a name is looked up once for all of them. */
#ifndef FINDINGS_NAME_SETS_H
#define FINDINGS_NAME_SETS_H

#include "base/err.h"
#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_SET_WORDS 2
#define NAME_SETS_MAX (NAME_SET_WORDS * 64)

/* Numbers of sets, as bits. */
struct name_bits {
	uint64_t words[NAME_SET_WORDS];
};

/* A name that ends with "*" in its list. */
struct name_prefix {
	const char *text; /* borrowed from the list */
	size_t len;
	struct name_bits bits;
};

struct name_sets {
	const char *lists[NAME_SETS_MAX]; /* borrowed */
	size_t nr;
	struct intern names; /* whole names */
	struct name_bits *bits; /* by the number of the name; owned */
	size_t nr_bits, cap_bits;
	struct name_prefix *prefixes; /* owned */
	size_t nr_prefixes, cap_prefixes;
};

/* Errors: -ENOMEM. */
int name_sets_init(struct name_sets *sets) must_check;
void name_sets_done(struct name_sets *sets);

/* Adds the set of the names in `list`, which have `separator` between them, and returns its
 * number. Equal lists are one set. The list must outlive the sets. Errors: -ENOSPC too many sets or
 * names, -ENOMEM. */
int name_sets_add(struct name_sets *sets, const char *list, char separator) must_check;

/* Returns the sets that a name is in. Suffixes that compilers append to it are ignored. */
struct name_bits name_sets_of(const struct name_sets *sets, const char *name);

static inline bool name_bits_have(struct name_bits bits, int set)
{
	return bits.words[set / 64] >> (set % 64) & 1;
}

static inline void name_bits_set(struct name_bits *bits, int set)
{
	bits->words[set / 64] |= UINT64_C(1) << (set % 64);
}

static inline void name_bits_add(struct name_bits *bits, struct name_bits more)
{
	for (size_t i = 0; i < NAME_SET_WORDS; i++)
		bits->words[i] |= more.words[i];
}

static inline bool name_bits_any(struct name_bits bits)
{
	uint64_t any = 0;

	for (size_t i = 0; i < NAME_SET_WORDS; i++)
		any |= bits.words[i];
	return any != 0;
}

#endif
