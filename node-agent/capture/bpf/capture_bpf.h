/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that BPF programs take and unwind in the kernel. */
#ifndef CAPTURE_BPF_CAPTURE_BPF_H
#define CAPTURE_BPF_CAPTURE_BPF_H

#include "base/err.h"
#include "base/strbuf.h"
#include "capture/capture_opts.h"
#include "capture/sample_source.h"

#include <stdbool.h>

/* Loads the programs. Nothing is sampled until sample_source_follow_cpus(). On failure
 * `reterr_msg` says what to do, or stays empty. Errors: -EPERM a privilege is missing;
 * -EOPNOTSUPP the kernel lacks a feature; -ENOSPC there are too many targets; and what libbpf
 * says. */
int capture_bpf_open(const struct capture_opts *opts, struct strbuf *reterr_msg,
		     struct sample_source **ret_source) must_check;

/* Returns whether the kernel tells of waits for its own locks: since Linux 5.19. */
bool capture_bpf_knows_locks(void);

/* Returns whether the kernel tells of growth of memory. */
bool capture_bpf_knows_growth(void);

#endif
