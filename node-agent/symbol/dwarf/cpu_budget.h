/* SPDX-License-Identifier: Apache-2.0 */
/* A budget of CPU time: a share of one CPU, saved up to at most CPU_BUDGET_BURST_NS. It is checked
 * before a piece of work and charged afterwards, because the cost of reading debug information is
 * not known before. A piece of work that costs more than was left delays the next one. */
#ifndef SYMBOL_DWARF_CPU_BUDGET_H
#define SYMBOL_DWARF_CPU_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_BUDGET_BURST_NS INT64_C(3000000000)

struct cpu_budget {
	unsigned int permille; /* of a CPU; 0: no limit */
	uint64_t last_ns; /* time of the last check, by CLOCK_MONOTONIC */
	int64_t left_ns; /* negative after work that cost more than was left */
};

/* Starts with CPU_BUDGET_BURST_NS. */
void cpu_budget_init(struct cpu_budget *budget, unsigned int permille, uint64_t now_ns);

/* Returns whether a piece of work may begin. */
bool cpu_budget_allows(struct cpu_budget *budget, uint64_t now_ns);

/* Subtracts the CPU time that a piece of work took. */
void cpu_budget_charge(struct cpu_budget *budget, uint64_t cpu_ns);

#endif
