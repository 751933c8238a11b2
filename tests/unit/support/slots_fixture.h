/* SPDX-License-Identifier: Apache-2.0 */
/* Table slots over the kernel's maps and plans instead of files (rows_standin.h). The clock of the
 * tables stands still unless a test turns it. */
#ifndef TESTS_UNIT_SLOTS_FIXTURE_H
#define TESTS_UNIT_SLOTS_FIXTURE_H

#include "arena_fixture.h"
#include "rows_standin.h"
#include "unwind/tables/table_thread.h"

#include <stddef.h>
#include <stdint.h>

#define SIZE 100000 /* of a table */
#define ROOM_FOR_TWO 210000 /* and the vDSO's */

struct slots_fixture {
	struct arena_fixture maps;
	struct table_slot *shared; /* as programs see it */
	struct unwind_arena *arena;
	struct row_cache *cache; /* of the thread; NULL: none */
	struct table_slots *slots;
	struct table_thread *thread;
};

/* For cmocka. */
int slots_fixture_set_up(void **state);
int slots_fixture_tear_down(void **state);

/* Starts the slots and their thread, with the limits that `opts` leaves open. */
void slots_fixture_start(struct slots_fixture *fixture, struct table_slots_opts opts);
void slots_fixture_start_with(struct slots_fixture *fixture, struct table_slots_opts opts,
			      size_t arena_bytes);
void slots_fixture_stop(struct slots_fixture *fixture);

uint32_t slots_fixture_add(struct slots_fixture *fixture, struct plan plan);
void slots_fixture_reopen(struct slots_fixture *fixture, uint32_t slot, struct plan plan);

/* Waits until nothing waits. */
void slots_fixture_settle(struct slots_fixture *fixture);

/* Adds a file and waits until it was read; in the second case a sample needs it. */
uint32_t slots_fixture_load(struct slots_fixture *fixture, struct plan plan);
uint32_t slots_fixture_load_needed(struct slots_fixture *fixture, struct plan plan);

struct table_slots_stats slots_fixture_stats(struct slots_fixture *fixture);

/* What BPF programs see of a slot, and what they do if they need it. */
uint32_t slots_fixture_unit(struct slots_fixture *fixture, uint32_t slot);
void slots_fixture_use(struct slots_fixture *fixture, uint32_t slot);

uint32_t slots_fixture_clock(struct slots_fixture *fixture);

/* The vDSO stays in use. */
void slots_fixture_turn_clock(struct slots_fixture *fixture, uint32_t nr_ticks);

/* Fails unless the slot has the table of the plan. */
void slots_fixture_expect(struct slots_fixture *fixture, uint32_t slot, struct plan plan);

#endif
