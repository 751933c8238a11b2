/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread may do that others may not, as sets of bits; capabilities(7). The kernel keeps
 * them for each thread, and a thread that is started begins with those of the one that starts
 * it. Giving up is for ever. */
#ifndef BASE_CAPABILITIES_H
#define BASE_CAPABILITIES_H

#include "base/err.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

#define CAPABILITY(name) (UINT64_C(1) << CAP_##name)

/* What CAP_SYS_ADMIN includes, for programs that are older than these. */
#define CAPABILITIES_IN_SYS_ADMIN                                                                  \
	(CAPABILITY(BPF) | CAPABILITY(PERFMON) | CAPABILITY(CHECKPOINT_RESTORE))

/* Those in force for this thread; none when the kernel does not tell. */
uint64_t capabilities_effective(void);

/* Whether all of `wanted` are in the set, or stood for by CAP_SYS_ADMIN. */
bool capabilities_include(uint64_t set, uint64_t wanted);

/* Gives up all of this thread but `wanted`, and keeps CAP_SYS_ADMIN where it stands for one of
 * them that is not there. Nothing can be inherited afterwards. Errors: -EPERM a seccomp filter
 * refuses it, and nothing was given up. */
int capabilities_keep(uint64_t wanted) must_check;

/* Programs that this thread and those it starts run from now on can have none. Errors: -EPERM
 * without CAP_SETPCAP. */
int capabilities_deny_programs(void) must_check;

/* CAP_DAC_OVERRIDE when this thread needs it for this use (access(2)'s mode) of the file, or the
 * kernel cannot tell (before Linux 5.8); 0 when it does not, or has not got it. */
uint64_t capabilities_for_file(const char *path, int mode);

#endif
