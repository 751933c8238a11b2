/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_keys.h"

#include <stdlib.h>
#include <string.h>

static int copy_keys(struct arena *arena, const char *const *keys, size_t nr_keys,
		     const char *const **ret_copy)
{
	const char **copy = arena_alloc(arena, nr_keys * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < nr_keys; i++) {
		copy[i] = arena_strndup(arena, keys[i], strlen(keys[i]));
		if (!copy[i])
			return -ENOMEM;
	}
	*ret_copy = copy;
	return 0;
}

int pod_keys_new(const struct pod_list_opts *opts, struct pod_keys **ret_keys)
{
	_cleanup_(pod_keys_freep) struct pod_keys *keys = calloc(1, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	keys->arena.max_bytes = POD_KEYS_MAX_BYTES;
	keys->opts = *opts;

	int r = copy_keys(&keys->arena, opts->label_keys, opts->nr_label_keys,
			  &keys->opts.label_keys);
	if (r == 0)
		r = copy_keys(&keys->arena, opts->annotation_keys, opts->nr_annotation_keys,
			      &keys->opts.annotation_keys);
	if (r < 0)
		return r;
	*ret_keys = take_ptr(keys);
	return 0;
}

void pod_keys_free(struct pod_keys *keys)
{
	if (!keys)
		return;
	arena_done(&keys->arena);
	free(keys);
}
