/* SPDX-License-Identifier: Apache-2.0 */
/* Real maps for tests of what lies in the arena, read back as BPF programs
 * would: through the outer map. */
#ifndef TESTS_UNIT_ARENA_FIXTURE_H
#define TESTS_UNIT_ARENA_FIXTURE_H

#include "unwind/tables/unwind_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_FIXTURE_PROCESSES 8
#define NO_BINDING UINT64_MAX

struct arena_fixture {
	/* As in bpf/maps.bpf.h, but that there is room for ARENA_FIXTURE_PROCESSES. */
	int arena_fd;
	int tables_fd;
	int processes_fd;
	struct unwind_memory *memory;
};

/* Negative errno without the privilege. arena_fixture_close() is for after a failure too. */
int arena_fixture_open(struct arena_fixture *fixture) must_check;
void arena_fixture_close(struct arena_fixture *fixture);

/* Returns whether maps can be made. If not, prints the reason. */
bool arena_fixture_is_possible(void);

/* Reads from a unit on; every failure is an assertion's. */
void arena_fixture_read(const struct arena_fixture *fixture, uint32_t unit, void *ret_data,
			size_t len);

/* Read the binding of a process, NO_BINDING without an entry; and set it as BPF does when it
 * samples a process that has none. */
uint64_t arena_fixture_binding(const struct arena_fixture *fixture, uint32_t pid);
void arena_fixture_set_binding(const struct arena_fixture *fixture, uint32_t pid, uint64_t binding);

#endif
