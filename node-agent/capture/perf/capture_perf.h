/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of registers and stacks that perf events copy, for kernels without usable BPF. */
#ifndef CAPTURE_PERF_CAPTURE_PERF_H
#define CAPTURE_PERF_CAPTURE_PERF_H

#include "base/err.h"
#include "base/strbuf.h"
#include "capture/capture_opts.h"
#include "capture/sample_source.h"

/* Opens the events. Nothing is sampled until sample_source_follow_cpus(). On failure
 * `reterr_msg` says what to do, or stays empty. Errors: -EPERM a privilege is missing;
 * -EOPNOTSUPP the kernel lacks a feature; -ENOSPC there are too many targets; and what
 * perf_event_open(2) says. */
int capture_perf_open(const struct capture_opts *opts, struct strbuf *reterr_msg,
		      struct sample_source **ret_source) must_check;

#endif
