/* SPDX-License-Identifier: Apache-2.0 */
/* Which way of capturing a test program is about: "perf" as its argument, else BPF. */
#ifndef TESTS_BPF_KERNEL_TESTED_PATH_H
#define TESTS_BPF_KERNEL_TESTED_PATH_H

#include "capture/capture.h"

#define TESTED_STACK_BYTES 65528

extern enum capture_path tested_path;

void tested_path_choose(int argc, char **argv);

/* Adds what the path needs, of this machine; it lives as long as the program. */
void tested_path_apply(struct capture_opts *opts);

#endif
