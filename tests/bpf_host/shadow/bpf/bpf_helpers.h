/* SPDX-License-Identifier: Apache-2.0 */
/* Stands before libbpf's header of this name when BPF programs are compiled for the host: maps are plain
 * objects that nobody looks into, helpers are functions (fake_bpf.c). */
#ifndef TESTS_BPF_HOST_BPF_HELPERS_H
#define TESTS_BPF_HOST_BPF_HELPERS_H

#include <linux/types.h>
#include <stddef.h>

#define SEC(name)

#define __uint(name, val) int(*name)[val]
#define __type(name, val) typeof(val) *name
#define __array(name, val) typeof(val) *name[]

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#undef __noinline
#define __noinline __attribute__((noinline))

void *bpf_map_lookup_elem(const void *map, const void *key);
long bpf_map_update_elem(const void *map, const void *key, const void *value, __u64 flags);
long bpf_probe_read_user(void *to, __u32 bytes, const void *from);

#endif
