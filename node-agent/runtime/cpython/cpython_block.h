/* SPDX-License-Identifier: Apache-2.0 */
/* Learns how far the C library's record of a thread (its *block*) is below the thread pointer. On
 * arm64, pthread_self() is the block, which ends where the thread pointer points to: glibc's
 * sysdeps/aarch64/nptl/tls.h. Its size depends on glibc's version. */
#ifndef RUNTIME_CPYTHON_CPYTHON_BLOCK_H
#define RUNTIME_CPYTHON_CPYTHON_BLOCK_H

#include "runtime/cpython/cpython_threads.h"

/* Returns the number of bytes from the block of a thread, as PyThreadState.thread_id has it, to
 * where its thread pointer points; 0: not found. At the thread pointer is the address of the vector
 * of the thread's TLS blocks (dtv), which has that of a block right behind. A distance counts if
 * all threads that can be read have such a vector there. */
uint32_t cpython_block_bytes(struct process_memory *memory, const struct cpython_threads *threads);

#endif
