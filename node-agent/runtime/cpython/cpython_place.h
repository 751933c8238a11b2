/* SPDX-License-Identifier: Apache-2.0 */
/* Learns where a thread's PyThreadState is found from its thread pointer: in thread-local storage,
 * or as the value of a pthread key. */
#ifndef RUNTIME_CPYTHON_CPYTHON_PLACE_H
#define RUNTIME_CPYTHON_CPYTHON_PLACE_H

#include "runtime/cpython/cpython_threads.h"

/* Best first. Up to 3.14, only keys count: CPython keeps the state in a pthread key while it has
 * released the GIL, but not in the thread-local _Py_tss_tstate. */
enum cpython_place_kind {
	CPYTHON_PLACE_KEY, /* pthread key in the thread's block */
	CPYTHON_PLACE_FAR_KEY, /* pthread key in a table that the thread's block refers to */
	CPYTHON_PLACE_STATIC_TLS, /* at a constant distance from the thread pointer */
	CPYTHON_PLACE_DYNAMIC_TLS, /* by the thread's vector of TLS blocks; a number of a process */
	CPYTHON_NR_PLACE_KINDS,
};

struct cpython_place {
	uint8_t kind; /* enum cpython_place_kind */
	uint8_t nr; /* as cpython_layout.nr_place */
	int32_t offsets[CPYTHON_MAX_PLACE]; /* as cpython_layout.place */
	uint32_t block_bytes; /* as cpython_layout.block_bytes */
	uint32_t nr_threads; /* that have their state there */
	bool is_only; /* no other place has as many; or it is known which of them is right */
};

/* Finds the place that has the states of most threads. Errors: -ENOENT no place has any, or on
 * arm64 the thread pointers are not known. */
int cpython_place_learn(struct process_memory *memory, const struct runtime_file *file,
			const struct cpython_threads *threads, struct cpython_place *ret_place)
	must_check;

/* Returns what a kind is called, for people. */
const char *cpython_place_name(uint8_t kind);

#endif
