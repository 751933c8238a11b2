/* SPDX-License-Identifier: Apache-2.0 */
/* The backend that a test program tests: perf if its argument is "perf", else BPF. */
#ifndef TESTS_BPF_KERNEL_TESTED_BACKEND_H
#define TESTS_BPF_KERNEL_TESTED_BACKEND_H

#include "base/strbuf.h"
#include "capture/capture_opts.h"
#include "capture/capture_stats.h"
#include "capture/sample_source.h"

#define TESTED_STACK_BYTES 65528

extern enum capture_backend tested_backend;

void tested_backend_choose(int argc, char **argv);

/* Opens a source of that backend, with what it needs of this machine. Errors: as of
 * capture_bpf_open() and capture_perf_open(). */
int tested_backend_open(struct capture_opts opts, struct strbuf *reterr_msg,
			struct sample_source **ret_source) must_check;

#endif
