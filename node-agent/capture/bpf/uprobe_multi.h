/* SPDX-License-Identifier: Apache-2.0 */
/* Uprobes at many places of a file by one link, since Linux 6.6 (BPF_TRACE_UPROBE_MULTI). CAP_BPF
 * and CAP_PERFMON are enough. */
#ifndef CAPTURE_BPF_UPROBE_MULTI_H
#define CAPTURE_BPF_UPROBE_MULTI_H

#include "base/err.h"
#include "bpf/shared/heap.h"

#include <stdbool.h>
#include <stdint.h>

#define UPROBE_MULTI_ALL_PROCESSES 0

struct bpf_program;

/* Returns whether the kernel has them. */
bool uprobe_multi_is_known(void);

/* Makes a program load for them, if the kernel has them. Before it is loaded. */
void uprobe_multi_prepare(struct bpf_program *program);

/* Attaches a program to all probes of a kind, in one process or in all that map the file. The
 * program gets the arguments of a probe as its cookie. Returns their number; 0 if there are none,
 * without a link. Closing `*ret_fd` detaches it. Errors: those of BPF_LINK_CREATE of bpf(2): -ESRCH
 * there is no such process; -EINVAL a kernel that does not have them. */
int uprobe_multi_attach(const struct bpf_program *program, uint32_t pid, int file_fd,
			const struct heap_probes *probes, uint32_t kind, int *ret_fd) must_check;

#endif
