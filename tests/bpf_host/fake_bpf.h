/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel around the unwinder when it runs as a plain function: the maps it looks into, and
 * the memory of the process it unwinds. Every map value is an allocation of exactly its size,
 * made when it is first looked up, and so is every region of user memory: with ASan, whatever is
 * read beside them is found.
 *
 * There is one of it all; fake_bpf_reset() makes it new. Out of memory ends the program. */
#ifndef TESTS_BPF_HOST_FAKE_BPF_H
#define TESTS_BPF_HOST_FAKE_BPF_H

#include "bpf/runtime.bpf.h"
#include "bpf/shared/code_copy.h"
#include "bpf/unwind.bpf.h"
#include "bpf/vma.bpf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Forgets memory, arena, tables and bindings, and zeroes the scratch record. */
void fake_bpf_reset(void);

/* The two parts of the scratch record. Valid until the reset. */
struct unwind_state *fake_state(void);
struct sample_event *fake_event(void);
struct vma_walk *fake_walk(uint32_t asker);

/* The chain of Python frames. */
struct python_chain *fake_chain(void);

/* User memory that can be read: a copy of `data`. Regions may touch, but do not overlap. */
void fake_add_memory(uint64_t address, const void *data, size_t len);

/* Reads what is in no region from a process's memory: a descriptor of /proc/PID/mem, borrowed until
 * the reset. */
void fake_read_process(int fd);

/* Returns true if only the bytes of a copy of the stack can be read: from the stack pointer on. */
bool fake_reads_copy_only(void);

/* Copies bytes into the arena, and makes the chunks they are in. */
void fake_put(uint32_t unit, const void *data, size_t len);

void fake_set_table(uint32_t slot, uint32_t unit);
void fake_set_layout(uint32_t slot, uint32_t unit); /* of a runtime */
uint32_t fake_table_used(uint32_t slot);
void fake_set_clock(uint32_t used); /* what tables are marked with */

/* Sets the slot of a file, by the key that mappings have, as the agent does. */
void fake_set_file(const struct file_key *key, uint32_t slot);

/* The ring buffer for samples and copies: how full it is, and the copies that were sent. */
#define FAKE_RING_BYTES 65536
#define FAKE_MAX_COPIES 64
void fake_fill_ring(uint64_t bytes);
size_t fake_nr_copies(void);
const struct code_copy *fake_copy(size_t i);

/* Set an entry of `processes` as the agent does; read it (-1: no entry); and count how often the
 * unwinder asked. */
void fake_bind(uint32_t pid, uint64_t binding);
int64_t fake_binding(uint32_t pid);
unsigned int fake_nr_asked(void);

#endif
