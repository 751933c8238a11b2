/* SPDX-License-Identifier: Apache-2.0 */
/* Which way of capturing a test program is about: "perf" as its argument, else BPF. */
#ifndef TESTS_BPF_KERNEL_TESTED_PATH_H
#define TESTS_BPF_KERNEL_TESTED_PATH_H

#include "capture/sample_source.h"

#define TESTED_STACK_BYTES 65528

extern enum capture_path tested_path;

void tested_path_choose(int argc, char **argv);

/* Opens a capture of that path, with what the path needs of this machine. Errors: as of capture_bpf_open() and
 * capture_perf_open(). */
int tested_path_open(struct capture_opts opts, struct strbuf *reterr_msg,
		     struct sample_source **ret_source) must_check;

#endif
