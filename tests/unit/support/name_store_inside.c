/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_cache_inside.h"

#include "symbol/name_store.c" /* NOLINT(bugprone-suspicious-include) */

void inside_set_budget(struct name_store *store, size_t max_bytes)
{
	store->max_bytes = max_bytes;
}

void inside_set_last_key(struct name_store *store, uint64_t key)
{
	store->last_key = key;
}

uint64_t inside_nr_wraps(const struct name_store *store)
{
	return store->nr_wraps;
}

void inside_forget_places(struct name_store *store)
{
	forget_places(store);
}
