/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/target_maps.h"

#include "bpf/shared/events.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "flamelet_bpf.skel.h"

/* Adds a key of the map's own size to a target set. */
static int add_target(const struct bpf_map *map, const void *key)
{
	const uint8_t wanted = 1;

	int r = bpf_map_update_elem(bpf_map__fd(map), key, &wanted, BPF_ANY);
	return r == -E2BIG ? -ENOSPC : r;
}

static int add_targets(const struct bpf_map *map, const void *keys, size_t nr, size_t key_bytes)
{
	for (size_t i = 0; i < nr; i++) {
		int r = add_target(map, (const char *)keys + i * key_bytes);
		if (r < 0)
			return r;
	}
	return 0;
}

static int add_comms(const struct bpf_map *map, const char *const *comms, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		char key[TASK_COMM_LEN] = { 0 };

		memcpy(key, comms[i], strnlen(comms[i], sizeof(key) - 1));
		int r = add_target(map, key);
		if (r < 0)
			return r;
	}
	return 0;
}

int target_maps_fill(const struct flamelet_bpf *skel, const struct capture_opts *opts)
{
	int r = add_targets(skel->maps.filter_pids, opts->pids, opts->nr_pids, sizeof(uint32_t));
	if (r < 0)
		return r;
	r = add_targets(skel->maps.filter_tids, opts->tids, opts->nr_tids, sizeof(uint32_t));
	if (r < 0)
		return r;
	return add_comms(skel->maps.filter_comms, opts->comms, opts->nr_comms);
}

int target_maps_add_pid(const struct flamelet_bpf *skel, uint32_t pid)
{
	return add_target(skel->maps.filter_pids, &pid);
}
