/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a stopped thread, and the traps (trap.h) in its code. Failures end the
 * program. */
#ifndef TESTS_BPF_HOST_TRACEE_H
#define TESTS_BPF_HOST_TRACEE_H

#include "bpf/shared/cfi.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tracee_registers {
	uint64_t by_number[NR_REGS]; /* DWARF's */
	uint64_t ip;
	uint64_t thread_pointer;
};

void tracee_read_registers(pid_t tid, struct tracee_registers *registers);

/* Returns whether a thread is about to execute a trap, or has just been stopped by one,
 * behind which it then goes on. */
bool tracee_is_before_trap(pid_t tid, const struct tracee_registers *registers);
bool tracee_skip_trap(pid_t tid, struct tracee_registers *registers);

/* The arguments of trap(). */
uint64_t tracee_argument(const struct tracee_registers *registers, unsigned int index);

#endif
