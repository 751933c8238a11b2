/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the local unwinder that fake_bpf.h does not show. */
#ifndef TESTS_BPF_HOST_LOCAL_BPF_H
#define TESTS_BPF_HOST_LOCAL_BPF_H

#include "unwind/local_unwinder.h"

/* Result of the last unwind. */
extern bool local_bpf_asks;

/* Valid until the reset. */
struct unwind_memory *local_bpf_memory(void);
struct local_unwinder *local_bpf_unwinder(void);

/* Has the next stack's rules searched for, whatever was found before: by another unwinder. */
void local_bpf_forget_rules(void);

/* Copies have at most so many bytes; those that have as many are cut. */
void local_bpf_cut(size_t len);

/* The frames that the kernel found by frame pointers; borrowed until the reset. */
void local_bpf_set_chain(const void *addresses, size_t nr);

#endif
