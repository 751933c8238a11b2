/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities of a thread as sets of bits; capabilities(7). A new thread inherits the capabilities
 * of the thread that starts it. A capability that was given up cannot be regained. */
#ifndef BASE_CAPABILITIES_H
#define BASE_CAPABILITIES_H

#include "base/err.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#define CAPABILITY(name) (UINT64_C(1) << CAP_##name)

/* Capabilities that CAP_SYS_ADMIN includes, since they were once part of it. */
#define CAPABILITIES_IN_SYS_ADMIN                                                                  \
	(CAPABILITY(BPF) | CAPABILITY(PERFMON) | CAPABILITY(CHECKPOINT_RESTORE))

/* Returns this thread's effective capabilities; none if the kernel does not report them. */
uint64_t capabilities_effective(void);

/* Returns whether the set contains all of `wanted`, directly or through CAP_SYS_ADMIN. */
bool capabilities_include(uint64_t set, uint64_t wanted);

/* Gives up all of this thread's capabilities except `wanted`. Keeps CAP_SYS_ADMIN if it stands for
 * a wanted capability that the thread does not have. Afterwards no capability can be inherited.
 * Errors: -EPERM if a seccomp filter refuses the change; then nothing was given up. */
int capabilities_keep(uint64_t wanted) must_check;

/* Ensures that programs run by this thread, or by threads that it starts, have no capabilities.
 * Errors: -EPERM without CAP_SETPCAP. */
int capabilities_deny_programs(void) must_check;

/* Returns CAP_DAC_OVERRIDE if this thread needs it for this use of the file (a mode of access(2)),
 * or if the kernel cannot tell (before Linux 5.8). Returns 0 if the thread does not need or have
 * it. */
uint64_t capabilities_for_file(const char *path, int mode);

/* The same, for a file that is only read: returns CAP_DAC_READ_SEARCH instead, if this thread has
 * it. */
uint64_t capabilities_for_reading(const char *path);

#endif
