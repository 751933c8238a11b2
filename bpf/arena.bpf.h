/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reading the arena (shared/cfi.h): two array lookups, which the JIT turns into loads. */
#ifndef BPF_ARENA_BPF_H
#define BPF_ARENA_BPF_H

#include "bpf/maps.bpf.h"

/* `bytes` (a power of 2, constant) at an offset that is a multiple of it, from a unit on. NULL
 * where no chunk is. */
static __always_inline const void *arena_at(__u32 unit, __u32 offset, __u32 bytes)
{
	__u64 address = (__u64)unit * ARENA_UNIT + offset;
	__u32 chunk = address / ARENA_CHUNK_BYTES;
	__u32 block = address / ARENA_BLOCK_BYTES % ARENA_CHUNK_BLOCKS;
	const char *value;
	void *blocks;

	blocks = bpf_map_lookup_elem(&arena, &chunk);
	if (!blocks)
		return NULL;
	value = bpf_map_lookup_elem(blocks, &block);
	return value ? value + (address & (ARENA_BLOCK_BYTES - bytes)) : NULL;
}

#endif
