/* SPDX-License-Identifier: Apache-2.0 */
/* How much CPU time may go into reading debug information: a share of one CPU, saved up for
 * LINES_PACE_BURST_NS of work at once. Work is begun while anything is left, and what it took is
 * taken off when it is done: after a long piece nothing is begun for long. */
#ifndef SYMBOL_DWARF_LINES_PACE_H
#define SYMBOL_DWARF_LINES_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define LINES_PACE_BURST_NS INT64_C(3000000000)

struct lines_pace {
	unsigned int permille; /* of a CPU; 0: no bound */
	uint64_t last_ns; /* when it was looked at, by CLOCK_MONOTONIC */
	int64_t left_ns;
};

/* One that has saved up all it can. */
void lines_pace_init(struct lines_pace *pace, unsigned int permille, uint64_t now_ns);

/* Whether a piece of work may begin. */
bool lines_pace_allows(struct lines_pace *pace, uint64_t now_ns);

/* What a piece of work took. */
void lines_pace_charge(struct lines_pace *pace, uint64_t cpu_ns);

#endif
