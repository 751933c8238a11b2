/* SPDX-License-Identifier: Apache-2.0 */
#include "base/intern.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

int intern_init(struct intern *intern, size_t max_strings, size_t max_bytes)
{
	uint32_t empty;

	*intern = (struct intern){ .max_strings = max_strings, .arena.max_bytes = max_bytes };
	int r = intern_add(intern, "", &empty);
	if (r < 0)
		intern_done(intern);
	return r;
}

void intern_done(struct intern *intern)
{
	arena_done(&intern->arena);
	htable_done(&intern->index);
	free(intern->strings);
	*intern = (struct intern){ 0 };
}

static int find(const struct intern *intern, const char *text, uint32_t hash, uint32_t *ret_id)
{
	struct htable_iter it = htable_lookup(&intern->index, hash);

	for (uint32_t id; htable_next(&it, &id);) {
		if (strcmp(intern->strings[id], text) == 0) {
			*ret_id = id;
			return 0;
		}
	}
	return -ENOENT;
}

int intern_find(const struct intern *intern, const char *text, uint32_t *ret_id)
{
	return find(intern, text, hash_bytes(text, strlen(text)), ret_id);
}

int intern_add(struct intern *intern, const char *text, uint32_t *ret_id)
{
	size_t len = strlen(text);
	uint32_t hash = hash_bytes(text, len);

	if (find(intern, text, hash, ret_id) == 0)
		return 0;
	int r = array_grow(intern->strings, intern->cap_strings, intern->nr_strings + 1,
			   intern->max_strings);
	if (r < 0)
		return r;
	const char *copy = arena_strndup(&intern->arena, text, len);
	if (!copy)
		return arena_error(&intern->arena);
	r = htable_add(&intern->index, hash, (uint32_t)intern->nr_strings);
	if (r < 0)
		return r;
	intern->strings[intern->nr_strings] = copy;
	*ret_id = (uint32_t)intern->nr_strings++;
	return 0;
}

const char *intern_get(const struct intern *intern, uint32_t id)
{
	return intern->strings[id];
}
