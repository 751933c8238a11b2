/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Reads the user memory of the current task. */
#ifndef BPF_USER_MEMORY_BPF_H
#define BPF_USER_MEMORY_BPF_H

#include "bpf/kernel.bpf.h"

#include <stdbool.h>

/* Reads a word. Returns false if it is not in memory now. */
static __always_inline bool read_word(__u64 address, __u64 *ret_word)
{
	return bpf_probe_read_user(ret_word, sizeof(*ret_word), (const void *)address) == 0;
}

#endif
