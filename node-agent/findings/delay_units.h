/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the time in which threads could run by program: what they ran, and what they waited for a
 * CPU. */
#ifndef FINDINGS_DELAY_UNITS_H
#define FINDINGS_DELAY_UNITS_H

#include "base/err.h"
#include "findings/units.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct delay_units {
	struct units units; /* of SCOPE_PROGRAM; totals are in ns, of running and waiting */
	uint64_t delay_ns, total_ns; /* of all programs */
};

/* `cpu` is the CPU time of the same time. Errors: -ENOMEM, -ENOSPC. */
int delay_units_init(struct delay_units *delay, const struct profile *waits,
		     const struct profile *cpu) must_check;
void delay_units_done(struct delay_units *delay);

/* Returns whether a program waited for a CPU much more than the others, of its time: at least twice
 * the share. If all wait alike, the machine has too little, and not the program. */
bool delay_units_stands_out(const struct delay_units *delay, size_t unit, uint64_t delay_ns);

#endif
