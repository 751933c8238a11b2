/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent may do shrinks twice: to what profiling needs when it begins, and to what goes
 * on once all runs. The threads give up what they do not need when they are started
 * (base/thread.h). */
#ifndef PRIVILEGE_LEAST_PRIVILEGE_H
#define PRIVILEGE_LEAST_PRIVILEGE_H

#include "privilege/backend_set.h"

#include <stdbool.h>

/* Warns of what is missing for these capture backends. From now on the process can gain no
 * privileges, and others cannot look into it. To be called before the first thread is started. */
void least_privilege_begin(enum backend_set wanted);

/* To be called by the reader's thread when all others run. Capture by perf needs no BPF
 * programs. */
void least_privilege_finish(bool has_bpf);

#endif
