/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stands before libbpf's header of this name when BPF programs are compiled for the host: the
 * kernel's types are as they are declared, and which of their fields there are says whoever
 * compiles them. */
#ifndef BPF_HOST_CORE_READ_H
#define BPF_HOST_CORE_READ_H

#include <stdbool.h>
#include <stddef.h>

#define bpf_core_read(to, bytes, from) bpf_probe_read_kernel(to, bytes, (const void *)(from))
#define bpf_core_field_exists(type, field) host_field_exists(#field)
#define bpf_core_field_offset(type, field) offsetof(type, field)
#define bpf_core_field_size(type, field) sizeof(((type *)0)->field)
#define bpf_core_enum_value(type, value) (value)

bool host_field_exists(const char *field);

#endif
