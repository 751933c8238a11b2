/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stands before libbpf's header of this name when BPF programs are compiled for the host: maps
 * are plain objects that nobody looks into, helpers are functions of whoever compiles them. They
 * have other names there, as libbpf's own functions have these. */
#ifndef BPF_HOST_HELPERS_H
#define BPF_HOST_HELPERS_H

#include <linux/types.h>
#include <stddef.h>

#define SEC(name)

#define __uint(name, val) int(*name)[val]
#define __type(name, val) typeof(val) *name
#define __array(name, val) typeof(val) *name[]

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
/* Functions that the verifier takes one by one may be inlined here. */
#undef __noinline
#define __noinline

#define barrier_var(var) ((void)(var))

#define bpf_map_lookup_elem host_map_lookup_elem
#define bpf_map_update_elem host_map_update_elem
#define bpf_probe_read_user host_probe_read_user
#define bpf_probe_read_kernel host_probe_read_kernel
#define bpf_get_current_task host_get_current_task
#define bpf_ringbuf_output host_ringbuf_output
#define bpf_ringbuf_query host_ringbuf_query

void *bpf_map_lookup_elem(const void *map, const void *key);
long bpf_map_update_elem(const void *map, const void *key, const void *value, __u64 flags);
long bpf_probe_read_user(void *to, __u32 bytes, const void *from);
long bpf_probe_read_kernel(void *to, __u32 bytes, const void *from);
__u64 bpf_get_current_task(void);
long bpf_ringbuf_output(const void *ring, const void *data, __u64 bytes, __u64 flags);
__u64 bpf_ringbuf_query(const void *ring, __u64 flags);

#endif
