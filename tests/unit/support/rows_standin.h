/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for rows_client_*(), elf_rows_open_vdso() and row_cache_*() at link time: a file says
 * itself what comes of it, and no worker runs. */
#ifndef TESTS_UNIT_ROWS_STANDIN_H
#define TESTS_UNIT_ROWS_STANDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VDSO_KEY 999
#define MAX_ORDER 64

/* The content of a file. */
struct plan {
	uint64_t key;
	uint32_t nr_bytes; /* of the table */
	int open_error;
	int build_error;
	uint64_t owner;
	bool is_too_slow; /* for the fast lane */
};

/* Back to nothing read, nothing cached, doors open. */
void rows_standin_reset(void);

/* A file with a plan. */
int rows_standin_file(const struct plan *plan);

/* false if there is no vDSO. */
void rows_standin_set_vdso(bool has_vdso);

/* Shut: files stay in their lanes. */
void rows_standin_shut(bool is_shut);

/* The same for one lane. */
void rows_standin_shut_slow_lane(bool is_shut);

/* An owner whose files take the slow lane. */
#define SLOW_OWNER 666

/* Waits until a file is in a lane. */
void rows_standin_wait_until_inside(void);

/* Keys in the order in which files were begun, the first MAX_ORDER. Returns how many. */
size_t rows_standin_order(uint64_t ret_keys[static MAX_ORDER]);

size_t rows_standin_nr_built(void);

/* Contents of the cache, and how often it was written. The cache to use is any pointer but NULL. */
void rows_standin_cache(const struct plan *plan);
size_t rows_standin_nr_cached(void);

/* A byte of a table behind its head. */
uint8_t rows_standin_byte(uint64_t key, size_t at);

#endif
