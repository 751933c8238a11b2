/* SPDX-License-Identifier: Apache-2.0 */
/* Real maps for tests of what lies in the arena, read back as BPF programs would: through the outer map. */
#ifndef TESTS_UNIT_ARENA_FIXTURE_H
#define TESTS_UNIT_ARENA_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

/* The map `arena`, as in bpf/maps.bpf.h. Negative errno without the privilege. */
int arena_fixture_map(void);

/* The map `tables`. */
int arena_fixture_tables(void);

/* Reads from a unit on; every failure is an assertion's. */
void arena_fixture_read(int map_fd, uint32_t unit, void *ret_data, size_t len);

#endif
